package view

import (
	"time"

	"memtide/engine/sim"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/link"
	"memtide/web/lookup"
)

// Select selects a target and clears the trail; the zero Target selects nothing.
func (v *View) Select(t lookup.Target) { v.Selected, v.Trail = t, nil }

// FollowCause selects the cause of the selected target, if there is one: what let it start.
func (v *View) FollowCause(m *draw.Index) {
	if cause := m.Cause(v.Selected); cause.Kind != lookup.Nothing {
		v.Trail = append(v.Trail, v.Selected)
		v.Selected = cause
	}
}

// Retrace selects again what was selected before the last FollowCause.
func (v *View) Retrace() {
	if n := len(v.Trail); n > 0 {
		v.Selected, v.Trail = v.Trail[n-1], v.Trail[:n-1]
	}
}

// Wait returns the index of the selected wait, or -1 if no wait is selected.
func (v *View) Wait() int {
	if v.Selected.Kind == lookup.OnGap {
		return v.Selected.Index
	}
	return -1
}

// StepWait selects the next of n waits if by is 1, the previous one if by is -1, in a circle.
// If no wait is selected, this is the first or the last one; without waits it selects nothing.
func (v *View) StepWait(by, n int) {
	if n == 0 {
		v.Select(lookup.Target{})
		return
	}
	i := v.Wait()
	if i < 0 && by < 0 {
		i = 0
	}
	v.Select(gapTarget((i + by + n) % n))
}

// Reveal moves the visible range of a step that ends at end so that it includes the selection.
func (v *View) Reveal(m *draw.Index, end time.Duration) {
	if v.Selected.Kind != lookup.Nothing {
		from, to := m.Interval(v.Selected)
		v.Show(from, to, end)
	}
}

// Show centres the visible range of a step that ends at end on an interval, unless they overlap already.
func (v *View) Show(from, to, end time.Duration) {
	if v.To == 0 || to <= from || to > v.From && from < v.To {
		return
	}
	width := v.To - v.From
	v.SetRange(from+(to-from)/2-width/2, from+(to-from)/2+width/2, end)
}

// minRange is the shortest visible range.
const minRange = time.Microsecond

// SetRange sets the visible range of a step that ends at end. A range that reaches beyond the step is moved into
// it; the whole step is stored as 0, 0.
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

// Rewind shows the whole step, moves the playhead to its start and stops playing.
func (v *View) Rewind() {
	v.From, v.To, v.Playhead = 0, 0, 0
	v.Play = Playing{}
}

// Fit shows the whole step if the visible range reaches beyond end, the end of the step.
func (v *View) Fit(end time.Duration) {
	if v.To > end {
		v.From, v.To = 0, 0
	}
}

// Carry updates the selection for picture p, which replaces old; old is nil if none was shown.
// It selects what the link names, if p has it. Otherwise a selected wait becomes the wait nearest
// in time, stages and values stay selected, and other selections become foremost(p).
func (v *View) Carry(p, old *known.Picture) {
	v.Trail = nil
	switch {
	case v.selectWanted(p):
	case old == nil || old.Network != p.Network || old.Choice.MethodKey() != p.Choice.MethodKey():
		v.Selected, v.Picked = foremost(p), false
	case v.Selected.Kind == lookup.OnGap && v.Selected.Index < len(old.Gaps()):
		was := old.Gaps()[v.Selected.Index].Start
		v.Selected = gapTarget(least(p.Gaps(), func(g sim.Gap) time.Duration { return (g.Start - was).Abs() }))
	case v.Selected.Kind == lookup.OnStage, v.Selected.Kind == lookup.OnValue: // p has the same stages and values
	case v.Selected.Kind != lookup.Nothing || len(old.Gaps()) == 0:
		v.Selected, v.Picked = foremost(p), false
	}
}

// foremost returns what a picture selects by itself: the longest wait or, without waits,
// what lookup.Index.Foremost returns.
func foremost(p *known.Picture) lookup.Target {
	if i := least(p.Gaps(), func(g sim.Gap) time.Duration { return g.Start - g.End }); i >= 0 {
		return gapTarget(i)
	}
	return p.Index().Foremost()
}

// gapTarget returns wait i as a target, or nothing if i is negative.
func gapTarget(i int) lookup.Target {
	if i < 0 {
		return lookup.Target{}
	}
	return lookup.Target{Kind: lookup.OnGap, Index: i}
}

// least returns the index of the first gap with the least measure, or -1 without gaps.
func least(gaps []sim.Gap, measure func(sim.Gap) time.Duration) int {
	best := -1
	for i, g := range gaps {
		if best < 0 || measure(g) < measure(gaps[best]) {
			best = i
		}
	}
	return best
}

// selectWanted selects the target in p that the link names. It reports false if the link names
// none or p does not have it.
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

// SelectedName returns the name of the selection in a picture, as links have it. It is empty if the page
// made the selection by itself, or if there is no picture.
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

// Follow sets the look that a link asks for.
func (v *View) Follow(l link.Look) {
	v.Look, v.Play = l, Playing{}
	v.Table = v.Table || v.tableShown()
}

// Linked returns the look that a link to picture p says; p is nil if there is no picture yet.
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
	if v.Frame.Embed { // the other page decides these
		l.Frame.Theme, l.Frame.Embed, l.Frame.Control = "", false, ""
	}
	return l
}

// tableShown reports whether a link shows the table of operations without unfolding it.
func (v *View) tableShown() bool { return v.Frame.Show != nil && v.Frame.Shows("table") }
