package state

import (
	"time"

	"memtide/web/lookup"
	"memtide/web/view"
)

// PlayStep plays the step from the playhead on, or stops it. Reduced: for who wants no
// motion it goes to where the next phase begins, and behind the last one to the start.
type PlayStep struct {
	Now     float64 // milliseconds, of any clock
	Reduced bool
}

func (m PlayStep) apply(s *State) []Effect {
	v, p := &s.View, s.Visible()
	if p == nil || s.End() == 0 {
		return nil
	}
	s.touch()
	v.ToPlay = false
	switch {
	case v.Play.On:
		v.Play = view.Playing{}
	case m.Reduced:
		v.Playhead = p.Model().NextPhase(v.Playhead)
	default:
		v.StartPlaying(m.Now, p.Gaps(), s.End())
	}
	return []Effect{WriteURL{Replace}}
}

// Tick moves the playhead on to what time it is. It changes nothing else, except that
// the wait at which the playhead stays is selected.
type Tick struct{ Now float64 }

func (m Tick) apply(s *State) []Effect {
	if !s.View.Play.On || !s.View.Advance(m.Now, s.End(), s.selectWaitAt) {
		return nil
	}
	return s.looked()
}

// selectWaitAt selects the wait that starts at a moment, if what is shown can be
// selected in.
func (s *State) selectWaitAt(at time.Duration) {
	if s.Preview != nil || s.Shown == nil {
		return
	}
	for i, g := range s.Shown.Gaps() {
		if g.Start == at {
			s.View.Select(lookup.Target{Kind: lookup.OnGap, Index: i})
			s.touch()
			return
		}
	}
}

// Scrub puts the playhead where it is dragged, and stops it there.
type Scrub struct {
	At      time.Duration
	Settled bool
}

func (m Scrub) apply(s *State) []Effect {
	if s.View.Play.On {
		s.DOM++
	}
	s.View.Play, s.View.Playhead = view.Playing{}, min(max(m.At, 1), s.End())
	if !m.Settled {
		return nil
	}
	return s.looked()
}
