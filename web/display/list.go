// Package display implements display lists: rectangles, areas, lines and texts in the order in which
// they are painted, with colours by Role. It does not know what a list shows. web/static/paint.js
// paints a List on a canvas from one packed buffer (AppendBuffer), and WriteSVG writes it as SVG; both
// look the same. Widths of texts are estimates that err to the wide side.
package display

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"
)

// List is a display list: groups of rectangles, areas, lines and texts that are painted in order. Coordinates are CSS
// pixels, y grows downwards. The zero value is an empty list. Reset empties a list so that its memory is reused.
type List struct {
	Width, Height float64
	Title, Desc   string // accessible name and description; WriteSVG writes them

	// Read-only; the methods append to these.
	Groups []Group
	Nums   []float32 // coordinates of all groups
	Texts  []Text
}

// Op is the kind of item that a group consists of.
type Op uint8

// The kinds of items.
const (
	OpRects Op = iota + 1 // x, y, width, height each
	OpArea                // one closed polygon: x, y per corner
	OpLine                // one polyline: x, y per point
	OpTexts               // x, y each; the strings are in List.Texts
)

// Pattern is drawn over a fill in the colour of Style.Lines.
type Pattern uint8

// The patterns.
const (
	NoPattern Pattern = iota
	Hatch             // 45 degrees, 2.4 px wide
	ThinHatch         // 45 degrees, 1 px wide
	Dots
)

// Dash is a dash pattern of strokes.
type Dash uint8

// The dash patterns.
const (
	solid Dash = iota
	DashWaiting
	DashBudget
	DashGhost
)

// dashes are the lengths of strokes and gaps by Dash; paint.js has the same.
var dashes = [...]string{"", "3 2", "6 3", "2 2"}

// Style is how a group is painted.
type Style struct {
	Fill    Role
	Stroke  Role
	Pattern Pattern
	Lines   Role // of the pattern
	Dash    Dash
	Width   float32 // of the stroke
}

// FillOf returns a fill without a pattern or an edge.
func FillOf(r Role) Style { return Style{Fill: r, Stroke: NoRole, Lines: NoRole} }

// StrokeOf returns a stroke without a fill; its width is in CSS pixels.
func StrokeOf(r Role, width float32) Style {
	return Style{Fill: NoRole, Stroke: r, Lines: NoRole, Width: width}
}

// DashedOf returns a stroke with a dash pattern.
func DashedOf(r Role, width float32, d Dash) Style {
	return Style{Fill: NoRole, Stroke: r, Lines: NoRole, Dash: d, Width: width}
}

// PatternOf returns a fill under a pattern whose lines have the colour of lines.
func PatternOf(r Role, p Pattern, lines Role) Style {
	return Style{Fill: r, Stroke: NoRole, Pattern: p, Lines: lines}
}

// Group is a run of items of one kind and style: Nums[From:To] and, for texts, Texts[First:Last].
type Group struct {
	Op          Op
	Style       Style
	From, To    int
	First, Last int
}

// Anchor is the part of a text that lies at its x coordinate.
type Anchor uint8

// The left end, the middle and the right end.
const (
	Start Anchor = iota
	Middle
	End
)

// Text is a label on one line.
type Text struct {
	S      string
	Anchor Anchor
	Bold   bool
	Large  bool
	Halo   bool // outlined in the background's colour, so that it is legible on every fill
}

// Reset empties the list and sets its size in CSS pixels.
func (s *List) Reset(width, height float64) {
	s.Width, s.Height = width, height
	s.Title, s.Desc = "", ""
	s.Groups, s.Nums, s.Texts = s.Groups[:0], s.Nums[:0], s.Texts[:0]
}

// open returns the last group if o is a kind whose items can share a group and the last
// group has this kind and style. Otherwise it begins a new group.
func (s *List) open(o Op, st Style) *Group {
	if n := len(s.Groups); n > 0 && (o == OpRects || o == OpTexts) {
		if g := &s.Groups[n-1]; g.Op == o && g.Style == st {
			return g
		}
	}
	s.Groups = append(s.Groups, Group{Op: o, Style: st, From: len(s.Nums), To: len(s.Nums), First: len(s.Texts),
		Last: len(s.Texts)})
	return &s.Groups[len(s.Groups)-1]
}

// add appends coordinates to the group that open returns.
func (s *List) add(o Op, st Style, at ...float64) *Group {
	g := s.open(o, st)
	for _, x := range at {
		s.Nums = append(s.Nums, float32(x))
	}
	g.To = len(s.Nums)
	return g
}

// Rect adds a rectangle.
func (s *List) Rect(st Style, x, y, w, h float64) { s.add(OpRects, st, x, y, w, h) }

// Rects adds rectangles, each given by x, y, width and height.
func (s *List) Rects(st Style, xywh []float64) {
	if len(xywh) > 0 {
		s.add(OpRects, st, xywh...)
	}
}

// Path adds an area or a line (OpArea, OpLine) through points, given as x, y, x, y and so on.
// It adds nothing for fewer than two points.
func (s *List) Path(o Op, st Style, xy []float64) {
	if len(xy) >= 4 {
		s.add(o, st, xy...)
	}
}

// Line adds a line through points.
func (s *List) Line(st Style, xy ...float64) { s.Path(OpLine, st, xy) }

// Area adds an area with the given corners.
func (s *List) Area(st Style, xy ...float64) { s.Path(OpArea, st, xy) }

// Text adds a plain text whose baseline is at y.
func (s *List) Text(r Role, x, y float64, a Anchor, str string) {
	s.AddText(r, x, y, Text{S: str, Anchor: a})
}

// AddText adds a text whose baseline is at y.
func (s *List) AddText(r Role, x, y float64, t Text) {
	g := s.add(OpTexts, FillOf(r), x, y)
	s.Texts = append(s.Texts, t)
	g.Last = len(s.Texts)
}

// Outline adds the four edges of a rectangle as one line.
func (s *List) Outline(st Style, x, y, w, h float64) {
	s.Line(st, x, y, x+w, y, x+w, y+h, x, y+h, x, y)
}

// Append appends the groups of another list, moved by dx and dy.
func (s *List) Append(o *List, dx, dy float64) {
	for _, g := range o.Groups {
		shift, first := len(s.Nums)-g.From, len(s.Texts)
		s.Nums = append(s.Nums, o.Nums[g.From:g.To]...)
		s.Texts = append(s.Texts, o.Texts[g.First:g.Last]...)
		step := 2
		if g.Op == OpRects {
			step = 4
		}
		for i := g.From + shift; i < len(s.Nums); i += step {
			s.Nums[i] += float32(dx)
			s.Nums[i+1] += float32(dy)
		}
		s.Groups = append(s.Groups, Group{g.Op, g.Style, g.From + shift, len(s.Nums), first, len(s.Texts)})
	}
}

// TextWidth estimates the width of a label in CSS pixels. It errs to the wide
// side: the widths are those of DejaVu Sans, the widest of the usual fonts.
func TextWidth(s string) float64 {
	em := 0.0
	for _, r := range s {
		em += runeWidth(r)
	}
	return em * FontSize
}

// Width estimates the width of the text in CSS pixels, with its size and weight.
func (t *Text) Width() float64 {
	w := TextWidth(t.S)
	if t.Large {
		w *= largeSize / FontSize
	}
	if t.Bold {
		w *= 1.06
	}
	return w
}

// runeWidth returns the estimated width of a character as a fraction of the font size.
func runeWidth(r rune) float64 {
	switch {
	case r >= '0' && r <= '9':
		return 0.64
	case strings.ContainsRune("iljI", r):
		return 0.30
	case strings.ContainsRune(" .,:ftr()/", r):
		return 0.42
	case strings.ContainsRune("mMWw", r):
		return 0.99
	case r >= 'a' && r <= 'z':
		return 0.64
	case r >= 'A' && r <= 'Z':
		return 0.79
	case r < 0x80:
		return 0.84
	case r < 0x3000:
		return 0.95
	}
	return 1.1
}

// Fit returns s, shortened with an ellipsis if it is wider than width CSS pixels. It
// returns "" if not even one character fits.
func Fit(s string, width float64) string {
	if TextWidth(s) <= width {
		return s
	}
	w, cut := runeWidth('…')*FontSize, 0
	for i, r := range s {
		if w += runeWidth(r) * FontSize; w > width {
			break
		}
		cut = i + len(string(r))
	}
	if cut == 0 {
		return ""
	}
	return s[:cut] + "…"
}

// bufferMagic begins every command buffer; the last byte is the version.
const bufferMagic = uint32('M') | 'T'<<8 | 'D'<<16 | '1'<<24

// AppendBuffer appends the list to dst as commands for paint.js, little-endian:
//
//	header   magic u32, width f32, height f32, groups u32, bytes of text u32
//	group    op, fill, stroke, pattern, lines, dash u8, 0 u16, stroke width f32, numbers u32
//	         then the numbers: f32 coordinates; a text is x f32, y f32,
//	         offset u32 and length u16, anchor u8, font u8: 1 if bold, 2 if large, 4 with a halo
//	texts    all strings after each other in UTF-8
//
// Roles are indices into Palette, 255 for no paint. Offsets and lengths of texts count UTF-16 units, as
// JavaScript does. Every number is aligned to four bytes if dst is.
func (s *List) AppendBuffer(dst []byte) []byte {
	le := binary.LittleEndian
	base := len(dst)
	dst = le.AppendUint32(dst, bufferMagic)
	dst = le.AppendUint32(dst, math.Float32bits(float32(s.Width)))
	dst = le.AppendUint32(dst, math.Float32bits(float32(s.Height)))
	dst = le.AppendUint32(dst, uint32(len(s.Groups)))
	dst = le.AppendUint32(dst, 0) // bytes of text, set below
	units := 0
	for i := range s.Groups {
		g := &s.Groups[i]
		count := g.To - g.From
		if g.Op == OpTexts {
			count *= 2
		}
		dst = append(dst, byte(g.Op), byte(g.Style.Fill), byte(g.Style.Stroke), byte(g.Style.Pattern),
			byte(g.Style.Lines), byte(g.Style.Dash), 0, 0)
		dst = le.AppendUint32(dst, math.Float32bits(g.Style.Width))
		dst = le.AppendUint32(dst, uint32(count))
		if g.Op != OpTexts {
			dst = appendFloats(dst, s.Nums[g.From:g.To])
			continue
		}
		for j := g.First; j < g.Last; j++ {
			t, at := &s.Texts[j], g.From+2*(j-g.First)
			dst = appendFloats(dst, s.Nums[at:at+2])
			n := len(utf16.Encode([]rune(t.S)))
			dst = le.AppendUint32(dst, uint32(units))
			dst = le.AppendUint16(dst, uint16(n))
			font := byte(0)
			if t.Bold {
				font = 1
			}
			if t.Large {
				font += 2
			}
			if t.Halo {
				font += 4
			}
			dst = append(dst, byte(t.Anchor), font)
			units += n
		}
	}
	textAt := len(dst)
	for i := range s.Texts {
		dst = append(dst, s.Texts[i].S...)
	}
	le.PutUint32(dst[base+16:], uint32(len(dst)-textAt))
	return dst
}

func appendFloats(dst []byte, f []float32) []byte {
	for _, v := range f {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	return dst
}
