package template

import (
	"encoding/json"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// The series of the template of questions, of which the page makes copies.
const (
	Present = iota // an upright line at what is chosen
	Method         // the line of a strategy, with its points
	Mark           // a single point
)

// Question is the template of the charts that answer a question: something over
// bandwidth or batch size, which are on a logarithmic axis.
func Question(m Margins) ([]byte, error) {
	line := charts.NewLine()
	label := func() *opts.AxisLabel {
		return &opts.AxisLabel{Color: Muted, FontFamily: Font, FontSize: 11, HideOverlap: opts.Bool(true), Formatter: types.FuncStr("{value}")}
	}
	line.SetGlobalOptions(
		charts.WithAnimation(false),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(false)}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(false)}),
		charts.WithTitleOpts(opts.Title{}),
		charts.WithGridOpts(opts.Grid{Left: m.Left, Right: m.Right, Top: m.Top, Bottom: m.Bottom}),
		charts.WithXAxisOpts(opts.XAxis{Type: "log", AxisLabel: label(),
			AxisLine:  &opts.AxisLine{LineStyle: &opts.LineStyle{Color: Grid}},
			SplitLine: &opts.SplitLine{Show: opts.Bool(false)}}),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", SplitNumber: 4, AxisLabel: label(),
			SplitLine: &opts.SplitLine{Show: opts.Bool(true), LineStyle: &opts.LineStyle{Color: Grid}}}),
	)
	line.AddSeries("present", []opts.LineData{},
		charts.WithMarkLineNameXAxisItemOpts(opts.MarkLineNameXAxisItem{Name: "present"}),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"},
			Label:     &opts.Label{Show: opts.Bool(true), Color: Ink, FontSize: 11},
			LineStyle: &opts.LineStyle{Color: Budget, Width: 1.5, Type: "dashed"}}))
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(true), Symbol: "circle", SymbolSize: 5}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: Ink, Width: 1.6}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: Ink}))
	dot := charts.NewScatter()
	dot.AddSeries("point", []opts.ScatterData{{Symbol: "diamond", SymbolSize: 11}},
		charts.WithItemStyleOpts(opts.ItemStyle{Color: Ink, BorderColor: Surface, BorderWidth: 1.5}))
	line.Overlap(dot)
	line.Validate()
	return json.MarshalIndent(line.JSON(), "", " ")
}
