package state

import (
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/lookup"
)

// Passes returns those of the pipeline of the step that is open; nil without one.
func (s *State) Passes() *draw.Passes {
	t := s.Step
	if t == nil || t.Shown == nil {
		return nil
	}
	if t.drawn != t.Shown {
		t.drawn, t.passes = t.Shown, known.PassesOf(t.Shown)
	}
	return t.passes
}

// PickPass selects a pass of a pipeline or an idle stretch, and the rank that it is on.
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

// MovePass selects what is to the right of the selected pass, or at the same moment on a rank below.
type MovePass struct{ Right, Down int }

func (m MovePass) apply(s *State) []Effect {
	x := s.Passes()
	if x == nil {
		return nil
	}
	return PickPass{x.Beside(s.View.Selected, m.Right, m.Down)}.apply(s)
}

// FollowPass selects what led to the selected idle stretch or pass.
type FollowPass struct{}

func (FollowPass) apply(s *State) []Effect {
	x := s.Passes()
	if x == nil {
		return nil
	}
	return PickPass{x.Follow(s.View.Selected)}.apply(s)
}
