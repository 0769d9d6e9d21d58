package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// The heights of the rows of the timeline, in CSS pixels.
const (
	computeHeight = 34.0
	copyHeight    = 20.0
	laneSpace     = 4.0 // between rows
)

// laneNames are the names of the lanes, slimLaneNames those for narrow pictures.
var (
	laneNames = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "to host ↓", sim.ToDev: "to device ↑",
		sim.Network: "network", sim.CPU: "CPU"}
	slimLaneNames = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "host ↓", sim.ToDev: "dev. ↑",
		sim.Network: "net", sim.CPU: "CPU"}
)

// runs reports whether a lane is drawn: the compute lane, and lanes that are busy on this or the
// other side of a comparison.
func (m *Index) runs(f *frame, l int) bool {
	return l == int(sim.Compute) || m.Busy(sim.Lane(l)) || f.Beside != nil && f.Beside.Model.Busy(sim.Lane(l))
}

// laneBox returns the upper edge and the height of a lane; for sim.NumLanes, y is where the lanes
// end. If the picture is too low for its lanes, all of them are lower.
func (m *Index) laneBox(f *frame, l int) (y, h float64) {
	rows := 0
	for i := int(sim.ToHost); i < len(m.Lanes); i++ {
		if m.runs(f, i) {
			rows++
		}
	}
	part := math.Min((f.Height-titleLine-axisLine)/(TimelineHeight(rows)-titleLine-axisLine), 1)
	y = titleLine
	for i := range l {
		switch {
		case i == int(sim.Compute):
			y += (computeHeight + laneSpace) * part
		case m.runs(f, i):
			y += (copyHeight + laneSpace) * part
		}
	}
	if l == int(sim.Compute) {
		return y, computeHeight * part
	}
	return y, copyHeight * part
}

// TimelineHeight returns the height of a timeline with the compute lane and copies other lanes.
func TimelineHeight(copies int) float64 {
	return titleLine + computeHeight + laneSpace + float64(copies)*(copyHeight+laneSpace) + axisLine
}

// nameWait writes the label of the selected wait beside it: in the row of its cause, in another
// row that is free there, or above.
func (m *Index) nameWait(s *Scene, f *frame) {
	t := f.Selected
	if !m.Valid(t) || t.Kind != lookup.OnGap {
		return
	}
	x, _, w, _, ok := m.box(f, t)
	if !ok {
		return
	}
	words := display.Text{S: m.WaitWords(t.Index), Bold: true, Large: true}
	var spots []spot
	row := func(l int) {
		if l == int(sim.Compute) || !m.runs(f, l) {
			return
		}
		y, h := m.laneBox(f, l)
		right, left := x+w, x
		if cx, _, cw, _, ok := m.box(f, m.Cause(t)); ok {
			right, left = max(right, cx+cw), min(left, cx)
		}
		for _, at := range []spot{{right + 20, y + h/2 + 4.5, display.Start}, {left - 12, y + h/2 + 4.5, display.End}} {
			b := boxOf(&words, f, &at)
			if !empty(&m.Lanes[l], f, b.x0, b.x1) {
				s.placed = append(s.placed, b)
			}
			spots = append(spots, at)
		}
	}
	if c := m.Span(m.Trace.Gaps[t.Index].Cause); c != nil {
		row(int(c.Lane))
	}
	row(int(sim.ToHost))
	row(int(sim.ToDev))
	spots = append(spots, spot{x + w + 4, 13, display.Start}, spot{x - 4, 13, display.End})
	s.place(f, display.Budget, words, false, spots...)
}

// empty reports whether a lane has no slices between x0 and x1.
func empty(l *lookup.Lane, f *frame, x0, x1 float64) bool {
	i := l.FirstEnding(int64(f.time(x0)))
	return i >= len(l.From) || f.x(l.From[i]) >= x1
}

// box returns the rectangle of a span or a gap; ok is false if it is outside of the view.
func (m *Index) box(f *frame, t lookup.Target) (x, y, w, h float64, ok bool) {
	from, to := m.Interval(t)
	l := 0
	if t.Kind == lookup.OnSpan {
		l = int(m.Trace.Spans[t.Index].Lane)
	}
	if t.Kind != lookup.OnSpan && t.Kind != lookup.OnGap || to <= f.From || from >= f.To {
		return 0, 0, 0, 0, false
	}
	y, h = m.laneBox(f, l)
	x = f.clip(f.x(int64(from)))
	return x, y, math.Max(f.clip(f.x(int64(to)))-x, 1), h, true
}

// outlineSpans outlines the visible ones of some spans, but not more than can be told apart.
func (m *Index) outlineSpans(s *Scene, f *frame, ids []sim.SpanID, width float32) {
	const most = 64
	n := 0
	for _, id := range ids {
		if x, y, w, h, ok := m.box(f, lookup.Target{Kind: lookup.OnSpan, Index: int(id)}); ok && n < most {
			s.Outline(display.StrokeOf(display.Ink, width), x, y, w, h)
			n++
		}
	}
}

// drawPhases shades every second phase between top and bottom.
func (m *Index) drawPhases(s *Scene, f *frame, top, bottom float64) {
	for i, p := range m.Phases {
		x0, x1 := f.clip(f.x(int64(p.From))), f.clip(f.x(int64(p.To)))
		if i%2 == 1 && x1 > x0 {
			s.Rect(display.FillOf(display.Phase), x0, top, x1-x0, bottom-top)
		}
	}
}

// namePhases writes the names of the phases at y, except for those that would cover the title or what was placed. A
// phase that is too narrow to be seen has its name and its time left of its end.
func (m *Index) namePhases(s *Scene, f *frame, y float64) {
	title := f.title(Timeline)
	end := max(f.left, title.Width()+6)
	for _, p := range m.Phases {
		x0, x1 := f.clip(f.x(int64(p.From))), f.clip(f.x(int64(p.To)))
		name, x, narrow := display.Text{S: p.Name}, max(x0+2, end), x1-x0 < narrowPhase
		if narrow {
			name.S += ": " + format.Duration(p.To-p.From)
			x = x1 - name.Width()
		}
		w, b := name.Width(), boxOf(&name, f, &spot{x, y, display.Start})
		if x1 > x0 && x >= end && x+w <= f.right && (narrow || x+w/2 <= x1) && s.free(&b) {
			s.Text(display.Muted, x, y, display.Start, name.S)
			end = x + w + 6
		}
	}
}

// narrowPhase is the width below which a phase cannot be seen, in CSS pixels.
const narrowPhase = 6.0

// chainWidth is the width of the line of the critical chain, in CSS pixels.
const chainWidth = 3.0

// drawChain underlines the links of the critical chain and connects them where the
// chain changes lanes. Links that share a pixel are drawn once.
func (m *Index) drawChain(s *Scene, f *frame) {
	var bars rects
	var drawn [sim.NumLanes]float64 // the right end of each lane's line
	for l := range drawn {
		drawn[l] = f.left
	}
	joined, lane := f.left-2, -1
	for _, c := range m.CriticalChain() {
		next := lane
		if c.Target.Kind == lookup.OnSpan {
			next = int(m.Trace.Spans[c.Target.Index].Lane)
		}
		x0, x1 := f.x(int64(c.From)), f.x(int64(c.To))
		if c.To < f.From || c.From > f.To {
			lane = next
			continue
		}
		if lane >= 0 && next != lane && x0 >= f.left && x0 >= joined+1 {
			y0, h0 := m.laneBox(f, lane) // an upright bar from one line to the other
			y1, h1 := m.laneBox(f, next)
			bars.add(x0-0.75, math.Min(y0+h0, y1+h1), 1.5, math.Abs(y0+h0-y1-h1)+chainWidth)
			joined = x0
		}
		if lane = next; c.Target.Kind == lookup.OnSpan {
			y, h := m.laneBox(f, lane)
			x0, x1 = f.clip(x0), math.Min(math.Max(f.clip(x1), f.clip(x0)+0.5), f.right)
			if x0 < drawn[lane]+1 {
				x0 = drawn[lane]
			}
			if x1 >= x0+0.5 {
				bars.add(x0, y+h, x1-x0, chainWidth)
				drawn[lane] = x1
			}
		}
	}
	s.Rects(display.FillOf(display.Budget), bars)
}
