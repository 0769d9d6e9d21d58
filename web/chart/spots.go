package chart

import (
	"fmt"
	"math"
	"slices"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/tradeoff"
)

// Spot is a policy of a framework on the curve: a circle, full if it fits.
type Spot struct {
	Index int    // see state.OpenPolicy
	Name  string // of the policy
	Words string // what frameworks call it
	At    tradeoff.LinePoint
	Needs engine.Bytes // on the card
	Fits  bool
}

// unreserved is the budget for which a card has to have so much, the inverse of choice.Reserved.
func unreserved(card engine.Bytes) engine.Bytes {
	whole := choice.Reserved(100*engine.GiB) - choice.Context
	return engine.Bytes(float64(max(card-choice.Context, 0)) / float64(whole) * float64(100*engine.GiB))
}

// axis is what the horizontal axis says at a budget.
func (p *Plot) axis(b engine.Bytes) float64 {
	if p.Card {
		return float64(choice.Reserved(b))
	}
	return float64(b)
}

// beside says that a policy is neither left nor right of the plot.
func (p *Plot) beside(x Spot) bool { return x.At.Budget > p.From && x.At.Budget < p.To }

// drawn says that a policy lies in the plot.
func (p *Plot) drawn(x *Spot) bool { return p.beside(*x) && p.slowdown(x.At.StepTime) <= p.Most }

// spotSize is the width of a circle, in CSS pixels.
const spotSize = 8.0

// spotRect is the place of a circle.
func (p *Plot) spotRect(x *Spot) rect {
	at := rect{p.X(x.At.Budget), p.Y(x.At.StepTime), p.X(x.At.Budget), p.Y(x.At.StepTime)}
	return at.widened(spotSize / 2)
}

// SpotAt returns the policy whose circle is at a place; nil if none is.
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
	return fmt.Sprintf("%s\n%s\n%s per step on %s; click to open the step with it.", x.Name, x.Words, format.Duration(x.At.StepTime), format.BytesUp(x.Needs))
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

// spotLabel is a free place at a circle; it is not shown if there is none.
func (p *Plot) spotLabel(x *Spot, lines []stroke, taken []rect) label {
	at, width := p.spotRect(x), named{name: x.Name}.width()-2
	own := slices.Clone(taken)
	own = slices.DeleteFunc(own, func(r rect) bool { return r == at })
	middle := (at.y0 + at.y1) / 2
	for _, l := range []label{
		{shown: true, box: rect{at.x1 + 3, middle - labelHeight/2, at.x1 + 3 + width, middle + labelHeight/2}},
		{shown: true, left: true, box: rect{at.x0 - 3 - width, middle - labelHeight/2, at.x0 - 3, middle + labelHeight/2}},
	} {
		inside := l.box.x0 >= p.left()+2 && l.box.x1 <= p.Width-right && l.box.y0 >= top && l.box.y1 <= p.Height-bottom
		crossed := slices.ContainsFunc(lines, func(s stroke) bool { return l.box.widened(1).holds(s.rect) > 0 })
		if inside && !crossed && !slices.ContainsFunc(own, l.box.meets) {
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
			d["label"] = node{"show": true, "position": position, "distance": 4, "formatter": x.Name, "color": look.Colours[display.Muted],
				"fontSize": 11, "fontFamily": look.Font, "textBorderColor": look.Colours[display.Surface], "textBorderWidth": 3}
		}
		data = append(data, d)
	}
	if data == nil {
		return nil
	}
	s["name"], s["data"] = "policies", data
	return s
}

// keepAllMark is where the name of keeping everything stands.
type keepAllMark struct {
	shown    bool
	box      rect
	position string
	align    string
	away     int
}

// label is the name as a label of the square.
func (m keepAllMark) label(look Look) node {
	return node{"show": true, "position": m.position, "distance": 1, "formatter": keepAllName, "align": m.align, "offset": []int{m.away, 0},
		"color": look.Colours[display.Muted], "fontSize": 11, "fontFamily": look.Font}
}

// keepAllPlace finds a place for the name of keeping everything: below the square, or above where
// upwards is fast, since nothing is faster and no line is there; ending with the square or beginning
// with it, clear of what is shown and of the uprights. It is not shown where there is none, and
// where what is shown is at the square, with its own words.
func (p *Plot) keepAllPlace() (m keepAllMark) {
	x, y, width := p.X(p.KeepAll.Budget), p.Y(p.KeepAll.StepTime), named{name: keepAllName}.width()
	if p.KeepAll.StepTime <= 0 || p.Now.StepTime > 0 && math.Abs(p.X(p.Now.Budget)-x) <= 20 && math.Abs(p.Y(p.Now.StepTime)-y) <= 20 {
		return m
	}
	m.position = "bottom"
	from := y + 6
	if p.Axis == tradeoff.Throughput {
		m.position, from = "top", y-6-labelHeight
	}
	shown, _ := p.shownRect()
	for _, at := range []struct {
		align string
		away  int
		x0    float64
	}{{"right", 6, x + 6 - width}, {"left", -6, x - 6}} {
		m.align, m.away, m.box = at.align, at.away, rect{at.x0, from, at.x0 + width, from + labelHeight}
		crossed := slices.ContainsFunc(p.uprights(), func(b engine.Bytes) bool { return p.X(b) > m.box.x0 && p.X(b) < m.box.x1 })
		if m.shown = !crossed && !m.box.meets(shown) && m.box.x0 >= p.left() && m.box.x1 <= p.Width+2; m.shown {
			return m
		}
	}
	return m
}

// shownRect is the place of the words at the dot of what is shown; ok is false if it has none.
func (p *Plot) shownRect() (r rect, ok bool) {
	if p.Now.StepTime <= 0 || p.Letters[0] != "" {
		return r, false
	}
	x, y, width := p.X(p.Now.Budget)-9, p.Y(p.Now.StepTime)+float64(p.shownAway()), 1.15*named{name: p.shownWords()}.width()
	if p.shownRight() {
		x += 18 + width
	}
	return rect{x - width, y - 8, x, y + 8}, true
}

// shownRight says that the words at the dot of what is shown have no room on its left.
func (p *Plot) shownRight() bool {
	return p.X(p.Now.Budget)-9-1.15*named{name: p.shownWords()}.width() < p.left()
}
