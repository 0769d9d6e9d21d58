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

// The series of the trade-off template, of which the page makes copies.
const (
	Marks = iota // the budget line and the region in which nothing fits
	Bound        // the line of a lower bound
	Line         // the line of a strategy
	Dot          // a single point
)

// Margins are the distances of the plot from the edges, in CSS pixels.
type Margins struct{ Left, Right, Top, Bottom string }

// TradeOff is the template of the trade-off curve.
func TradeOff(m Margins) ([]byte, error) {
	line := charts.NewLine()
	label := func() *opts.AxisLabel {
		return &opts.AxisLabel{
			Color: Muted, FontFamily: Font, FontSize: 11, HideOverlap: opts.Bool(true),
			ShowMinLabel: opts.Bool(false), ShowMaxLabel: opts.Bool(false), Formatter: types.FuncStr("×{value}"),
		}
	}
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(false)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTitleOpts(opts.Title{}),
		charts.WithGridOpts(opts.Grid{Left: m.Left, Right: m.Right, Top: m.Top, Bottom: m.Bottom}),
		charts.WithXAxisOpts(opts.XAxis{Type: "value", SplitNumber: 4, AxisLabel: label(),
			AxisLine:  &opts.AxisLine{LineStyle: &opts.LineStyle{Color: Grid}},
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", SplitNumber: 4, AxisLabel: label(),
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: Grid}}}),
	)
	line.AddSeries("budget", []opts.LineData{}, marks()...)
	line.AddSeries("bound", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: Muted, Width: 1.2, Type: "dotted"}))
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{Step: "start", ShowSymbol: opts.Bool(false)}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: Ink, Width: 1.6}))
	dot := charts.NewScatter()
	dot.AddSeries("point", []opts.ScatterData{{Symbol: "circle", SymbolSize: 11}},
		charts.WithItemStyleOpts(opts.ItemStyle{Color: Ink, BorderColor: Surface, BorderWidth: 1.5}))
	line.Overlap(dot)
	line.Validate()
	return json.MarshalIndent(line.JSON(), "", " ")
}

func marks() []charts.SeriesOpts {
	return []charts.SeriesOpts{
		charts.WithMarkLineNameXAxisItemOpts(opts.MarkLineNameXAxisItem{Name: "budget"}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"},
			Label:     &opts.Label{Show: opts.Bool(true), Color: Ink, FontSize: 11},
			LineStyle: &opts.LineStyle{Color: Budget, Width: 1.5, Type: "dashed"}}),
		charts.WithMarkAreaData([]opts.MarkAreaData{{Name: "does not fit", XAxis: 0}, {XAxis: 1}}),
		charts.WithMarkAreaStyleOpts(opts.MarkAreaStyle{
			Label:     &opts.Label{Show: opts.Bool(true), Color: Muted, FontSize: 11, Position: "insideBottom"},
			ItemStyle: &opts.ItemStyle{Color: Grid, Opacity: opts.Float(0.5)},
		}),
	}
}
