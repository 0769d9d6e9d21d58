package chart

import (
	"encoding/json"
	"testing"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"

	"memtide/engine/enginetest/golden"
)

// TestTemplateIsCurrent checks that the embedded template equals the result of makeTemplate.
func TestTemplateIsCurrent(t *testing.T) {
	got, err := makeTemplate()
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	golden.File(t, "tradeoff.template.json", got)
	tradeOffTemplate = got // with -update, the other tests use the new template
	checkSeries(t, got, map[int]string{seriesMarks: "budget", seriesLine: "strategy", seriesDot: "point"})
}

// checkSeries checks that every series of a template has the index that option.go uses for it.
func checkSeries(t *testing.T, template []byte, want map[int]string) {
	t.Helper()
	var o struct{ Series []struct{ Name string } }
	if err := json.Unmarshal(template, &o); err != nil {
		t.Fatal(err)
	}
	for i, s := range o.Series {
		if s.Name != want[i] || len(o.Series) != len(want) {
			t.Errorf("series %d of %d is %q; want %q of %d", i, len(o.Series), s.Name, want[i], len(want))
		}
	}
}

// Placeholders for the font and for the colours of roles, which are known only in the page.
const (
	gridColour    = "$grid"
	mutedColour   = "$muted"
	inkColour     = "$ink"
	budgetColour  = "$budget"
	surfaceColour = "$surface"
	anyFont       = "$font"
)

// makeTemplate returns the template of the trade-off curve, an ECharts option made by go-echarts. A test makes
// it, and not the page, because go-echarts imports html/template, regexp and reflection over all chart types,
// which would add 230 KB (brotli) to the download of every visitor. option.go sets the numbers, names and colours
// in the embedded result.
func makeTemplate() ([]byte, error) {
	line := plotted(opts.XAxis{Type: "value", SplitNumber: 4}, opts.AxisLabel{
		ShowMinLabel: opts.Bool(false), ShowMaxLabel: opts.Bool(false), Formatter: types.FuncStr("×{value}")})
	line.AddSeries("budget", []opts.LineData{}, markSeries()...)
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{Step: "start", ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: inkColour, Width: 1.6}))
	return withPoints(line, "circle")
}

// plotted returns a chart without lines, with the horizontal axis x and a vertical axis of values. Both axes have
// labels like label.
func plotted(x opts.XAxis, label opts.AxisLabel) *charts.Line {
	label.Color, label.FontFamily, label.FontSize, label.HideOverlap = mutedColour, anyFont, 11, opts.Bool(true)
	x.AxisLabel = &label
	x.AxisLine = &opts.AxisLine{LineStyle: &opts.LineStyle{Color: gridColour}}
	x.SplitLine = &opts.SplitLine{Show: opts.Bool(false)}
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(false)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTitleOpts(opts.Title{}),
		charts.WithGridOpts(opts.Grid{Left: px(left), Right: px(right), Top: px(top), Bottom: px(bottom)}),
		charts.WithXAxisOpts(x),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", SplitNumber: 4, AxisLabel: &label,
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: gridColour}}}),
	)
	return line
}

// withPoints adds a series of single points to line and returns the chart as the JSON of an ECharts option.
func withPoints(line *charts.Line, symbol string) ([]byte, error) {
	dot := charts.NewScatter()
	dot.AddSeries("point", []opts.ScatterData{{Symbol: symbol, SymbolSize: 11}},
		charts.WithItemStyleOpts(opts.ItemStyle{Color: inkColour, BorderColor: surfaceColour, BorderWidth: 1.5}))
	line.Overlap(dot)
	line.Validate()
	return json.MarshalIndent(line.JSON(), "", " ")
}

// upright returns the options of a series that has a dashed vertical line called name.
func upright(name string) []charts.SeriesOpts {
	return []charts.SeriesOpts{
		charts.WithMarkLineNameXAxisItemOpts(opts.MarkLineNameXAxisItem{Name: name}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"},
			Label:     &opts.Label{Show: opts.Bool(true), Color: inkColour, FontSize: 11},
			LineStyle: &opts.LineStyle{Color: budgetColour, Width: 1.5, Type: "dashed"}}),
	}
}

func markSeries() []charts.SeriesOpts {
	return append(upright("budget"),
		charts.WithMarkAreaData([]opts.MarkAreaData{{Name: "does not fit", XAxis: 0}, {XAxis: 1}}),
		charts.WithMarkAreaStyleOpts(opts.MarkAreaStyle{
			Label:     &opts.Label{Show: opts.Bool(true), Color: mutedColour, FontSize: 11, Position: "insideBottom"},
			ItemStyle: &opts.ItemStyle{Color: gridColour, Opacity: opts.Float(0.5)},
		}))
}
