package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/lookup"
)

// The heights of the rows of the timeline, in CSS pixels.
const (
	computeHeight = 34.0
	copyHeight    = 20.0
	laneSpace     = 4.0 // between rows
)

// laneNames are the names of the lanes, and what they are called where there is little
// room.
var (
	laneNames = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "to host ↓", sim.ToDev: "to device ↑",
		sim.Network: "network", sim.CPU: "CPU"}
	slimLaneNames = [sim.NumLanes]string{sim.Compute: "compute", sim.ToHost: "host ↓", sim.ToDev: "dev. ↑",
		sim.Network: "net", sim.CPU: "CPU"}
)

// runs reports whether anything runs on a lane, of both sides of a comparison: others are
// not drawn. The compute lane always is.
func (m *Model) runs(f *frame, l int) bool {
	return l == int(sim.Compute) || len(m.Lanes[l].Ref) > 0 || f.Beside != nil && len(f.Beside.Model.Lanes[l].Ref) > 0
}

// laneBox returns where a lane is; of sim.NumLanes, where the lanes end. Where there is no
// room for all, they are lower.
func (m *Model) laneBox(f *frame, l int) (y, h float64) {
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

// TimelineHeight returns the height of a timeline with n lanes beside compute.
func TimelineHeight(copies int) float64 {
	return titleLine + computeHeight + laneSpace + float64(copies)*(copyHeight+laneSpace) + axisLine
}

// nameWait writes what the selected wait is about beside it: in the row of the copy
// that it waited for, or in another one that is free there, or above.
func (m *Model) nameWait(s *Scene, f *frame) {
	t := f.Selected
	if !m.Valid(t) || t.Kind != lookup.OnGap {
		return
	}
	x, _, w, _, ok := m.box(f, t)
	if !ok {
		return
	}
	words := display.Text{S: m.WaitWords(t.Index), Bold: true, Large: true}
	s.placed = s.placed[:0]
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

// empty reports whether a lane has nothing between two places.
func empty(l *lookup.Lane, f *frame, x0, x1 float64) bool {
	i := l.FirstEnding(int64(f.time(x0)))
	return i >= len(l.From) || f.x(l.From[i]) >= x1
}

// box returns where a span or a gap is painted; ok is false if it is outside of the view.
func (m *Model) box(f *frame, t lookup.Target) (x, y, w, h float64, ok bool) {
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
