package draw

import (
	"math"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

const (
	lifeTop = 9.0  // y of the bar, in CSS pixels
	lifeBar = 14.0 // height of the bar
)

func init() {
	pictures[Life] = picture{name: "life", title: "its life", height: 28}
	timed[Life] = layoutOf[*Index]{
		draw: (*Index).drawLife,
		overlay: func(m *Index, s *Scene, f *frame) {
			if m.IsGraph() {
				m.drawCursor(s, f, 0, f.Height, false)
			}
		},
		hit: func(m *Index, f *frame, x, y float64) lookup.Target { return f.Selected },
		height: func(m *Index, width float64) float64 {
			if m.IsGraph() {
				return Life.HeightAt(width)
			}
			return 0
		},
	}
}

// drawLife draws when the selected value is on the device, leaves it, is only on the host and comes back, with a mark
// for every run that reads it. For a chain it draws nothing, because Memory shows the life of a layer.
func (m *Index) drawLife(s *Scene, f *frame) {
	if !m.IsGraph() {
		return
	}
	s.Title = "When the selected value is on the device"
	s.AddText(display.Ink, f.left-8, lifeTop+11, display.Text{S: "its life", Anchor: display.End, Bold: true})
	v := m.ValueOf(f.Selected)
	if v == engine.NoValue {
		s.Text(display.Muted, f.left, lifeTop+11, display.Start,
			display.Fit("Select an arc or an operation to see when its value is on the device.", f.right-f.left))
		return
	}
	s.Desc = m.LifeWords(v)
	m.drawAbsence(s, f, v)
	m.drawStays(s, f, v)
	m.drawReads(s, f, v)
}

// drawStays draws the stays of a value on the device, with its copies over them.
func (m *Index) drawStays(s *Scene, f *frame, v engine.ValueID) {
	var kept, again, moving rects
	add := func(to *rects, from, end time.Duration) {
		x0, x1 := f.clip(f.x(int64(from))), f.clip(f.x(int64(end)))
		n := len(*to)
		if end < f.From || from > f.To || n > 0 && x1-(*to)[n-4]-(*to)[n-2] < 1 { // within a pixel of the last one
			return
		}
		to.add(x0, lifeTop, math.Max(x1-x0, 1), lifeBar)
	}
	m.Stays(v, func(l *sim.Life) {
		if l.Category == sim.Recomputed {
			add(&again, l.Start, l.End)
		} else {
			add(&kept, l.Start, l.End)
		}
	})
	m.Copies(v, func(c *sim.Span) {
		from := c.Start
		m.Stays(v, func(l *sim.Life) { // memory is allocated before the copy begins
			if c.Kind == sim.SpanFetch && l.Start <= c.Start && c.Start < l.End {
				from = l.Start
			}
		})
		add(&moving, from, c.End)
	})
	s.Rects(forwardStyle, kept)
	s.Rects(recomputeStyle, again)
	s.Rects(inFlightStyle, moving)
}

// drawAbsence draws a dotted line between stays, and writes where the value is meanwhile.
func (m *Index) drawAbsence(s *Scene, f *frame, v engine.ValueID) {
	var gone time.Duration
	drawn := math.Inf(-1)
	y := lifeTop + lifeBar/2
	saved := false
	m.Stays(v, func(l *sim.Life) {
		x0, x1 := f.clip(f.x(int64(gone))), f.clip(f.x(int64(l.Start)))
		if gone > 0 && l.Start > gone && x1-x0 >= 3 && x0 >= drawn {
			s.Line(display.DashedOf(display.Muted, 1, display.DashGhost), x0, y, x1, y)
			words := "dropped"
			if saved {
				words = "on the host"
			}
			if display.TextWidth(words)+12 < x1-x0 {
				halo(s, display.Muted, (x0+x1)/2, y+4, display.Middle, words)
			}
			drawn = x1
		}
		saved = saved || l.Offloaded
		gone = max(gone, l.End)
	})
}

// drawReads draws marks for the runs that read the value, with at least 4 pixels between two.
func (m *Index) drawReads(s *Scene, f *frame, v engine.ValueID) {
	last := math.Inf(-1)
	m.Reads(v, func(sp *sim.Span) {
		x := f.x(int64(sp.Start))
		if x < f.left || x > f.right || x-last < 4 {
			return
		}
		last = x
		s.Area(display.FillOf(display.Ink), x-3.5, lifeTop-7, x+3.5, lifeTop-7, x, lifeTop-2)
	})
}

// outlineValue outlines the runs that make a value and its copies, but not the runs that only read it.
func (m *Index) outlineValue(s *Scene, f *frame, v engine.ValueID) {
	var own []sim.SpanID
	for i := range m.Trace.Spans {
		sp := &m.Trace.Spans[i]
		if sp.Op == engine.NoOp && sp.Value == v ||
			sp.Op != engine.NoOp && slices.Contains(m.Problem.Graph.Ops[sp.Op].Out, v) {
			own = append(own, sim.SpanID(i))
		}
	}
	m.outlineSpans(s, f, own, 2)
}
