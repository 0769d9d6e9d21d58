package draw

import (
	"strings"

	"memtide/web/display"
)

// below appends a part below the scene.
func (s *Scene) below(part *Scene) {
	if s.Height > 0 {
		s.Height += PageGap
	}
	s.Append(&part.List, 0, s.Height)
	s.Height += part.Height
}

// Page replaces s by all pictures of the trace under each other, as the page shows them, with their
// overlays. It is for files, and for the first picture of the page, which the live pictures replace.
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

// Figure replaces s by the legend and the pictures of Page, for a file.
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

// Heading is the text above a picture in a file.
type Heading struct {
	Title string   // bold, on one line, shortened if it is too long
	Lines []string // wrapped if they are too long
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

// wrap breaks a text at spaces into lines of at most a width. It shortens a word that is longer than a line.
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
