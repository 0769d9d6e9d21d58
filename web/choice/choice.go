// Package choice is what a person decides about a schedule: the network, the
// strategy, the budget, the device and its interconnect, and the allocator. The
// page, links, the protocol of the workers and the command line take it from here.
package choice

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/preset"
)

// What holds by default, on the page and on the command line:
// GraphStrategy for networks that are no chain where the plan of a chain does not apply,
// DefaultAllocator for an address view that has just been opened.
const (
	DefaultPreset    = "resnet101-b32"
	DefaultStrategy  = "rotor"
	GraphStrategy    = "window"
	DefaultAllocator = "best-fit"
)

// The network and the device of Example.
const (
	ExamplePreset = "llama3-8b-step-6144tok-program.torchtune-lora.16-on-rtx-4090-b1"
	ExampleDevice = "rtx-4090"
)

// Recorded is the allocator of what a file says about addresses.
const Recorded = "recorded"

// Source says where the profile comes from: a preset, or a file.
type Source struct {
	Preset  string          // "resnet101-b32"; empty if it is a file
	File    string          // name of the file, for people
	Profile json.RawMessage // canonical profile of a file
	Ops     string          // the operators that it is derived from, as profiles.Profile.Packed; empty: there are none
	// Decoded is what Profile holds, of a link that has just been read: nobody decodes it again.
	Decoded *profiles.Profile

	key string // of Profile, once it is known: it may be megabytes
}

// Read returns the source with the canonical profile that was read from it.
func (s Source) Read(profile []byte) Source {
	s.Profile, s.key = profile, fingerprint(profile)
	return s
}

// fingerprint tells profiles apart without keeping them: equal ones have equal
// fingerprints, others but for one in 2^64 have not.
func fingerprint(profile []byte) string {
	return fmt.Sprintf("%d:%x", len(profile), maphash.Bytes(seed, profile))
}

var seed = maphash.MakeSeed()

// Same reports whether two sources hold the same profile, whatever it is called.
func (s Source) Same(t Source) bool {
	return s.Preset == t.Preset && string(s.Profile) == string(t.Profile)
}

// Suggestion returns how the preset of a source is best seen, or nil if it does not say,
// or if the source is a file.
func (s Source) Suggestion() *preset.Suggestion {
	if p, _, err := preset.Parse(s.Preset); err == nil {
		return p.Suggest
	}
	return nil
}

// Variant returns the preset of a source as it is listed, with everything that the
// source chooses about it, or nil if the source is a file.
func (s Source) Variant() (*preset.Preset, preset.Options) {
	p, batch, err := preset.Parse(s.Preset)
	if err != nil {
		return nil, preset.Options{}
	}
	o := p.Options()
	o.Batch = batch
	return p.Base(), o
}

// OfKind returns the source as its operations, or as its layers: of a preset that has operators
// the variant that is; no preset is both. ok is false for any other source.
func (s Source) OfKind(graph bool) (as Source, ok bool) {
	base, o := s.Variant()
	if base == nil || !base.Operators() {
		return s, false
	}
	o.Graph = graph
	p, err := base.With(o)
	if err != nil {
		return s, false
	}
	return Source{Preset: preset.Ref(p.ID, o.Batch)}, true
}

// Choice is everything a person decides about a schedule. It is what a link
// carries, and what Back restores.
type Choice struct {
	Source    Source
	Graph     bool   // of a network that is both, the graph of operations instead of the chain
	Device    string // name in the list of devices; empty if the rates are the person's own
	ToHost    engine.Rate
	ToDev     engine.Rate
	Duplex    engine.Duplex
	Transfers engine.Transfers
	Budget    Budget
	Strategy  string
	Args      engine.Args // only what differs from the defaults
	Unplanned bool        // the strategy was not chosen: it gives way where everything fits
	Alloc     string      // allocator of the address view; empty: it is closed, or shows what a file says
	AllocArgs engine.Args // only what differs from the defaults

	Step     string      // see Said.Step; the rest is then not looked at
	StepArgs engine.Args // only what differs from the defaults
}

// Default returns what links and the command line mean where they say nothing.
func Default() Choice {
	c := Choice{Source: Source{Preset: DefaultPreset}, Strategy: DefaultStrategy, Unplanned: true}.On(card.Default())
	c.Budget = c.Room()
	return c
}

// Example returns what the page opens where its address says nothing: a network that does
// not fit with everything kept, on a device of today. Links say what of it differs
// from Default, so that they mean the same when the example changes.
func Example() Choice {
	c := Default().On(card.Lookup(ExampleDevice))
	c.Source, c.Strategy = Source{Preset: ExamplePreset}, "pofo"
	return c
}

// On is c with the link of a device to its host.
func (c Choice) On(d *card.Card) Choice {
	roomy := c.Roomy()
	if c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex; roomy {
		c.Budget = c.Room()
	}
	return c
}

// Timed is c on the card that the times of its preset are for; c itself where it has none.
func (c Choice) Timed() Choice {
	if base, o := c.Source.Variant(); base != nil && base.Operators() {
		return c.On(card.Lookup(o.Device))
	}
	return c
}

// Room returns the budget where none was chosen: what a plan may use of the card, that of the default where none is
// meant.
func (c Choice) Room() Budget {
	d := c.GPU()
	if d == nil || Usable(d.Memory) == 0 {
		d = card.Default()
	}
	return Budget{Bytes: Usable(d.Memory)}
}

// Roomy reports whether the budget was not chosen.
func (c Choice) Roomy() bool { return c.Budget == c.Room() }

// GPU returns the device of a choice: the one that its link is of or, where the rates of
// the link are the person's own, the one that its times are for, or nil if neither is
// known.
func (c Choice) GPU() *card.Card {
	if d := card.Lookup(c.Device); d != nil {
		return d
	}
	if base, o := c.Source.Variant(); base != nil && base.Operators() {
		return card.Lookup(o.Device)
	}
	return nil
}

// Suggested is c with what its preset suggests.
func (c Choice) Suggested() Choice {
	s := c.Source.Suggestion()
	if s == nil {
		return c
	}
	c.Strategy, c.Args, c.Budget, c.Transfers, c.Unplanned = s.Strategy, nil, Budget{Bytes: s.Budget},
		engine.Whole, false
	if s.Link > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", s.Link, s.Link, engine.HalfDuplex
	}
	return c
}

// Moved is c for another source: with what that suggests, and without what only
// the old one suggested.
func (c Choice) Moved(to Source) Choice {
	if s := c.Source.Suggestion(); s != nil {
		if c.Strategy == s.Strategy {
			c.Strategy, c.Args, c.Unplanned = DefaultStrategy, nil, true
		}
		if s.Link > 0 && c.Device == "" && c.ToHost == s.Link && c.ToDev == s.Link {
			c = c.On(card.Default())
		}
	}
	c.Source, c.Graph, c.Step, c.StepArgs = to, false, "", nil
	c.Budget = c.Room()
	return c.Suggested()
}

// Equal reports whether two choices ask for the same thing.
func (c Choice) Equal(d Choice) bool {
	return c.key() == d.key() && c.Device == d.Device
}

// SameButBudget reports whether two choices differ at most in the budget.
func (c Choice) SameButBudget(d Choice) bool {
	return c.SettingKey() == d.SettingKey() && c.MethodKey() == d.MethodKey()
}

// SettingKey identifies all that a trade-off curve depends on, except for the
// arguments of its strategies.
func (c Choice) SettingKey() string {
	source := c.Source.Preset
	if source == "" {
		if source = c.Source.key; source == "" {
			source = fingerprint(c.Source.Profile)
		}
	}
	return fmt.Sprintf("%s|%t|%d|%d|%s|%s", source, c.Graph, c.ToHost, c.ToDev, c.Duplex, c.Transfers)
}

// MethodKey identifies the strategy and its arguments.
func (c Choice) MethodKey() string { return MethodKey(c.Strategy, c.Args) }

func (c Choice) key() string {
	return fmt.Sprintf("%s|%s|%d|%d|%s", c.SettingKey(), c.MethodKey(), c.Budget.Bytes, c.Budget.Share, c.StepKey())
}

// StepKey identifies the training step that is asked about.
func (c Choice) StepKey() string { return MethodKey(c.Step, c.StepArgs) }

// MethodKey identifies a strategy or an allocator with its arguments.
func MethodKey(name string, args engine.Args) string {
	var b strings.Builder
	b.WriteString(name)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		fmt.Fprintf(&b, ",%s=%s", name, args[name])
	}
	return b.String()
}

// WithArg returns a copy of the arguments of a strategy or an allocator in which name has a value; the
// default is left out, so that equal choices have equal links.
func WithArg(params []engine.Param, args engine.Args, name, value string) engine.Args {
	out := maps.Clone(args)
	if out == nil {
		out = engine.Args{}
	}
	out[name] = value
	for i := range params {
		if p := &params[i]; p.Name == name && p.Default == value {
			delete(out, name)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Fitted returns c with the plan for a network of the given number of stages, 0 for a graph, that needs all bytes
// to keep everything. If the plan was not chosen by a person, it becomes keeping everything if that fits, and else
// the best plan that is found quickly. With a budget that a person chose the plan stays, unless it is to keep
// everything and that does not fit.
func (c Choice) Fitted(all engine.Bytes, stages int) Choice {
	if !c.Unplanned {
		return c
	}
	switch fits := all <= c.Budget.Of(all); {
	case fits && c.Roomy():
		c.Strategy, c.Args = engine.KeepAll, nil
	case !fits && (c.Roomy() || c.Strategy == engine.KeepAll):
		c.Strategy, c.Args = c.best(stages), nil
	}
	return c
}

// quickStages is the longest chain for which the best strategy answers within about a second.
const quickStages = 128

// best returns the strategy for a network of the given number of stages, 0 for a graph, when no strategy was chosen.
func (c Choice) best(stages int) string {
	switch {
	case stages == 0:
		return engine.Ranked(true)[0].Name
	case stages > quickStages || c.ToHost <= 0 || c.ToDev <= 0:
		return DefaultStrategy
	}
	return engine.Ranked(false)[0].Name
}

// Otherwise is c with what a program does that was told nothing of plans: it keeps everything where that fits, else
// it runs
// blocks again by a fixed rule. It is never what c does.
func (c Choice) Otherwise(all engine.Bytes, graph bool) Choice {
	was := c.Strategy
	c.Unplanned, c.Args = false, nil
	switch {
	case was != engine.KeepAll && all <= c.Budget.Of(all):
		c.Strategy = engine.KeepAll
	case graph && was != fixedGraph:
		c.Strategy = fixedGraph
	case !graph && was != fixedChain:
		c.Strategy = fixedChain
	case graph:
		c.Strategy = GraphStrategy
	default:
		c.Strategy = DefaultStrategy
	}
	return c
}

// The rules by which programs run a chain, and a graph, again where no plan is made.
const (
	fixedChain = "layerwise"
	fixedGraph = "dtr"
)
