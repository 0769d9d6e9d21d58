package draw

import (
	"math"
	"time"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Sizes of the lens in CSS pixels.
const (
	lensHeight = 112.0
	lensLeft   = 58.0
	lensTop    = 20.0 // y of the compute lane
	lensLane   = 30.0
	lensLower  = 58.0 // y of the lane of the cause
	lensCopy   = 24.0
	lensAxis   = 104.0 // baseline of the axis
)

// lensMagnifies is the length of the interval in the lens, in lengths of the wait.
const lensMagnifies = 13

// Lens replaces s by a magnified wait: the compute lane and the lane of its cause around the wait, with an arrow from
// the cause. It draws nothing and returns false for other targets, and if the lens would show the whole step.
func (m *Index) Lens(s *Scene, t lookup.Target, width float64) bool {
	s.Reset(width, lensHeight)
	if t.Kind != lookup.OnGap || !m.Valid(t) {
		return false
	}
	g := &m.Trace.Gaps[t.Index]
	half := (g.End - g.Start) * lensMagnifies / 2
	from, to := max(g.Start+(g.End-g.Start)/2-half, 0), min(g.End-(g.End-g.Start)/2+half, m.Trace.Makespan)
	if to-from >= m.Trace.Makespan {
		return false
	}
	s.Title, s.Desc = "The wait, magnified", m.Sentence(t)
	f := frame{View: View{From: from, To: to, Width: width}, left: lensLeft, right: width - 2}
	f.scale = (f.right - f.left) / float64(to-from)
	x := func(at time.Duration) float64 { return f.clip(f.x(int64(at))) }
	lane := func(which sim.Lane, y, h float64) {
		s.Text(display.Muted, lensLeft-8, y+h/2+4, display.End, laneNames[which])
		m.drawLane(s, &f, int(which), y, h)
	}
	ticks, unit := format.TimeTicks(from, to, 4)
	for i, k := range ticks {
		if i == len(ticks)-1 {
			k.Label += " " + unit
		}
		half := display.TextWidth(k.Label) / 2
		s.Text(display.Muted, math.Min(x(k.At), width-half), lensAxis, display.Middle, k.Label)
	}
	lane(sim.Compute, lensTop, lensLane)
	cause := m.Span(g.Cause)
	if cause != nil && cause.Lane != sim.Compute {
		lane(cause.Lane, lensLower, lensCopy)
		if cause.End > from && cause.Start < to {
			x0, x1 := x(cause.Start), x(cause.End)
			s.Outline(display.StrokeOf(display.Ink, 2), x0, lensLower, math.Max(x1-x0, 1), lensCopy)
		}
	}
	x0, x1 := x(g.Start), x(g.End)
	s.Outline(display.StrokeOf(display.Waiting, 2), x0-1, lensTop-2, x1-x0+2, lensLane+4)
	s.AddText(display.Budget, (x0+x1)/2, lensTop-8,
		display.Text{S: format.Duration(g.End - g.Start), Anchor: display.Middle, Bold: true})
	if cause != nil && cause.Lane != sim.Compute && cause.End > from && cause.End <= to {
		arrow(s, x(cause.End), lensLower, lensCopy, x1, lensTop, lensLane)
	}
	return true
}
