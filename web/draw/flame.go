package draw

import (
	"cmp"
	"fmt"
	"math"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Use is the use of memory in a recording.
type Use uint8

// The uses, in the order of legends and of doctor.Categories.
const (
	UseWeights Use = iota
	UseGradients
	UseOptimizer
	UseActivations
	UseTemporaries
	UseUnknown
	NumUses
)

// useStyles are the fills of calls by the use of most of their memory.
var useStyles = [NumUses]display.Style{
	UseWeights:     fixedStyle,
	UseGradients:   backwardStyle,
	UseOptimizer:   display.PatternOf(display.Fixed, display.ThinHatch, display.Muted),
	UseActivations: forwardStyle,
	UseTemporaries: scratchStyle,
	UseUnknown:     display.FillOf(display.Grid),
}

// FlameCall is a call of a flame graph.
type FlameCall struct {
	Name   string
	Bytes  engine.Bytes // allocated within the call
	Use    Use
	Parent int // index of the caller, lower than its own; 0 for the first, which contains all
}

// Flame is a flame graph, arranged for drawing: callees are below their callers, and the
// width of a call is its bytes. It does not change after NewFlame.
type Flame struct {
	drawn[*Flame]

	calls []FlameCall
	from  []engine.Bytes // the left end of each call
	depth []int
	deep  int // the largest depth
}

// NewFlame arranges calls for drawing. Calls with the same parent are drawn in their order, and
// together must not have more bytes than it.
func NewFlame(calls []FlameCall) *Flame {
	x := &Flame{calls: calls, from: make([]engine.Bytes, len(calls)), depth: make([]int, len(calls))}
	next := make([]engine.Bytes, len(calls)) // the left end of the next callee of each call
	for i := 1; i < len(calls); i++ {
		up := calls[i].Parent
		x.from[i], x.depth[i] = next[up], x.depth[up]+1
		next[i] = x.from[i]
		next[up] += calls[i].Bytes
		x.deep = max(x.deep, x.depth[i])
	}
	x.drawn = drawn[*Flame]{x, x.frame, flames[:], Flames}
	return x
}

const (
	flameRow  = 19.0 // height of a row, in CSS pixels
	mostFlame = 22   // the largest number of rows
)

var flames = [1]layoutOf[*Flame]{{draw: (*Flame).draw, overlay: (*Flame).outline, hit: (*Flame).hit}}

func init() {
	pictures[Flames] = picture{name: "flame", title: "What is held, by call stack", height: 8 * flameRow, still: true}
}

// Height returns the height of the picture, which does not depend on the zoom.
func (x *Flame) Height() float64 { return float64(x.rows()+1) * flameRow }

// rows returns the number of rows below the row of the zoomed call.
func (x *Flame) rows() int { return min(x.deep+1, mostFlame) - 1 }

// Start returns the call to zoom to at first: the innermost call with at least 99 % of all bytes.
func (x *Flame) Start() int {
	at := 0
	for i := 1; i < len(x.calls); i++ {
		if c := &x.calls[i]; c.Parent == at && c.Bytes >= x.calls[0].Bytes-x.calls[0].Bytes/100 {
			at = i
		}
	}
	return at
}

// Parent returns the caller of a call; the first call is its own.
func (x *Flame) Parent(i int) int { return x.calls[x.valid(i)].Parent }

// valid returns i if there is such a call, and 0 otherwise.
func (x *Flame) valid(i int) int {
	if i < 0 || i >= len(x.calls) {
		return 0
	}
	return i
}

// flameFrame is the scale of a view that is zoomed to the call root.
type flameFrame struct {
	root int
	per  float64 // pixels per byte
}

func (x *Flame) frame(pic Picture, v View) frame {
	v.Height = x.Height()
	return newFrame(pic, v, 1)
}

// within returns the scale of a view, which is zoomed to f.Selected.
func (x *Flame) within(f *frame) *flameFrame {
	z := &flameFrame{root: x.valid(f.Selected.Index)}
	if n := x.calls[z.root].Bytes; n > 0 {
		z.per = f.Width / float64(n)
	}
	return z
}

// place returns the rectangle of a call; ok is false if it is not visible.
func (x *Flame) place(z *flameFrame, i int) (b box, ok bool) {
	row := x.depth[i] - x.depth[z.root]
	if row < 0 || row > x.rows() || x.from[i] < x.from[z.root] ||
		x.from[i]+x.calls[i].Bytes > x.from[z.root]+x.calls[z.root].Bytes {
		return b, false
	}
	x0 := float64(x.from[i]-x.from[z.root]) * z.per
	y0 := float64(row) * flameRow
	return box{x0, y0, x0 + float64(x.calls[i].Bytes)*z.per, y0 + flameRow - 1}, i == z.root || row > 0
}

// draw draws the graph; f.Selected is the call that is as wide as the picture. Of the calls that are
// narrower than a pixel, at most one per pixel is drawn, so that the scene is bounded by pixels.
func (x *Flame) draw(s *Scene, f *frame) {
	z := x.within(f)
	s.Desc = x.Summary()
	last := make([]float64, x.rows()+1) // the right end of the last rectangle in each row
	var named []int
	var boxes []box
	for use := range NumUses {
		var all rects
		clear(last)
		for i := range x.calls {
			if x.calls[i].Use != use {
				continue
			}
			b, ok := x.place(z, i)
			row := x.depth[i] - x.depth[z.root]
			if !ok || b.x1-b.x0 < 1 && b.x0 < last[row] {
				continue
			}
			w := math.Max(b.x1-b.x0, 1)
			last[row] = b.x0 + w
			if w >= crispWidth {
				w--
			}
			if w > labelRoom {
				named, boxes = append(named, i), append(boxes, b)
			}
			all.add(b.x0, b.y0, w, flameRow-1)
		}
		s.Rects(useStyles[use], all)
	}
	for k, i := range named {
		x.label(s, z, i, &boxes[k])
	}
}

// label writes the name and the size of a call. The zoomed call's name includes its callers.
func (x *Flame) label(s *Scene, z *flameFrame, i int, b *box) {
	const pad = 5.0
	name := x.calls[i].Name
	if i == z.root {
		for up := i; up > 0; {
			up = x.calls[up].Parent
			if name = x.calls[up].Name + " › " + name; display.TextWidth(name) > b.x1-b.x0 {
				name = "… › " + x.calls[i].Name
				break
			}
		}
	}
	if full := name + "  " + format.Bytes(x.calls[i].Bytes); display.TextWidth(full) <= b.x1-b.x0-2*pad {
		name = full
	}
	if name = display.Fit(name, b.x1-b.x0-2*pad); name == "" {
		return
	}
	if st := &useStyles[x.calls[i].Use]; st.Fill == display.Surface {
		halo(s, display.Ink, b.x0+pad, b.y0+13, display.Start, name)
	} else {
		s.Text(st.Fill.On(), b.x0+pad, b.y0+13, display.Start, name)
	}
}

// outline draws the overlay: the outline of f.Hover.
func (x *Flame) outline(s *Scene, f *frame) {
	if f.Hover.Kind != lookup.OnCall {
		return
	}
	if b, ok := x.place(x.within(f), x.valid(f.Hover.Index)); ok {
		s.Outline(display.StrokeOf(display.Ink, 2), b.x0+1, b.y0+0.5, math.Max(b.x1-b.x0-2, 1), flameRow-2)
	}
}

// hit returns the call at a point, or the nearest one within reach in its row.
func (x *Flame) hit(f *frame, px, py float64) (best lookup.Target) {
	z, dist := x.within(f), reach
	for i := range x.calls {
		if b, ok := x.place(z, i); ok && py >= b.y0 && py < b.y0+flameRow {
			if d := math.Max(b.x0-px, px-b.x1); d < dist {
				best, dist = lookup.Target{Kind: lookup.OnCall, Index: i}, d
			}
		}
	}
	return best
}

// Beside returns the call next to call i: its caller if down is negative, its first callee if down is
// positive, or the next call with the same caller to the right or, if right is negative, to the left. It
// returns i if there is no such call.
func (x *Flame) Beside(i, right, down int) int {
	i = x.valid(i)
	switch step := cmp.Compare(right, 0); {
	case down < 0:
		return x.calls[i].Parent
	case down > 0:
		for k := i + 1; k < len(x.calls); k++ {
			if x.calls[k].Parent == i && x.calls[k].Bytes > 0 {
				return k // the largest comes first
			}
		}
	case i > 0 && step != 0:
		for k := i + step; k > 0 && k < len(x.calls); k += step {
			if x.calls[k].Parent == x.calls[i].Parent {
				return k
			}
		}
	}
	return i
}

// Summary returns what the graph shows in a sentence.
func (x *Flame) Summary() string {
	return fmt.Sprintf("%s in %s.", format.Bytes(x.calls[0].Bytes), format.CountOf(len(x.calls)-1, "call"))
}

// Sentence returns the name and the size of a call. It is empty for other targets.
func (x *Flame) Sentence(t lookup.Target) string {
	if t.Kind != lookup.OnCall || t.Index < 0 || t.Index >= len(x.calls) {
		return ""
	}
	c, all := &x.calls[t.Index], x.calls[0].Bytes
	return fmt.Sprintf("%s: %s, %s of all", c.Name, format.Bytes(c.Bytes),
		format.Share(float64(c.Bytes)/math.Max(float64(all), 1)))
}
