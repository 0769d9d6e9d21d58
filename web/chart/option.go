package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/web/display"
	"memtide/web/tradeoff"
)

// tradeOffTemplate is made by package template with go-echarts.
//
//go:embed tradeoff.template.json
var tradeOffTemplate []byte

// The series of the template, in its order.
const (
	seriesMarks = iota // the budget line and the region in which nothing fits
	seriesLine         // the line of a strategy
	seriesDot          // a single point
)

// Option returns the chart as an ECharts option.
func (p *Plot) Option(look Look) ([]byte, error) {
	var o node
	if err := json.Unmarshal(tradeOffTemplate, &o); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	dress(o, look)
	set(o, px(p.left()), "grid", "0", "left")
	unit, name := p.unit()
	set(o, p.axis(p.From)/unit, "xAxis", "0", "min")
	set(o, p.axis(p.To)/unit, "xAxis", "0", "max")
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
				s["label"] = at.label(look)
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

// unit returns the unit of the horizontal axis, in bytes, with its name.
func (p *Plot) unit() (float64, string) {
	if p.To >= engine.GiB {
		return float64(engine.GiB), "GiB"
	}
	return float64(engine.MiB), "MiB"
}

// data goes from the largest budget to the smallest, so that the label of a
// line stands where the lines are furthest apart. It ends where the line leaves
// the plot.
func (p *Plot) data(l *tradeoff.Line, unit float64) []any {
	out := make([]any, 0, len(l.Points))
	for _, pt := range p.inside(l) {
		if l.Open == 0 || pt.Budget < l.Open {
			out = append(out, node{"value": p.value(pt, unit)})
		}
	}
	return out
}

// openName stands at the part of the chosen line that is not final.
const openName = "not searched yet: at least this"

// open returns the part of line i that is not final, dashed and thin, on to where everything is kept;
// nil if all of it is final.
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
		if pt.Budget < l.Open { // where it is solid
			break
		}
	}
	slices.Reverse(data) // the name stands at the right end
	p.line(s, l, look, unit)
	s["data"], s["step"] = data, "end"
	set(s, []int{4, 4}, "lineStyle", "type")
	set(s, 1, "lineStyle", "width")
	if l.Method.Strategy == p.Chosen {
		if at := p.openLabel(i, end, names); at.shown {
			s["endLabel"] = endLabel(at, openName, look, display.Muted)
		}
	}
	return s
}

// openLabel returns a place for the name of what is not final of line i, below or above its right end.
func (p *Plot) openLabel(i int, end tradeoff.LinePoint, names []label) label {
	x, y, width := p.X(end.Budget), p.Y(end.StepTime), named{name: openName}.width()
	taken := p.marked()
	for _, l := range names {
		if l.shown {
			taken = append(taken, l.box)
		}
	}
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

// line fills in the line of a strategy.
func (p *Plot) line(s node, l *tradeoff.Line, look Look, unit float64) node {
	s["name"], s["data"] = l.Title, p.data(l, unit)
	colour := look.Colours[Role(l.Method.Strategy)]
	if colour == look.Colours[display.Surface] { // forced colours tell this class by its hatch
		colour = look.Colours[display.Ink]
	}
	draws(s, l.Method.Strategy, p.Chosen, colour)
	return s
}

// draws gives a line the look of a strategy: the chosen one's is stronger.
func draws(s node, strategy, chosen, colour string) {
	set(s, colour, "lineStyle", "color")
	if strategy == chosen {
		set(s, 2.6, "lineStyle", "width")
	}
	if d := Dash(strategy); d != nil {
		set(s, d, "lineStyle", "type")
	}
}
