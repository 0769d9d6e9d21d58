package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/link"
)

// input is the network that was read, with the choices about it. All names in it are known.
type input struct {
	profile  *profiles.Profile
	network  proto.Network
	graph    bool             // the operations are solved, not the chain
	choice   choice.Choice    // the choices about it
	problems []choice.Problem // problems of its allocator, which most commands do not use
	link     link.Link        // everything that was chosen, canonical
	device   engine.Device
	deviceID string // empty if the rates are not those of a listed device
}

// read interprets the flags and reads the network. args are the arguments without the flags.
func (c *asked) read(ctx context.Context, e *env, args []string) *input {
	if len(args) > 1 {
		fail("one file at a time; got %s", cli.Quoted(args))
	}
	sources := len(args)
	for _, s := range []string{c.preset, c.from} {
		if s != "" {
			sources++
		}
	}
	switch {
	case sources == 0:
		fail("there is no network; name a FILE, -preset resnet101-b32 or -from LINK")
	case sources > 1:
		fail("there is more than one network; name either a FILE, or -preset, or -from")
	case c.side != "" && c.from == "":
		fail("-side %s is about a link that compares two, and there is no -from", c.side)
	}
	in := &input{}
	own := c.own.id(c.flags.Device)
	if own != "" {
		c.flags.Device = own
	}
	switch {
	case c.from != "":
		in.link = c.oneSide(e, parseLink(e, c.from))
	case c.preset != "":
		in.link.Preset = timedBy(c.preset, c.flags.Device)
	default:
		in.link.Profile = readDevice(ctx, e, args[0], profiles.AnyDevice)
	}
	in.link.Take(&c.flags)
	if c.addresses && in.link.Profile != nil && in.link.Profile.Memory != nil {
		in.profile = in.link.Profile
		return in
	}
	in.train(c.optimizer)
	in.open()
	in.resolve()
	return in
}

// train gives the network the states and the step of an optimizer, on the chosen card.
func (in *input) train(optimizer string) {
	switch o := profiles.FindOptimizer(optimizer); {
	case o == nil:
	case in.link.Profile != nil:
		d := card.Lookup(cmp.Or(in.link.Device, card.DefaultID))
		if d == nil { // resolve refuses it
			return
		}
		in.link.Profile = valid(in.link.Profile.Trained(o, d.MemoryRate))
	default:
		base, options := choice.Source{Preset: in.link.Preset}.Variant()
		if base == nil { // open refuses it
			return
		}
		options.Optimizer = optimizer
		in.link.Preset = preset.Ref(valid(base.With(options)).ID, options.Batch)
	}
}

// timedBy returns a reference to a preset with the times of a card, if the card has a rate and
// the reference does not name another card.
func timedBy(ref, device string) string {
	d := card.Lookup(device)
	p, batch, err := preset.Parse(ref)
	if d == nil || err != nil || !d.Timed() || !p.Operators() || p.Options().Device != p.Base().Options().Device {
		return ref
	}
	o := p.Options()
	o.Batch, o.Device = batch, d.ID
	return preset.Ref(valid(p.Base().With(o)).ID, batch)
}

// readDevice decodes the content of a file about one device; "-" is the standard input.
func readDevice(ctx context.Context, e *env, name string, device int) *profiles.Profile {
	// Files that are not regular have no size, cannot be read twice, and opening them may block.
	at, err := os.Stat(name)
	if name == "-" || err != nil || !at.Mode().IsRegular() {
		data := stream(ctx, e, name, profiles.MaxSize+1) // formats refuse it with their own error
		return decoded(name, profiles.Bytes(data), device)
	}
	f, err := os.Open(name)
	readable(name, err)
	defer f.Close()
	info, err := f.Stat()
	readable(name, err)
	return decoded(name, diskFile{f, info.Size()}, device)
}

func decoded(name string, c profiles.Content, device int) *profiles.Profile {
	plain := name
	if name == "-" {
		plain = ""
	}
	p, err := profiles.DecodeDevice(plain, c, device, nil)
	readable(name, err)
	return p
}

// contents returns the whole content of a file; "-" is the standard input.
func contents(ctx context.Context, e *env, name string) []byte {
	const most = 128 << 20
	data := stream(ctx, e, name, most+1)
	if len(data) > most {
		fail("%s: it is larger than %d MiB, which are read at most; name another file", sourceOf(name), most>>20)
	}
	return data
}

// stream returns the first most bytes of a file; "-" is the standard input. Reading may block
// until ctx is done; stream then abandons it.
func stream(ctx context.Context, e *env, name string, most int64) []byte {
	type content struct {
		data []byte
		err  error
	}
	all := make(chan content, 1)
	go func() {
		r, err := io.NopCloser(e.stdin), error(nil)
		if name != "-" {
			r, err = os.Open(name)
		}
		if err != nil {
			all <- content{nil, err}
			return
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, most))
		all <- content{data, err}
	}()
	select {
	case c := <-all:
		readable(name, c.err)
		return c.data
	case <-ctx.Done():
		readable(name, ctx.Err())
		return nil
	}
}

// readable ends the command with the reason why name cannot be read, if err is not nil.
func readable(name string, err error) {
	switch path := (*os.PathError)(nil); {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		cli.Fail("%s: reading was interrupted before its end", sourceOf(name))
	case errors.As(err, &path):
		fail("%s: %v", sourceOf(name), path.Err)
	default: // one line for each problem
		text := []string{err.Error()}
		if problems := profiles.Problems(err); len(problems) > 0 {
			text = nil
			for _, p := range problems {
				text = append(text, p.Error()+" "+p.Remedy)
			}
		}
		if many, ok := err.(*profiles.FormatErrors); ok && many.More > 0 {
			text = append(text, fmt.Sprintf("And %d more.", many.More))
		}
		fail("%s: %s", sourceOf(name), strings.Join(text, "\n  "))
	}
}

// sourceOf returns the name of what an argument reads.
func sourceOf(name string) string {
	if name == "-" {
		return "standard input"
	}
	return strconv.Quote(name)
}

// diskFile is a file as profiles.Content.
type diskFile struct {
	*os.File
	size int64
}

// Size returns the size of the file when it was opened.
func (f diskFile) Size() int64 { return f.size }

// chooseKind decides whether the chain or the operations are solved. A link says so only if the network has both.
func (in *input) chooseKind() {
	in.graph = in.link.Kind == "graph" || in.profile.Chain == nil && in.profile.Graph != nil
	switch {
	case in.graph && in.profile.Graph == nil:
		fail("%s lists no operations; it can only be taken as a chain", in.profile.Name)
	case in.link.Kind == "chain" && in.profile.Chain == nil:
		fail("%s is not a chain; it can only be taken as a graph", in.profile.Name)
	case !in.graph || in.profile.Chain == nil:
		in.link.Kind = ""
	default: // both: the operations without the chain
		operations := *in.profile
		operations.Chain = nil
		in.profile = &operations
	}
}

// open builds the preset, or takes the profile that was read.
func (in *input) open() {
	if in.link.Profile != nil {
		in.profile, in.link.Preset = in.link.Profile, ""
		in.chooseKind()
		return
	}
	if as, ok := (choice.Source{Preset: in.link.Preset}).OfKind(in.link.Kind == "graph"); ok && in.link.Kind != "" {
		in.link.Preset, in.link.Kind = as.Preset, ""
	}
	known, batch, err := preset.Parse(in.link.Preset)
	in.profile = valid(valid(known, err).Profile(batch))
	in.chooseKind()
	in.link.Preset = preset.Ref(known.ID, batch)
	in.network = proto.Network{Preset: in.link.Preset, Graph: in.graph && in.link.Kind != ""} // it has a chain, too
}

// resolve completes the choices by the rules of the page. What the page would leave out with a note is an error here.
func (in *input) resolve() {
	said := in.link.Said
	base := said.Base()
	own := in.profile.Device
	if in.network.Preset != "" || said.Device != "" || own == nil || own.ToHost <= 0 || own.ToDev <= 0 {
		own = nil
	}
	if own != nil {
		base.Device, base.ToHost, base.ToDev, base.Duplex = "", own.ToHost, own.ToDev, own.Duplex
	}
	if in.graph && base.Source.Suggestion() == nil {
		base.Strategy = choice.GraphStrategy
	}
	if said.Profile != nil {
		said.Profile = in.profile
	}
	var problems []choice.Problem
	in.choice, problems = said.Resolve(base)
	for _, p := range problems {
		if !strings.HasPrefix(p.Key, "alloc") {
			refuse(p)
		}
	}
	if in.choice.Policy != nil {
		fail("the link chooses %s, which is a policy of a framework and not a strategy's schedule; memtide plan plays it",
			in.choice.PlanName())
	}
	if said.Budget == (choice.Budget{}) && own != nil && own.Memory > 0 && choice.Usable(own.Memory) > 0 {
		in.choice.Budget = choice.Budget{Bytes: choice.Usable(own.Memory)}
	}
	if said.Strategy == "" && said.Budget == (choice.Budget{}) &&
		in.choice.Budget.Bytes >= in.profile.Totals().KeepAllPeak && base.Source.Suggestion() == nil {
		in.choice.Strategy = engine.KeepAll
	}
	in.problems = problems
	in.network.Profile = in.choice.Source.Profile
	l := &in.link
	l.Budget, l.Strategy, l.Args = in.choice.Budget, in.choice.Strategy, in.choice.Args
	if l.Transfers = ""; in.choice.Transfers != engine.Whole {
		l.Transfers = in.choice.Transfers.String()
	}
	in.setDevice(own)
}

// refuse ends the command with a problem of a choice.
func refuse(p choice.Problem) {
	switch p.Key {
	case "dev":
		fail("there is no device %q (others are told by -memory, -link and -rate); %s", p.Name, card.Like(p.Name))
	case "s":
		strategy(p.Name)
	case "s.":
		fail("%v; memtide help strategies lists the parameters", p.Err)
	case "alloc":
		fail("there is no allocator %q; known are %s", p.Name, strings.Join(allocators(), ", "))
	case "alloc.":
		fail("%v; memtide help allocators lists the parameters", p.Err)
	}
	fail("%v", p.Err)
}

// setDevice sets the device: the chosen one, or else the one on which a file was measured, or
// else the one for the times of a preset, or else the default, with the chosen rates. In the
// link it keeps only what a reader could not infer. own is the device of the file, or nil.
func (in *input) setDevice(own *engine.Device) {
	c, l := &in.choice, &in.link
	if own != nil {
		in.device, in.deviceID = *own, ""
	} else {
		d := c.GPU()
		if d == nil || l.Device != "" {
			d = card.Lookup(cmp.Or(l.Device, card.DefaultID))
		}
		in.deviceID, in.device = d.ID, d.Device
	}
	listed := in.device
	in.device.ToDev, in.device.ToHost, in.device.Duplex = c.ToDev, c.ToHost, c.Duplex
	l.ToDev, l.ToHost, l.Duplex = 0, 0, ""
	usual := (&choice.Said{Preset: l.Preset}).Base().Device
	if l.Device = in.deviceID; l.Device == card.DefaultID && usual == card.DefaultID {
		l.Device = ""
	}
	if c.Duplex != listed.Duplex || own != nil && c.Duplex != engine.HalfDuplex {
		l.Duplex = c.Duplex.String()
	}
	if own != nil || c.ToDev != listed.ToDev || c.ToHost != listed.ToHost {
		in.deviceID = ""
		l.ToDev, l.ToHost = c.ToDev, c.ToHost
	}
}

// strategy returns a strategy; the error for an unknown name lists the known ones.
func strategy(name string) *engine.Strategy {
	if s := engine.Lookup(name); s != nil {
		return s
	}
	var known []string
	for _, s := range engine.Strategies() {
		known = append(known, s.Name)
	}
	fail("there is no strategy %q; known are %s", name, strings.Join(known, ", "))
	return nil
}

// setting returns the network and the device for requests.
func (in *input) setting() proto.Setting {
	return proto.Setting{Network: in.network, Device: in.device, Transfers: in.choice.Transfers}
}

// method returns the strategy with its arguments for requests.
func (in *input) method() proto.Method {
	return proto.Method{Strategy: in.choice.Strategy, Args: in.choice.Args}
}

func (in *input) title() string { return engine.Lookup(in.choice.Strategy).Title }

// problem returns the solved problem, for drawing.
func (in *input) problem(budget engine.Bytes) *engine.Problem {
	if !in.graph {
		return engine.NewChainProblem(in.profile.Chain, in.device, in.choice.Transfers, budget)
	}
	return &engine.Problem{Graph: in.profile.Graph, Device: in.device, Transfers: in.choice.Transfers, Budget: budget}
}
