package state

import (
	"encoding/json"
	"strconv"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/view"
)

// setConfig opens the config.json that is open with an option of package ask: as a network on the same card if a
// strategy can plan that, and otherwise as a step by itself.
func (s *State) setConfig(name, value string) []Effect {
	c, budget, chosen := s.Choice, s.Choice.Budget, !s.Choice.Roomy()
	model, args, ok := s.stepOf()
	if !ok {
		return nil
	}
	if d := c.GPU(); d != nil && d.Timed() { // the card of the sentence, whatever the times were for
		args = ask.With(args, "device", d.ID)
	}
	c.Step, c.StepArgs = model, ask.With(args, name, value)
	text, err := configWith(model, c.StepArgs)
	if !preset.Plans(c.StepArgs) || err != nil {
		return s.open(c, nil, Push)
	}
	out := PickFile{Name: s.Network.Source.File, Bytes: text}.apply(s)
	o := s.Opening
	if d := card.Lookup(ask.Value(c.StepArgs, "device")); d != nil {
		o.Choice = o.Choice.On(d)
	}
	if o.linked, o.fit = true, !chosen; chosen {
		o.Choice.Budget = budget
	}
	return out
}

// timeConfig reads a config.json that a person has opened again, for the times of the chosen card, if the file does not
// choose its times itself. o is how it was opened.
func (s *State) timeConfig(o *Opening) []Effect {
	d := s.Choice.GPU()
	if o.History != Push || o.linked || s.Compare != nil || s.Config() == "" || s.Network.Step == nil || d == nil ||
		!d.Timed() || card.Find(s.Network.Profile.Source.Device) == d {
		return nil
	}
	out := s.setConfig("device", d.ID)
	s.Opening.History = Replace
	return out
}

// configWith returns the text of a config.json in which "memtide" chooses the options of a step.
func configWith(text string, args engine.Args) ([]byte, error) {
	var file, own map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(file["memtide"], &own); err != nil || own == nil { // it may be missing
		own = map[string]json.RawMessage{}
	}
	var err error
	if own["step"], err = json.Marshal(args); err != nil {
		return nil, err
	}
	if file["memtide"], err = json.Marshal(own); err != nil {
		return nil, err
	}
	return json.Marshal(file)
}

// PickStep opens the training step of a model of the list, by its ID. The options that were chosen for another step
// and the chosen card stay.
type PickStep struct{ Model string }

func (m PickStep) apply(s *State) []Effect {
	s.View.Picker = view.Picker{}
	c := s.Choice
	if _, args, ok := s.stepOf(); ok {
		c.StepArgs = args
	} else if c.Step == "" && c.Device != card.DefaultID && card.Lookup(c.Device) != nil {
		c.StepArgs = ask.With(nil, "device", c.Device)
	}
	c.Step = m.Model
	switch pictures := ask.Pictures(m.Model); {
	case !pictures: // With drops the sides of another model's pictures when seq is set
		c.StepArgs = ask.With(c.StepArgs, "seq", ask.Value(c.StepArgs, "seq"))
	case c.StepArgs["height"] == "":
		c.StepArgs = ask.With(ask.With(c.StepArgs, "height", "512"), "width", "512")
	}
	if known := ask.Lookup(m.Model); known != nil && known.Positions() > 0 {
		tokens, _ := strconv.Atoi(ask.Value(c.StepArgs, "seq"))
		c.StepArgs = ask.With(c.StepArgs, "seq", strconv.Itoa(min(tokens, known.Positions())))
	}
	if as, ok := c.Planned(""); ok {
		return s.open(as, nil, Push)
	}
	return s.open(c, nil, Push)
}

// SetStep sets an option of the step.
type SetStep struct{ Name, Value string }

func (m SetStep) apply(s *State) []Effect {
	if s.Step == nil || ask.Option(m.Name) == nil {
		return nil
	}
	c := s.Choice
	if c.StepArgs = ask.With(c.StepArgs, m.Name, m.Value); c.StepKey() == s.Choice.StepKey() {
		s.Draft = Draft{}
		return s.touchDOM()
	}
	return s.open(c, nil, Push)
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
	if s.Step == nil || s.Step.Shown == nil || s.Step.chain != 0 || s.Late() {
		return nil
	}
	c := s.Choice
	c.StepArgs = preset.Unplanned(c.StepArgs)
	if as, ok := c.Planned(""); ok {
		return s.open(as, nil, Push)
	}
	s.Step.chain = s.newID()
	s.DOM++
	var out []Effect
	if s.Step.Busy() { // the second program has one request at a time
		out = s.endStep(ByPerson)
	}
	return append(out, AskStep{s.Step.chain, proto.Step{Model: s.Choice.Step, Args: s.Choice.StepArgs, Chain: true}})
}
