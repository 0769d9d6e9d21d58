package chart

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// Look is how a chart is dressed.
type Look struct {
	Colours []string // by draw.Role
	Font    string
}

// dashes tell the strategies of a class, which share a colour, apart.
var dashes = [][]int{nil, {7, 3}, {3, 3}, {10, 3, 3, 3}, {14, 4}, {10, 3, 3, 3, 3, 3}, {5, 2}}

// Option is the chart as an ECharts option.
func (p *Plot) Option(look Look) ([]byte, error) {
	line := charts.NewLine()
	c := func(r draw.Role) string { return look.Colours[r] }
	unit, name := p.unit()
	axisLabel := func(template types.FuncStr) *opts.AxisLabel {
		return &opts.AxisLabel{
			Color: c(draw.Muted), FontFamily: look.Font, FontSize: 11, HideOverlap: opts.Bool(true),
			ShowMinLabel: opts.Bool(false), ShowMaxLabel: opts.Bool(false), Formatter: template,
		}
	}
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(false)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTitleOpts(opts.Title{}),
		charts.WithGridOpts(opts.Grid{Left: px(left), Right: px(right), Top: px(top), Bottom: px(bottom)}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", Min: float64(p.From) / unit, Max: float64(p.To) / unit, SplitNumber: 4,
			AxisLine:  &opts.AxisLine{LineStyle: &opts.LineStyle{Color: c(draw.Grid)}},
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)}, AxisLabel: axisLabel(types.FuncStr("{value} " + name))}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Min: p.Low, Max: p.Top, SplitNumber: 4,
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: c(draw.Grid)}}, AxisLabel: axisLabel("×{value}")}),
	)
	p.addMarks(line, c, unit)
	for i := range p.Bounds {
		line.AddSeries(p.Bounds[i].Title, p.data(&p.Bounds[i], unit),
			charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}),
			charts.WithLineStyleOpts(opts.LineStyle{Color: c(draw.Muted), Width: 1.2, Type: "dotted"}))
	}
	for i := range p.Lines {
		p.addLine(line, c, i, unit)
	}
	p.addPoints(line, c, unit)
	line.Validate()
	return p.finish(line.JSON(), look)
}

func px(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// unit is the unit of the horizontal axis, in bytes, with its name.
func (p *Plot) unit() (float64, string) {
	if p.To >= engine.GiB {
		return float64(engine.GiB), "GiB"
	}
	return float64(engine.MiB), "MiB"
}

// data goes from the largest budget to the smallest, so that the label of a
// line stands where the lines are furthest apart. It ends where the line leaves
// the plot.
func (p *Plot) data(l *state.Line, unit float64) []opts.LineData {
	out := make([]opts.LineData, 0, len(l.Points))
	for _, pt := range p.inside(l) {
		out = append(out, opts.LineData{Value: [2]float64{float64(pt.Budget) / unit, p.slowdown(pt.StepTime)}})
	}
	return out
}

// addMarks adds the budget and the region in which nothing fits.
func (p *Plot) addMarks(line *charts.Line, c func(draw.Role) string, unit float64) {
	options := []charts.SeriesOpts{
		charts.WithMarkLineNameXAxisItemOpts(opts.MarkLineNameXAxisItem{Name: "budget", XAxis: float64(p.Budget) / unit}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"},
			Label:     &opts.Label{Show: opts.Bool(true), Color: c(draw.Ink), FontSize: 11},
			LineStyle: &opts.LineStyle{Color: c(draw.Budget), Width: 1.5, Type: "dashed"}}),
	}
	if p.Fits > p.From {
		options = append(options,
			charts.WithMarkAreaData([]opts.MarkAreaData{
				{Name: "does not fit", XAxis: float64(p.From) / unit}, {XAxis: float64(p.Fits) / unit},
			}),
			charts.WithMarkAreaStyleOpts(opts.MarkAreaStyle{
				Label:     &opts.Label{Show: opts.Bool(p.X(p.Fits)-p.X(p.From) > 70), Color: c(draw.Muted), FontSize: 11, Position: "insideBottom"},
				ItemStyle: &opts.ItemStyle{Color: c(draw.Grid), Opacity: opts.Float(0.5)},
			}))
	}
	line.AddSeries("budget", []opts.LineData{}, options...)
}

func (p *Plot) addLine(line *charts.Line, c func(draw.Role) string, i int, unit float64) {
	l := &p.Lines[i]
	colour, width := c(classRole(l.Method.Strategy)), float32(1.6)
	if l.Method.Strategy == p.Chosen {
		width = 2.6
	}
	line.AddSeries(l.Title, p.data(l, unit),
		charts.WithLineChartOpts(opts.LineChart{Step: "start", ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: colour, Width: width}))
}

// dashOf is the dash of a strategy: always the same, whatever else is drawn. Nil
// is a solid line.
func dashOf(strategy string) []int {
	i := 0
	if chosen := engine.Lookup(strategy); chosen != nil {
		for _, s := range engine.Strategies() {
			if s.Name == strategy {
				break
			}
			if s.Class == chosen.Class {
				i++
			}
		}
	}
	return dashes[i%len(dashes)]
}

// classRole is the colour of a strategy's class.
func classRole(strategy string) draw.Role {
	s := engine.Lookup(strategy)
	switch {
	case s == nil, s.Class == engine.MayRecompute|engine.MayOffload:
		return draw.Forward
	case s.Class == engine.MayOffload:
		return draw.Transfer
	case s.Class == engine.MayRecompute:
		return draw.Recompute
	}
	return draw.Fixed
}

// addPoints adds the square of keeping everything and the dot of what is shown.
func (p *Plot) addPoints(line *charts.Line, c func(draw.Role) string, unit float64) {
	point := func(name, symbol string, size int, colour string, pt state.LinePoint) {
		if pt.StepTime <= 0 {
			return
		}
		s := charts.NewScatter()
		s.AddSeries(name, []opts.ScatterData{{Value: [2]float64{float64(pt.Budget) / unit, p.slowdown(pt.StepTime)}, Symbol: symbol, SymbolSize: size}},
			charts.WithItemStyleOpts(opts.ItemStyle{Color: colour, BorderColor: c(draw.Surface), BorderWidth: 1.5}))
		line.Overlap(s)
	}
	point("keep all", "rect", 10, c(draw.Fixed), p.KeepAll)
	point("shown", "circle", 11, c(draw.Ink), p.Now)
}

// finish adds what go-echarts has no field for: dashes, and the labels at the
// ends of lines.
func (p *Plot) finish(option map[string]any, look Look) ([]byte, error) {
	raw, err := json.Marshal(option)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	labels := p.labels()
	bound, drawn := 0, 0 // labels has the bounds first, like the series
	for _, v := range o["series"].([]any) {
		s := v.(map[string]any)
		s["silent"] = true
		name, _ := s["name"].(string)
		switch {
		case name == "budget":
			set(s, format.Bytes(p.Budget), "markLine", "label", "formatter")
			set(s, look.Font, "markLine", "label", "fontFamily")
		case bound < len(p.Bounds):
			if at := labels[bound]; at.shown {
				s["endLabel"] = endLabel(at, "bound", look, draw.Muted)
			}
			bound++
		case s["step"] == "start":
			if d := dashOf(p.Lines[drawn].Method.Strategy); d != nil {
				set(s, d, "lineStyle", "type")
			}
			if at := labels[len(p.Bounds)+drawn]; at.shown {
				s["endLabel"] = endLabel(at, name, look, draw.Ink)
			}
			drawn++
		}
	}
	return json.Marshal(o)
}

// set puts a value at a path of keys and indices, if the path exists.
func set(at any, value any, path ...string) {
	for i, key := range path {
		switch node := at.(type) {
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n >= len(node) {
				return
			}
			at = node[n]
		case map[string]any:
			if i == len(path)-1 {
				node[key] = value
				return
			}
			at = node[key]
		}
	}
}
