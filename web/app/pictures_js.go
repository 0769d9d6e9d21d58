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

// pictures paints the pictures of the time axis and what moves over them.
type pictures struct {
	*core
	canvas   [draw.AllPictures + draw.NumPictures]canvas // the last are of side B
	paint    safejs.Value                                // memtidePaint
	raf      safejs.Func
	asked    bool    // a frame is on its way
	framedAt float64 // when the last frame was painted

	painted  int // State.Paint when the pictures were painted last
	stale    bool
	overlay  bool // the overlays must be painted
	hover    lookup.Target
	over     *canvas // that the pointer is over, or was last
	cursor   time.Duration
	gesture  gesture
	tip      tip
	palette  safejs.Value
	seen     seen
	scene    draw.Scene
	buffer   []byte
	batch    []any        // the canvases of what is in buffer, with lengths
	crossing safejs.Value // Uint8Array that the buffer is copied into
	ratio    float64
}

// canvas is one picture: a canvas, and one above it for what moves.
type canvas struct {
	mount.Mount
	host, inner safejs.Value
	base, above layer
	width       float64 // CSS pixels, 0 until it is known
	height      float64
	fresh       bool // it is not connected yet
	bare        bool // the prepared picture is gone
}

// layer is a canvas element with the commands that it was painted with last.
type layer struct {
	element safejs.Value
	painted []byte
}

// seen is what of the state a change of fades the pictures over.
type seen struct {
	shown    *known.Picture
	selected lookup.Target
}

// selectFade is how long that takes, in milliseconds.
const selectFade = 180

func (p *pictures) init() {
	p.cursor = draw.NoCursor
	p.paint = global("memtidePaint")
	p.raf = function(func(safejs.Value) { p.Later(p.frame) })
	p.tip.init()
	p.recolour()
}

// recolour takes the colours over from the system and the chosen theme.
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

// again has everything painted in the next frame.
func (p *pictures) again() {
	p.stale, p.overlay = true, true
	p.ask()
}

// host takes over the element of a picture; only the first time counts. It is
// called while the components are being drawn: measuring would lay out the half
// of the page that is there, so that waits for the frame.
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

// view returns what is visible of a picture.
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
		if p.Do(state.Tick{Now: p.Now()}); p.s.View.Selected != before { // it stays at a wait
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
		if c := &p.canvas[i]; c.width > 0 {
			p.repaint(c)
		}
	}
	p.fade()
	p.flush()
	for i := range p.canvas { // what is shown comes before what can be done with it
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

// fade has what the canvases show now go away over what comes: for a
// selection, never while something moves by itself or is dragged.
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

// repaint paints what is out of date of one picture; nothing, if there is none.
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
	if p.stale || c.Picture == draw.AddressMap || c.Picture == draw.Holes { // these two say what is at the cursor
		m.Draw(&p.scene, c.Picture, v)
		p.put(&c.base)
		p.removePoster(c)
	}
	m.Overlay(&p.scene, c.Picture, v)
	p.put(&c.above)
}

// subject returns what a canvas shows, or nil if there is nothing.
func (p *pictures) subject(c *canvas) subject {
	flame, passes, places, shown := p.s.Flame(), p.s.Passes(), p.s.PlacesModel(), c.Shown(p.s)
	switch {
	case c.Picture == draw.Flames && flame != nil:
		return flame.Flame
	case c.Picture == draw.PassLanes && passes != nil:
		return passes
	case !c.Timed() && c.Picture < draw.Flames && places != nil:
		return places
	case c.Timed() && shown != nil:
		return shown.Index()
	}
	return nil
}

// subject is a trace or a placement.
type subject interface {
	Draw(*draw.Scene, draw.Picture, draw.View)
	Overlay(*draw.Scene, draw.Picture, draw.View)
	Hit(draw.Picture, draw.View, float64, float64) (lookup.Target, time.Duration)
	TimeAt(draw.View, float64) time.Duration
}

// put has the scene painted on a canvas when all are flushed, unless the canvas shows it already.
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

// flush paints what was put, with one crossing.
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

// removePoster takes the prepared picture away once the live one is painted.
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

// point moves the cursor of all pictures and shows what is under it.
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
	if c.Picture.Still() {
		at = draw.NoCursor
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
		p.tip.show(timeline.TipOfPlaces(m, c.Picture, target, at), event)
	case *draw.Index:
		p.tip.show(strings.Join(timeline.TipLines(m, target, at), "\n"), event)
	}
}

// leave takes the cursor away.
func (p *pictures) leave() {
	p.hover, p.cursor, p.overlay = lookup.Target{}, draw.NoCursor, true
	p.tip.hide()
	p.ask()
}

// budgetAt returns the budget at a height of the memory picture, on the grid of the
// slider.
func (p *pictures) budgetAt(c *canvas, y float64) engine.Bytes {
	shown := p.s.Visible()
	if shown == nil {
		return 0
	}
	r := p.s.BudgetRange()
	return r.At(r.Position(shown.Index().BudgetAt(p.view(c), y)))
}

// tip is the words beside the pointer.
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

// show shows words beside the pointer; none hide them. A finger would cover them:
// it gets them when it is lifted, above its place, until something else is touched
// or the page is scrolled.
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
