package chart

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"memtide/web/display"
	"memtide/web/question"
)

// questionTemplate is made by package template with go-echarts.
//
//go:embed question.template.json
var questionTemplate []byte

// The series of the template of questions, in its order.
const (
	seriesPresent = iota // an upright line at what is chosen
	seriesMethod         // the line of a strategy, with its points
	seriesMark           // a single point
)

// Answer is the chart of a question, laid out in a picture of Width times Height
// CSS pixels.
type Answer struct {
	*question.Chart
	Width, Height float64
}

// Margins of these charts in CSS pixels; where there is room, the names stand
// behind the lines and need more.
const (
	answerLeft   = 52.0
	answerRight  = 16.0
	answerTop    = 18.0
	answerBottom = 26.0
)

// right is the margin behind the lines.
func (c *Answer) right() float64 {
	if c.Width < roomForLabels {
		return answerRight
	}
	widest := 0.0
	for i := range c.Lines {
		widest = max(widest, (&named{name: c.Lines[i].Title}).width())
	}
	return min(widest+8, c.Width*0.42)
}

// X is the place of a value of the horizontal axis, in CSS pixels from the left.
func (c *Answer) X(v float64) float64 {
	share := math.Log(v/c.From) / math.Log(c.To/c.From)
	return answerLeft + (c.Width-answerLeft-c.right())*share
}

// Y is the place of an amount, in CSS pixels from the top.
func (c *Answer) Y(v float64) float64 {
	return answerTop + (c.Height-answerTop-answerBottom)*(c.Top-v)/(c.Top-c.Low)
}

// Nearest is the answer that is nearest to a place, -1 if none is near.
func (c *Answer) Nearest(x, y float64) int {
	best, found := reach*reach, -1
	for _, l := range c.Lines {
		points := l.Points
		if l.Mark != nil {
			points = append(points[:len(points):len(points)], *l.Mark)
		}
		for _, p := range points {
			dx, dy := c.X(p.X)-x, c.Y(p.Y)-y
			if d := dx*dx + dy*dy; d < best {
				best, found = d, p.Answer
			}
		}
	}
	return found
}

// Option is the chart as an ECharts option.
func (c *Answer) Option(look Look) ([]byte, error) {
	var o node
	if err := json.Unmarshal(questionTemplate, &o); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	dress(o, look)
	set(o, px(c.right()), "grid", "0", "right")
	set(o, 2, "xAxis", "0", "logBase")
	set(o, c.From, "xAxis", "0", "min")
	set(o, c.To, "xAxis", "0", "max")
	set(o, "{value}"+c.XUnit, "xAxis", "0", "axisLabel", "formatter")
	set(o, c.Low, "yAxis", "0", "min")
	set(o, c.Top, "yAxis", "0", "max")
	set(o, c.YPrefix+"{value}"+c.YUnit, "yAxis", "0", "axisLabel", "formatter")
	set(o, false, "yAxis", "0", "axisLabel", "showMinLabel")
	set(o, false, "yAxis", "0", "axisLabel", "showMaxLabel")
	templates := o["series"].([]any)
	series := []any{}
	if c.Present >= c.From && c.Present <= c.To {
		s := clone(templates[seriesPresent]).(node)
		set(s, c.Present, "markLine", "data", "0", "xAxis")
		set(s, c.PresentName, "markLine", "label", "formatter")
		set(s, look.Font, "markLine", "label", "fontFamily")
		series = append(series, s)
	}
	names := c.names()
	for i := range c.Lines {
		series = append(series, c.method(clone(templates[seriesMethod]).(node), i, names[i], look))
		if p := c.Lines[i].Mark; p != nil {
			s := clone(templates[seriesMark]).(node)
			set(s, look.Colours[Role(c.Lines[i].Strategy)], "itemStyle", "color")
			s["data"] = []any{node{"symbol": "diamond", "symbolSize": 11, "value": [2]float64{p.X, p.Y}}}
			series = append(series, s)
		}
	}
	for _, s := range series {
		s.(node)["silent"] = true
	}
	o["series"] = series
	return json.Marshal(o)
}

// method fills in the line of a strategy.
func (c *Answer) method(s node, i int, nameAt float64, look Look) node {
	l := &c.Lines[i]
	colour := look.Colours[Role(l.Strategy)]
	data := []any{}
	for _, p := range l.Points {
		if p.Y <= c.Top {
			data = append(data, node{"value": [2]float64{p.X, p.Y}})
		}
	}
	s["name"], s["data"] = l.Title, data
	draws(s, l.Strategy, c.Chosen, colour)
	set(s, colour, "itemStyle", "color")
	if end, ok := c.end(i); ok && c.Width >= roomForLabels {
		s["endLabel"] = endLabel(label{x: 6, y: end - nameAt, shown: true}, l.Title, look, display.Ink)
	}
	return s
}

// end is where a line ends, in CSS pixels from the top.
func (c *Answer) end(i int) (float64, bool) {
	for _, p := range slices.Backward(c.Lines[i].Points) {
		if p.Y <= c.Top {
			return c.Y(p.Y), true
		}
	}
	return 0, false
}

// names are the places of the lines' names, from the top: at their ends, moved
// down where they would stand on each other.
func (c *Answer) names() []float64 {
	out := make([]float64, len(c.Lines))
	order := make([]int, 0, len(out))
	for i := range out {
		if at, ok := c.end(i); ok {
			out[i] = at
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(out[a] - out[b]) })
	last := math.Inf(-1)
	for _, i := range order {
		out[i] = max(out[i], last+labelHeight)
		last = out[i]
	}
	for over, k := last-(c.Height-answerBottom), len(order)-1; k >= 0 && over > 0; k-- { // back up where they leave the plot
		out[order[k]] -= over
		if k > 0 {
			over = out[order[k-1]] + labelHeight - out[order[k]]
		}
	}
	return out
}
