package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/chart"
	"memtide/web/display"
)

// echart is a chart of ECharts in an element of its own.
type echart struct {
	*core
	element safejs.Value // its host
	inner   safejs.Value
	chart   safejs.Value // ECharts instance
	loading bool         // the library is on its way
	ready   bool
	drawing bool    // a drawing is scheduled
	option  string  // what it shows
	width   float64 // CSS pixels, as the browser told last: asking for them takes long
	height  float64
}

func newChart(c *core, element safejs.Value) echart {
	return echart{core: c, element: element, inner: create(element, "div", "chart")}
}

// load waits for the library, which arrives after the first picture. changed is called
// when it is there, and when the chart has another size; failed with why it does not come.
func (c *echart) load(changed func(), failed func(why string)) {
	charts := global("memtide", "charts")
	c.loading = exists(charts)
	then(charts, func(lib safejs.Value) {
		c.Later(func() {
			c.chart = call(lib, "init", c.inner, nil, map[string]any{"renderer": "canvas"})
			c.loading, c.ready = false, true
			onResize(c.element, func() {
				width, height := number(c.element, "clientWidth"), number(c.element, "clientHeight")
				c.Later(func() {
					c.width, c.height = width, height
					call(c.chart, "resize", map[string]any{"width": width, "height": height})
					changed()
				})
			})
			changed()
		})
	}, func(reason safejs.Value) {
		why := text(reason, "message")
		c.Later(func() {
			c.loading = false
			failed(why)
		})
	})
}

// show draws a plot in the colours of a theme; nil: nothing.
func (c *echart) show(option func(chart.Look) ([]byte, error), theme display.Theme) {
	if option == nil {
		call(c.chart, "clear")
		c.option = ""
		return
	}
	out, err := option(chart.Look{Colours: display.Palette(theme), Font: "system-ui, sans-serif"})
	if err != nil {
		complain("chart", err)
		return
	}
	c.meter.end("option")
	if c.option == string(out) { // most decisions are about something else
		return
	}
	c.option = string(out)
	call(c.chart, "setOption", call(global("JSON"), "parse", c.option), map[string]any{"notMerge": true})
}

// paint has what is shown painted at once.
func (c *echart) paint() { call(call(c.chart, "getZr"), "flush") }
