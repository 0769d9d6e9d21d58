package app

import (
	"math"

	"github.com/hack-pad/safejs"
	"memtide/web/chart"
	"memtide/web/display"
	"memtide/web/state"
	"memtide/web/ui/plans"
)

// curve draws the trade-off curve with ECharts and handles the pointer over it.
type curve struct {
	*core
	element  safejs.Value // host of the chart
	inner    safejs.Value
	chart    safejs.Value // ECharts instance
	loading  bool         // the library is being loaded
	ready    bool         // the chart has been created
	drawing  bool         // a drawing is scheduled
	near     bool         // the chart is on the screen, or nearly
	option   string       // the chart's option, as JSON
	width    float64      // CSS pixels, from the last resize: reading the size takes long
	height   float64
	tip      *tip
	leave    func()       // removes the cursor from the pictures
	status   safejs.Value // host of the progress
	line     safejs.Value // text of the progress
	bar      safejs.Value
	dirty    bool    // the chart has to be drawn
	drawnAt  float64 // time of the last drawing
	toldAt   float64 // time of the last update of the progress
	drawn    int     // State.DOM at the last drawing
	words    string  // text of line
	plot     *chart.Plot
	dragging bool    // the budget line
	moved    bool    // since the pointer is down
	down     float64 // x where the pointer went down
}

// Times in milliseconds.
const (
	curveEvery    = 250 // least time between two drawings of the chart
	curveUnseen   = 800 // likewise while it is not on the screen
	curveDelay    = 24  // least time from a change to its drawing
	curvePatience = 200 // how long a drawing then waits until the browser is idle
	tellEvery     = 30  // least time between two updates of the progress
)

// host takes over an element, unless it has one already.
func (c *curve) host(name string, element safejs.Value) {
	switch {
	case name == "tradeoff" && c.element.Type() != safejs.TypeObject:
		c.element, c.inner = element, create(element, "div", "chart")
		c.listen()
		onNear(c.element, func(near bool) {
			c.Later(func() {
				if c.near = near; near && c.dirty {
					c.draw()
				}
			})
		})
		c.load()
	case name == "sweep" && c.status.Type() != safejs.TypeObject:
		c.status = element
		c.bar = create(element, "progress", "")
		c.line = create(element, "span", "")
		call(c.bar, "setAttribute", "aria-label", "Curve")
	}
}

// sync updates the progress and schedules a drawing of the chart.
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
	if !c.dirty || c.drawing || c.s.Opening != nil && c.option != "" { // reading a file does not change the curve
		return
	}
	every := curveEvery
	if !c.near {
		if every = curveUnseen; c.s.Dragging() { // the last budget is drawn when the pointer is released
			return
		}
	}
	// In a separate task, when the browser is idle: together with the components it would block input.
	c.drawing = true
	after(int(max(c.drawnAt+float64(every)-now(), curveDelay)), func() {
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
	c.tell()
	if !c.ready || c.width <= 0 { // draw it when its size is known
		return
	}
	if c.plot = chart.New(c.s, c.width, c.height); c.plot == nil {
		call(c.chart, "clear")
		c.option = ""
		return
	}
	out, err := c.plot.Option(chart.Look{Colours: display.Palette(c.look), Font: "system-ui, sans-serif"})
	if err != nil {
		complain("chart", err)
		return
	}
	c.meter.end("option")
	if c.option == string(out) {
		return
	}
	c.option = string(out)
	call(c.chart, "setOption", call(global("JSON"), "parse", c.option), map[string]any{"notMerge": true})
}

// tell updates the progress, without waiting for the chart.
func (c *curve) tell() {
	s := c.s
	c.toldAt = now()
	c.caption(plans.SweepStatus(s))
	running := s.Curve != nil && s.Curve.ID != 0 && s.Curve.Improving == 0
	set(c.bar, "hidden", !running)
	if running {
		set(c.bar, "max", s.Curve.Total)
		set(c.bar, "value", s.Curve.Done)
	}
}

// caption sets the text of the progress.
func (c *curve) caption(words string) {
	if words != c.words {
		c.words = words
		set(c.line, "textContent", words)
	}
}

// listen previews a point under the pointer, adopts a point that is clicked, and drags the budget line.
func (c *curve) listen() {
	c.pointed(c.element, "pointermove", c.move)
	listen(c.element, "pointerdown", func(e safejs.Value) {
		x, _ := at(c.element, e)
		c.Later(func() { c.press(x) })
		call(c.element, "setPointerCapture", number(e, "pointerId"))
	})
	c.pointed(c.element, "pointerup", func(x, y float64, _ safejs.Value) { c.release(x, y) })
	listen(c.element, "pointerleave", func(safejs.Value) {
		c.Later(func() {
			c.Do(state.Unhover{})
			c.leave()
		})
	})
}

// grips reports whether x is on the budget line, so that pressing there drags it.
func (c *curve) grips(x float64) bool {
	const grip = 6.0 // largest distance in CSS pixels
	return c.plot != nil && c.plot.Budget > 0 && math.Abs(x-c.plot.X(c.s.Budget())) < grip && !c.fixed()
}

func (c *curve) press(x float64) {
	c.moved, c.down, c.dragging = false, x, c.dragging || c.grips(x)
}

func (c *curve) move(x, y float64, e safejs.Value) {
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
	if text(e, "pointerType") == "touch" {
		return
	}
	cursor := "default"
	if c.grips(x) {
		cursor = "ew-resize"
	}
	if b := chart.OtherSide(c.s); b != nil && c.plot.OtherAt(x, y) { // not a point of this side to preview
		c.Do(state.Unhover{})
		c.tip.show(plans.BesideWords(c.s, b, "\n"), e)
	} else if spot := c.plot.SpotAt(x, y); spot != nil {
		if !c.view {
			cursor = "pointer"
		}
		c.Do(state.Unhover{})
		c.tip.show(spot.Say(), e)
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
	if spot := c.plot.SpotAt(x, y); spot != nil && !c.view {
		c.Do(spot.Do)
		return
	}
	if pt, ok := c.plot.Nearest(x, y); ok && !c.view {
		c.Do(state.Adopt{Point: pt})
	}
}

// flush draws the chart immediately.
func (c *curve) flush() {
	if c.ready {
		c.draw()
		call(call(c.chart, "getZr"), "flush")
	}
}

// load waits for the library, which arrives after the first picture.
func (c *curve) load() {
	charts := global("memtide", "charts")
	c.loading = exists(charts)
	then(charts, func(lib safejs.Value) {
		c.Later(func() {
			c.chart = call(lib, "init", c.inner, nil, map[string]any{"renderer": "canvas"})
			c.loading, c.ready, c.dirty = false, true, true
			onResize(c.element, func() {
				width, height := number(c.element, "clientWidth"), number(c.element, "clientHeight")
				c.Later(func() {
					c.width, c.height, c.dirty = width, height, true
					call(c.chart, "resize", map[string]any{"width": width, "height": height})
				})
			})
		})
	}, func(reason safejs.Value) {
		why := text(reason, "message")
		c.Later(func() {
			c.loading = false
			if c.line.Type() == safejs.TypeObject {
				c.caption("The chart cannot be drawn: " + why)
			}
		})
	})
}
