package chart

import (
	"cmp"
	"math"
	"slices"

	"memtide/web/draw"
	"memtide/web/state"
)

// label is where the name of a line stands, relative to the line's end, in CSS
// pixels. Up is positive. Where too many lines end at one place, some have none:
// pointing at a line names it.
type label struct {
	x, y  float64
	left  bool // it ends at the line's end, because there is no room on the right
	shown bool
}

// labelHeight is the least distance between two labels.
const labelHeight = 13.0

// roomForLabels is the least width in CSS pixels at which all lines have their
// names; on a telephone only the chosen one and the bounds have, the others have
// theirs under the chart.
const roomForLabels = 420.0

// boundName stands at lower bounds.
const boundName = "lower bound"

// labelAway is how far from the end of its line a label may stand.
const labelAway = 3 * labelHeight

// named is an end of a line with its name.
type named struct {
	name   string
	x, y   float64
	chosen bool
}

// ends are the ends of the bounds and of the lines.
func (p *Plot) ends() []named {
	out := make([]named, 0, len(p.Bounds)+len(p.Lines))
	for i := range p.Bounds {
		x, y := p.end(&p.Bounds[i], false)
		out = append(out, named{boundName, x, y, false})
	}
	for i := range p.Lines {
		x, y := p.end(&p.Lines[i], true)
		out = append(out, named{p.Lines[i].Title, x, y, p.Lines[i].Method.Strategy == p.Chosen})
	}
	return out
}

// labels places the names of the bounds and of the lines: at the end of their
// line, where they stand on no other name and touch as little of the lines as
// possible. The chosen strategy's has the first choice.
func (p *Plot) labels() []label {
	ends := p.ends()
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { // the chosen one first, then from the bottom up
		if ends[a].chosen != ends[b].chosen {
			if ends[a].chosen {
				return -1
			}
			return 1
		}
		return cmp.Compare(ends[b].y, ends[a].y)
	})
	out := make([]label, len(ends))
	lines, placed := p.strokes(), p.marked()
	for _, i := range order {
		e := ends[i]
		if p.Width < roomForLabels && !e.chosen && e.name != boundName {
			continue
		}
		at, box, touches := p.place(e, lines, placed)
		if at.shown && (e.chosen || touches <= touchLimit) {
			placed = append(placed, box)
			out[i] = at
		}
	}
	return out
}

// What places are worth, in CSS pixels that a name would rather stand away: a name
// on the left of its end, and a pixel of a line behind it. Where the best place has
// more than touchLimit pixels of lines behind it, the name is left out.
const (
	leftCosts  = 8.0
	touchCosts = 4.0
	touchLimit = 14.0
)

// place finds the place of a name: on the right of its end or on the left, above or
// below. It also returns how many pixels of lines are behind the name there.
func (p *Plot) place(e named, lines []rect, placed []rect) (best label, box rect, touches float64) {
	width, cost := e.width(), math.Inf(1)
	around := rect{e.x - width - 3, e.y - labelAway - labelHeight, e.x + width + 3, e.y + labelAway + labelHeight}
	near := make([]rect, 0, len(lines))
	for _, l := range lines {
		if around.holds(l) > 0 {
			near = append(near, l)
		}
	}
	for _, side := range []float64{3, -3} {
		x, costs := e.x+side, 0.0
		if side < 0 {
			x, costs = x-width, leftCosts
		}
		if x < left+2 || x+width-8 > p.Width {
			continue
		}
		for step := -labelAway; step <= labelAway; step += 2 {
			y := e.y + step
			if y < top+labelHeight/2 || y > p.Height-bottom-labelHeight/2 {
				continue
			}
			at := rect{x, y - labelHeight/2, x + width - 6, y + labelHeight/2}
			if slices.ContainsFunc(placed, at.meets) {
				continue
			}
			behind := 0.0
			for _, l := range near {
				behind += at.holds(l)
			}
			if c := math.Abs(step) + costs + touchCosts*behind; c < cost {
				best, box, touches, cost = label{side, -step, side < 0, true}, at, behind, c
			}
		}
	}
	return best, box, touches
}

// marked are the places of names and dots that are given.
func (p *Plot) marked() (out []rect) {
	for _, at := range []state.LinePoint{p.KeepAll, p.Now, p.Other} {
		if at.StepTime > 0 {
			x, y := p.X(at.Budget), p.Y(at.StepTime)
			out = append(out, rect{x - 7, y - 7, x + 7, y + 7})
		}
	}
	if p.KeepAll.StepTime > 0 {
		x, y, away := p.X(p.KeepAll.Budget)+6, p.Y(p.KeepAll.StepTime), 6.0
		if p.Axis == state.Throughput {
			away = -6 - labelHeight
		}
		out = append(out, rect{x - named{name: keepAllName}.width(), y + away, x, y + away + labelHeight})
	}
	if p.unfit() {
		x := (p.X(p.From) + p.X(p.Fits)) / 2
		out = append(out, rect{x - unfitWidth/2, p.Height - bottom - 2*labelHeight, x + unfitWidth/2, p.Height - bottom})
	}
	return out
}

// strokes are the straight pieces of all lines, and of the budget's.
func (p *Plot) strokes() []rect {
	budget := p.X(p.Budget)
	out := []rect{{budget, top, budget, p.Height - bottom}}
	add := func(lines []state.Line, steps bool) {
		for i := range lines {
			pts := p.inside(&lines[i], steps)
			for k := 1; k < len(pts); k++ {
				from, to := pts[k-1], pts[k]
				x0, y0, x1, y1 := p.X(from.Budget), p.Y(from.StepTime), p.X(to.Budget), p.Y(to.StepTime)
				if steps {
					out = append(out, rect{x0, y0, x0, y1})
					y0 = y1
				}
				out = append(out, rect{x0, y0, x1, y1})
			}
		}
	}
	add(p.Bounds, false)
	add(p.Lines, true)
	return out
}

// rect is a rectangle in CSS pixels, or the straight stroke from its first corner
// to its second.
type rect struct{ x0, y0, x1, y1 float64 }

// meets says whether two rectangles overlap.
func (r rect) meets(o rect) bool {
	const touch = 0.01
	return r.x0 < o.x1-touch && o.x0 < r.x1-touch && r.y0 < o.y1-touch && o.y0 < r.y1-touch
}

// holds is the length of the part of a stroke that lies in the rectangle.
func (r rect) holds(s rect) float64 {
	from, to := 0.0, 1.0
	for _, axis := range [2][4]float64{{s.x0, s.x1, r.x0, r.x1}, {s.y0, s.y1, r.y0, r.y1}} {
		start, way := axis[0], axis[1]-axis[0]
		if way == 0 {
			if start <= axis[2] || start >= axis[3] {
				return 0
			}
			continue
		}
		a, b := (axis[2]-start)/way, (axis[3]-start)/way
		from, to = max(from, min(a, b)), min(to, max(a, b))
	}
	return max(to-from, 0) * math.Hypot(s.x1-s.x0, s.y1-s.y0)
}

// width is about how wide a name is, in CSS pixels.
func (n named) width() float64 { return 8 + 6.3*float64(len(n.name)) }

func endLabel(at label, name string, look Look, r draw.Role) map[string]any {
	align := "left"
	if at.left {
		align = "right"
	}
	return map[string]any{
		"show": true, "formatter": name, "color": look.Colours[r], "fontSize": 11, "fontFamily": look.Font,
		"align": align, "verticalAlign": "middle", "distance": 0, "offset": []float64{at.x, -at.y},
		"textBorderColor": look.Colours[draw.Surface], "textBorderWidth": 3,
	}
}
