// Package template makes the templates of the charts with go-echarts, which
// knows what an ECharts option looks like. It runs when a template changes, not
// in the page: go-echarts brings html/template, regexp and reflection over all
// chart types, which would add 230 KB to what every visitor loads (brotli). The
// result is embedded by package chart, which fills in numbers, names and
// colours.
//
//	go test ./web/chart -run Template -update
package template

import (
	"encoding/json"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// Strings that stand for what is only known in the page: the colours of roles,
// and the font.
const (
	Grid    = "$grid"
	Muted   = "$muted"
	Ink     = "$ink"
	Budget  = "$budget"
	Surface = "$surface"
	Font    = "$font"
)

// Margins are the distances of the plot from the edges, in CSS pixels.
type Margins struct{ Left, Right, Top, Bottom string }

// TradeOff is the template of the trade-off curve.
func TradeOff(m Margins) ([]byte, error) {
	line := plot(m, opts.XAxis{Type: "value", SplitNumber: 4}, opts.AxisLabel{
		ShowMinLabel: opts.Bool(false), ShowMaxLabel: opts.Bool(false), Formatter: types.FuncStr("×{value}")})
	line.AddSeries("budget", []opts.LineData{}, marks()...)
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{Step: "start", ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: Ink, Width: 1.6}))
	return withPoints(line, "circle")
}

// plot is a chart of lines without any: amounts upwards, and the given axis.
func plot(m Margins, x opts.XAxis, label opts.AxisLabel) *charts.Line {
	label.Color, label.FontFamily, label.FontSize, label.HideOverlap = Muted, Font, 11, opts.Bool(true)
	x.AxisLabel = &label
	x.AxisLine = &opts.AxisLine{LineStyle: &opts.LineStyle{Color: Grid}}
	x.SplitLine = &opts.SplitLine{Show: opts.Bool(false)}
	line := charts.NewLine()
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(false)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTitleOpts(opts.Title{}),
		charts.WithGridOpts(opts.Grid{Left: m.Left, Right: m.Right, Top: m.Top, Bottom: m.Bottom}),
		charts.WithXAxisOpts(x),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", SplitNumber: 4, AxisLabel: &label,
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: Grid}}}),
	)
	return line
}

// withPoints is a chart with a series of single points, as the text of an option.
func withPoints(line *charts.Line, symbol string) ([]byte, error) {
	dot := charts.NewScatter()
	dot.AddSeries("point", []opts.ScatterData{{Symbol: symbol, SymbolSize: 11}},
		charts.WithItemStyleOpts(opts.ItemStyle{Color: Ink, BorderColor: Surface, BorderWidth: 1.5}))
	line.Overlap(dot)
	line.Validate()
	return json.MarshalIndent(line.JSON(), "", " ")
}

// upright is a dashed line at a value of the horizontal axis.
func upright(name string) []charts.SeriesOpts {
	return []charts.SeriesOpts{
		charts.WithMarkLineNameXAxisItemOpts(opts.MarkLineNameXAxisItem{Name: name}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"},
			Label:     &opts.Label{Show: opts.Bool(true), Color: Ink, FontSize: 11},
			LineStyle: &opts.LineStyle{Color: Budget, Width: 1.5, Type: "dashed"}}),
	}
}

func marks() []charts.SeriesOpts {
	return append(upright("budget"),
		charts.WithMarkAreaData([]opts.MarkAreaData{{Name: "does not fit", XAxis: 0}, {XAxis: 1}}),
		charts.WithMarkAreaStyleOpts(opts.MarkAreaStyle{
			Label:     &opts.Label{Show: opts.Bool(true), Color: Muted, FontSize: 11, Position: "insideBottom"},
			ItemStyle: &opts.ItemStyle{Color: Grid, Opacity: opts.Float(0.5)},
		}))
}
