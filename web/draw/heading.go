package draw

import (
	"strings"

	"memtide/web/display"
)

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
