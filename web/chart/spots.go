package chart

import (
	"fmt"
	"math"
	"slices"

	"memtide/web/display"
	"memtide/web/format"
)

// SpotAt returns the policy whose circle is at a place, or nil if none is.
func (p *Plot) SpotAt(x, y float64) *Spot {
	for i := range p.Spots {
		s := &p.Spots[i]
		if p.drawn(s) && math.Hypot(p.X(s.At.Budget)-x, p.Y(s.At.StepTime)-y) <= spotSize {
			return s
		}
	}
	return nil
}

// Say says what a policy is and costs.
func (x *Spot) Say() string {
	return fmt.Sprintf("%s\n%s\n%s per step on %s; click to open the step with it.", x.Name, x.Words,
		format.Duration(x.At.StepTime), format.BytesUp(x.Needs))
}

// mostNamed is how many circles have a name, and longestName how long that may be.
const (
	mostNamed   = 4
	longestName = 36
)

// spotLabels places the names of some policies, those that fit first: right or left of their
// circles, on no line and on nothing else, the names of lines among it.
func (p *Plot) spotLabels(names []label) []label {
	out, named := make([]label, len(p.Spots)), 0
	if p.Width < roomForLabels {
		return out
	}
	lines, taken := p.strokes(), p.marked()
	for _, l := range names {
		if l.shown {
			taken = append(taken, l.box)
		}
	}
	for _, fits := range [2]bool{true, false} {
		for i := range p.Spots {
			x := &p.Spots[i]
			if x.Fits != fits || named == mostNamed || len(x.Name) > longestName || !p.drawn(x) {
				continue
			}
			if l := p.spotLabel(x, lines, taken); l.shown {
				out[i], taken = l, append(taken, l.box)
				named++
			}
		}
	}
	return out
}

// spotLabel returns the label at a free place beside a circle, or a hidden one if no place is free.
func (p *Plot) spotLabel(x *Spot, lines []stroke, taken []rect) label {
	at, width := p.spotRect(x), named{name: x.Name}.width()-2
	middle := (at.y0 + at.y1) / 2
	for _, l := range []label{
		{shown: true, box: rect{at.x1 + 3, middle - labelHeight/2, at.x1 + 3 + width, middle + labelHeight/2}},
		{shown: true, left: true, box: rect{at.x0 - 3 - width, middle - labelHeight/2, at.x0 - 3,
			middle + labelHeight/2}},
	} {
		inside := l.box.x0 >= p.left()+2 && l.box.x1 <= p.Width-right && l.box.y0 >= top && l.box.y1 <= p.Height-bottom
		crossed := slices.ContainsFunc(lines, func(s stroke) bool { return l.box.widened(1).holds(s.rect) > 0 })
		covered := slices.ContainsFunc(taken, func(r rect) bool { return r != at && l.box.meets(r) })
		if inside && !crossed && !covered {
			return l
		}
	}
	return label{}
}

// spots fills in the circles of policies; nil if none is drawn.
func (p *Plot) spots(s node, labels []label, look Look, unit float64) node {
	var data []any
	for i := range p.Spots {
		x := &p.Spots[i]
		if !p.drawn(x) {
			continue
		}
		fill := look.Colours[display.Surface]
		if x.Fits {
			fill = look.Colours[display.Ink]
		}
		d := node{"symbol": "circle", "symbolSize": spotSize, "value": p.value(x.At, unit),
			"itemStyle": node{"color": fill, "borderColor": look.Colours[display.Ink], "borderWidth": 1.5}}
		if l := labels[i]; l.shown {
			position := "right"
			if l.left {
				position = "left"
			}
			label := look.words(x.Name, display.Muted, 11)
			label["position"], label["distance"] = position, 4
			d["label"] = label
		}
		data = append(data, d)
	}
	if data == nil {
		return nil
	}
	s["name"], s["data"] = "policies", data
	return s
}
