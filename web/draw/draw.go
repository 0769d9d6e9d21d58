package draw

import (
	"strings"
	"time"

	"memtide/web/display"
	"memtide/web/lookup"
)

// drawn has the pictures of a model of type M, which embeds it: an Index, Places, a Flame, Passes.
type drawn[M any] struct {
	model   M
	in      func(pic Picture, v View) frame
	layouts []layoutOf[M] // of the pictures from first on
	first   Picture
}

// Draw replaces s by a picture of the model. The size of the scene is bounded by v.Width, however long the trace is;
// all of it that is in view is looked at.
func (x *drawn[M]) Draw(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	s.Title = pic.Title()
	x.layouts[pic-x.first].draw(x.model, s, &f)
}

// Overlay replaces s by what moves with the pointer over a picture: the cursor
// line at v.Cursor and the outline of v.Hover. Its background is transparent,
// so that it lies on the picture without repainting it.
func (x *drawn[M]) Overlay(s *Scene, pic Picture, v View) {
	f := x.in(pic, v)
	s.Reset(f.Width, f.Height)
	if overlay := x.layouts[pic-x.first].overlay; overlay != nil {
		overlay(x.model, s, &f)
	}
}

// Hit returns what is painted at a point of a picture, in CSS pixels, and the
// moment there (of still pictures: NoCursor).
func (x *drawn[M]) Hit(pic Picture, v View, px, py float64) (lookup.Target, time.Duration) {
	f := x.in(pic, v)
	t, at := lookup.Target{}, NoCursor
	if hit := x.layouts[pic-x.first].hit; hit != nil {
		t = hit(x.model, &f, px, py)
	}
	if !pic.Still() {
		at = f.time(px)
	}
	return t, at
}

// TimeAt returns the moment at px, in CSS pixels, in a view of the pictures with a time axis; left and
// right of the axis it is that of its end.
func (x *drawn[M]) TimeAt(v View, px float64) time.Duration {
	f := x.in(x.first, v)
	return f.time(px)
}

// below puts a part under what is there.
func (s *Scene) below(part *Scene) {
	if s.Height > 0 {
		s.Height += PageGap
	}
	s.Append(&part.List, 0, s.Height)
	s.Height += part.Height
}

// Page replaces s by the three pictures under each other, as a page shows them,
// with the cursor if there is one: for files, and for the first picture of the
// page, which the live pictures replace in the same place.
func (m *Index) Page(s *Scene, v View) {
	v.Height = 0
	s.Reset(v.Width, 0)
	var part, over Scene
	for pic := range NumPictures {
		if m.heightAt(pic, v.Width) == 0 {
			continue
		}
		m.Draw(&part, pic, v)
		m.Overlay(&over, pic, v)
		part.Append(&over.List, 0, 0)
		s.below(&part)
	}
	s.Title = "One training step: blocks, timeline and device memory"
	s.Desc = m.Summary(v.Budget)
}

// Figure replaces s by the legend and the page, for a file that stands alone.
func (m *Index) Figure(s *Scene, v View) {
	var page, legend Scene
	m.Page(&page, v)
	Legend(&legend, v.Width, m)
	s.Reset(v.Width, 0)
	s.below(&legend)
	s.below(&page)
	s.Title, s.Desc = page.Title, page.Desc
}

// FileMargin is the room around a picture in a file, in CSS pixels.
const FileMargin = 12.0

// Heading says above a picture in a file what it shows.
type Heading struct {
	Title string   // bold, on one line: cut where it is too long
	Lines []string // each goes on in the next line where it is too long
}

// Headed replaces s by a picture with a heading above it and a margin on all
// sides. The picture itself is the same display list, moved.
func Headed(s, picture *Scene, h Heading) {
	s.Reset(picture.Width+2*FileMargin, 0)
	s.Title, s.Desc = picture.Title, picture.Desc
	y := FileMargin
	line := func(str string, bold bool) {
		s.AddText(display.Ink, FileMargin, y+display.FontSize, display.Text{S: str, Bold: bold})
		y += lineHeight + 3
	}
	if title := display.Fit(h.Title, picture.Width); title != "" {
		line(title, true)
	}
	for _, l := range h.Lines {
		for _, part := range wrap(l, picture.Width) {
			line(part, false)
		}
	}
	if y > FileMargin {
		y += PageGap
	}
	s.Append(&picture.List, FileMargin, y)
	s.Height = y + picture.Height + FileMargin
}

// wrap breaks a text into lines of a width, at spaces; a word that is longer than
// a line is cut.
func wrap(str string, width float64) (lines []string) {
	for word := range strings.FieldsSeq(str) {
		if n := len(lines) - 1; n >= 0 && display.TextWidth(lines[n]+" "+word) <= width {
			lines[n] += " " + word
		} else if word = display.Fit(word, width); word != "" {
			lines = append(lines, word)
		}
	}
	return lines
}
