package draw

import (
	"fmt"
	"math"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

// Use is what memory of a recording is for.
type Use uint8

// The uses, in the order in which they are shown.
const (
	UseWeights Use = iota
	UseGradients
	UseOptimizer
	UseActivations
	UseTemporaries
	UseUnknown
	NumUses
)

// useStyles are the fills of calls: by what most of their memory is for.
var useStyles = [NumUses]display.Style{
	UseWeights:     fixedStyle,
	UseGradients:   backwardStyle,
	UseOptimizer:   display.PatternOf(display.Fixed, display.ThinHatch, display.Muted),
	UseActivations: forwardStyle,
	UseTemporaries: scratchStyle,
	UseUnknown:     display.FillOf(display.Grid),
}

// FlameCall is a call of a flame graph, with what was asked for within it.
type FlameCall struct {
	Name   string
	Bytes  engine.Bytes
	Use    Use
	Parent int // lower than its own number; of the first, which contains all, nothing
}

// Flame is a flame graph, arranged for drawing: time and calls go down, a call is as
// wide as its bytes. It is not changed after it is built.
type Flame struct {
	drawn[*Flame]

	calls []FlameCall
	from  []engine.Bytes // where each begins
	depth []int
	deep  int // the largest depth
}

// NewFlame arranges calls. Those of one parent come in the order in which they stand,
// and have no more bytes together than it.
func NewFlame(calls []FlameCall) *Flame {
	x := &Flame{calls: calls, from: make([]engine.Bytes, len(calls)), depth: make([]int, len(calls))}
	next := make([]engine.Bytes, len(calls)) // where the next call within begins
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

// Where things are, in CSS pixels.
const (
	flameRow  = 19.0
	mostFlame = 22 // rows
)

// flames is how the graph is laid out.
var flames [1]layoutOf[*Flame]

func init() {
	flames[0] = layoutOf[*Flame]{draw: (*Flame).draw, overlay: (*Flame).outline, hit: (*Flame).hit}
	pictures[Flames] = picture{name: "flame", title: "What is held, by call stack", height: 8 * flameRow, still: true}
}

// Height returns the height of the picture, which does not change with what is zoomed to.
func (x *Flame) Height() float64 { return float64(min(x.deep+1, mostFlame)) * flameRow }

// rows returns how many rows there are below that of the calls around the one zoomed to.
func (x *Flame) rows() int { return min(x.deep+1, mostFlame) - 1 }

// Start returns the call to zoom to at first: the innermost that all but a hundredth goes
// through.
func (x *Flame) Start() int {
	at := 0
	for i := 1; i < len(x.calls); i++ {
		if c := &x.calls[i]; c.Parent == at && c.Bytes >= x.calls[0].Bytes-x.calls[0].Bytes/100 {
			at = i
		}
	}
	return at
}

// Parent returns the call around a call; the first is its own.
func (x *Flame) Parent(i int) int { return x.calls[x.valid(i)].Parent }

// valid returns a call that there is: the first for others.
func (x *Flame) valid(i int) int {
	if i < 0 || i >= len(x.calls) {
		return 0
	}
	return i
}

// flameFrame is a view of calls: those within root.
type flameFrame struct {
	root int
	per  float64 // pixels per byte
}

func (x *Flame) frame(pic Picture, v View) frame {
	v.Height = x.Height()
	return newFrame(pic, v, 1)
}

func (x *Flame) within(f *frame) *flameFrame {
	z := &flameFrame{root: x.valid(f.Selected.Index)}
	if n := x.calls[z.root].Bytes; n > 0 {
		z.per = f.Width / float64(n)
	}
	return z
}

// place returns where a call stands; false if it is not to be seen.
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

// draw draws the graph; f.Selected is the call that is as wide as the picture.
// The scene is bounded by the pixels: of calls that are narrower than one, each pixel
// has one.
func (x *Flame) draw(s *Scene, f *frame) {
	z := x.within(f)
	s.Desc = x.Summary()
	last := make([]float64, x.rows()+1) // the end of what was drawn in each row
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

// label names a call; the one zoomed to with what is around it.
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

// outline draws what moves with the pointer: the outline of f.Hover.
func (x *Flame) outline(s *Scene, f *frame) {
	if f.Hover.Kind != lookup.OnCall {
		return
	}
	if b, ok := x.place(x.within(f), x.valid(f.Hover.Index)); ok {
		s.Outline(display.StrokeOf(display.Ink, 2), b.x0+1, b.y0+0.5, math.Max(b.x1-b.x0-2, 1), flameRow-2)
	}
}

// hit returns the call at a place, or the one nearest to it within a few pixels.
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

// Beside returns the call that is n to the right of a call, or down from it: among
// those of one parent, or the widest within it, or the one around it. It is the call
// itself where there is none.
func (x *Flame) Beside(i, right, down int) int {
	i = x.valid(i)
	switch {
	case down < 0:
		return x.calls[i].Parent
	case down > 0:
		for k := i + 1; k < len(x.calls); k++ {
			if x.calls[k].Parent == i && x.calls[k].Bytes > 0 {
				return k // the largest comes first
			}
		}
	case right > 0:
		for k := i + 1; k < len(x.calls); k++ {
			if i > 0 && x.calls[k].Parent == x.calls[i].Parent {
				return k
			}
		}
	case right < 0:
		for k := i - 1; k > 0; k-- {
			if x.calls[k].Parent == x.calls[i].Parent {
				return k
			}
		}
	}
	return i
}

// Summary says in a sentence what the graph shows.
func (x *Flame) Summary() string {
	return fmt.Sprintf("%s in %s.", format.Bytes(x.calls[0].Bytes), countOf(len(x.calls)-1, "call"))
}

// Sentence says what a call holds; empty for everything else.
func (x *Flame) Sentence(t lookup.Target) string {
	if t.Kind != lookup.OnCall || t.Index < 0 || t.Index >= len(x.calls) {
		return ""
	}
	c, all := &x.calls[t.Index], x.calls[0].Bytes
	return fmt.Sprintf("%s: %s, %s of all", c.Name, format.Bytes(c.Bytes),
		format.Share(float64(c.Bytes)/math.Max(float64(all), 1)))
}
