package app

import (
	"math"
	"time"

	"github.com/hack-pad/safejs"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/input"
)

// gestureKind is what the pointers on a picture are doing.
type gestureKind uint8

const (
	noGesture    gestureKind = iota
	pressing                 // down and not moved: a click if it ends now
	panning                  // moves the visible part
	marking                  // marks a time range to zoom to
	budgeting                // drags the budget line
	pinching                 // two fingers
	scrubbing                // drags the playhead
	clickSlop    = 4.0       // largest movement of a click, in CSS pixels
	wheelZoom    = 0.0022    // logarithm of the zoom factor per pixel of the wheel
	leastMarking = 8.0       // shorter marks are ignored, in CSS pixels
)

// gesture is a drag, a pinch or a click under way.
type gesture struct {
	kind    gestureKind
	x0, y0  float64 // where it started
	shift   bool
	from    time.Duration   // left end of the visible part at the start
	fingers map[int]float64 // x by pointerId
	spread  float64         // distance of two fingers
	top     engine.Bytes    // upper end of the memory axis while the budget is dragged, which does not change then
	mark    safejs.Value    // the element that shows the marked range
}

// listen connects a picture to pointers and wheel.
func (p *pictures) listen(c *canvas) {
	listen(c.inner, "pointerdown", func(e safejs.Value) {
		if b := number(e, "button"); b != 0 && b != 1 {
			return
		}
		x, y := at(c.inner, e)
		call(c.inner, "setPointerCapture", number(e, "pointerId"))
		p.Later(func() { p.down(c, x, y, e) })
	})
	p.pointed(c.inner, "pointermove", func(x, y float64, e safejs.Value) { p.move(c, x, y, e) })
	for _, name := range []string{"pointerup", "pointercancel"} {
		p.pointed(c.inner, name, func(x, y float64, e safejs.Value) { p.up(c, x, y, e, name == "pointercancel") })
	}
	listen(c.inner, "pointerleave", func(e safejs.Value) {
		if text(e, "pointerType") != "touch" { // lifting a finger fires this event too
			p.Later(p.leave)
		}
	})
	listen(c.inner, "dblclick", func(e safejs.Value) {
		p.Later(func() {
			p.Do(input.ZoomToSelection(p.s))
		})
	})
	// A bare wheel scrolls the page.
	listen(c.inner, "wheel", func(e safejs.Value) {
		if !truth(e, "ctrlKey") && !truth(e, "metaKey") || c.Picture.Still() {
			return
		}
		call(e, "preventDefault")
		x, _ := at(c.inner, e)
		delta := number(e, "deltaY")
		if number(e, "deltaMode") == 1 {
			delta *= 16
		}
		p.Later(func() {
			p.Do(input.Zoomed(p.s, math.Exp(delta*wheelZoom), p.share(c, x)))
		})
	})
}

// share returns the position of x in the plot: 0 at the left end, 1 at the right end.
func (p *pictures) share(c *canvas, x float64) float64 {
	m := p.subject(c)
	if m == nil {
		return 0.5
	}
	v := input.Visible(p.s)
	return float64(m.TimeAt(p.view(c), x)-v.From) / float64(max(v.Length, 1))
}

func (p *pictures) down(c *canvas, x, y float64, e safejs.Value) {
	g := &p.gesture
	id := int(number(e, "pointerId"))
	if text(e, "pointerType") == "touch" {
		if g.fingers == nil {
			g.fingers = map[int]float64{}
		}
		g.fingers[id] = x
		if len(g.fingers) == 2 {
			g.kind, g.spread = pinching, g.distance()
			return
		}
	}
	m := p.subject(c)
	if m == nil {
		return
	}
	target, _ := m.Hit(c.Picture, p.view(c), x, y)
	g.kind, g.x0, g.y0, g.shift, g.from = pressing, x, y, truth(e, "shiftKey"), input.Visible(p.s).From
	if target.Kind == lookup.OnBudget && !p.fixed() {
		g.kind, g.top = budgeting, 0
		if shown := p.s.Visible(); shown != nil {
			g.top = shown.Index().MemoryTop(p.view(c))
		}
		p.control(c)
	}
	if target.Kind == lookup.OnPlayhead {
		g.kind = scrubbing
	}
	if c.Timed() {
		call(call(global("document"), "getElementById", "stage"), "focus",
			map[string]any{"preventScroll": true, "focusVisible": false})
	}
}

func (g *gesture) distance() float64 {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range g.fingers {
		low, high = min(low, x), max(high, x)
	}
	return max(high-low, 1)
}

func (g *gesture) middle() (sum float64) {
	for _, x := range g.fingers {
		sum += x
	}
	return sum / float64(max(len(g.fingers), 1))
}

func (p *pictures) move(c *canvas, x, y float64, e safejs.Value) {
	g := &p.gesture
	if g.kind == pressing && math.Hypot(x-g.x0, y-g.y0) > clickSlop && !c.Picture.Still() {
		g.kind = panning
		if g.shift || input.Visible(p.s).Whole() && text(e, "pointerType") != "touch" {
			g.kind = marking
		}
	}
	switch g.kind {
	case noGesture, pressing:
		p.point(c, x, y, e)
	case budgeting:
		p.Do(state.SetBudget{Bytes: p.budgetAt(c, y)})
		p.point(c, x, y, e)
	case scrubbing:
		p.scrub(c, x, false)
	case panning:
		if m := p.subject(c); m != nil {
			v := p.view(c)
			p.Do(input.MovedTo(p.s, g.from+m.TimeAt(v, g.x0)-m.TimeAt(v, x)))
		}
	case marking:
		p.showMark(c, g.x0, x)
	case pinching:
		id := int(number(e, "pointerId"))
		if _, ok := g.fingers[id]; !ok {
			return
		}
		g.fingers[id] = x
		spread := g.distance()
		p.Do(input.Zoomed(p.s, g.spread/spread, p.share(c, g.middle())))
		g.spread = spread
	}
}

func (p *pictures) up(c *canvas, x, y float64, e safejs.Value, cancelled bool) {
	g := &p.gesture
	delete(g.fingers, int(number(e, "pointerId")))
	kind := g.kind
	if len(g.fingers) == 0 || kind != pinching {
		g.kind = noGesture
	}
	if g.mark.Type() == safejs.TypeObject {
		set(g.mark, "hidden", true)
	}
	if cancelled {
		g.top = 0
		return
	}
	switch kind {
	case pressing:
		p.click(c, x, y)
		if text(e, "pointerType") == "touch" {
			p.point(c, x, y, e)
		}
	case budgeting:
		b := p.budgetAt(c, y)
		g.top = 0
		p.Do(state.SetBudget{Bytes: b, Settled: true})
		p.again()
	case scrubbing:
		p.scrub(c, x, true)
	case marking:
		if m, v := p.subject(c), p.view(c); m != nil && math.Abs(x-g.x0) >= leastMarking {
			p.Do(state.SetRange{From: m.TimeAt(v, min(x, g.x0)), To: m.TimeAt(v, max(x, g.x0))})
		}
	}
}

// scrub moves the playhead to where it is dragged.
func (p *pictures) scrub(c *canvas, x float64, settled bool) {
	if m := p.subject(c); m != nil {
		p.Do(state.Scrub{At: m.TimeAt(p.view(c), x), Settled: settled})
		p.overlay = true
		p.ask()
	}
}

// click selects what is under the pointer.
func (p *pictures) click(c *canvas, x, y float64) {
	m := p.subject(c)
	if m == nil || p.s.Preview != nil {
		return
	}
	target, at := m.Hit(c.Picture, p.view(c), x, y)
	if !c.Picture.Still() && p.s.Allocator() != "" {
		p.Do(state.SetPlayhead{At: at})
	}
	if target.Kind == lookup.OnCall {
		p.Do(state.ZoomCall{Call: target.Index})
	}
	if c.Picture == draw.PassLanes && !c.Second {
		p.Do(state.PickPass{Target: target})
	}
	if !c.Timed() {
		return
	}
	switch target.Kind {
	case lookup.OnBudget, lookup.OnBand, lookup.OnPlayhead:
		target = lookup.Target{}
	}
	p.control(c)
	p.Do(state.Select{Target: target})
}

// control turns the controls of a comparison to the side that the picture c shows.
func (p *pictures) control(c *canvas) {
	if c.Timed() && !c.Controlled(p.s) {
		p.Do(state.EditSide{A: !c.Second})
	}
}

// showMark shows the range from x0 to x1 that a drag marks.
func (p *pictures) showMark(c *canvas, x0, x1 float64) {
	g := &p.gesture
	if g.mark.Type() != safejs.TypeObject {
		g.mark = create(c.inner, "div", "mark")
	}
	call(c.inner, "appendChild", g.mark)
	set(g.mark, "hidden", false)
	style := get(g.mark, "style")
	set(style, "left", px(min(x0, x1)))
	set(style, "width", px(math.Abs(x1-x0)))
}
