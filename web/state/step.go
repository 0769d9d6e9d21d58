package state

import (
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/lookup"
)

// Config returns what was read of the config.json whose step is open as a network, or "" for another network.
func (s *State) Config() string {
	if s.Network == nil || s.Step != nil {
		return ""
	}
	return s.Network.Source.Model
}

// readsFile reports whether a file is being read. What is chosen for the network before it would drop the file.
func (s *State) readsFile() bool {
	return s.Opening != nil && s.Opening.Choice.Source.File != "" && s.Opening.Choice.Source.Model == "" &&
		s.Compare == nil
}

// coming returns the source of what is open, or of the variant or step that is being opened instead, so that words that
// are chosen quickly add up.
func (s *State) coming() Source {
	if o := s.Opening; o != nil && s.Compare == nil && (o.Choice.Source.Preset != "" || o.Choice.Source.Model != "") {
		return o.Choice.Source
	}
	return s.Choice.Source
}

// stepOf returns the open network as a training step on the card that its times are for. ok is false if the network is
// not the step of a language model, or if no options of package ask describe its times or precision.
func (s *State) stepOf() (model string, args engine.Args, ok bool) {
	if s.Network == nil || s.Memory != nil {
		return "", nil, false
	}
	return s.Network.Source.Step()
}

// openStep makes c the choice and opens its training step by itself, instead of what is open.
func (s *State) openStep(c Choice, h History) (out []Effect) {
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

// PickRank shows the pictures of a rank of the pipeline.
type PickRank struct{ Rank int }

func (m PickRank) apply(s *State) []Effect {
	if s.Step == nil {
		return nil
	}
	s.Step.rank = m.Rank + 1
	if x := s.Passes(); x != nil {
		x.Pick(s.Step.Rank())
	}
	return s.touch()
}

// StepAnswered is the answer to AskStep, or with Whole false the part of it that is known.
type StepAnswered struct {
	ID      int
	Stepped *proto.Stepped
	Whole   bool
}

func (m StepAnswered) apply(s *State) (out []Effect) {
	if s.Step != nil && m.ID == s.Step.beside.id && m.Whole {
		s.Step.beside.id = 0
		s.takeBeside(m.Stepped)
		return nil
	}
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
	return append(out, s.touch()...)
}

// StepFailed says why there is no answer to AskStep.
type StepFailed struct {
	ID   int
	Text string // empty if the time limit was reached before the answer was complete
}

func (m StepFailed) apply(s *State) []Effect {
	switch {
	case s.Step == nil:
	case m.ID == s.Step.beside.id:
		s.Step.beside.id, s.Step.beside.failed = 0, textAlert(m.Text).Text
		s.DOM++
	case m.ID == s.Step.id && m.Text == "":
		s.Step.id = 0
		if key := s.Choice.StepKey(); s.Step.of != key && s.Step.slowly != key && !s.View.Frame.Embed {
			s.Step.slowly = key
			return s.askStep(verdictLimit)
		}
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
