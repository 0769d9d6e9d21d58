package template

import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// Question is the template of the charts that answer a question: something over
// bandwidth or batch size, which are on a logarithmic axis.
func Question(m Margins) ([]byte, error) {
	line := plot(m, opts.XAxis{Type: "log"}, opts.AxisLabel{Formatter: types.FuncStr("{value}")})
	line.AddSeries("present", []opts.LineData{}, upright("present")...)
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(true), Symbol: "circle", SymbolSize: 5}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: Ink, Width: 1.6}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: Ink}))
	return withPoints(line, "diamond")
}
