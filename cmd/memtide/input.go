//go:build !js

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/link"
)

// input is a choice that has been understood: the network has been read and
// every name in it is known.
type input struct {
	profile  *profiles.Profile
	network  proto.Network
	graph    bool             // the operations are solved, not the chain
	choice   choice.Choice    // what is asked about it
	problems []choice.Problem // of its allocator, which most commands do without
	link     link.Link        // all that was chosen, canonical
	device   engine.Device
	deviceID string // empty if the rates are not those of a listed device
}

// read understands the flags and reads the network: args are the arguments
// besides the flags.
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
	switch {
	case c.from != "":
		in.link = c.oneSide(e, parseLink(e, c.from))
	case c.preset != "":
		in.link.Preset = c.preset
	default:
		in.link.Profile = readDevice(ctx, e, args[0], profiles.AnyDevice)
	}
	in.link.Take(&c.flags)
	if c.addresses && in.link.Profile != nil && in.link.Profile.Memory != nil {
		in.profile = in.link.Profile
		return in
	}
	in.open()
	in.resolve()
	return in
}

// readDevice decodes what a file says about a device, or the standard input for "-".
func readDevice(ctx context.Context, e *env, name string, device int) *profiles.Profile {
	if name != "-" {
		p, err := readWhereItLies(ctx, name, device)
		switch path := (*os.PathError)(nil); {
		case errors.As(err, &path):
			fail("%q: %v", name, path.Err)
		case errors.Is(err, errInterrupted):
			cli.Fail("%q: %w", name, err)
		case err != nil:
			fail("%q: %s", name, explain(err))
		}
		return p
	}
	p, err := readStream(ctx, "", device, func() (io.ReadCloser, error) { return io.NopCloser(e.stdin), nil })
	switch {
	case errors.Is(err, errInterrupted):
		cli.Fail("standard input: %w", err)
	case err != nil:
		fail("standard input: %s", explain(err))
	}
	return p
}

var errInterrupted = errors.New("reading was interrupted before its end")

// readStream decodes what has no size and cannot be read twice. Who writes it may
// take for ever, which the context ends, and nothing else can: a read that waits is
// left behind.
func readStream(ctx context.Context, name string, device int, open func() (io.ReadCloser, error)) (*profiles.Profile, error) {
	type content struct {
		data []byte
		err  error
	}
	all := make(chan content, 1)
	go func() {
		r, err := open()
		if err != nil {
			all <- content{nil, err}
			return
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, profiles.MaxSize+1))
		all <- content{data, err}
	}()
	select {
	case c := <-all:
		if c.err != nil {
			return nil, c.err
		}
		return profiles.DecodeDevice(name, profiles.Bytes(c.data), device, nil)
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

// diskFile is a file as profiles.Content.
type diskFile struct {
	*os.File
	size int64
}

func (f diskFile) Size() int64 { return f.size }

// readWhereItLies decodes a file without holding all of it, if its format can.
func readWhereItLies(ctx context.Context, name string, device int) (*profiles.Profile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for who writes into it
		return readStream(ctx, name, device, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return profiles.DecodeDevice(name, diskFile{f, info.Size()}, device, nil)
}

// explain writes what is wrong with a file: place, what was found, what was
// expected and what to do, one line per problem.
func explain(err error) string {
	problems := profiles.Problems(err)
	if len(problems) == 0 {
		return err.Error()
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error()+" "+p.Remedy)
	}
	if many, ok := err.(*profiles.FormatErrors); ok && many.More > 0 {
		lines = append(lines, fmt.Sprintf("And %d more.", many.More))
	}
	return strings.Join(lines, "\n  ")
}

// chooseKind settles whether the chain or the operations are solved. A link says
// so only where there is a choice.
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
	in.network = proto.Network{Preset: in.link.Preset, Graph: in.graph && in.link.Kind != ""} // there is a chain, too
}

// resolve makes the choice of what was said: by the rules of the page, but what the
// page would tell and leave out is an error here.
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
	in.problems = problems
	in.network.Profile = in.choice.Source.Profile
	l := &in.link
	l.Budget, l.Strategy, l.Args = in.choice.Budget, in.choice.Strategy, in.choice.Args
	if l.Transfers = ""; in.choice.Transfers != engine.Whole {
		l.Transfers = in.choice.Transfers.String()
	}
	in.setDevice(own)
}

// refuse says what is wrong with what was said.
func refuse(p choice.Problem) {
	switch p.Key {
	case "dev":
		fail("there is no device %q; known are %s", p.Name, strings.Join(deviceIDs(), ", "))
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

// setDevice settles the device: the one named, else the one that a file was measured
// on, else the default, with the rates that were chosen. The link is left with what a
// reader cannot know otherwise.
func (in *input) setDevice(own *engine.Device) {
	c, l := &in.choice, &in.link
	if own != nil {
		in.device, in.deviceID = *own, ""
	} else {
		in.deviceID = cmp.Or(l.Device, preset.DefaultDeviceID)
		in.device = preset.LookupDevice(in.deviceID).Device
	}
	listed := in.device
	in.device.ToDev, in.device.ToHost, in.device.Duplex = c.ToDev, c.ToHost, c.Duplex
	l.ToDev, l.ToHost, l.Duplex = 0, 0, ""
	if l.Device = in.deviceID; l.Device == preset.DefaultDeviceID {
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

func deviceIDs() []string {
	var ids []string
	for _, d := range preset.Devices() {
		ids = append(ids, d.ID)
	}
	return ids
}

// strategy finds a strategy; the error lists those that there are.
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

// setting is the input as requests want it.
func (in *input) setting() proto.Setting {
	return proto.Setting{Network: in.network, Device: in.device, Transfers: in.choice.Transfers}
}

// method is the strategy with its arguments as requests want it.
func (in *input) method() proto.Method {
	return proto.Method{Strategy: in.choice.Strategy, Args: in.choice.Args}
}

// title is that of the strategy.
func (in *input) title() string { return engine.Lookup(in.choice.Strategy).Title }

// problem is what was solved, for drawing it.
func (in *input) problem(budget engine.Bytes) *engine.Problem {
	if !in.graph {
		return engine.NewChainProblem(in.profile.Chain, in.device, in.choice.Transfers, budget)
	}
	return &engine.Problem{Graph: in.profile.Graph, Device: in.device, Transfers: in.choice.Transfers, Budget: budget}
}
