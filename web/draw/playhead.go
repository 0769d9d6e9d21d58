package draw

import (
	"math"

	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
)

// drawPlayhead draws the line of the playhead. If handle is true, it also draws the handle, with the moment and the
// memory in use.
func (m *Index) drawPlayhead(s *Scene, f *frame, top, bottom float64, handle bool) {
	if f.Playhead <= 0 || f.Playhead < f.From || f.Playhead > f.To {
		return
	}
	x := f.x(int64(f.Playhead))
	s.Line(display.StrokeOf(display.Ink, 1), x, top, x, bottom)
	if !handle {
		return
	}
	s.Area(display.FillOf(display.Ink), x-5, 2, x+5, 2, x+5, 9, x, 14, x-5, 9)
	held := sim.Sample{Used: m.Memory.Used(f.Playhead)}
	t := display.Text{S: format.Moment(f.Playhead, f.To-f.From) + ", " + format.Bytes(held.Total()), Bold: true,
		Large: true, Halo: true}
	at := spot{x + 10, 13, display.Start}
	if !fits(&t, f, &at) {
		at = spot{x - 10, 13, display.End}
	}
	b := boxOf(&t, f, &at)
	s.Rect(display.FillOf(display.Surface), b.x0, 1, b.x1-b.x0, titleLine-2) // covers the names of phases
	t.Anchor = at.anchor
	s.AddText(display.Ink, at.x, at.y, t)
}

// fade draws a veil over the bands after the playhead while the step is played.
func (m *Index) fade(s *Scene, f *frame) {
	if !f.Playing || f.Playhead < f.From || f.Playhead >= f.To {
		return
	}
	rest := *f
	rest.left = f.clip(f.x(int64(f.Playhead)))
	rest.From = f.Playhead
	sc := m.memoryScale(f)
	s.bands = m.bandPoints(&rest, s.bands[:0])
	if len(s.bands) < 2 {
		return
	}
	xy := sc.border(s.bands, int(sim.NumCategories)-1)
	s.Path(display.OpArea, display.FillOf(display.Veil),
		append(xy, s.bands[len(s.bands)-1].x, sc.bottom, rest.left, sc.bottom))
}

// drawCursor draws the cursor line and, if label is true, the time at its upper end.
func (m *Index) drawCursor(s *Scene, f *frame, top, bottom float64, label bool) {
	if f.Cursor < f.From || f.Cursor > f.To {
		return
	}
	x := f.x(int64(f.Cursor))
	s.Line(display.StrokeOf(display.Ink, 1), x, top, x, bottom)
	if label {
		str := format.Moment(f.Cursor, f.To-f.From)
		half := display.TextWidth(str) / 2
		halo(s, display.Ink, math.Min(math.Max(x, f.left+half), f.Width-half-2), 12, display.Middle, str)
	}
}
