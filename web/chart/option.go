package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// tradeOffTemplate is made with go-echarts by template_test.go.
//
//go:embed tradeoff.template.json
var tradeOffTemplate []byte

// The indices of the series of the template.
const (
	seriesMarks = iota // the budget line and the region in which nothing fits
	seriesLine         // the line of a strategy
	seriesDot          // a single point
)

// Option returns the chart as an ECharts option in JSON.
func (p *Plot) Option(look Look) ([]byte, error) {
	var o node
	if err := json.Unmarshal(tradeOffTemplate, &o); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	dress(o, look)
	set(o, px(p.left()), "grid", "0", "left")
	unit, name := p.unit()
	set(o, float64(p.Memory(p.From))/unit, "xAxis", "0", "min")
	set(o, float64(p.Memory(p.To))/unit, "xAxis", "0", "max")
	set(o, "{value} "+name, "xAxis", "0", "axisLabel", "formatter")
	set(o, max(int(p.Width/90), 3), "xAxis", "0", "splitNumber")
	set(o, p.Low, "yAxis", "0", "min")
	set(o, p.Top, "yAxis", "0", "max")
	set(o, p.format(), "yAxis", "0", "axisLabel", "formatter")

	templates := o["series"].([]any)
	copyOf := func(i int) node { return clone(templates[i]).(node) }
	series := []any{p.marks(copyOf(seriesMarks), look, unit)}
	labels := p.labels()
	for i := range p.Lines {
		if s := p.open(copyOf(seriesLine), i, labels, look, unit); s != nil {
			series = append(series, s)
		}
		s := p.line(copyOf(seriesLine), &p.Lines[i], look, unit)
		if at := labels[i]; at.shown {
			s["endLabel"] = endLabel(at, p.Lines[i].Title, look, display.Ink)
		}
		series = append(series, s)
	}
	if s := p.spots(copyOf(seriesDot), p.spotLabels(labels), look, unit); s != nil {
		series = append(series, s)
	}
	for _, dot := range []struct {
		name, symbol string
		size         int
		role         display.Role
		at           tradeoff.LinePoint
	}{{keepAllName, "rect", 10, display.Fixed, p.KeepAll}, {otherName, "diamond", 12, display.Ink, p.Other},
		{shownName, "circle", 11, display.Ink, p.Now}} {
		if dot.at.StepTime <= 0 {
			continue
		}
		s := copyOf(seriesDot)
		s["name"] = dot.name
		set(s, look.Colours[dot.role], "itemStyle", "color")
		s["data"] = []any{node{"symbol": dot.symbol, "symbolSize": dot.size, "value": p.value(dot.at, unit)}}
		if dot.name == keepAllName {
			if at := p.keepAllPlace(); at.shown {
				s["label"] = node{"show": true, "position": at.position, "distance": 1, "formatter": keepAllName,
					"align": at.align, "offset": []int{at.away, 0}, "color": look.Colours[display.Muted],
					"fontSize": 11, "fontFamily": look.Font}
			}
		} else if label := p.letterLabel(dot.name, look); label != nil {
			s["label"] = label
		} else if dot.name == shownName {
			s["label"] = p.shownLabel(look)
		}
		series = append(series, s)
	}
	if s := p.arrows(copyOf(seriesDot), look, unit); s != nil {
		series = append(series, s)
	}
	for _, s := range series {
		s.(node)["silent"] = true
	}
	o["series"] = series
	return json.Marshal(o)
}

// unit returns the unit of the horizontal axis in bytes, and its name.
func (p *Plot) unit() (float64, string) {
	if p.To >= engine.GiB {
		return float64(engine.GiB), "GiB"
	}
	return float64(engine.MiB), "MiB"
}

// openName is the label of the part of the chosen line that is not final.
const openName = "not searched yet: at least this"

// open sets s to the part of line i that is not final, dashed and thin, up to the budget of keeping
// everything. It returns nil if the whole line is final.
func (p *Plot) open(s node, i int, names []label, look Look, unit float64) node {
	l := &p.Lines[i]
	pts := p.inside(l)
	if l.Open == 0 || len(pts) == 0 {
		return nil
	}
	end := tradeoff.LinePoint{Budget: max(p.KeepAll.Budget, pts[0].Budget), StepTime: pts[0].StepTime}
	data := []any{node{"value": p.value(end, unit)}}
	for _, pt := range pts {
		data = append(data, node{"value": p.value(pt, unit)})
		if pt.Budget < l.Open { // the final part begins here
			break
		}
	}
	slices.Reverse(data) // the label is at the last point, which has to be the right end
	p.line(s, l, look, unit)
	s["data"], s["step"] = data, "end"
	set(s, []int{4, 4}, "lineStyle", "type")
	set(s, 1, "lineStyle", "width")
	if l.Method.Strategy == p.Chosen {
		if at := p.openLabel(end, names); at.shown {
			s["endLabel"] = endLabel(at, openName, look, display.Muted)
		}
	}
	return s
}

// openLabel returns a place for openName below or above the right end of the line, or a hidden label.
func (p *Plot) openLabel(end tradeoff.LinePoint, names []label) label {
	x, y, width := p.X(end.Budget), p.Y(end.StepTime), nameWidth(openName)
	taken := p.marked(names)
	for _, up := range []float64{-10, 10} {
		l := label{x: -4, y: up, left: true, shown: true,
			box: rect{x - 4 - width, y - up - labelHeight/2, x - 4, y - up + labelHeight/2}}
		crossed := slices.ContainsFunc(p.strokes(), func(s stroke) bool { return l.box.holds(s.rect) > 0 })
		if !crossed && l.box.x0 > p.left() && l.box.y0 >= top && l.box.y1 <= p.Height-bottom &&
			!slices.ContainsFunc(taken, l.box.meets) {
			return l
		}
	}
	return label{}
}

// line sets s to the line of a strategy, from the largest budget to the smallest, so that its label
// is where the lines are farthest apart. It ends where the line leaves the plot.
func (p *Plot) line(s node, l *tradeoff.Line, look Look, unit float64) node {
	data := make([]any, 0, len(l.Points))
	for _, pt := range p.inside(l) {
		if l.Open == 0 || pt.Budget < l.Open {
			data = append(data, node{"value": p.value(pt, unit)})
		}
	}
	s["name"], s["data"] = l.Title, data
	colour := look.Colours[Role(l.Method.Strategy)]
	if colour == look.Colours[display.Surface] { // forced colours show this class by a pattern
		colour = look.Colours[display.Ink]
	}
	set(s, colour, "lineStyle", "color")
	if l.Method.Strategy == p.Chosen {
		set(s, 2.6, "lineStyle", "width")
	}
	if d := Dash(l.Method.Strategy); d != nil {
		set(s, d, "lineStyle", "type")
	}
	return s
}

// SpotAt returns the policy whose circle is at a point, or nil if there is none.
func (p *Plot) SpotAt(x, y float64) *Spot {
	for i := range p.Spots {
		s := &p.Spots[i]
		if p.drawn(s) && math.Hypot(p.X(s.At.Budget)-x, p.Y(s.At.StepTime)-y) <= spotSize {
			return s
		}
	}
	return nil
}

// Say returns the name of a policy, what frameworks call it, and its costs.
func (x *Spot) Say() string {
	return fmt.Sprintf("%s\n%s\n%s per step on %s; click to open the step with it.", x.Name, format.Capital(x.Words),
		format.Duration(x.At.StepTime), format.Bytes(x.Needs))
}

const (
	mostNamed   = 4  // the largest number of circles with a label beside lines
	mostAlone   = 12 // and without lines
	longestName = 36 // the longest label in bytes
)

// spotLabels places the names of some policies, first of those that fit: right or left of their
// circles, covering no line, no dot and no other name, including names.
func (p *Plot) spotLabels(names []label) []label {
	out, named := make([]label, len(p.Spots)), 0
	if p.Width < roomForLabels {
		return out
	}
	lines, taken, most := p.strokes(), p.marked(names), mostNamed
	if len(p.Lines) == 0 {
		most = mostAlone
	}
	for _, fits := range [2]bool{true, false} {
		for i := range p.Spots {
			x := &p.Spots[i]
			if x.Fits != fits || named == most || len(x.Name) > longestName || !p.drawn(x) {
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
	at, width := p.spotRect(x), nameWidth(x.Name)-2
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

// spots sets s to the circles of policies. It returns nil if none is drawn.
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
		symbol := "circle"
		if x.Order {
			symbol = "diamond"
		}
		d := node{"symbol": symbol, "symbolSize": spotSize, "value": p.value(x.At, unit),
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

// New lays out the curve of a state. It returns nil if there is none yet.
func New(s *state.State, width, height float64) *Plot {
	c := s.Curve
	if s.Step != nil {
		return ofStep(s, width, height)
	} else if c == nil || s.Network == nil {
		return nil
	}
	all := s.KeepAll()
	p := &Plot{Width: width, Height: height, Axis: s.View.Axis,
		KeepAll: tradeoff.LinePoint{Budget: all.Peak, StepTime: all.StepTime},
		Chosen:  s.Choice.Strategy, Budget: s.Budget(), Lines: s.Lines(), Context: s.Choice.Context()}
	if v := s.Visible(); v != nil && v.Network == s.Network {
		p.Now = tradeoff.LinePoint{Budget: v.Solved.Budget, StepTime: v.Solved.Trace.Makespan}
	}
	for i := range p.Lines { // add what is shown to its line
		if l := &p.Lines[i]; p.Now.StepTime > 0 && s.Preview == nil && l.Method.Strategy == p.Chosen &&
			maps.Equal(l.Method.Args, s.Choice.Args) {
			*l = l.With(p.Now)
		}
	}
	p.Unit, p.Batch = known.Trained(s.Choice, s.Network)
	if d := state.DeviceOf(s.Choice); d != nil {
		p.Card, p.Device, p.Name = true, p.unreserved(d.Memory), known.Card(s.Choice, s.Network, d)
	}
	for _, x := range s.Policies() {
		p.Spots = append(p.Spots, Spot{Do: state.OpenPolicy{Index: x.Index}, Name: format.Capital(x.Names[0]),
			Words: x.Words, Fits: x.Lacks == 0, Needs: x.Needs,
			At: tradeoff.LinePoint{StepTime: x.Time,
				Budget: p.unreserved(known.Evenly(s.Choice, s.Network, x.Needs))}}) // as the curve
	}
	if c.Complete() {
		p.Fits = p.least(c.Smallest())
	}
	p.layBudgets(s.BudgetRange())
	p.compare(s)
	p.layAxis()
	return p
}
