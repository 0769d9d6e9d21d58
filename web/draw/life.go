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

// lifeHeight is the height of the row, lifeTop and lifeBar where its bar is.
const (
	lifeHeight = 28.0
	lifeTop    = 9.0
	lifeBar    = 14.0
)

func init() {
	pictures[Life] = picture{name: "life", title: "its life", height: lifeHeight, compared: 0}
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

// drawLife draws when the selected value is on the device, leaves it, is on the host
// only and comes back, with a tick for every run that reads it. Of a chain it draws
// nothing: there the memory shows the life of a layer.
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

// drawStays draws the stays, with what is leaving or arriving over them.
func (m *Index) drawStays(s *Scene, f *frame, v engine.ValueID) {
	var kept, again, moving rects
	add := func(to *rects, from, end time.Duration) {
		x0, x1 := f.clip(f.x(int64(from))), f.clip(f.x(int64(end)))
		n := len(*to)
		if end < f.From || from > f.To || n > 0 && x1-(*to)[n-4]-(*to)[n-2] < 1 { // as wide as a pixel together
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
		m.Stays(v, func(l *sim.Life) { // its room is taken before its copy begins
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

// drawAbsence draws a dotted line between stays, and says where the value is then.
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

// drawReads draws a tick for every run that reads the value, as many as can be told
// apart.
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

// outlineValue outlines the runs and copies that put the selected value where it
// is, and nothing of what only reads it.
func (m *Index) outlineValue(s *Scene, f *frame, v engine.ValueID) {
	const most = 64
	n := 0
	for i := range m.Trace.Spans {
		sp := &m.Trace.Spans[i]
		own := sp.Value == v
		if sp.Op != engine.NoOp {
			own = slices.Contains(m.Problem.Graph.Ops[sp.Op].Out, v)
		}
		if x, y, w, h, ok := m.box(f, lookup.Target{Kind: lookup.OnSpan, Index: i}); own && ok && n < most {
			s.Outline(display.StrokeOf(display.Ink, 2), x, y, w, h)
			n++
		}
	}
}
