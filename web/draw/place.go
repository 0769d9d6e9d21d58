package draw

import (
	"math"
	"slices"

	"memtide/web/display"
)

// spot is a possible position of a text: a point of its baseline.
type spot struct {
	x, y   float64
	anchor display.Anchor
}

// boxOf returns the rectangle of a text at a spot, moved into the plot.
func boxOf(t *display.Text, f *frame, at *spot) box {
	w := t.Width()
	left := at.x - w*[...]float64{display.Start: 0, display.Middle: 0.5, display.End: 1}[at.anchor]
	left = math.Max(math.Min(left, f.right-w-2), f.left+2)
	return box{left - 2, at.y - 11, left + w + 2, at.y + 4}
}

// fits reports whether a text at a spot is within the plot.
func fits(t *display.Text, f *frame, at *spot) bool {
	w := t.Width()
	left := at.x - w*[...]float64{display.Start: 0, display.Middle: 0.5, display.End: 1}[at.anchor]
	return left >= f.left && left+w <= f.right
}

// place writes a text at the first spot where it covers nothing that was placed before, and returns the
// index of the spot. If there is none, it returns -1 or, if must is true, uses the first spot.
func (s *Scene) place(f *frame, r display.Role, t display.Text, must bool, spots ...spot) int {
	for i := range spots {
		b := boxOf(&t, f, &spots[i])
		if b.y0 >= 0 && b.x1 <= f.Width && (must || fits(&t, f, &spots[i])) && s.free(&b) {
			s.write(r, t, &b, &spots[i])
			return i
		}
	}
	if !must || len(spots) == 0 {
		return -1
	}
	b := boxOf(&t, f, &spots[0])
	s.write(r, t, &b, &spots[0])
	return 0
}

// plate writes a text on a plate of the background's colour, unless it covers something that was placed before.
func (s *Scene) plate(f *frame, r display.Role, t display.Text, at spot) bool {
	b := boxOf(&t, f, &at)
	if !s.free(&b) {
		return false
	}
	s.Rect(display.FillOf(display.Surface), b.x0-4, b.y0-1, b.x1-b.x0+8, b.y1-b.y0+2)
	s.write(r, t, &b, &at)
	return true
}

// free reports whether a box covers nothing that was placed before.
func (s *Scene) free(b *box) bool {
	return !slices.ContainsFunc(s.placed, func(o box) bool { return b.meets(&o) })
}

// write writes a text and keeps later ones from covering it.
func (s *Scene) write(r display.Role, t display.Text, b *box, at *spot) {
	s.placed = append(s.placed, *b)
	t.Halo = true
	x := b.x0 + 2
	switch at.anchor { // the anchor stays right even if the estimated width is wrong
	case display.Middle:
		x = (b.x0 + b.x1) / 2
	case display.End:
		x = b.x1 - 2
	}
	t.Anchor = at.anchor
	s.AddText(r, x, b.y1-4, t)
}

// keep keeps labels from covering a line across the plot.
func (s *Scene) keep(f *frame, y float64) {
	s.placed = append(s.placed, box{f.left, y - 1.5, f.right, y + 1.5})
}

// halo writes a text that is legible on all fills.
func halo(s *Scene, r display.Role, x, y float64, a display.Anchor, str string) {
	s.AddText(r, x, y, display.Text{S: str, Anchor: a, Halo: true})
}
