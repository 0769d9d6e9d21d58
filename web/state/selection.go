package state

import (
	"time"

	"memtide/web/draw"
	"memtide/web/lookup"
)

// Select selects something in the pictures; lookup.Target{}: nothing.
type Select struct{ Target lookup.Target }

func (m Select) apply(s *State) []Effect {
	return s.selected(func(*draw.Model) { s.View.Select(m.Target) })
}

// StepWait selects the next or an earlier wait.
type StepWait struct{ By int }

func (m StepWait) apply(s *State) []Effect {
	return s.selected(func(*draw.Model) { s.View.StepWait(m.By, len(s.Visible().Gaps())) })
}

// FollowCause selects what let the selected thing start.
type FollowCause struct{}

func (FollowCause) apply(s *State) []Effect { return s.selected(s.View.FollowCause) }

// Retrace goes back to what was selected before the cause was followed.
type Retrace struct{}

func (Retrace) apply(s *State) []Effect {
	return s.selected(func(*draw.Model) { s.View.Retrace() })
}

// selected has a person select something of what is visible, if anything is.
func (s *State) selected(change func(*draw.Model)) []Effect {
	s.touch()
	if p := s.Visible(); p != nil {
		change(p.Model())
		s.View.Picked = true
		s.View.Reveal(p.Model(), s.End())
	}
	return []Effect{WriteURL{Replace}}
}

// SetRange shows a part of the step; the zero value all of it.
type SetRange struct{ From, To time.Duration }

func (m SetRange) apply(s *State) []Effect {
	whole := s.View.To == 0
	s.View.SetRange(m.From, m.To, s.End())
	s.Paint++
	if whole != (s.View.To == 0) { // of the range the components tell no more than what a drag does in it
		s.touchDOM()
	}
	return []Effect{WriteURL{Replace}}
}
