// Package choice defines what a person chooses about a schedule: the network, the
// strategy, the budget, the device and its interconnect, and the allocator. The
// page, links, the protocol of the workers and the command line share its types.
package choice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
)

// The defaults of the page and the command line.
const (
	DefaultPreset    = "resnet101-b32"
	DefaultStrategy  = "rotor"
	GraphStrategy    = "window"   // for graphs, to which DefaultStrategy does not apply
	DefaultAllocator = "best-fit" // of the address view when it is opened
)

// The network and the device of Example.
const (
	ExamplePreset = "llama3-8b-step-program.torchtune-lora.16-on-rtx-4090-b1"
	ExampleDevice = "rtx-4090"
)

// Recorded is the name of the allocator whose placement a file itself contains.
const Recorded = "recorded"

// Source is where the profile comes from: a preset, or a file.
type Source struct {
	Preset  string          // "resnet101-b32"; empty for a file
	File    string          // name of the file, for people
	Profile json.RawMessage // canonical profile of a file
	Ops     string          // operators that Profile is derived from, as profiles.Profile.Packed; empty if none
	// Decoded is the decoded Profile if it comes from a link, so that it is not decoded again.
	Decoded *profiles.Profile
	// Model is the text of the config.json whose training step with Options of package ask the profile is; empty
	// for other files.
	Model   string
	Options engine.Args

	key string // fingerprint of Profile, which may be megabytes; empty if not computed yet
}

// Read returns s with the canonical profile that was read from the file.
func (s Source) Read(profile []byte) Source {
	s.Profile, s.key = profile, fingerprint(profile)
	return s
}

// fingerprint returns a short key of a profile. Equal profiles have equal keys; different
// ones have different keys except with a probability of 2^-64.
func fingerprint(profile []byte) string {
	return fmt.Sprintf("%d:%x", len(profile), maphash.Bytes(seed, profile))
}

var seed = maphash.MakeSeed()

// Same reports whether two sources hold the same profile. The names of files do not matter.
func (s Source) Same(t Source) bool {
	if s.Model != "" || t.Model != "" {
		return MethodKey(s.Model, s.Options) == MethodKey(t.Model, t.Options)
	}
	return s.Preset == t.Preset && string(s.Profile) == string(t.Profile)
}

// Suggestion returns the settings that the preset of a source suggests, or nil if it has none
// or if the source is a file.
func (s Source) Suggestion() *preset.Suggestion {
	if p, _, err := preset.Parse(s.Preset); err == nil {
		return p.Suggest
	}
	return nil
}

// Variant returns the listed preset that a source is a variant of, and the options that the
// source chooses for it. The preset is nil if the source is a file.
func (s Source) Variant() (*preset.Preset, preset.Options) {
	p, batch, err := preset.Parse(s.Preset)
	if err != nil {
		return nil, preset.Options{}
	}
	o := p.Options()
	o.Batch = batch
	return p.Base(), o
}

// Step returns the training step of a language model that the source is, with its options of package ask. ok is false
// for other sources, and if no options describe the times or the precision.
func (s Source) Step() (model string, args engine.Args, ok bool) {
	if s.Model != "" {
		return s.Model, s.Options, true
	}
	base, o := s.Variant()
	if base == nil || base.Model() == nil || card.Lookup(o.Device) == nil || o.Efficiency > 0 ||
		o.Precision != base.Options().Precision {
		return "", nil, false
	}
	args = preset.StepArgs(o.Step)
	args["batch"], args["seq"], args["device"] = strconv.Itoa(o.Batch), strconv.Itoa(o.Tokens), o.Device
	return base.Model().ID, ask.Plain(args), true
}

// OfKind returns the variant of a preset with operators that is a graph of operations or, if graph
// is false, a chain of layers. ok is false for all other sources.
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

// Choice is everything a person chooses about a schedule. A link contains it, and the browser's Back restores it.
type Choice struct {
	Source    Source
	Graph     bool   // use the graph of operations of a profile that also has a chain
	Device    string // id in the list of devices; empty if none is chosen. The rates may be others: see Linked
	ToHost    engine.Rate
	ToDev     engine.Rate
	Duplex    engine.Duplex
	Transfers engine.Transfers
	Budget    Budget
	Strategy  string
	Args      engine.Args // without default values
	Unplanned bool        // no person chose the strategy, so that Fitted may replace it
	Policy    engine.Args // of a language model's step: see preset.Split; without default values
	Alloc     string      // allocator of the address view; empty if it is closed or shows the placement of a file
	AllocArgs engine.Args // without default values

	Step     string      // see Said.Step; if not empty, the other fields do not count
	StepArgs engine.Args // without default values
}

// Default returns the choice of links and command lines that say nothing.
func Default() Choice {
	c := Choice{Source: Source{Preset: DefaultPreset}, Strategy: DefaultStrategy, Unplanned: true}.On(card.Default())
	c.Budget = c.Room()
	return c
}

// Example returns the choice of the page when its address is empty: a network that does not fit with everything kept,
// on a current device. Links are relative to Default, so that they keep their meaning when the example changes.
func Example() Choice {
	c := Default().On(card.Lookup(ExampleDevice))
	c.Source, c.Strategy = Source{Preset: ExamplePreset}, "pofo"
	return c
}

// On returns c with the host link of a device. A budget that was not chosen becomes the room on the device.
func (c Choice) On(d *card.Card) Choice {
	roomy := c.Roomy()
	if c.Device, c.ToHost, c.ToDev, c.Duplex = d.ID, d.ToHost, d.ToDev, d.Duplex; roomy {
		c.Budget = c.Room()
	}
	return c
}

// Timed returns c on the card that the times of its preset are for, or c if there is none.
func (c Choice) Timed() Choice {
	if base, o := c.Source.Variant(); base != nil && base.Operators() {
		return c.On(card.Lookup(o.Device))
	}
	return c
}

// Room returns the budget when none was chosen: the memory that a plan may use of the card, or of the default card if
// c has none.
func (c Choice) Room() Budget {
	d := c.GPU()
	if d == nil || c.Usable(d.Memory) == 0 {
		d = card.Default()
	}
	return Budget{Bytes: c.Usable(d.Memory)}
}

// Context returns what c says that CUDA, collectives and an engine for rollouts take of each card, by default Context.
func (c Choice) Context() engine.Bytes {
	args := c.Source.Options
	if _, o := c.Source.Variant(); o.Step != "" {
		args = preset.StepArgs(o.Step)
	}
	stated, _ := strconv.Atoi(ask.Value(args, ask.Context))
	rollout, _ := strconv.Atoi(ask.Value(args, "rollout"))
	return engine.Bytes(stated)*engine.MiB + engine.Bytes(rollout)*engine.GiB
}

// Reserved is like the function Reserved with what c says about Context.
func (c Choice) Reserved(peak engine.Bytes) engine.Bytes {
	return Reserved(peak) - Context + c.Context()
}

// Usable is like the function Usable with what c says about Context.
func (c Choice) Usable(memory engine.Bytes) engine.Bytes {
	return Usable(memory + Context - c.Context())
}

// Roomy reports whether the budget is Room, which means that it was not chosen.
func (c Choice) Roomy() bool { return c.Budget == c.Room() }

// Linked reports whether the rates of the link are those of the chosen device. A person can choose others.
func (c Choice) Linked() bool {
	d := card.Lookup(c.Device)
	return d != nil && d.ToHost == c.ToHost && d.ToDev == c.ToDev
}

// GPU returns the device of a choice or, if none is chosen, the device that the times of its preset are for. It returns
// nil if neither is known.
func (c Choice) GPU() *card.Card {
	if d := card.Lookup(c.Device); d != nil {
		return d
	}
	if base, o := c.Source.Variant(); base != nil && base.Operators() {
		return card.Lookup(o.Device)
	}
	return nil
}

// Suggested returns c with the settings that its preset suggests.
func (c Choice) Suggested() Choice {
	s := c.Source.Suggestion()
	if s == nil {
		return c
	}
	c = c.By(s.Strategy, nil)
	c.Budget, c.Transfers = Budget{Bytes: s.Budget}, engine.Whole
	if s.Link > 0 {
		c.Device, c.ToHost, c.ToDev, c.Duplex = "", s.Link, s.Link, engine.HalfDuplex
	}
	return c
}

// Moved returns c for another source, with the settings that it suggests and without those
// that the old source suggested.
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
	if _, _, ok := to.Step(); !ok {
		c.Policy = nil
	}
	c.Budget = c.Room()
	return c.Suggested()
}

// Planned returns the choice of the same step as a network on the same card, for which a strategy makes the plan,
// unless a policy is chosen. ok is false if c is no step, or if no strategy can plan it.
func (c Choice) Planned(strategy string) (out Choice, ok bool) {
	rest, policy, ok := preset.Split(c.StepArgs)
	ref, listed := preset.StepRef(c.Step, rest)
	if !ok || !listed {
		return c, false
	}
	out = c.Moved(Source{Preset: ref}).Timed()
	if out = out.By(strategy, nil); strategy == "" {
		out.Strategy, out.Unplanned = DefaultStrategy, true
	}
	return out.Under(policy), true
}

// Under returns c under a policy, which keeps everything that the policy leaves, or c itself if policy is nil.
func (c Choice) Under(policy engine.Args) Choice {
	if policy != nil {
		c.Strategy, c.Args, c.Unplanned, c.Policy, c.Graph = engine.KeepAll, nil, false, policy, false
		if as, ok := c.Source.OfKind(false); ok { // blocks are a chain
			c.Source = as
		}
	}
	return c
}

// By returns c with another strategy and its arguments, and without a policy.
func (c Choice) By(strategy string, args engine.Args) Choice {
	c.Strategy, c.Args, c.Unplanned, c.Policy = strategy, args, false, nil
	return c
}

// KeepsAll reports whether the choice keeps everything.
func (c Choice) KeepsAll() bool { return c.Strategy == engine.KeepAll && c.Policy == nil }

// Equal reports whether two choices ask for the same schedule or step. The allocator does not matter.
func (c Choice) Equal(d Choice) bool { return c.key() == d.key() && c.Device == d.Device }

// SameButBudget reports whether two choices differ at most in the budget.
func (c Choice) SameButBudget(d Choice) bool {
	return c.SettingKey() == d.SettingKey() && c.MethodKey() == d.MethodKey()
}

// SettingKey identifies everything that a trade-off curve depends on, except for the arguments of its strategies.
func (c Choice) SettingKey() string {
	source := cmp.Or(c.Source.Preset, c.Source.key)
	if source == "" {
		source = fingerprint(c.Source.Profile)
	}
	return fmt.Sprintf("%s|%t|%d|%d|%s|%s", source, c.Graph, c.ToHost, c.ToDev, c.Duplex, c.Transfers)
}

// MethodKey identifies the strategy and its arguments, and the policy.
func (c Choice) MethodKey() string { return MethodKey(MethodKey(c.Strategy, c.Args), c.Policy) }

func (c Choice) key() string {
	return fmt.Sprintf("%s|%s|%d|%d|%s", c.SettingKey(), c.MethodKey(), c.Budget.Bytes, c.Budget.Share, c.StepKey())
}

// StepKey identifies the chosen training step and its arguments.
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

// WithArg returns a copy of the arguments of a strategy or an allocator in which name has a value. It
// leaves out a default value, so that equal choices have equal links.
func WithArg(params []engine.Param, args engine.Args, name, value string) engine.Args {
	out := engine.Args{}
	maps.Copy(out, args)
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

// Fitted returns c with the strategy for a network of the given number of stages, 0 for a graph, that needs all
// bytes to keep everything. If no person chose the strategy, it becomes keeping everything if that fits, and otherwise
// the best strategy that is fast enough. With a budget that a person chose the strategy stays, unless it is keeping
// everything and that does not fit. Keeping everything does not count as a choice while it fits, even if a link names
// it, because the sentence on the page names no strategy then.
func (c Choice) Fitted(all engine.Bytes, stages int) Choice {
	fits := all <= c.Budget.Of(all)
	if c.Unplanned = c.Unplanned || fits && c.KeepsAll(); !c.Unplanned {
		return c
	}
	switch {
	case fits && c.Roomy():
		c.Strategy, c.Args = engine.KeepAll, nil
	case !fits && (c.Roomy() || c.Strategy == engine.KeepAll):
		c.Strategy, c.Args = c.best(stages), nil
	}
	return c
}

// quickStages is the longest chain for which the best strategy answers within about a second.
const quickStages = 128

// best returns the default strategy for a network of the given number of stages, 0 for a graph, that does not fit.
func (c Choice) best(stages int) string {
	switch {
	case stages == 0:
		return engine.Ranked(true)[0].Name
	case stages > quickStages || c.ToHost <= 0 || c.ToDev <= 0:
		return DefaultStrategy
	}
	return engine.Ranked(false)[0].Name
}

// Otherwise returns c with the strategy of a program without a plan, for a comparison: keeping everything, which takes
// all bytes, if that fits, or else a fixed rule for recomputation: the policy of full checkpointing for the step of a
// language model. Beside a policy it is the best strategy. It is always another one than that of c.
func (c Choice) Otherwise(all engine.Bytes, graph bool) Choice {
	keeps, policy := c.KeepsAll(), c.Policy != nil
	_, _, step := c.Source.Step()
	c = c.By(c.Strategy, nil)
	fixed, other := "layerwise", DefaultStrategy
	if graph {
		fixed, other = "dtr", GraphStrategy
	}
	switch {
	case !keeps && all <= c.Budget.Of(all):
		c.Strategy = engine.KeepAll
	case policy: // which is such a rule
		c.Strategy = c.best(1)
	case step && !graph:
		c = c.Under(engine.Args{"ckpt": "full"})
	case c.Strategy != fixed:
		c.Strategy = fixed
	default:
		c.Strategy = other
	}
	return c
}
