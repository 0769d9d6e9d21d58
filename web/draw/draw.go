package draw

import (
	"math"

	"memtide/web/format"
)

// Draw replaces s by a picture of the model. The work and the size of the scene
// are bounded by v.Width, however long the trace is.
func (m *Model) Draw(s *Scene, pic Picture, v View) {
	f := m.frame(pic, v)
	s.reset(f.Width, f.Height)
	timed[pic].draw(m, s, &f)
}

// Overlay replaces s by what moves with the pointer over a picture: the cursor
// line at v.Cursor and the outline of v.Hover. Its background is transparent,
// so that it lies on the picture without repainting it.
func (m *Model) Overlay(s *Scene, pic Picture, v View) {
	f := m.frame(pic, v)
	s.reset(f.Width, f.Height)
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
	s.line(strokeOf(Ink, 1), float32(x), float32(top), float32(x), float32(bottom))
	if label {
		str := format.Moment(f.Cursor, f.To-f.From)
		half := textWidth(str) / 2
		halo(s, Ink, math.Min(math.Max(x, f.left+half), f.Width-half-2), 12, middle, str)
	}
}

// pageHeight is the height of Page's scenes in CSS pixels.
func (m *Model) pageHeight() float64 {
	h := -PageGap
	for pic := range NumPictures {
		if own := m.Height(pic); own > 0 {
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
	s.reset(v.Width, m.pageHeight())
	var part Scene
	y := 0.0
	for pic := range NumPictures {
		if m.Height(pic) == 0 {
			continue
		}
		m.Draw(&part, pic, v)
		s.append(&part, y)
		m.Overlay(&part, pic, v)
		s.append(&part, y)
		y += m.Height(pic) + PageGap
	}
	s.Title = "One training step: layers, timeline and device memory"
	s.Desc = m.Summary(v.Budget)
}

// legendEntries are what the colours mean, in the words of the pictures.
var legendEntries = []struct {
	style style
	words string
}{
	{forwardStyle, "forward, kept"},
	{recomputeStyle, "recompute"},
	{backwardStyle, "backward"},
	{transferStyle, "transfer, offload"},
	{inFlightStyle, "in transfer"},
	{fixedStyle, "weights"},
	{scratchStyle, "workspace"},
	{waitingBox, "waiting"},
	{overStyle, "over budget"},
}

// Legend replaces s by what the colours mean, in as many lines as the width needs.
func Legend(s *Scene, width float64) {
	s.reset(width, lineHeight+6)
	s.Title = "Legend"
	x, y := 0.0, 0.0
	for _, e := range legendEntries {
		w := 17 + textWidth(e.words)
		if x > 0 && x+w > width {
			x, y = 0, y+lineHeight+6
		}
		s.rect(e.style, x+0.5, y+3.5, 12, 10)
		s.text(Muted, x+17, y+13, start, e.words)
		x += w + 14
	}
	s.Height = y + lineHeight + 6
}

// Figure replaces s by the legend and the page, for a file that stands alone.
func (m *Model) Figure(s *Scene, v View) {
	var page, legend Scene
	m.Page(&page, v)
	Legend(&legend, v.Width)
	s.reset(v.Width, legend.Height+PageGap+page.Height)
	s.append(&legend, 0)
	s.append(&page, legend.Height+PageGap)
	s.Title, s.Desc = page.Title, page.Desc
}
