package app

import (
	"bytes"
	"strings"
	"time"

	"github.com/hack-pad/safejs"
	"memtide/engine"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/known"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/mount"
	"memtide/web/ui/timeline"
)

// pictures paints the pictures and the overlays that move over them, and handles pointers on them.
type pictures struct {
	*core
	canvas   [2 * draw.AllPictures]canvas // the second half is of side B
	paint    safejs.Value                 // memtidePaint
	raf      safejs.Func                  // calls frame
	asked    bool                         // a frame is requested
	framedAt float64                      // when the last frame was painted

	painted  int           // State.Paint when the pictures were painted last
	stale    bool          // the pictures must be painted
	overlay  bool          // the overlays must be painted
	hover    lookup.Target // under the pointer
	over     *canvas       // the last canvas under the pointer
	cursor   time.Duration // time under the pointer
	gesture  gesture
	tip      tip
	palette  safejs.Value
	seen     seen
	scene    draw.Scene
	buffer   []byte       // scenes to paint
	batch    []any        // for each scene in buffer its canvas and its length
	crossing safejs.Value // Uint8Array that buffer is copied into
	ratio    float64      // device pixels per CSS pixel
}

// canvas is the place of a picture, with one canvas for the picture and one above it for the overlay.
type canvas struct {
	mount.Mount
	host, inner safejs.Value
	base, above layer
	width       float64 // CSS pixels, 0 until it is known
	height      float64
	fresh       bool // connect has not been called
	bare        bool // the prepared picture has been removed
}

// layer is a canvas element with the commands that it was painted with last.
type layer struct {
	element safejs.Value
	painted []byte
}

// seen is the visible picture and the selection. When only the selection has changed, the pictures fade.
type seen struct {
	shown    *known.Picture
	selected lookup.Target
}

// selectFade is the duration of the fade in milliseconds.
const selectFade = 180

func (p *pictures) init() {
	p.cursor = draw.NoCursor
	p.paint = global("memtidePaint")
	p.raf = function(func(safejs.Value) { p.Later(p.frame) })
	p.tip.init()
	p.recolour()
}

// recolour sets the colours according to the system and the chosen theme.
func (p *pictures) recolour() {
	media := func(query string) bool { return truth(call(safejs.Global(), "matchMedia", query), "matches") }
	chosen := text(global("document", "documentElement", "dataset"), "theme")
	switch {
	case p.paper:
		p.look = display.Light
	case media("(forced-colors: active)"):
		p.look = display.Forced
	case chosen == "dark", chosen == "" && media("(prefers-color-scheme: dark)"):
		p.look = display.Dark
	default:
		p.look = display.Light
	}
	var colours []any
	for _, c := range display.Palette(p.look) {
		colours = append(colours, c)
	}
	list, err := safejs.ValueOf(colours)
	if err != nil {
		complain("palette", err)
		return
	}
	p.palette = list
	p.forget()
	p.again()
}

// again paints everything in the next frame.
func (p *pictures) again() {
	p.stale, p.overlay = true, true
	p.ask()
}

// host takes over the element of a picture, unless it has a connected one. It is called while the page is being
// changed, so it does not measure the element: the browser would have to lay out an incomplete page.
func (p *pictures) host(name string, element safejs.Value) {
	m, ok := mount.ByName[name]
	at := m.Picture
	if m.Second {
		at += draw.AllPictures
	}
	if !ok || p.canvas[at].inner.Type() == safejs.TypeObject && truth(p.canvas[at].host, "isConnected") {
		return
	}
	c := &p.canvas[at]
	*c = canvas{Mount: m, host: element, fresh: true}
	c.inner = create(element, "div", "paint")
	call(c.inner, "setAttribute", "aria-hidden", "true")
	c.base.element = create(c.inner, "canvas", "base")
	c.above.element = create(c.inner, "canvas", "above")
	p.again()
}

// connect watches the size of a canvas and listens to pointers over it.
func (p *pictures) connect(c *canvas) {
	c.fresh = false
	onResize(c.host, func() {
		p.Later(func() {
			if w, h := number(c.host, "clientWidth"), number(c.host, "clientHeight"); w != c.width || h != c.height {
				c.width, c.height = w, h
				p.again()
			}
		})
	})
	p.listen(c)
}

// sync asks for a frame if something has changed.
func (p *pictures) sync() {
	if p.painted != p.s.Paint {
		p.stale, p.overlay = true, true
	}
	if p.s.View.Play.On || p.stale || p.overlay {
		p.ask()
	}
}

func (p *pictures) ask() {
	if !p.asked {
		p.asked = true
		call(safejs.Global(), "requestAnimationFrame", p.raf)
	}
}

// view returns the visible range of the picture c, with everything else that its drawing depends on.
func (p *pictures) view(c *canvas) draw.View {
	s := p.s
	v := draw.View{From: s.View.From, To: s.View.To, Width: c.width, Budget: s.Budget(), Hover: p.hover,
		Cursor: p.cursor, Playhead: s.View.Playhead, Chain: s.View.Chain,
		Playing: s.View.Play.On || p.gesture.kind == scrubbing}
	if s.Preview == nil {
		v.Selected = s.View.Selected
	}
	v.Top, v.Height = p.gesture.top, c.height
	c.Around(s, &v)
	if c.Picture == draw.PassLanes && p.over != nil && p.over.Second != c.Second { // another order has other passes
		v.Hover = lookup.Target{}
	}
	if c.Picture == draw.PassLanes && c.Second {
		v.Selected = lookup.Target{}
	}
	v.Drag = c.Picture == draw.Memory && s.Compare == nil && !s.View.Frame.Embed && !p.paper
	if s.Compare == nil || !c.Timed() {
		return v
	}
	v.Budget, v.Beside = c.Budget(s), c.Beside(s)
	if !c.Controlled(s) {
		v.Selected = c.Across(s, v.Selected)
	}
	if p.over != nil && p.over.Timed() && p.over.Second != c.Second {
		v.Hover = c.Across(s, v.Hover)
	}
	return v
}

// frame paints what is out of date.
func (p *pictures) frame() {
	p.asked = false
	if p.s.View.Play.On {
		before := p.s.View.Selected
		if p.Do(state.Tick{Now: p.Now()}); p.s.View.Selected != before { // the playhead has stopped at a wait
			p.say((&timeline.Selection{S: p.s}).Sentence())
		}
		p.stale, p.overlay = p.stale || p.painted != p.s.Paint, true
	}
	for i := range p.canvas {
		if c := &p.canvas[i]; c.fresh {
			c.width, c.height = number(c.host, "clientWidth"), number(c.host, "clientHeight")
		}
	}
	if ratio := max(number(safejs.Global(), "devicePixelRatio"), 1); ratio != p.ratio {
		p.ratio = ratio
		p.forget()
	}
	for i := range p.canvas {
		if c := &p.canvas[i]; c.width > 0 && p.paper {
			p.print(c)
		} else if c.width > 0 {
			p.repaint(c)
		}
	}
	p.fade()
	p.flush()
	for i := range p.canvas { // after painting, so that connecting does not delay it
		if c := &p.canvas[i]; c.fresh {
			p.connect(c)
		}
	}
	if p.stale {
		p.painted = p.s.Paint
	}
	p.stale, p.overlay, p.framedAt = false, false, now()
	if p.s.View.Play.On {
		p.ask()
	}
}

// fade fades the old pictures out over the new ones after a change of the selection, unless the step is played or
// something is dragged.
func (p *pictures) fade() {
	v, was := &p.s.View, p.seen
	p.seen = seen{p.s.Visible(), v.Selected}
	if !p.stale || v.Play.On || p.gesture.kind != noGesture || was.shown == nil || p.seen.shown != was.shown ||
		p.seen.selected == was.selected {
		return
	}
	over := []any{selectFade}
	for i := range p.canvas {
		if c := &p.canvas[i]; c.width > 0 && !c.fresh {
			over = append(over, c.base.element)
		}
	}
	call(safejs.Global(), "memtideFade", over...)
}

// repaint paints the picture c if it is out of date, and its overlay. It clears a canvas without a picture.
func (p *pictures) repaint(c *canvas) {
	m := p.subject(c)
	if m == nil {
		if p.stale {
			p.scene = draw.Scene{}
			p.put(&c.base)
			p.put(&c.above)
			p.removePoster(c)
		}
		return
	}
	v := p.view(c)
	if p.stale || c.Picture == draw.AddressMap || c.Picture == draw.Holes { // these two depend on the cursor
		m.Draw(&p.scene, c.Picture, v)
		p.put(&c.base)
		p.removePoster(c)
	}
	m.Overlay(&p.scene, c.Picture, v)
	p.put(&c.above)
}

// print puts the picture c into the page as SVG, for printing. The browser scales SVG to the sheet, whose width is not
// known before, and it does not always print what was just painted on a canvas.
func (p *pictures) print(c *canvas) {
	p.removePoster(c)
	m := p.subject(c)
	if m == nil {
		return
	}
	v := p.view(c)
	v.Width, v.Height = 720, min(c.height, 320) // the width of an A4 sheet; a step's pictures are on one
	m.Draw(&p.scene, c.Picture, v)
	var svg strings.Builder
	_ = p.scene.WriteSVG(&svg, display.SVGOptions{ID: text(c.host, "dataset", "testid") + "-print"})
	set(create(c.host, "div", "poster"), "innerHTML", svg.String())
	c.bare = false
}

// subject returns what the canvas c shows, or nil if it is empty.
func (p *pictures) subject(c *canvas) subject {
	flame, passes, places, shown := p.s.Flame(), p.s.Passes(), p.s.PlacesModel(), c.Shown(p.s)
	switch {
	case c.Picture == draw.Flames && flame != nil:
		return flame.Flame
	case c.Picture == draw.PassLanes && c.Second:
		if _, beside, _ := p.s.Beside(); beside != nil {
			return beside
		}
	case c.Picture == draw.PassLanes && passes != nil:
		return passes
	case !c.Timed() && c.Picture < draw.Flames && places != nil:
		return places
	case c.Timed() && shown != nil:
		return shown.Index()
	}
	return nil
}

// subject is the content of pictures: a trace, a placement, a flame graph or the passes of a pipeline.
type subject interface {
	Draw(*draw.Scene, draw.Picture, draw.View)
	Overlay(*draw.Scene, draw.Picture, draw.View)
	Hit(draw.Picture, draw.View, float64, float64) (lookup.Target, time.Duration)
	TimeAt(draw.View, float64) time.Duration
}

// put adds the scene to buffer, to be painted by flush, unless the canvas shows it already.
func (p *pictures) put(l *layer) {
	before := len(p.buffer)
	p.buffer = p.scene.AppendBuffer(p.buffer)
	commands := p.buffer[before:]
	if bytes.Equal(commands, l.painted) {
		p.buffer = p.buffer[:before]
		return
	}
	l.painted = append(l.painted[:0], commands...)
	p.batch = append(p.batch, l.element, len(commands))
}

// forget has every canvas painted again, whatever it shows: its colours or its resolution have changed.
func (p *pictures) forget() {
	for i := range p.canvas {
		p.canvas[i].base.painted, p.canvas[i].above.painted = nil, nil
	}
}

// flush paints everything in buffer with one call of JavaScript.
func (p *pictures) flush() {
	n := len(p.buffer)
	if n == 0 {
		return
	}
	if int(number(p.crossing, "length")) < n {
		array, err := get(safejs.Global(), "Uint8Array").New(2 * n)
		if err != nil {
			complain("buffer", err)
			return
		}
		p.crossing = array
	}
	if _, err := safejs.CopyBytesToJS(p.crossing, p.buffer); err != nil {
		complain("buffer", err)
		return
	}
	if _, err := p.paint.Invoke(append([]any{call(p.crossing, "subarray", 0, n), p.palette, p.ratio},
		p.batch...)...); err != nil {
		complain("paint", err)
	}
	p.buffer, p.batch = p.buffer[:0], p.batch[:0]
}

// removePoster removes the prepared pictures, of which there are two, when the live one is painted.
func (p *pictures) removePoster(c *canvas) {
	if c.bare {
		return
	}
	c.bare = true
	for range 2 {
		if poster := call(c.host, "querySelector", ".poster"); exists(poster) {
			call(poster, "remove")
		}
	}
}

// point moves the cursor of all pictures to x, y in c and shows the tooltip.
func (p *pictures) point(c *canvas, x, y float64, event safejs.Value) {
	m := p.subject(c)
	if m == nil {
		return
	}
	p.over = c
	target, at := m.Hit(c.Picture, p.view(c), x, y)
	if target.Kind == lookup.OnBudget && p.fixed() {
		target = lookup.Target{}
	}
	if target != p.hover || at != p.cursor {
		p.hover, p.cursor, p.overlay = target, at, true
		p.ask()
	}
	cursor := "default"
	switch target.Kind {
	case lookup.OnBudget:
		cursor = "ns-resize"
	case lookup.OnPlayhead:
		cursor = "ew-resize"
	case lookup.OnSpan, lookup.OnGap, lookup.OnStage, lookup.OnValue, lookup.OnCall, lookup.OnPass, lookup.OnIdle:
		cursor = "pointer"
	}
	set(get(c.inner, "style"), "cursor", cursor)
	switch m := m.(type) {
	case *draw.Flame:
		p.tip.show(m.Sentence(target), event)
	case *draw.Passes:
		p.tip.show(m.Sentence(target), event)
	case *draw.Places:
		p.tip.show(timeline.TipOfPlaces(m, target, at), event)
	case *draw.Index:
		p.tip.show(strings.Join(timeline.TipLines(m, target, at), "\n"), event)
	}
}

// leave removes the cursor.
func (p *pictures) leave() {
	p.hover, p.cursor, p.overlay = lookup.Target{}, draw.NoCursor, true
	p.tip.hide()
	p.ask()
}

// budgetAt returns the budget at y in the memory picture, rounded to the steps of the slider.
func (p *pictures) budgetAt(c *canvas, y float64) engine.Bytes {
	shown := p.s.Visible()
	if shown == nil {
		return 0
	}
	r := p.s.BudgetRange()
	return r.At(r.Position(shown.Index().BudgetAt(p.view(c), y)))
}

// tip is the tooltip.
type tip struct{ element safejs.Value }

func (t *tip) init() {
	t.element = create(global("document", "body"), "div", "tooltip")
	t.hide()
	call(t.element, "setAttribute", "aria-hidden", "true")
	for _, name := range []string{"pointerdown", "scroll"} {
		listen(global("document"), name, func(safejs.Value) { t.hide() })
	}
}

func (t *tip) hide() { set(t.element, "hidden", true) }

// show shows words beside the pointer, or hides the tooltip if words is empty. For touch the tooltip appears when the
// finger is lifted, above the position, until the next touch or until the page is scrolled.
func (t *tip) show(words string, event safejs.Value) {
	touch := text(event, "pointerType") == "touch"
	if words == "" || touch && text(event, "type") != "pointerup" {
		t.hide()
		return
	}
	set(t.element, "textContent", words)
	set(t.element, "hidden", false)
	x, y := number(event, "clientX"), number(event, "clientY")
	w, h := number(t.element, "offsetWidth"), number(t.element, "offsetHeight")
	if touch {
		right := number(safejs.Global(), "innerWidth") - w - 8
		set(get(t.element, "style"), "transform", "translate("+px(max(8, min(x-w/2, right)))+","+px(max(8, y-h-28))+")")
		return
	}
	if x+14+w > number(safejs.Global(), "innerWidth") {
		x = max(x-w-14, 0) - 14
	}
	if y+18+h > number(safejs.Global(), "innerHeight") {
		y = y - h - 30
	}
	set(get(t.element, "style"), "transform", "translate("+px(x+14)+","+px(y+18)+")")
}
