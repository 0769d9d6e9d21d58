//go:build !js

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"memtide/cmd/cli"
	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/link"
)

// What is used where neither flags nor link say anything: as on the page.
const (
	defaultStrategy = "rotor"
	graphStrategy   = "window"
)

var defaultBudget = link.Budget{Percent: 60}

// input is a choice that has been understood: the network has been read and
// every name in it is known.
type input struct {
	profile  *profiles.Profile
	network  proto.Network
	graph    bool      // the operations are solved, not the chain
	link     link.Link // all that was chosen, canonical
	device   engine.Device
	deviceID string // empty if the rates are not those of a listed device
	method   proto.Method
	title    string // of the strategy
}

// read understands the flags and reads the network: args are the arguments
// besides the flags.
func (c *choice) read(ctx context.Context, e *env, args []string) (*input, error) {
	if len(args) > 1 {
		return nil, bad("one file at a time; got %s", cli.Quoted(args))
	}
	sources := len(args)
	for _, s := range []string{c.preset, c.from} {
		if s != "" {
			sources++
		}
	}
	switch {
	case sources == 0:
		return nil, bad("there is no network; name a FILE, -preset resnet101-b32 or -from LINK")
	case sources > 1:
		return nil, bad("there is more than one network; name either a FILE, or -preset, or -from")
	case c.side != "" && c.from == "":
		return nil, bad("-side %s is about a link that compares two, and there is no -from", c.side)
	}
	in := &input{}
	var err error
	switch {
	case c.from != "":
		if in.link, err = parseLink(e, c.from); err == nil {
			in.link, err = c.oneSide(e, in.link)
		}
	case c.preset != "":
		in.link.Preset = c.preset
	default:
		in.link.Profile, err = readFile(ctx, e, args[0])
	}
	if err != nil {
		return nil, err
	}
	in.link = override(in.link, c.flags)
	for _, step := range []func() error{in.open, in.chooseDevice, in.chooseStrategy} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if in.link.Budget == (link.Budget{}) {
		in.link.Budget = defaultBudget
	}
	return in, nil
}

// readFile decodes a file, or the standard input for "-".
func readFile(ctx context.Context, e *env, name string) (*profiles.Profile, error) {
	if name != "-" {
		p, err := readWhereItLies(ctx, name)
		switch path := (*os.PathError)(nil); {
		case errors.As(err, &path):
			return nil, bad("%q: %v", name, path.Err)
		case errors.Is(err, errInterrupted):
			return nil, fmt.Errorf("%q: %w", name, err)
		case err != nil:
			return nil, bad("%q: %s", name, explain(err))
		}
		return p, nil
	}
	p, err := readStream(ctx, "", func() (io.ReadCloser, error) { return io.NopCloser(e.stdin), nil })
	switch {
	case errors.Is(err, errInterrupted):
		return nil, fmt.Errorf("standard input: %w", err)
	case err != nil:
		return nil, bad("standard input: %s", explain(err))
	}
	return p, nil
}

var errInterrupted = errors.New("reading was interrupted before its end")

// readStream decodes what has no size and cannot be read twice. Who writes it may
// take for ever, which the context ends, and nothing else can: a read that waits is
// left behind.
func readStream(ctx context.Context, name string, open func() (io.ReadCloser, error)) (*profiles.Profile, error) {
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
		return profiles.Decode(name, profiles.Bytes(c.data), nil)
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
func readWhereItLies(ctx context.Context, name string) (*profiles.Profile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe waits for who writes into it
		return readStream(ctx, name, func() (io.ReadCloser, error) { return os.Open(name) })
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return profiles.Decode(name, diskFile{f, info.Size()}, nil)
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

// suggest takes over what a preset that tells a story suggests, where the flags
// and the link say nothing.
func (in *input) suggest(s *preset.Suggestion) {
	if s == nil {
		return
	}
	l := &in.link
	if l.Strategy == "" {
		l.Strategy = s.Strategy
	}
	if l.Budget == (link.Budget{}) {
		l.Budget.Bytes = s.Budget
	}
	if l.Device == "" && l.ToDev == 0 && l.ToHost == 0 && s.Link > 0 {
		l.ToDev, l.ToHost = s.Link, s.Link
	}
}

// chooseKind settles whether the chain or the operations are solved. A link says
// so only where there is a choice.
func (in *input) chooseKind() error {
	in.graph = in.link.Kind == "graph" || in.profile.Chain == nil && in.profile.Graph != nil
	switch {
	case in.graph && in.profile.Graph == nil:
		return bad("%s lists no operations; it can only be taken as a chain", in.profile.Name)
	case in.link.Kind == "chain" && in.profile.Chain == nil:
		return bad("%s is not a chain; it can only be taken as a graph", in.profile.Name)
	case !in.graph || in.profile.Chain == nil:
		in.link.Kind = ""
	default: // both: the operations without the chain
		operations := *in.profile
		operations.Chain = nil
		in.profile = &operations
	}
	return nil
}

// open builds the preset or writes down the profile, as requests name it.
func (in *input) open() error {
	if in.link.Profile != nil {
		in.profile, in.link.Preset = in.link.Profile, ""
		if err := in.chooseKind(); err != nil {
			return err
		}
		var file bytes.Buffer
		if err := native.Encode(&file, in.profile); err != nil {
			return bad("%v", err)
		}
		in.network.Profile = json.RawMessage(file.Bytes())
		return nil
	}
	known, batch, err := preset.Parse(in.link.Preset)
	if err != nil {
		return bad("%v", err)
	}
	if in.profile, err = known.Profile(batch); err != nil {
		return bad("%v", err)
	}
	if err := in.chooseKind(); err != nil {
		return err
	}
	in.network.Graph = in.graph && in.link.Kind != "" // there is a chain, too
	in.suggest(known.Suggest)
	in.link.Preset = preset.Ref(known.ID, batch)
	in.network.Preset = in.link.Preset
	return nil
}

// chooseDevice settles the rates: those given, else those of the device given,
// else those of the device that a file was measured on, else the default's. The
// link is left with what a reader cannot know otherwise.
func (in *input) chooseDevice() error {
	l := &in.link
	id := l.Device
	own := in.profile.Device
	if id == "" && in.network.Preset == "" && own != nil && own.ToHost > 0 && own.ToDev > 0 {
		in.device = *own
	} else {
		if id == "" {
			id = preset.DefaultDeviceID
		}
		d := preset.LookupDevice(id)
		if d == nil {
			return bad("there is no device %q; known are %s", l.Device, strings.Join(deviceIDs(), ", "))
		}
		in.device = d.Device
	}
	listed := in.device
	if l.ToDev > 0 {
		in.device.ToDev, in.device.ToHost = l.ToDev, l.ToDev
	}
	if l.ToHost > 0 {
		in.device.ToHost = l.ToHost
	}
	if l.Duplex != "" {
		in.device.Duplex = map[string]engine.Duplex{"half": engine.HalfDuplex, "full": engine.FullDuplex}[l.Duplex]
	}
	in.deviceID = id
	l.Device, l.ToDev, l.ToHost, l.Duplex = "", 0, 0, ""
	if id != "" && id != preset.DefaultDeviceID {
		l.Device = id
	}
	rates := in.device.ToDev != listed.ToDev || in.device.ToHost != listed.ToHost
	if rates || id == "" {
		in.deviceID = ""
		l.ToDev, l.ToHost = in.device.ToDev, in.device.ToHost
	}
	if in.device.Duplex != listed.Duplex || id == "" && in.device.Duplex != engine.HalfDuplex {
		l.Duplex = in.device.Duplex.String()
	}
	if l.Transfers == engine.Whole.String() {
		l.Transfers = ""
	}
	return nil
}

func deviceIDs() []string {
	var ids []string
	for _, d := range preset.Devices() {
		ids = append(ids, d.ID)
	}
	return ids
}

// chooseStrategy checks the strategy and its parameters; those that have their
// default are left out of the link.
func (in *input) chooseStrategy() error {
	l := &in.link
	if l.Strategy == "" {
		if l.Strategy = defaultStrategy; in.graph {
			l.Strategy = graphStrategy
		}
	}
	s, err := strategy(l.Strategy)
	if err != nil {
		return err
	}
	if _, err := s.Parse(l.Args); err != nil {
		return bad("%v; memtide help strategies lists the parameters", err)
	}
	given := engine.Args{}
	for _, p := range s.Params {
		if v, ok := l.Args[p.Name]; ok && v != p.Default {
			given[p.Name] = v
		}
	}
	if l.Args = nil; len(given) > 0 {
		l.Args = given
	}
	in.method = proto.Method{Strategy: s.Name, Args: l.Args}
	in.title = s.Title
	return nil
}

// strategy finds a strategy; the error lists those that there are.
func strategy(name string) (*engine.Strategy, error) {
	if s := engine.Lookup(name); s != nil {
		return s, nil
	}
	var known []string
	for _, s := range engine.Strategies() {
		known = append(known, s.Name)
	}
	return nil, bad("there is no strategy %q; known are %s", name, strings.Join(known, ", "))
}

// setting is the input as requests want it.
func (in *input) setting() proto.Setting {
	return proto.Setting{Network: in.network, Device: in.device, Transfers: in.transfers()}
}

func (in *input) transfers() engine.Transfers {
	if in.link.Transfers == engine.Streamed.String() {
		return engine.Streamed
	}
	return engine.Whole
}

// budget is a budget as requests want it. Shares finer than a hundredth of a
// per cent are resolved here.
func (in *input) budget(b link.Budget) proto.Budget {
	if b.Bytes > 0 {
		return proto.Budget{Bytes: b.Bytes}
	}
	points := math.Round(b.Percent * 100)
	if in.graph { // what keeping everything needs is known only when it has been played
		return proto.Budget{BasisPoints: int(max(points, 1))}
	}
	if points < 1 || math.Abs(points-b.Percent*100) > 1e-9*points {
		return proto.Budget{Bytes: max(b.Of(in.profile.Totals().KeepAllPeak), 1)}
	}
	return proto.Budget{BasisPoints: int(points)}
}

// problem is what was solved, for drawing it.
func (in *input) problem(budget engine.Bytes) *engine.Problem {
	if !in.graph {
		return engine.NewChainProblem(in.profile.Chain, in.device, in.transfers(), budget)
	}
	return &engine.Problem{Graph: in.profile.Graph, Device: in.device, Transfers: in.transfers(), Budget: budget}
}
