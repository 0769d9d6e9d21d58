package chart

import (
	"math"

	"memtide/engine"
)

// rect is a rectangle in CSS pixels, or a level or upright stroke from its first corner to its second.
type rect struct{ x0, y0, x1, y1 float64 }

// stroke is a straight piece of a line.
type stroke struct {
	rect
	of int // index of the line in Plot.Lines, or noLine
}

const noLine = -1

// strokes returns the straight pieces of all lines, of the uprights and of the bound.
func (p *Plot) strokes() (out []stroke) {
	for _, b := range p.uprights() {
		out = append(out, stroke{rect{p.X(b), top, p.X(b), p.Height - bottom}, noLine})
	}
	if p.Bound > 0 {
		y := p.Y(p.Bound)
		out = append(out, stroke{rect{p.left(), y, p.Width - right, y}, noLine})
	}
	for i := range p.Lines {
		pts := p.inside(&p.Lines[i])
		for k := 1; k < len(pts); k++ {
			from, to := pts[k-1], pts[k]
			x0, y0, x1, y1 := p.X(from.Budget), p.Y(from.StepTime), p.X(to.Budget), p.Y(to.StepTime)
			out = append(out, stroke{rect{x0, y0, x0, y1}, i}, stroke{rect{x0, y1, x1, y1}, i})
		}
		if len(pts) == 1 {
			x, y := p.X(pts[0].Budget), p.Y(pts[0].StepTime)
			out = append(out, stroke{rect{x, y, x, y}, i})
		}
	}
	return out
}

// meets reports whether two rectangles overlap.
func (r rect) meets(o rect) bool {
	const touch = 0.01
	return r.x0 < o.x1-touch && o.x0 < r.x1-touch && r.y0 < o.y1-touch && o.y0 < r.y1-touch
}

// holds returns the length of the part of a level or upright stroke within the rectangle.
func (r rect) holds(s rect) float64 {
	a := s.around()
	if a.x1 <= r.x0 || a.x0 >= r.x1 || a.y1 <= r.y0 || a.y0 >= r.y1 {
		return 0
	}
	return min(r.x1, a.x1) - max(r.x0, a.x0) + min(r.y1, a.y1) - max(r.y0, a.y0)
}

// gap returns the distance of the rectangle from a stroke, 0 if they touch.
func (r rect) gap(s rect) float64 {
	a := s.around()
	return math.Hypot(max(r.x0-a.x1, 0, a.x0-r.x1), max(r.y0-a.y1, 0, a.y0-r.y1))
}

// widened returns the rectangle extended on every side.
func (r rect) widened(by float64) rect { return rect{r.x0 - by, r.y0 - by, r.x1 + by, r.y1 + by} }

// around returns the smallest rectangle around a stroke.
func (s rect) around() rect {
	return rect{min(s.x0, s.x1), min(s.y0, s.y1), max(s.x0, s.x1), max(s.y0, s.y1)}
}

// uprights returns the budgets at which the plot has upright lines: the budget and the device's.
func (p *Plot) uprights() []engine.Bytes {
	if p.showsDevice() {
		return []engine.Bytes{p.Budget, p.Device}
	}
	return []engine.Bytes{p.Budget}
}

// spotSize is the width of a circle, in CSS pixels.
const spotSize = 8.0

// spotRect returns the rectangle of a circle.
func (p *Plot) spotRect(x *Spot) rect {
	at := rect{p.X(x.At.Budget), p.Y(x.At.StepTime), p.X(x.At.Budget), p.Y(x.At.StepTime)}
	return at.widened(spotSize / 2)
}
