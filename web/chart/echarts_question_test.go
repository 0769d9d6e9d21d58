package chart

import (
	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
	"github.com/go-echarts/go-echarts/v2/types"
)

// makeQuestion is the template of the charts that answer a question: something over
// bandwidth or batch size, which are on a logarithmic axis.
func makeQuestion(m margins) ([]byte, error) {
	line := plot(m, opts.XAxis{Type: "log"}, opts.AxisLabel{Formatter: types.FuncStr("{value}")})
	line.AddSeries("present", []opts.LineData{}, upright("present")...)
	line.AddSeries("strategy", []opts.LineData{},
		charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(true), Symbol: "circle", SymbolSize: 5}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: roleInk, Width: 1.6}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: roleInk}))
	return withPoints(line, "diamond")
}
