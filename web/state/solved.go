package state

import (
	"slices"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
)

// Progressed is the progress of a request: a file being read, an allocator or a solver at work.
type Progressed struct {
	ID       int
	Progress proto.Progress
	Best     *proto.Solved // the best so far of a solver; nil if there is no better one since the last message
}

func (m Progressed) apply(s *State) []Effect {
	if p := s.Placing; p != nil && p.ID == m.ID {
		p.Progress = m.Progress
		return s.touchDOM()
	}
	for _, side := range s.Each() {
		if o := side.Opening; o != nil && o.ID == m.ID {
			o.Progress = m.Progress
			return s.touchDOM()
		}
		job := side.Solving
		if job == nil || job.ID != m.ID {
			continue
		}
		job.Progress, job.Silent = m.Progress, false
		if m.Best != nil && m.Best.Trace != nil {
			job.Best = m.Best
			s.show(side, &known.Picture{ID: m.ID, Choice: job.Choice, Network: side.Network, Solved: m.Best,
				Partial: true})
		}
		return s.touchDOM()
	}
	return nil
}

// Silent says that the worker of a solve has given no sign of life for a while, or with Quiet false that it has again.
type Silent struct{ Quiet bool }

func (m Silent) apply(s *State) []Effect {
	if s.Solving != nil && s.Solving.Silent != m.Quiet {
		s.Solving.Silent = m.Quiet
		s.DOM++
	}
	return nil
}

// Loading says that the program with the solver is being loaded, or has been loaded.
type Loading struct {
	ID      int
	Loading bool
}

func (m Loading) apply(s *State) []Effect {
	if side := s.solving(m.ID); side != nil {
		side.Solving.Loading = m.Loading
		s.DOM++
	}
	return nil
}

// Solved is the schedule that Solve asked for. ID and Choice are those of Solve.
type Solved struct {
	ID     int
	Choice Choice
	Solved *proto.Solved
}

func (m Solved) apply(s *State) []Effect {
	side := s.solving(m.ID)
	if side == nil { // a fallback, a preview, or a late answer
		side = &s.Side
	}
	if side.Network == nil || !m.Choice.Source.Same(side.Network.Source) {
		return nil
	}
	own := side == &s.Side
	if m.Solved.Trace == nil {
		f := proto.Fail(proto.Crash, "The schedule that %s found cannot run: %s.", m.Choice.Strategy,
			m.Solved.Verdict.Problem)
		if !own {
			f = proto.Fail(proto.Crash, "its schedule cannot run: %s", m.Solved.Verdict.Problem)
		}
		return SolveFailed{ID: m.ID, Failure: f}.apply(s)
	}
	p := &known.Picture{ID: m.ID, Choice: m.Choice, Network: side.Network.As(m.Choice), Solved: m.Solved}
	key := side.Network.PictureKey(m.Choice)
	s.pictures.put(key, p)
	if own && key == s.hover {
		s.Preview = p
		s.touch()
	}
	switch job := side.Solving; {
	case m.ID == side.fallback:
		side.fallback = 0
		s.show(side, p)
		s.accept()
	case job == nil:
	case m.ID == job.ID:
		side.Solving = nil
		s.show(side, p)
	case m.ID < job.ID && (side.Shown == nil || m.ID > side.Shown.ID) && m.Choice.SameButBudget(side.Choice):
		s.show(side, p) // the slider has moved on, but this is newer than what is shown
	}
	return nil
}

// SolveFailed says that Solve has no schedule.
type SolveFailed struct {
	ID      int
	Failure *proto.Failure
	Best    *proto.Solved // the best so far if the time limit was reached; may be nil
}

func (m SolveFailed) apply(s *State) []Effect {
	side := s.solving(m.ID)
	switch {
	case side == nil && m.ID == s.fallback:
		s.fallback = 0
		if s.touch(); !s.kept && s.Network != nil {
			return s.fallBackToKeeping()
		}
		s.Shown = s.current()
		return nil
	case side == nil:
		return nil
	}
	job := side.Solving
	side.Solving = nil
	s.touch()
	if side != &s.Side {
		side.Shown, side.Failed = nil, m.Failure.Text
		if m.Failure.Kind == proto.Infeasible {
			side.OverBudget = newOverBudget(m.Failure)
			if m.Failure.Smallest > 0 {
				side.Failed = "it needs at least " + format.BytesUp(m.Failure.Smallest)
			}
		}
		return nil
	}
	return s.unsolved(m, job.Choice)
}

// unsolved shows why there is no schedule of the page's choice c, and shows another one instead if it can.
func (s *State) unsolved(m SolveFailed, c Choice) []Effect {
	f := m.Failure
	switch f.Kind {
	case proto.Infeasible:
		s.OverBudget = newOverBudget(f)
		return s.fallBackToSmallest(f)
	case proto.Deadline:
		if m.Best != nil && m.Best.Trace != nil {
			s.show(&s.Side, &known.Picture{ID: m.ID, Choice: c, Network: s.Network, Solved: m.Best, Partial: true})
		}
		s.Alert = textAlert(f.Text)
		s.Alert.Lines = append(s.Alert.Lines,
			"It began by itself, so it had a few seconds. The pictures show the best that was found, or else keeping everything.")
		s.Alert.Action, s.Alert.Do, s.Alert.Limit = "Go on", StartAgain{}, true
		return s.fallBackToKeeping()
	case proto.Crash:
		s.Alert = textAlert(f.Text)
		s.Alert.Action, s.Alert.Do = "Try again", StartAgain{}
	case proto.NoWorker:
		s.Alert = textAlert(f.Text)
		s.Alert.Lines = append(s.Alert.Lines, "The page can also solve by itself. It answers slowly while it does.")
		s.Alert.Action, s.Alert.Do = "Solve here", SolveHere{}
	case proto.Unsupported:
		s.Alert = textAlert(f.Text)
		s.Alert.offerStrategy(s.Network, c.Strategy)
		return s.fallBackToKeeping()
	default:
		s.Alert = textAlert(f.Text)
	}
	return nil
}

// offerStrategy adds a button for another strategy than failed, which does not apply to n: for graphs the default
// for graphs, for chains the default, or if that is the one that failed, one for chains of any length.
func (a *Alert) offerStrategy(n *known.Network, failed string) {
	name := choice.DefaultStrategy
	if n.Chain == nil {
		name = choice.GraphStrategy
	} else if failed == name {
		list := engine.Ranked(false)
		passes := func(st *engine.Strategy) bool { return st.Class != 0 && st.Cost == engine.CostPasses }
		if i := slices.IndexFunc(list, passes); i >= 0 { // a few passes over a chain of any length
			name = list[i].Name
		}
	}
	if s := engine.Lookup(name); s != nil {
		a.Action, a.Do = "Use "+s.Title, SetStrategy{Name: name}
	}
}

// fallBackToSmallest asks for the schedule of the smallest budget, unless the picture on screen is of this network
// and method: the picture of a larger budget shows by how much the chosen one is exceeded. In a comparison the picture
// is always that of the smallest budget.
func (s *State) fallBackToSmallest(f *proto.Failure) []Effect {
	own := s.Compare == nil && s.current() != nil
	switch {
	case own && s.Shown.Choice.MethodKey() == s.Choice.MethodKey():
		s.accept()
		return nil
	case s.Compare != nil:
		s.Shown = nil
	case f.Smallest <= 0:
		s.Shown = s.current()
	}
	if f.Smallest <= 0 {
		return nil
	}
	c := s.Choice
	c.Budget = choice.Budget{Bytes: s.OverBudget.Offer}
	return s.fallBack(c)
}

// fallBackToKeeping asks for the schedule that keeps everything if there is no picture of this network. It is used
// when the strategy does not apply, or has found nothing in its time.
func (s *State) fallBackToKeeping() []Effect {
	if s.current() != nil {
		return nil
	}
	c := s.Choice
	c.Strategy, c.Args, c.Budget = engine.KeepAll, nil, choice.Budget{Bytes: max(s.Network.Totals.KeepAllPeak, 1)}
	return s.fallBack(c)
}

// fallBack asks for the schedule of c, to be shown instead of that of the choice.
func (s *State) fallBack(c Choice) []Effect {
	s.fallback, s.kept = s.newID(), c.Strategy == engine.KeepAll
	return []Effect{Solve{ID: s.fallback, Choice: c, Request: within(s.Network.Request(c), s.limit(Leave)),
		Slot: ForPage}}
}

// Stop stops what the page waits for. The best schedule so far of a solver stays on screen.
type Stop struct{}

func (Stop) apply(s *State) []Effect {
	s.touch()
	switch {
	case s.Solving != nil:
		if s.Solving.Best == nil {
			s.Alert = &Alert{Text: "Stopped before a schedule was found.", Action: "Solve", Do: StartAgain{}}
		}
		return s.cancelSolving()
	case s.Opening != nil:
		return s.cancelOpening()
	case s.Step.Busy():
		return s.endStep(ByPerson)
	case s.Compare == nil:
		return nil
	}
	o := &s.Compare.Other
	if o.Opening != nil {
		return append(s.closeOther(), WriteURL{Replace})
	}
	if o.Solving != nil && o.Solving.Best == nil {
		o.Shown, o.Failed = nil, "it was stopped"
	}
	return o.cancelSolving()
}

// StartAgain solves the present choice again, without a time limit.
type StartAgain struct{}

func (StartAgain) apply(s *State) []Effect { return s.chooseWithin(s.Choice, Leave, false, 0) }

// SolveHere solves the present choice, and everything after it, on the page's own thread.
type SolveHere struct{}

func (SolveHere) apply(s *State) []Effect {
	// Compute the curve again, which failed for want of workers.
	s.Curve = nil
	s.curves.keys, s.curves.byKey = nil, nil
	return append([]Effect{UseThread{}}, s.chooseWithin(s.Choice, Leave, false, 0)...)
}
