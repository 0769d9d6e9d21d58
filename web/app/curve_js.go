package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/chart"
	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui"
)

// curve draws the trade-off curve with ECharts and listens to the pointer over it.
type curve struct {
	*core
	tip      *tip
	leave    func()       // takes the cursor out of the pictures
	element  safejs.Value // host of the chart
	inner    safejs.Value
	status   safejs.Value // host of the progress
	line     safejs.Value // text of the progress
	bar      safejs.Value
	chart    safejs.Value // ECharts instance
	loading  bool         // the library is on its way
	ready    bool
	dirty    bool
	drawing  bool // a drawing is scheduled
	drawnAt  float64
	toldAt   float64 // when the progress was shown last
	drawn    int     // State.DOM of the last drawing
	option   string  // what the chart shows
	words    string  // what the line says
	width    float64 // CSS pixels, as the browser told last: asking for them takes long
	height   float64
	plot     *chart.Plot
	dragging bool
	moved    bool
	down     float64
}

// The least time between two drawings of the chart, and from a change to its
// drawing, and how long it then waits for the browser to have nothing else to do,
// in milliseconds.
const (
	curveEvery    = 250
	curveDelay    = 24
	curvePatience = 200
	tellEvery     = 30 // between two of the progress
)

// host takes over an element; only the first time counts.
func (c *curve) host(name string, element safejs.Value) {
	switch {
	case name == "tradeoff" && c.element.Type() != safejs.TypeObject:
		c.element = element
		c.inner = create(element, "div", "chart")
		c.listen()
		c.load()
	case name == "sweep" && c.status.Type() != safejs.TypeObject:
		c.status = element
		c.bar = create(element, "progress", "")
		c.line = create(element, "span", "")
		call(c.bar, "setAttribute", "aria-label", ui.CurveLabel)
	}
}

// load waits for the chart library, which arrives after the first picture.
func (c *curve) load() {
	charts := global("memtide", "charts")
	c.loading = exists(charts)
	then(charts, func(lib safejs.Value) {
		c.Later(func() {
			c.loading = false
			c.chart = call(lib, "init", c.inner, nil, map[string]any{"renderer": "canvas"})
			c.ready, c.dirty = true, true
			onResize(c.element, func() {
				c.width, c.height = number(c.element, "clientWidth"), number(c.element, "clientHeight")
				c.Later(func() {
					call(c.chart, "resize", map[string]any{"width": c.width, "height": c.height})
					c.dirty = true
				})
			})
		})
	}, func(reason safejs.Value) {
		c.Later(func() {
			c.loading = false
			if c.line.Type() == safejs.TypeObject {
				c.caption(ui.NoChart(text(reason, "message")))
			}
		})
	})
}

// sync brings chart and progress up to date.
func (c *curve) sync() {
	if c.status.Type() != safejs.TypeObject {
		return
	}
	if c.drawn != c.s.DOM {
		c.dirty = true
	}
	if c.dirty && now()-c.toldAt >= tellEvery {
		c.tell()
	}
	if !c.dirty || c.drawing || c.s.Opening != nil && c.option != "" { // a file that is read changes no curve yet
		return
	}
	// In a task of its own, when nothing else is to be done: together with the
	// components it would block input.
	c.drawing = true
	after(int(max(c.drawnAt+curveEvery-now(), curveDelay)), func() {
		idly(curvePatience, func() {
			c.Later(func() {
				c.drawing = false
				c.draw()
			})
		})
	})
}

func (c *curve) draw() {
	c.meter.begin()
	defer c.meter.end("curve")
	c.dirty, c.drawn, c.drawnAt = false, c.s.DOM, now()
	s := c.s
	c.tell()
	if !c.ready || c.width <= 0 { // it is drawn when its size is known
		return
	}
	c.plot = chart.New(s, c.width, c.height)
	if c.plot == nil {
		call(c.chart, "clear")
		c.option = ""
		return
	}
	option, err := c.plot.Option(chart.Look{Colours: draw.Palette(c.look), Font: "system-ui, sans-serif"})
	if err != nil {
		complain("chart", err)
		return
	}
	c.meter.end("option")
	if c.option == string(option) { // most decisions are about something else
		return
	}
	c.option = string(option)
	parsed := call(global("JSON"), "parse", c.option)
	call(c.chart, "setOption", parsed, map[string]any{"notMerge": true})
}

// tell shows how far the curve is, without waiting for the chart.
func (c *curve) tell() {
	s := c.s
	c.toldAt = now()
	c.caption(ui.SweepStatus(s))
	running := s.Curve != nil && s.Curve.ID != 0 && s.Curve.Improving == 0
	set(c.bar, "hidden", !running)
	if running {
		set(c.bar, "max", s.Curve.Total)
		set(c.bar, "value", s.Curve.Done)
	}
}

// caption says how far the curve is.
func (c *curve) caption(words string) {
	if words != c.words {
		c.words = words
		set(c.line, "textContent", words)
	}
}

// listen previews what is pointed at, adopts what is clicked and drags the budget.
func (c *curve) listen() {
	listen(c.element, "pointermove", func(e safejs.Value) {
		x, y := at(c.element, e)
		touch := text(e, "pointerType") == "touch"
		c.Later(func() { c.move(x, y, touch, e) })
	})
	listen(c.element, "pointerdown", func(e safejs.Value) {
		x, _ := at(c.element, e)
		c.Later(func() { c.press(x) })
		call(c.element, "setPointerCapture", number(e, "pointerId"))
	})
	listen(c.element, "pointerup", func(e safejs.Value) {
		x, y := at(c.element, e)
		c.Later(func() { c.release(x, y) })
	})
	listen(c.element, "pointerleave", func(safejs.Value) {
		c.Later(func() {
			c.Do(state.Unhover{})
			c.leave()
		})
	})
}

// grip is how near the budget line must be pressed to drag it, in CSS pixels.
const grip = 6.0

func (c *curve) press(x float64) {
	c.moved, c.down = false, x
	if c.plot != nil {
		if d := x - c.plot.X(c.s.Budget()); d > -grip && d < grip && !c.fixed() {
			c.dragging = true
		}
	}
}

func (c *curve) move(x, y float64, touch bool, e safejs.Value) {
	if c.plot == nil {
		return
	}
	if d := x - c.down; d > 3 || d < -3 {
		c.moved = true
	}
	if c.dragging {
		if c.moved {
			r := c.s.BudgetRange()
			c.Do(state.SetBudget{Bytes: r.At(r.Position(c.plot.BudgetAt(x)))})
		}
		return
	}
	if touch {
		return
	}
	cursor := "default"
	if d := x - c.plot.X(c.s.Budget()); d > -grip && d < grip && !c.fixed() {
		cursor = "ew-resize"
	}
	if b := chart.OtherSide(c.s); b != nil && c.plot.OtherAt(x, y) { // nothing that this network could be set to
		c.Do(state.Unhover{})
		c.tip.show(ui.BesideWords(c.s, b, "\n"), e)
	} else if pt, ok := c.plot.Nearest(x, y); ok {
		if cursor == "default" && !c.view {
			cursor = "pointer"
		}
		c.Do(state.Hover{Point: pt})
		c.tip.show(c.plot.Words(pt), e)
	} else {
		c.Do(state.Unhover{})
		c.tip.show("", e)
	}
	set(get(c.element, "style"), "cursor", cursor)
}

func (c *curve) release(x, y float64) {
	dragged := c.dragging && c.moved
	c.dragging = false
	if c.plot == nil {
		return
	}
	if dragged {
		r := c.s.BudgetRange()
		c.Do(state.SetBudget{Bytes: r.At(r.Position(c.plot.BudgetAt(x))), Settled: true})
		return
	}
	if c.plot.OtherAt(x, y) {
		return
	}
	if pt, ok := c.plot.Nearest(x, y); ok && !c.view { // a point may be another strategy's
		c.Do(state.Adopt{Point: pt})
	}
}

// flush draws the chart at once.
func (c *curve) flush() {
	if c.ready {
		c.draw()
		call(call(c.chart, "getZr"), "flush")
	}
}
