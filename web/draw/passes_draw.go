package draw

import (
	"fmt"
	"math"
	"sort"

	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/lookup"
)

func init() {
	passLayouts[0] = layoutOf[*Passes]{draw: (*Passes).draw, overlay: (*Passes).outline, hit: (*Passes).hit}
	pictures[PassLanes] = picture{name: "passes", title: "Ranks of the pipeline",
		height: passesTop + 8*26 + passesSpace + passesMemory}
}

// passStyles are the fills of passes. The lines over the backward of the weights distinguish it without colours.
var passStyles = [NumPassKinds]display.Style{forwardStyle, backwardStyle, backwardStyle,
	display.PatternOf(display.Backward, display.ThinHatch, display.Ink)}

// draw draws the picture. Narrow passes are drawn as bands, so that the size of the scene is bounded by pixels.
func (x *Passes) draw(s *Scene, f *frame) {
	s.Title, s.Desc = x.Title, x.Summary()
	s.AddText(display.Ink, 0, 13, display.Text{S: x.Title, Bold: true, Large: true})
	x.drawAxis(s, f)
	var marks passMarks
	for r := range x.ranks {
		x.drawLane(f, r, &marks)
	}
	for k, rects := range marks.all {
		s.Rects(passStyles[k], rects)
	}
	s.Rects(backwardStyle, marks.plates)
	s.drawLabels(marks.labels)
	x.drawPath(s, f)
	if !x.Bare {
		x.drawMemory(s, f)
	}
	x.drawSelected(s, f, f.Selected)
}

// drawAxis draws the time axis above the lanes, the names of ranks, the end and the lower bound.
func (x *Passes) drawAxis(s *Scene, f *frame) {
	ticks, unit := format.TimeTicks(f.From, f.To, max(int((f.right-f.left)/70), 2))
	f.drawTicks(s, ticks, unit, titleLine+13, f.Height-6, titleLine+10)
	every := 1
	for float64(every)*x.laneHeight() < 12 {
		every *= 2
	}
	for r := range x.ranks {
		y, h := x.lane(r)
		if r%every == 0 {
			s.Text(display.Muted, f.left-8, y+h/2+4, display.End, fmt.Sprintf("rank %d", r))
		}
		if h >= 12 {
			s.Line(display.StrokeOf(display.Grid, 1), f.left, y+h+0.5, f.right, y+h+0.5)
		}
	}
	if end := f.x(int64(x.end)); end <= f.right+1 {
		s.Line(display.StrokeOf(display.Muted, 1), end, titleLine+13, end, f.Height-6)
	}
	if at := f.x(int64(x.Bound)); x.Bound > f.From && x.Bound <= f.To {
		s.Line(display.DashedOf(display.Muted, 1, display.DashGhost), at, titleLine+13, at, x.bottom())
		words := display.Text{S: "lower bound " + format.Duration(x.Bound), Anchor: display.End}
		if at-words.Width() > display.TextWidth(x.Title)*1.3 {
			s.AddText(display.Muted, at, 13, words)
		}
	}
}

// drawPath draws the critical path along the lower edges of its passes, and from lane to lane
// where it includes a message.
func (x *Passes) drawPath(s *Scene, f *frame) {
	var xy []float64
	for _, n := range x.Path {
		p, r := x.Pass(n)
		if p.End < f.From || p.Start > f.To {
			continue
		}
		y, h := x.lane(r)
		at := y + h + 0.5
		xy = append(xy, f.clip(f.x(int64(p.Start))), at, f.clip(f.x(int64(p.End))), at)
	}
	s.Path(display.OpLine, display.StrokeOf(display.Ink, 2), xy)
}

// passMarks collects what lanes show: passes by kind, and the numbers of their micro batches.
type passMarks struct {
	all    [NumPassKinds]rects
	labels []label
	plates rects // backgrounds that make labels legible over patterns
}

// drawLane collects the passes of a rank: a rectangle for each wide pass, and bands for runs of narrow passes.
func (x *Passes) drawLane(f *frame, r int, out *passMarks) {
	y, h := x.lane(r)
	list := x.ranks[r].Passes
	i := sort.Search(len(list), func(i int) bool { return list[i].End > f.From })
	band := passBand{y: y, h: h, all: &out.all}
	for ; i < len(list) && list[i].Start < f.To; i++ {
		p := &list[i]
		x0, x1 := f.clip(f.x(int64(p.Start))), f.clip(f.x(int64(p.End)))
		if x1-x0 < joinedPass {
			band.add(p.Kind, x0, x1)
			continue
		}
		band.flush()
		top, high := y, h
		with := func(q *Pass) bool { return q.Start == p.Start && q.End == p.End } // the two run as one
		if i > 0 && with(&list[i-1]) {
			top, high = y+h/2, h/2
		} else if i+1 < len(list) && with(&list[i+1]) {
			high = h / 2
		}
		x1 -= math.Min(1, x1-x0)
		out.all[p.Kind].add(x0, top, x1-x0, high)
		text := fmt.Sprint(p.Micro)
		w, middle, base := display.TextWidth(text), (x0+x1)/2, top+high/2+4
		if x1-x0 < max(14, w+2) || high < 11 {
			continue
		}
		out.labels = append(out.labels, label{middle, base, passStyles[p.Kind].Fill.On(), text})
		if p.Kind == PassWeights {
			out.plates.add(middle-w/2-1, base-10, w+2, 12)
		}
	}
	band.flush()
}

// passBand is a run of narrow passes without a visible gap.
type passBand struct {
	y, h float64
	all  *[NumPassKinds]rects
	from float64
	to   float64
	last PassKind
	same float64               // x where the run of passes of kind last began
	time [NumPassKinds]float64 // total width of the passes of each kind
}

// add adds a pass. It begins a new band after a gap, and after a long enough run of passes of one kind.
func (b *passBand) add(k PassKind, x0, x1 float64) {
	if b.to > b.from && (x0-b.to >= 1 || k != b.last && b.to-b.same >= joinedPass && b.mixed() == b.last) {
		b.flush()
	}
	if b.to <= b.from {
		b.from, b.same, b.last = x0, x0, k
	}
	if k != b.last {
		b.same, b.last = x0, k
	}
	b.time[k] += x1 - x0
	b.to = x1
}

// mixed returns the kind of a band whose passes all have the same kind, or NumPassKinds.
func (b *passBand) mixed() PassKind {
	one := NumPassKinds
	for k, w := range b.time {
		switch {
		case w == 0:
		case one < NumPassKinds:
			return NumPassKinds
		default:
			one = PassKind(k)
		}
	}
	return one
}

// flush adds the band to the rectangles, with its kinds above each other, each as high as its share.
func (b *passBand) flush() {
	if b.to > b.from {
		sum, y := 0.0, b.y
		for _, w := range b.time {
			sum += w
		}
		for k, w := range b.time {
			if w > 0 {
				h := b.h * w / sum
				b.all[k].add(b.from, y, math.Max(b.to-b.from, 0.5), h)
				y += h
			}
		}
	}
	b.from, b.to, b.time = 0, 0, [NumPassKinds]float64{}
}

// box returns the rectangle of a pass or an idle interval; ok is false if it is not visible.
func (x *Passes) box(f *frame, t lookup.Target) (b box, ok bool) {
	from, to, r := x.Interval(t)
	if r < 0 || to <= f.From || from >= f.To {
		return b, false
	}
	y, h := x.lane(r)
	x0 := f.clip(f.x(int64(from)))
	return box{x0, y, math.Max(f.clip(f.x(int64(to))), x0+1), y + h}, true
}

// drawSelected outlines the selection. For an idle interval it also outlines the pass that the
// rank waited for, and draws an arrow from its end.
func (x *Passes) drawSelected(s *Scene, f *frame, t lookup.Target) {
	b, ok := x.box(f, t)
	switch {
	case !ok:
	case t.Kind == lookup.OnPass:
		s.Outline(display.StrokeOf(display.Ink, 2), b.x0, b.y0, b.x1-b.x0, b.y1-b.y0)
	default:
		s.Rect(waitingBox, b.x0, b.y0, b.x1-b.x0, b.y1-b.y0)
		w := x.Wait(t)
		if c, seen := x.box(f, lookup.Target{Kind: lookup.OnPass, Index: w.Cause}); w.Cause >= 0 && seen {
			s.Outline(display.StrokeOf(display.Waiting, 2), c.x0, c.y0, c.x1-c.x0, c.y1-c.y0)
			if c.y0 != b.y0 {
				arrow(s, c.x1, c.y0, c.y1-c.y0, b.x1, b.y0, b.y1-b.y0)
			}
		}
	}
}

// outline draws the overlay: the outline of the target under the pointer, and the cursor line.
func (x *Passes) outline(s *Scene, f *frame) {
	if b, ok := x.box(f, f.Hover); ok {
		s.Outline(display.StrokeOf(display.Ink, 1.5), b.x0, b.y0, b.x1-b.x0, b.y1-b.y0)
	}
	if f.Cursor >= f.From && f.Cursor <= f.To && f.Cursor != NoCursor {
		at := f.x(int64(f.Cursor))
		s.Line(display.StrokeOf(display.Muted, 1), at, passesTop, at, f.Height-6)
	}
}

// hit returns the pass or the idle interval at a point.
func (x *Passes) hit(f *frame, px, py float64) lookup.Target {
	r := int((py - passesTop) / x.laneHeight())
	if py < passesTop || r < 0 || r >= len(x.ranks) || px < f.left-reach || px > f.right+reach {
		return lookup.Target{}
	}
	return x.At(r, f.time(px))
}
