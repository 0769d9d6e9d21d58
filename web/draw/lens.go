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
	lensTop    = 20.0 // of the compute lane
	lensLane   = 30.0
	lensLower  = 58.0 // top of the lane of the cause
	lensCopy   = 24.0
	lensAxis   = 104.0 // baseline of the axis
)

// lensMagnifies is how many times the wait the lens shows: a wait is a few pixels of
// a step.
const lensMagnifies = 13

// Lens draws a wait with what happens around it on the compute lane and on the lane
// of its cause, and how the cause let it end. It is false, and nothing is drawn, for
// everything but a wait, and where the lens would show no less than the whole step.
func (m *Model) Lens(s *Scene, t lookup.Target, width float64) bool {
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
	s.Title, s.Desc = "The wait, magnified", m.GapSentence(t.Index)
	l := lens{m, s, from, to, width}
	l.axis()
	l.lane(sim.Compute, lensTop, lensLane)
	cause := m.Span(g.Cause)
	if cause != nil && cause.Lane != sim.Compute {
		l.lane(cause.Lane, lensLower, lensCopy)
		if cause.End > from && cause.Start < to {
			x0, x1 := l.x(cause.Start), l.x(cause.End)
			s.Outline(display.StrokeOf(display.Ink, 2), x0, lensLower, math.Max(x1-x0, 1), lensCopy)
		}
	}
	x0, x1 := l.x(g.Start), l.x(g.End)
	s.Outline(display.StrokeOf(display.Waiting, 2), x0-1, lensTop-2, x1-x0+2, lensLane+4)
	s.AddText(display.Budget, (x0+x1)/2, lensTop-8,
		display.Text{S: format.Duration(g.End - g.Start), Anchor: display.Middle, Bold: true})
	if cause != nil && cause.Lane != sim.Compute && cause.End > from && cause.End <= to {
		arrow(s, l.x(cause.End), lensLower, lensCopy, x1, lensTop, lensLane)
	}
	return true
}

// lens maps the time around a wait to pixels.
type lens struct {
	m        *Model
	s        *Scene
	from, to time.Duration
	width    float64
}

// x returns the place of a moment, at an edge for what lies beside the lens.
func (l *lens) x(at time.Duration) float64 {
	share := float64(at-l.from) / float64(l.to-l.from)
	return lensLeft + (l.width-2-lensLeft)*min(max(share, 0), 1)
}

func (l *lens) axis() {
	ticks, unit := format.TimeTicks(l.from, l.to, 4)
	for i, k := range ticks {
		label := k.Label
		if i == len(ticks)-1 {
			label += " " + unit
		}
		half := display.TextWidth(label) / 2
		l.s.Text(display.Muted, math.Min(l.x(k.At), l.width-half), lensAxis, display.Middle, label)
	}
}

// mostInLens is how many slices a lane of the lens has at most: each has a pixel.
const mostInLens = 256

// lane draws the slices of a lane.
func (l *lens) lane(which sim.Lane, y, h float64) {
	l.s.Text(display.Muted, lensLeft-8, y+h/2+4, display.End, laneNames[which])
	ln := &l.m.Lanes[which]
	drawn := 0
	for i := ln.FirstEnding(int64(l.from)); i < len(ln.From) && ln.From[i] < int64(l.to) && drawn < mostInLens; i++ {
		x0, x1 := l.x(time.Duration(ln.From[i])), l.x(time.Duration(ln.To[i]))
		if x1-x0 < 1 {
			continue
		}
		drawn++
		if ln.Ref[i] < 0 {
			l.s.Rect(waitingBox, x0+0.5, y+0.5, x1-x0-1, h-1)
			continue
		}
		sp := &l.m.Trace.Spans[ln.Ref[i]]
		l.s.Rect(kindStyles[sp.Kind], x0, y, x1-x0-math.Min(1, (x1-x0)/2), h)
		if name := l.m.Called(sp); display.TextWidth(name)+8 <= x1-x0 {
			l.s.Text(kindStyles[sp.Kind].Fill.On(), (x0+x1)/2, y+h/2+4, display.Middle, name)
		}
	}
}
