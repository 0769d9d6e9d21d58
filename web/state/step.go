package state

import (
	"encoding/json"
	"strconv"
	"time"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/lookup"
	"memtide/web/view"
)

// Late reports whether the shown answer is that of another choice.
func (s *State) Late() bool { return s.Step != nil && s.Step.of != s.Choice.StepKey() }

// Config returns the text of the config.json that the open network was read from, or "" if the network comes from
// something else.
func (s *State) Config() string {
	if s.Network == nil || s.Step != nil {
		return ""
	}
	return s.Network.Config
}

// openStep makes c the choice and opens its training step instead of what is open: as a network with everything kept
// if a strategy can plan it, and otherwise by itself.
func (s *State) openStep(c Choice, h History) (out []Effect) {
	if as, ok := c.Planned(engine.KeepAll); ok {
		return s.open(as, nil, h)
	}
	if s.Step == nil {
		out = append(append(s.closeOther(), s.cancel()...), s.closeNetwork()...)
		s.Memory = nil
		s.View.Rewind()
		s.Step = &OpenStep{}
	} else {
		out = s.cancelOpening()
	}
	s.OverBudget, s.Alert, s.Draft, s.next = nil, nil, Draft{}, nil
	s.Choice = c
	s.touch()
	if h != Leave {
		s.View.Frame.Title = ""
		out = append(out, WriteURL{h})
	}
	return append(out, s.askStep(s.limit(h))...)
}

// viewParts is the number of stages of an answer that a view in another page shows, see proto.Step.Parts.
const viewParts = 3

// askStep asks for the answer to the choice, unless it is known. limit is the time limit; 0 means no limit.
func (s *State) askStep(limit time.Duration) []Effect {
	out, key := s.Step.cancel(), s.Choice.StepKey()
	if s.Passes() != nil { // range and selection belong to another step
		s.View.Rewind()
		s.View.Selected = lookup.Target{}
	}
	s.Step.Failed, s.Step.Ended = "", NotEnded
	if known, ok := s.steps.get(key); ok {
		s.Step.Shown, s.Step.of = known, key
		return out
	}
	s.Step.id = s.newID()
	parts := 0
	if s.View.Frame.Embed {
		parts = viewParts
	}
	return append(out, AskStep{s.Step.id,
		proto.Step{Model: s.Choice.Step, Args: s.Choice.StepArgs, Limit: limit, Parts: parts}})
}

// endStep cancels the request and keeps the part of the answer that is known.
func (s *State) endStep(by Ended) []Effect {
	out := cancel(&s.Step.id)
	s.Step.Ended = by
	switch {
	case s.Step.Shown == nil || s.Late():
		s.Step.Failed = "it was stopped before anything was known"
	case by == ByLimit && s.View.Frame.Embed: // the verdict is known, which is enough for a view
		s.Step.Ended = NotEnded
	}
	s.DOM++
	return out
}

// GoOn asks again, without a time limit, for an answer that was ended.
type GoOn struct{}

func (GoOn) apply(s *State) []Effect {
	if s.Step == nil || s.Step.Ended == NotEnded {
		return nil
	}
	s.DOM++
	return s.askStep(0)
}

// configStep returns the choice of the whole step of the open config.json, on the chosen card.
func (s *State) configStep() Choice {
	c := s.Choice
	c.Step, c.StepArgs = s.Config(), ask.Plain(s.Network.Step)
	if d := c.GPU(); d != nil {
		c.StepArgs = ask.With(c.StepArgs, "device", d.ID)
	}
	return c
}

// setConfig opens the config.json that is open with an option of package ask: as a network on the same card if a
// strategy can plan that, and otherwise as a step by itself.
func (s *State) setConfig(name, value string) []Effect {
	c := s.configStep()
	c.StepArgs = ask.With(c.StepArgs, name, value)
	text, err := configWith(c.Step, c.StepArgs)
	if !preset.Plans(c.StepArgs) || err != nil {
		return s.openStep(c, Push)
	}
	budget := s.Choice.Budget
	chosen := !s.Choice.Roomy()
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

// PickStep opens the training step of a model, given by its ID or by the text of its config.json. The options that
// were chosen for another step and the chosen card stay.
type PickStep struct{ Model string }

func (m PickStep) apply(s *State) []Effect {
	s.View.Picker = view.Picker{}
	if m.Model == s.Config() && m.Model != "" {
		return s.openStep(s.configStep(), Push)
	}
	c := s.Choice
	if c.Step == "" && c.Device != card.DefaultID && card.Lookup(c.Device) != nil {
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
	return s.openStep(c, Push)
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
	return s.openStep(c, Push)
}

// PickRank shows the pictures of a rank of the pipeline.
type PickRank struct{ Rank int }

func (m PickRank) apply(s *State) []Effect {
	if s.Step != nil {
		s.Step.rank = m.Rank + 1
		s.DOM++
	}
	return nil
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
	return s.openStep(c, Push)
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

// StepAnswered is the answer to AskStep, or with Whole false the part of it that is known.
type StepAnswered struct {
	ID      int
	Stepped *proto.Stepped
	Whole   bool
}

func (m StepAnswered) apply(s *State) (out []Effect) {
	if !s.Step.Busy() || s.Step.id != m.ID {
		return nil
	}
	if config := m.Stepped.Config; config != "" && config != s.Choice.Step { // links hold only these settings
		s.Choice.Step = config
		out = []Effect{WriteURL{Replace}}
	}
	s.Step.Shown, s.Step.of = m.Stepped, s.Choice.StepKey()
	if m.Whole {
		s.Step.id = 0
		s.steps.put(s.Step.of, m.Stepped)
	}
	s.DOM++
	return out
}

// StepFailed says why there is no answer to AskStep.
type StepFailed struct {
	ID   int
	Text string // empty if the time limit was reached before the answer was complete
}

func (m StepFailed) apply(s *State) []Effect {
	switch {
	case s.Step == nil:
	case m.ID == s.Step.chain:
		s.Step.chain = 0
		return s.alert(textAlert(m.Text))
	case m.ID == s.Step.id && m.Text == "":
		s.Step.id = 0
		return s.endStep(ByLimit)
	case m.ID == s.Step.id:
		s.Step.id, s.Step.Failed = 0, textAlert(m.Text).Text
		s.DOM++
	}
	return nil
}

// closeStep closes the step, because a network or a memory file is opened.
func (s *State) closeStep() []Effect {
	if s.Step == nil {
		return nil
	}
	out := s.Step.cancel()
	s.Step = nil
	return out
}

// closeOther ends the comparison and keeps the side that the controls change.
func (s *State) closeOther() []Effect {
	s.next = nil
	if s.Compare == nil {
		return nil
	}
	out := s.Compare.Other.cancel()
	s.Compare = nil
	s.touch()
	s.View.Fit(s.End())
	return out
}

// closeNetwork closes the network, because a step or a memory file is opened.
func (s *State) closeNetwork() []Effect {
	out := append(s.cancelSweep(), s.questions.drop()...)
	s.Curve, s.Preview, s.Shown, s.Network, s.hover = nil, nil, nil, nil, ""
	s.OverBudget, s.Alert, s.Draft = nil, nil, Draft{}
	return append(out, s.cancelSolving()...)
}

func (t *byBudget) cancelSweep() []Effect {
	c := t.Curve
	if c == nil {
		return nil
	}
	c.Improving = 0
	return cancel(&c.ID)
}

// PickPass selects a pass of the pipeline or an idle time range, and its rank.
type PickPass struct{ Target lookup.Target }

func (m PickPass) apply(s *State) []Effect {
	x := s.Passes()
	if x == nil {
		return nil
	}
	t := m.Target
	from, to, rank := x.Interval(t)
	if rank < 0 {
		t = lookup.Target{}
	} else {
		s.Step.rank = rank + 1
		s.View.Show(from, to, x.End())
	}
	s.View.Selected = t
	return s.touch()
}

// MovePass moves the selection to the right on its rank, or at the same time to a rank below.
type MovePass struct{ Right, Down int }

func (m MovePass) apply(s *State) []Effect {
	x := s.Passes()
	if x == nil {
		return nil
	}
	return PickPass{x.Beside(s.View.Selected, m.Right, m.Down)}.apply(s)
}

// FollowPass selects the cause of the selected pass or idle time range.
type FollowPass struct{}

func (FollowPass) apply(s *State) []Effect {
	x := s.Passes()
	if x == nil {
		return nil
	}
	return PickPass{x.Follow(s.View.Selected)}.apply(s)
}
