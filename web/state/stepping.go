package state

import (
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/view"
)

// PickStep opens the training step of a model of the list, by its ID. The options that were chosen for another step
// and the chosen card stay; of the example only the card.
type PickStep struct{ Model string }

func (m PickStep) apply(s *State) []Effect {
	s.View.Picker = view.Picker{}
	c := s.Choice
	_, args, ok := s.stepOf()
	switch {
	case ok && c.Source.Preset != choice.ExamplePreset && ask.Programs(m.Model):
		c.StepArgs = args
	case c.Step == "" && c.Device != card.DefaultID && card.Lookup(c.Device) != nil:
		c.StepArgs = ask.With(nil, "device", c.Device)
	}
	c.Step = m.Model
	if !ask.Pictures(m.Model) { // With drops the sides of another model's pictures when seq is set
		c.StepArgs = ask.With(c.StepArgs, "seq", ask.Value(c.StepArgs, "seq"))
	}
	c.StepArgs = ask.Sized(c.StepArgs, m.Model)
	if as, ok := c.Planned(""); ok {
		return s.open(as, nil, Push)
	}
	return s.openModel(m.Model, c.StepArgs)
}

// UseChange opens the step with one of the changes that an answer lists.
type UseChange struct {
	Index int
	Of    ChangeList
}

func (m UseChange) apply(s *State) []Effect {
	if s.Step == nil || s.Step.Shown == nil || s.Late() {
		return nil
	}
	list := map[ChangeList][]proto.StepChange{SingleChanges: s.Step.Shown.Changes, FixingChanges: s.Step.Shown.Fixes,
		PolicyChanges: s.Step.Shown.Policies, OrderChanges: s.Step.Shown.Orders}[m.Of]
	if m.Index < 0 || m.Index >= len(list) {
		return nil
	}
	switch to := list[m.Index]; {
	case to.Chain:
		return ExploreStep{}.apply(s)
	case to.Card: // no option gives a card more memory
		return nil
	}
	c := s.Choice
	c.StepArgs = list[m.Index].Args
	return s.open(c, nil, Push)
}

// ChangeList is a list of changes in an answer.
type ChangeList int

// The lists: Changes, Fixes, Policies and Orders of proto.Stepped.
const (
	SingleChanges ChangeList = iota
	FixingChanges
	PolicyChanges
	OrderChanges
)

// ExploreStep opens the step as a network, for strategies that choose what is kept.
type ExploreStep struct{}

func (ExploreStep) apply(s *State) []Effect {
	if s.Step == nil || s.Step.Shown == nil || s.Late() {
		return nil
	}
	c := s.Choice
	c.StepArgs = preset.Unplanned(c.StepArgs)
	if as, ok := c.Planned(""); ok {
		return s.open(as, nil, Push)
	}
	return s.openModel(c.Step, c.StepArgs)
}

// UseAnswer chooses the network, budget, link and strategy that an answer was solved for.
type UseAnswer struct {
	Index int // into Answers.List
}

func (m UseAnswer) apply(s *State) []Effect {
	a := s.Answers()
	if a == nil || m.Index < 0 || m.Index >= len(a.List) || a.List[m.Index].StepTime <= 0 {
		return nil
	}
	x, c := a.List[m.Index], s.Choice
	if x.Options != nil {
		model, _, _ := s.stepOf()
		out := s.openModel(model, x.Options)
		if s.Opening != nil && x.Strategy != c.Strategy {
			s.Opening.Choice = s.Opening.Choice.By(x.Strategy, nil)
		}
		return out
	}
	if x.Strategy != c.Strategy {
		c.Strategy, c.Args = x.Strategy, nil
	}
	if x.Preset != "" || x.Budget != s.Budget() { // in bytes, since a share depends on the network
		c.Budget = choice.Budget{Bytes: x.Budget}
	}
	if d := x.Device; d != nil {
		c.ToHost, c.ToDev, c.Duplex = d.ToHost, d.ToDev, d.Duplex
	}
	if x.Preset == "" || c.Source.Same(Source{Preset: x.Preset}) {
		return s.choose(c, Push, false)
	}
	c.Source = Source{Preset: x.Preset}
	return s.open(c, nil, Push)
}
