package state

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine/sim"
	"memtide/web/lookup"
)

// A step is played by a playhead that crosses all pictures at constant step time. The
// browser passes in what time it is: nothing here asks a clock.
const (
	playFor  = 6000.0 // milliseconds that a step takes to be played, waits aside
	holdFor  = 300.0  // milliseconds that the playhead stays at a wait
	mostHeld = 8      // at so many waits at most, the longest
)

// Playing is a step that is being played.
type Playing struct {
	On   bool
	last float64         // when the playhead was moved last, in milliseconds
	hold float64         // milliseconds for which it stays where it is
	held []time.Duration // the starts of the waits at which it will stay, the next one first
}

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
		v.Play = Playing{}
	case m.Reduced:
		v.Playhead = p.Model().NextPhase(v.Playhead)
	default:
		if v.Playhead >= s.End() {
			v.Playhead = 0
		}
		v.Play = Playing{On: true, last: m.Now, held: waitsToHold(p.Gaps(), v.Playhead)}
	}
	return []Effect{WriteURL{Replace}}
}

// waitsToHold are the starts of the longest waits behind a moment, in order.
func waitsToHold(gaps []sim.Gap, after time.Duration) (at []time.Duration) {
	gaps = slices.Clone(gaps)
	slices.SortStableFunc(gaps, func(a, b sim.Gap) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	for _, g := range gaps[:min(len(gaps), mostHeld)] {
		if g.Start > after {
			at = append(at, g.Start)
		}
	}
	slices.Sort(at)
	return at
}

// Tick moves the playhead on to what time it is. It changes nothing else, except that
// the wait at which the playhead stays is selected.
type Tick struct{ Now float64 }

func (m Tick) apply(s *State) []Effect {
	v := &s.View
	play, end := &v.Play, s.End()
	if !play.On {
		return nil
	}
	left := max(m.Now-play.last, 0)
	play.last = m.Now
	perMS := float64(end) / playFor
	for left > 0 {
		if stay := min(play.hold, left); stay > 0 {
			play.hold -= stay
			left -= stay
			continue
		}
		next := v.Playhead + time.Duration(left*perMS)
		if len(play.held) == 0 || next < play.held[0] {
			v.Playhead = next
			break
		}
		left -= float64(play.held[0]-v.Playhead) / perMS
		v.Playhead, play.held, play.hold = play.held[0], play.held[1:], holdFor
		s.selectWaitAt(v.Playhead)
	}
	if v.Playhead >= end {
		v.Playhead, v.Play = 0, Playing{}
		s.touch()
		return []Effect{WriteURL{Replace}}
	}
	return nil
}

// selectWaitAt selects the wait that starts at a moment, if what is shown can be
// selected in.
func (s *State) selectWaitAt(at time.Duration) {
	if s.Preview != nil || s.Shown == nil {
		return
	}
	for i, g := range s.Shown.Gaps() {
		if g.Start == at {
			s.View.Selected, s.View.Trail = lookup.Target{Kind: lookup.OnGap, Index: i}, nil
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
	s.View.Play, s.View.Playhead = Playing{}, min(max(m.At, 1), s.End())
	if !m.Settled {
		return nil
	}
	s.touch()
	return []Effect{WriteURL{Replace}}
}
