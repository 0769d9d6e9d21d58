package choice

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/profiles/card"
	"memtide/profiles/formats/native"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/web/format"
)

// Named reports whether s names a network or a model.
func (s *Said) Named() bool { return s.Preset != "" || s.Profile != nil || s.Step != "" }

// Take overwrites s with what o says, except for the network. A device that o names resets the
// rates and the duplex, another strategy or allocator resets the arguments.
func (s *Said) Take(o *Said) {
	if o.Device != "" {
		s.ToDev, s.ToHost, s.Duplex = 0, 0, ""
	}
	if o.ToDev > 0 {
		s.ToHost = 0
	}
	if o.Strategy != "" && o.Strategy != s.Strategy {
		s.Args = nil
	}
	if o.Strategy != "" {
		s.Policy = nil
	}
	if o.Alloc != "" && o.Alloc != s.Alloc {
		s.AllocArgs = nil
	}
	s.Args, s.Policy, s.AllocArgs = maps.Clone(s.Args), maps.Clone(s.Policy), maps.Clone(s.AllocArgs)
	to := FieldsOf(s, false)
	FieldsOf(o, false).Write(func(key, value string) {
		if key != "p" {
			to.Set(key, value) // cannot fail: String returned the value
		}
	})
}

// Problem is a value that Resolve could not use. The choice keeps the value of the base.
type Problem struct {
	Key  string // of the field
	Name string // the unknown name; empty if Err says what is wrong
	Err  error

	_ [0]func() // see Field
}

// Base returns the choice that holds where s says nothing: the defaults, the suggestions of its
// preset, and the card that the times of the preset or of the config.json are for.
func (s *Said) Base() Choice {
	c := Default()
	if s.Profile == nil && s.Preset != "" {
		c.Source.Preset = s.Preset
		c = c.Timed().Suggested()
	}
	if d := card.Lookup(ask.Value(s.StepArgs, "device")); d != nil && ask.Configured(s.Step) {
		c = c.On(d)
	}
	return c
}

// Resolve returns base changed by what s says, and the problems with unknown or wrong values.
func (s *Said) Resolve(base Choice) (c Choice, problems []Problem) {
	c = base
	for _, take := range [...]func(*Said, *Choice) *Problem{(*Said).takeSource, (*Said).takeDevice,
		(*Said).takeMethod, (*Said).takeAllocator, (*Said).takeStep} {
		if p := take(s, &c); p != nil {
			problems = append(problems, *p)
		}
	}
	c.Budget = s.budget(base, c)
	switch s.Transfers {
	case "whole":
		c.Transfers = engine.Whole
	case "streamed":
		c.Transfers = engine.Streamed
	}
	return c, problems
}

// budget returns the budget that s says. Without one it returns that of base or, if base's budget was not chosen,
// the room on the card of now.
func (s *Said) budget(base, now Choice) Budget {
	switch {
	case s.Budget != (Budget{}):
		return s.Budget
	case base.Roomy():
		return now.Room()
	}
	return base.Budget
}

func (s *Said) takeSource(c *Choice) (p *Problem) {
	switch {
	case s.Profile != nil:
		var file bytes.Buffer
		if err := native.Encode(&file, s.Profile); err != nil {
			p = &Problem{Key: "d", Err: err}
			break
		}
		c.Source, c.Graph = Source{File: s.Profile.Name, Profile: file.Bytes(), Ops: s.Ops, Decoded: s.Profile}, false
	case s.Preset != "" && s.Preset != c.Source.Preset:
		if _, _, err := preset.Parse(s.Preset); err != nil {
			p = &Problem{Key: "p", Name: s.Preset, Err: err}
			break
		}
		c.Source = Source{Preset: s.Preset}
	}
	if s.Kind != "" {
		c.Graph = s.Kind == "graph"
		if as, ok := c.Source.OfKind(c.Graph); ok {
			c.Source, c.Graph = as, false
		}
	}
	return p
}

// takeDevice sets the device, its rates, and the duplex. Rates without a device are those of none.
func (s *Said) takeDevice(c *Choice) (p *Problem) {
	if s.Device != "" {
		if d := card.Lookup(s.Device); d != nil {
			*c = c.On(d)
		} else {
			p = &Problem{Key: "dev", Name: s.Device}
		}
	}
	if s.Device == "" && (s.ToDev > 0 || s.ToHost > 0) {
		c.Device = ""
	}
	if s.ToDev > 0 {
		c.ToDev, c.ToHost = s.ToDev, s.ToDev
	}
	if s.ToHost > 0 {
		c.ToHost = s.ToHost
	}
	switch s.Duplex {
	case "half":
		c.Duplex = engine.HalfDuplex
	case "full":
		c.Duplex = engine.FullDuplex
	}
	return p
}

// takeMethod sets the strategy and its arguments. A strategy that s names resets the
// arguments, even if it is the base's.
func (s *Said) takeMethod(c *Choice) *Problem {
	if s.Strategy != "" {
		c.Args, c.Policy = nil, nil
		if engine.Lookup(s.Strategy) == nil {
			return &Problem{Key: "s", Name: s.Strategy}
		}
		c.Strategy, c.Unplanned = s.Strategy, false
	}
	st := engine.Lookup(c.Strategy)
	if st == nil {
		return nil
	}
	if _, err := st.Parse(s.Args); err != nil {
		return &Problem{Key: "s.", Err: err}
	}
	for name, value := range s.Args {
		c.Args = WithArg(st.Params, c.Args, name, value)
	}
	return s.takePolicy(c)
}

// takePolicy sets the policy of the step of a language model.
func (s *Said) takePolicy(c *Choice) *Problem {
	if s.Policy == nil {
		return nil
	}
	_, err := ask.Parse(s.Policy)
	rest, policy, ok := preset.Split(s.Policy)
	_, _, step := c.Source.Step()
	switch {
	case err != nil:
	case !ok || len(rest) > 0:
		err = errors.New("a policy says what blocks keep: ckpt, every, first, group, recompute, budget, stash or offload")
	case !step && !ask.Configured(s.Step):
		err = errors.New("a policy is for the step of a language model")
	}
	if err != nil {
		return &Problem{Key: "policy.", Err: err}
	}
	*c = c.Under(policy)
	return nil
}

// takeAllocator sets the allocator and its arguments. An unknown allocator opens the address view with the default one.
func (s *Said) takeAllocator(c *Choice) *Problem {
	if s.Alloc == "" || s.Alloc == Recorded {
		return nil
	}
	a := alloc.Lookup(s.Alloc)
	if a == nil {
		c.Alloc = DefaultAllocator
		return &Problem{Key: "alloc", Name: s.Alloc}
	}
	c.Alloc = a.Name
	if _, err := a.Parse(s.AllocArgs); err != nil {
		return &Problem{Key: "alloc.", Err: err}
	}
	c.AllocArgs = nil
	for name, value := range s.AllocArgs {
		c.AllocArgs = WithArg(a.Params, c.AllocArgs, name, value)
	}
	return nil
}

// takeStep sets the training step and its options. An unknown model changes nothing. The step of a model without
// a preset is a network if a strategy can plan it: of a model that package family reads always, of others if a strategy
// is said.
func (s *Said) takeStep(c *Choice) *Problem {
	if s.Step == "" {
		return nil
	}
	if ask.Lookup(s.Step) == nil && !ask.IsConfig(s.Step) {
		return &Problem{Key: "step", Name: s.Step}
	}
	args := maps.Clone(s.StepArgs) // without those that make no sense
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, err := ask.Parse(engine.Args{name: args[name]}); err != nil {
			wrong = append(wrong, err)
			delete(args, name)
		}
	}
	var problem *Problem
	if len(wrong) > 0 {
		problem = &Problem{Key: "step.", Err: errors.Join(wrong...)}
	}
	if d := card.Lookup(s.Device); d != nil && args["device"] == "" && !ask.Configured(s.Step) {
		args = ask.With(args, "device", d.ID) // as links to networks name their card
	}
	c.Step, c.StepArgs = s.Step, stepArgs(args)
	sized := args["seq"] != "" || args["frames"] != "" || args["height"] != ""
	if !sized && ask.Lookup(s.Step) != nil {
		c.StepArgs = ask.Sized(c.StepArgs, s.Step)
	}
	_, listed := c.Planned("")
	rest, policy, ok := preset.Split(c.StepArgs)
	if listed || !ok || !ask.Configured(s.Step) && s.Strategy == "" {
		return problem
	}
	c.Source = Source{File: ask.Title(s.Step), Model: s.Step, Options: rest}
	if c.Step, c.StepArgs = "", nil; s.Strategy == "" && c.Policy == nil {
		*c = c.By(engine.KeepAll, nil)
	}
	*c = c.Under(policy)
	return problem
}

// stepArgs returns the arguments of a step together with the values that these imply for other options. ask.With
// leaves out an option that has no meaning beside those before it, so the options are applied in their order.
// Arguments that have a meaning beside all others always stay.
func stepArgs(said engine.Args) engine.Args {
	var brought engine.Args
	for i := range ask.Options {
		if value, is := said[ask.Options[i].Name]; is {
			brought = ask.With(brought, ask.Options[i].Name, value)
		}
	}
	out := maps.Clone(said)
	maps.DeleteFunc(out, func(name, _ string) bool { return !ask.Matters(said, name) })
	for name, value := range brought {
		if _, is := out[name]; !is {
			out[name] = value
		}
	}
	return ask.Plain(out)
}

// Diff returns what has to be said so that Resolve makes c of base. If all is true, it also says
// the budget, the device and the strategy if they equal those of base. Of a source that is a file it says
// only what is read of a config.json, and nothing but the step and its arguments about a training step.
func (c Choice) Diff(base Choice, all bool) (s Said) {
	if c.Step != "" {
		return Said{Step: c.Step, StepArgs: c.StepArgs}
	}
	if c.Source.Preset != base.Source.Preset {
		s.Preset = c.Source.Preset
	}
	if !c.Source.Same(base.Source) {
		s.Step, s.StepArgs = c.Source.Model, c.Source.Options
	}
	if c.Graph != base.Graph {
		s.Kind = "chain"
		if c.Graph {
			s.Kind = "graph"
		}
	}
	if c.Budget != new(Said).budget(base, c) || all {
		s.Budget = c.Budget
	}
	if c.MethodKey() != base.MethodKey() || base.Unplanned && !c.Unplanned || all {
		s.Strategy, s.Args, s.Policy = c.Strategy, c.Args, c.Policy
	}
	duplex := base.Duplex // unless a device is said, which sets its own
	if c.Device != base.Device || c.ToDev != base.ToDev || c.ToHost != base.ToHost || all || s.Preset != "" &&
		base.Device != c.Timed().Device {
		if d := card.Lookup(c.Device); d != nil {
			s.Device, duplex = d.ID, d.Duplex
		}
		if !c.Linked() {
			s.ToDev, s.ToHost = c.ToDev, c.ToHost
		}
	}
	if c.Duplex != duplex {
		s.Duplex = c.Duplex.String()
	}
	if c.Transfers != base.Transfers {
		s.Transfers = c.Transfers.String()
	}
	if c.Alloc != base.Alloc || !maps.Equal(c.AllocArgs, base.AllocArgs) {
		s.Alloc, s.AllocArgs = c.Alloc, c.AllocArgs
	}
	return s
}

// PlanName returns the label of a strategy in lists of plans and in charts, or the name itself if
// the strategy is unknown.
func PlanName(strategy string) string {
	if st := engine.Lookup(strategy); st != nil {
		return st.Label()
	}
	return strategy
}

// PlanName returns the label of the chosen strategy, or says what the policy keeps.
func (c Choice) PlanName() string {
	if c.Policy != nil {
		return format.Capital(ask.Policy(c.Policy))
	}
	return PlanName(c.Strategy)
}

// PlanClass returns the class of plans that executes the chosen strategy on an unmodified model, or
// the nearest one. Without a link to the host, plans do not offload.
func (c Choice) PlanClass() string {
	st := engine.Lookup(c.Strategy)
	if st == nil || st.Class&engine.MayOffload != 0 && c.ToHost <= 0 {
		st = &engine.Strategy{}
	}
	return st.PlanClass()
}
