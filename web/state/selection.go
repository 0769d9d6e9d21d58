package state

import (
	"time"

	"memtide/engine/sim"
	"memtide/web/draw"
	"memtide/web/lookup"
)

// Select selects something in the pictures; draw.Target{}: nothing.
type Select struct{ Target lookup.Target }

func (m Select) apply(s *State) []Effect {
	return s.selected(func(*draw.Model) { s.View.Selected, s.View.Trail = m.Target, nil })
}

// Find selects the next layer whose name contains a text, or whose number it
// is, behind the layer After; 0: the first.
type Find struct {
	Text  string
	After int
}

func (m Find) apply(s *State) []Effect {
	return s.selected(func(model *draw.Model) {
		if t := model.Find(m.Text, m.After); t.Kind != lookup.Nothing {
			s.View.Selected, s.View.Trail = t, nil
		}
	})
}

// StepWait selects the next or an earlier wait.
type StepWait struct{ By int }

func (m StepWait) apply(s *State) []Effect {
	return s.selected(func(*draw.Model) {
		s.View.Selected, s.View.Trail = gapTarget(s.stepWait(m.By, len(s.Visible().Gaps()))), nil
	})
}

// FollowCause selects what let the selected thing start.
type FollowCause struct{}

func (FollowCause) apply(s *State) []Effect {
	v := &s.View
	return s.selected(func(model *draw.Model) {
		if cause := model.Cause(v.Selected); cause.Kind != lookup.Nothing {
			v.Trail = append(v.Trail, v.Selected)
			v.Selected = cause
		}
	})
}

// Retrace goes back to what was selected before the cause was followed.
type Retrace struct{}

func (Retrace) apply(s *State) []Effect {
	v := &s.View
	return s.selected(func(*draw.Model) {
		if n := len(v.Trail); n > 0 {
			v.Selected, v.Trail = v.Trail[n-1], v.Trail[:n-1]
		}
	})
}

// selected has a person select something of what is visible, if anything is.
func (s *State) selected(change func(*draw.Model)) []Effect {
	s.touch()
	if p := s.Visible(); p != nil {
		change(p.Model())
		s.View.Picked = true
		s.reveal()
	}
	return []Effect{WriteURL{Replace}}
}

// stepWait is the wait that is by waits after the selected one, in a circle of
// n; -1 if there is none.
func (s *State) stepWait(by, n int) int {
	switch i := s.Wait(); {
	case n == 0:
		return -1
	case i >= 0:
		return ((i+by)%n + n) % n
	case by < 0:
		return n - 1
	}
	return 0
}

// Wait is the selected wait, -1 if none is selected.
func (s *State) Wait() int {
	if t := s.View.Selected; t.Kind == lookup.OnGap {
		return t.Index
	}
	return -1
}

// reveal moves the visible part of the step so that the selected thing is in it.
func (s *State) reveal() {
	v := &s.View
	if v.To == 0 || v.Selected.Kind == lookup.Nothing {
		return
	}
	from, to := s.Visible().Model().Interval(v.Selected)
	if to <= from || to > v.From && from < v.To {
		return
	}
	width := v.To - v.From
	s.setRange(from+(to-from)/2-width/2, from+(to-from)/2+width/2)
}

// SetRange shows a part of the step; the zero value all of it.
type SetRange struct{ From, To time.Duration }

func (m SetRange) apply(s *State) []Effect {
	s.setRange(m.From, m.To)
	s.Paint++ // the components do not show the range
	return []Effect{WriteURL{Replace}}
}

// minRange is the shortest part of a step that the pictures zoom to.
const minRange = time.Microsecond

func (s *State) setRange(from, to time.Duration) {
	end := s.End()
	if width := to - from; from < 0 {
		from, to = 0, width
	} else if to > end {
		from, to = end-width, end
	}
	from, to = max(from, 0), min(to, end)
	if to <= from || from == 0 && to == end {
		from, to = 0, 0
	} else if to-from < minRange {
		to = from + minRange
	}
	s.View.From, s.View.To = from, to
}

// selectIn has the selection follow a picture that is shown instead of old, nil if
// none was: it is what the link names, or the wait nearest in time to the selected
// one, or what stands out if none was selected by hand.
func (s *State) selectIn(p, old *Picture) {
	v := &s.View
	v.Trail = nil
	switch {
	case s.selectWanted(p):
	case old == nil || old.Network != p.Network || old.Choice.Strategy != p.Choice.Strategy:
		v.Selected, v.Picked = foremost(p), false
	case v.Selected.Kind == lookup.OnGap && v.Selected.Index < len(old.Gaps()):
		v.Selected = gapTarget(nearest(p.Gaps(), old.Gaps()[v.Selected.Index]))
	case v.Selected.Kind == lookup.OnStage, v.Selected.Kind == lookup.OnValue: // they stay what they are
	case v.Selected.Kind != lookup.Nothing || len(old.Gaps()) == 0:
		v.Selected, v.Picked = foremost(p), false
	}
	if v.To > s.End() {
		v.From, v.To = 0, 0
	}
}

// foremost is what stands out of a picture: the longest wait or, in a graph that
// waits for nothing, the value that is held longest for what it takes.
func foremost(p *Picture) lookup.Target {
	if i := longest(p.Gaps()); i >= 0 {
		return gapTarget(i)
	}
	return p.Model().Foremost()
}

func gapTarget(i int) lookup.Target {
	if i < 0 {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnGap, Index: i}
}

func longest(gaps []sim.Gap) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || g.End-g.Start > gaps[best].End-gaps[best].Start {
			best = i
		}
	}
	return best
}

func nearest(gaps []sim.Gap, to sim.Gap) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || (g.Start-to.Start).Abs() < (gaps[best].Start-to.Start).Abs() {
			best = i
		}
	}
	return best
}

// selectWanted selects in a new picture what the link names; false if it names
// nothing that is there.
func (s *State) selectWanted(p *Picture) bool {
	v := &s.View
	wanted := v.Wanted
	if v.Wanted = ""; wanted == "" {
		return false
	}
	t := p.Model().Named(wanted)
	if t.Kind == lookup.Nothing {
		return false
	}
	v.Selected, v.Picked = t, true
	return true
}

// SelectedName is what is selected by hand, by what it is; empty if it is what
// the page selects by itself.
func (s *State) SelectedName() string {
	switch p := s.Shown; {
	case s.View.Wanted != "":
		return s.View.Wanted
	case p == nil || s.View.Selected == foremost(p):
		return ""
	default:
		return p.Model().Name(s.View.Selected)
	}
}
