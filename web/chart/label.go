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

// labels places the names of the bounds and of the lines: above the end at the
// smallest budget, moved up where they would stand on each other, and down
// where they would leave the plot. The chosen strategy's has the first choice.
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
	placed := p.fixedNames()
	for _, i := range order {
		if p.Width < roomForLabels && !ends[i].chosen && ends[i].name != boundName {
			continue
		}
		e, side := ends[i], 3.0
		flip := e.x+e.width() > p.Width
		if flip {
			e.x, side = e.x-e.width(), -3
			if e.x < 0 { // a narrow chart has room on neither side
				continue
			}
		}
		e.y = free(placed, e, e.y-labelHeight/2-1, -1)
		if e.y < top+labelHeight/2 {
			e.y = free(placed, e, top+labelHeight/2, 1)
		}
		away := ends[i].y - e.y
		if e.chosen || math.Abs(away) <= labelAway {
			placed = append(placed, e)
			out[i] = label{side, away, flip, true}
		}
	}
	return out
}

// fixedNames are the names whose place is given.
func (p *Plot) fixedNames() []named {
	if p.KeepAll.StepTime <= 0 {
		return nil
	}
	n := named{name: keepAllName, x: p.X(p.KeepAll.Budget) + 6, y: p.Y(p.KeepAll.StepTime) - 5 - labelHeight}
	if p.Axis == state.Throughput {
		n.y += 2 * (5 + labelHeight)
	}
	n.x -= n.width()
	return []named{n}
}

// width is about how wide a name is, in CSS pixels.
func (n named) width() float64 { return 8 + 6.3*float64(len(n.name)) }

// free is the first height from want on, upwards (-1) or downwards (1), at which
// a name does not stand on another.
func free(placed []named, n named, want, direction float64) float64 {
	for clash := true; clash; {
		clash = false
		for _, other := range placed {
			beside := n.x > other.x+other.width() || other.x > n.x+n.width()
			if !beside && math.Abs(want-other.y) < labelHeight-0.01 {
				want, clash = other.y+direction*labelHeight, true
			}
		}
	}
	return want
}

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
