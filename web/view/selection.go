package view

import (
	"time"

	"memtide/engine/sim"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/lookup"
)

// Select selects something, which nothing led to; the zero value: nothing.
func (v *View) Select(t lookup.Target) { v.Selected, v.Trail = t, nil }

// FollowCause selects what let the selected thing start.
func (v *View) FollowCause(m *draw.Index) {
	if cause := m.Cause(v.Selected); cause.Kind != lookup.Nothing {
		v.Trail = append(v.Trail, v.Selected)
		v.Selected = cause
	}
}

// Retrace goes back to what was selected before the cause was followed.
func (v *View) Retrace() {
	if n := len(v.Trail); n > 0 {
		v.Selected, v.Trail = v.Trail[n-1], v.Trail[:n-1]
	}
}

// Wait returns the selected wait, -1 if none is selected.
func (v *View) Wait() int {
	if v.Selected.Kind == lookup.OnGap {
		return v.Selected.Index
	}
	return -1
}

// StepWait selects the wait that is by waits after the selected one, in a circle of
// n; nothing if there is none.
func (v *View) StepWait(by, n int) {
	switch i := v.Wait(); {
	case n == 0:
		v.Select(gapTarget(-1))
	case i >= 0:
		v.Select(gapTarget(((i+by)%n + n) % n))
	case by < 0:
		v.Select(gapTarget(n - 1))
	default:
		v.Select(gapTarget(0))
	}
}

// Reveal moves the visible part of a step that ends at end so that the selected thing is in it.
func (v *View) Reveal(m *draw.Index, end time.Duration) {
	if v.Selected.Kind != lookup.Nothing {
		from, to := m.Interval(v.Selected)
		v.Show(from, to, end)
	}
}

// Show moves the visible part of a step that ends at end so that a stretch of it is to be seen.
func (v *View) Show(from, to, end time.Duration) {
	if v.To == 0 || to <= from || to > v.From && from < v.To {
		return
	}
	width := v.To - v.From
	v.SetRange(from+(to-from)/2-width/2, from+(to-from)/2+width/2, end)
}

// minRange is the shortest part of a step that the pictures zoom to.
const minRange = time.Microsecond

// SetRange makes a part of a step that ends at end the visible one, moved into it.
func (v *View) SetRange(from, to, end time.Duration) {
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
	v.From, v.To = from, to
}

// Rewind shows the whole step, from its start: nothing is played.
func (v *View) Rewind() {
	v.From, v.To, v.Playhead = 0, 0, 0
	v.Play = Playing{}
}

// Fit shows the whole step if the visible part does not lie in one that ends at end.
func (v *View) Fit(end time.Duration) {
	if v.To > end {
		v.From, v.To = 0, 0
	}
}

// Carry has the selection follow a picture that is shown instead of old, nil if
// none was: it is what the link names, or the wait nearest in time to the selected
// one, or what stands out if none was selected by hand.
func (v *View) Carry(p, old *known.Picture) {
	v.Trail = nil
	switch {
	case v.selectWanted(p):
	case old == nil || old.Network != p.Network || old.Choice.Strategy != p.Choice.Strategy:
		v.Selected, v.Picked = foremost(p), false
	case v.Selected.Kind == lookup.OnGap && v.Selected.Index < len(old.Gaps()):
		was := old.Gaps()[v.Selected.Index].Start
		v.Selected = gapTarget(least(p.Gaps(), func(g sim.Gap) time.Duration { return (g.Start - was).Abs() }))
	case v.Selected.Kind == lookup.OnStage, v.Selected.Kind == lookup.OnValue: // they stay what they are
	case v.Selected.Kind != lookup.Nothing || len(old.Gaps()) == 0:
		v.Selected, v.Picked = foremost(p), false
	}
}

// foremost returns what stands out of a picture: the longest wait or, in a graph that
// waits for nothing, the value that is held longest for what it takes.
func foremost(p *known.Picture) lookup.Target {
	if i := least(p.Gaps(), func(g sim.Gap) time.Duration { return g.Start - g.End }); i >= 0 {
		return gapTarget(i)
	}
	return p.Index().Foremost()
}

func gapTarget(i int) lookup.Target {
	if i < 0 {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnGap, Index: i}
}

// least returns the first of the gaps of which a measure is least, or -1 without gaps.
func least(gaps []sim.Gap, measure func(sim.Gap) time.Duration) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || measure(g) < measure(gaps[best]) {
			best = i
		}
	}
	return best
}

// selectWanted selects in a new picture what the link names; false if it names
// nothing that is there.
func (v *View) selectWanted(p *known.Picture) bool {
	wanted := v.Wanted
	if v.Wanted = ""; wanted == "" {
		return false
	}
	t := p.Index().Named(wanted)
	if t.Kind == lookup.Nothing {
		return false
	}
	v.Selected, v.Picked = t, true
	return true
}

// SelectedName returns what is selected by hand in a picture, by what it is, or the empty string if it is
// what the page selects by itself, or if there is no picture.
func (v *View) SelectedName(p *known.Picture) string {
	switch {
	case v.Wanted != "":
		return v.Wanted
	case p == nil || v.Selected == foremost(p):
		return ""
	default:
		return p.Index().Name(v.Selected)
	}
}

// Follow takes over how a link wants the page to be.
func (v *View) Follow(l link.Look) {
	v.Look, v.Play = l, Playing{}
	v.Table = v.Table || v.tableShown()
}

// Linked returns what a link says of how a picture is looked at; nil: there is none yet.
func (v *View) Linked(p *known.Picture) link.Look {
	l := v.Look
	l.Wanted = v.SelectedName(p)
	l.Table = l.Table && !v.tableShown()
	if v.To == 0 {
		l.Range = link.Range{}
	}
	if v.Play.On {
		l.Playhead = 0
	}
	if v.Frame.Embed { // how it sits in the other page is that page's
		l.Frame.Theme, l.Frame.Embed, l.Frame.Control = "", false, ""
	}
	return l
}

// tableShown reports whether a link shows the table of operations without unfolding it.
func (v *View) tableShown() bool { return v.Frame.Show != nil && v.Frame.Shows("table") }
