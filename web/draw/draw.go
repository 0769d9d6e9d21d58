package draw

import (
	"math"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/tell"
)

// Model is a trace, arranged for drawing.
type Model struct{ *tell.Model }

// NewModel arranges a trace of p's graph for drawing. p and t must not change
// while the model is in use. It takes time and memory in proportion to the trace.
func NewModel(p *engine.Problem, t *sim.Trace) *Model {
	return &Model{tell.New(p, t)}
}

// Draw replaces s by a picture of the model. The work and the size of the scene
// are bounded by v.Width, however long the trace is.
func (m *Model) Draw(s *Scene, pic Picture, v View) {
	f := m.frame(pic, v)
	s.Reset(f.Width, f.Height)
	timed[pic].draw(m, s, &f)
}

// Overlay replaces s by what moves with the pointer over a picture: the cursor
// line at v.Cursor and the outline of v.Hover. Its background is transparent,
// so that it lies on the picture without repainting it.
func (m *Model) Overlay(s *Scene, pic Picture, v View) {
	f := m.frame(pic, v)
	s.Reset(f.Width, f.Height)
	if overlay := timed[pic].overlay; overlay != nil {
		overlay(m, s, &f)
	}
}

// drawCursor draws the cursor line, with the time at its upper end.
func (m *Model) drawCursor(s *Scene, f *frame, top, bottom float64, label bool) {
	if f.Cursor < f.From || f.Cursor > f.To {
		return
	}
	x := f.x(int64(f.Cursor))
	s.Line(display.StrokeOf(display.Ink, 1), float32(x), float32(top), float32(x), float32(bottom))
	if label {
		str := format.Moment(f.Cursor, f.To-f.From)
		half := display.TextWidth(str) / 2
		halo(s, display.Ink, math.Min(math.Max(x, f.left+half), f.Width-half-2), 12, display.Middle, str)
	}
}

// pageHeight is the height of Page's scenes in CSS pixels.
func (m *Model) pageHeight(width float64) float64 {
	h := -PageGap
	for pic := range NumPictures {
		if own := m.heightAt(pic, width); own > 0 {
			h += own + PageGap
		}
	}
	return h
}

// Page replaces s by the three pictures under each other, as a page shows them,
// with the cursor if there is one: for files, and for the first picture of the
// page, which the live pictures replace in the same place.
func (m *Model) Page(s *Scene, v View) {
	v.Height = 0
	s.Reset(v.Width, m.pageHeight(v.Width))
	var part Scene
	y := 0.0
	for pic := range NumPictures {
		if m.heightAt(pic, v.Width) == 0 {
			continue
		}
		m.Draw(&part, pic, v)
		s.Append(&part.List, 0, y)
		m.Overlay(&part, pic, v)
		s.Append(&part.List, 0, y)
		y += part.Height + PageGap
	}
	s.Title = "One training step: layers, timeline and device memory"
	s.Desc = m.Summary(v.Budget)
}

// Figure replaces s by the legend and the page, for a file that stands alone.
func (m *Model) Figure(s *Scene, v View) {
	var page, legend Scene
	m.Page(&page, v)
	Legend(&legend, v.Width, m)
	s.Reset(v.Width, legend.Height+PageGap+page.Height)
	s.Append(&legend.List, 0, 0)
	s.Append(&page.List, 0, legend.Height+PageGap)
	s.Title, s.Desc = page.Title, page.Desc
}
