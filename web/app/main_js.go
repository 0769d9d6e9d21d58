package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	realjs "syscall/js"
	"time"

	"github.com/hack-pad/safejs"
	"github.com/vugu/vugu/js"
	"memtide/wasm/pool"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui"
	"memtide/web/ui/answer"
)

// app is the page's program: all its parts, and the timing of drawing.
type app struct {
	*core
	root     *ui.Root
	renderer renderer
	jobs     jobs.Runner

	held    bool    // components wait for the first picture, so that the prepared page is replaced at once
	drawn   int     // State.DOM at the last drawing of the components
	drawnAt float64 // time of that drawing
	waiting bool    // a drawing of the components is scheduled
	awaited bool    // something other than progress has changed since the last drawing
	pending pending

	pictures pictures
	curve    curve
	table    layerTable
	layers   layerScroll
	address  address
	files    files
	saver    saver
	controls controls
	keyboard keyboard
	picker   picker
	share    sharer
	embed    embed
}

// Times in milliseconds.
const (
	drawProgressEvery = 100  // least time between two drawings of the components that show only progress
	drawEvery         = 16   // likewise for other changes
	firstWait         = 4000 // how long the components wait for the first picture
)

// While the budget is dragged, the components are drawn between drawApart and drawEarly milliseconds after the
// pictures, if the next frame is not near. If that was not possible for drawLatest milliseconds, they are drawn
// immediately.
const (
	drawApart  = 2
	drawEarly  = 7
	drawLatest = 50
)

// Main runs the page. module is the compiled program, which the workers run too. Main never returns.
func Main(module safejs.Value) {
	a := newApp()
	p, err := pool.New(module)
	if err != nil {
		complain("workers", err)
		a.jobs.Pool = new(jobs.MainThread)
	} else {
		a.jobs.Pool = p
		p.OnSilence(a.silence)
	}
	if err = a.renderer.init(); err != nil {
		panic(err)
	}
	a.setUp()
	for job := range a.queue {
		job()
		a.sync()
	}
}

func (a *app) silence(req proto.Request, silent time.Duration) {
	if _, ok := req.(*proto.Solve); ok {
		a.Post(state.Silent{Quiet: silent > 0})
	}
}

// newApp creates the parts and gives each what it needs from the others.
func newApp() *app {
	c := &core{s: state.New(), queue: make(chan func(), 4096)}
	a := &app{core: c, held: true}
	c.followed = a.followed
	a.root = &ui.Root{S: c.s, Hosts: a.host, Page: &c.page}
	j := &a.jobs
	j.Page, j.Second.Fetch, j.NoSecond, j.Sentence = c, a.fetchSecond, noSecond, format.Sentence
	j.Crashed = func() { call(global("memtide"), "suspect") } // the program may have been damaged in transfer
	for _, part := range []**core{&a.pictures.core, &a.curve.core, &a.layers.core, &a.address.core, &a.files.core,
		&a.saver.core,
		&a.controls.core, &a.keyboard.core, &a.picker.core, &a.share.core, &a.embed.core} {
		*part = c
	}
	leave := a.pictures.leave
	a.curve.tip, a.curve.leave = &a.pictures.tip, leave
	a.layers.rows = func() { a.table.sync(c.s) }
	a.files.follow = a.address.open
	a.controls.files, a.controls.saver = &a.files, &a.saver
	k := &a.keyboard
	k.picker, k.address, k.saver = &a.picker, &a.address, &a.saver
	a.embed.recolour = a.recolour
	return a
}

// setUp connects the page to the browser and opens its address.
func (a *app) setUp() {
	a.meter.on = truth(safejs.Global(), "memtideMeasure")
	start := a.startMessage()
	a.view = a.s.View.Frame.Embed
	a.pictures.init()
	a.address.init()
	a.embed.init()
	a.live = create(global("document", "body"), "div", "sr")
	call(a.live, "setAttribute", "aria-live", "polite")
	a.controls.listen()
	a.share.listen() // before the keyboard: an open dialog handles keys first
	a.keyboard.listen()
	a.picker.listen()
	if !a.view {
		a.files.listen()
	}
	listenTheme(func() { a.Later(a.recolour) })
	a.recolour()
	listenPrint(a.onPaper)
	after(firstWait, func() { a.Later(func() { a.held = false }) })
	if !a.view {
		a.s.View.NoShortcuts = stored("shortcuts") == "off"
	}
	if theme := stored("theme"); a.s.View.Theme == "" && !a.view && (theme == "light" || theme == "dark") {
		a.s.View.Theme = theme
		applyTheme(theme)
	}
	a.Do(start)
}

// startMessage returns the message that opens the address, or the example if the address names nothing.
func (a *app) startMessage() state.Message {
	a.page.Locate(text(global("location"), "href"), text(global("document", "body", "dataset"), "site"))
	asked := link.Of(text(global("location"), "search"), text(global("location"), "hash"))
	l, start, notes := permalink.Follow(asked)
	if text(global("document", "documentElement", "dataset"),
		"embed") != "" { // boot.js has set it, also if the rest of the link is damaged
		start.Frame.Embed = true
	}
	a.page.Keep = l
	a.address.altered = link.Altered(asked)
	a.s.View.Frame = start.Frame
	if l.Frame.Theme != "" {
		a.s.View.Theme = l.Frame.Theme
		applyTheme(l.Frame.Theme)
	}
	if start.Frame.Embed {
		if _, _, wrong := permalink.Embedded(start.Frame, asked); len(wrong) > 0 {
			return state.Refuse{Text: permalink.Refusal(wrong)}
		}
	}
	if len(notes) > 0 {
		a.Later(func() { a.Do(state.Refuse{Text: strings.Join(notes, "\n")}) })
	}
	return start
}

// followed carries out the effects of a message.
func (a *app) followed(m state.Message, effects []state.Effect) {
	for _, e := range effects {
		a.start(e)
	}
	a.address.renew()
	switch m := m.(type) {
	case state.SweptPoint, state.Swept:
		a.curve.dirty = true
	case state.SetBudget: // while a slider is dragged, wait for the schedule, which comes soon
		a.awaited = a.awaited || m.Settled || a.s.Solving == nil
	case state.SetBandwidth:
		a.awaited = a.awaited || m.Settled || a.s.Solving == nil
	case state.SetRange, state.Progressed, state.Answered:
	default:
		a.awaited = true
	}
}

func (a *app) start(e state.Effect) {
	if a.jobs.Start(e) {
		return
	}
	switch e := e.(type) {
	case state.WriteURL:
		a.address.write(e.History)
	case state.CopyURL:
		a.address.copy()
		a.forget()
	case state.Save:
		a.saver.save(e.Kind)
	case state.Export:
		a.saver.schedule(&a.jobs, e)
	case state.Copy:
		a.share.copyText(e.Field)
	case state.Send:
		a.share.send()
	case state.Remember:
		if !a.view {
			call(global("localStorage"), "setItem", remembered+e.Name, e.Value)
		}
		applyTheme(a.s.View.Theme)
		a.recolour()
	case state.AskLabels:
		a.keyboard.askLabels()
	default:
		complain("effect", fmt.Errorf("nobody carries out %T", e))
	}
}

// recolour paints all canvases again in the present colours.
func (a *app) recolour() {
	a.pictures.recolour()
	a.curve.dirty = true
}

// onPaper switches the page to light colours while it is printed. Canvases have to be painted again, immediately,
// because the browser prints without another frame.
func (a *app) onPaper(paper bool) {
	if paper == a.paper {
		return
	}
	a.paper = paper
	theme := a.s.View.Theme
	if paper {
		theme = "light"
	}
	applyTheme(theme)
	a.pictures.recolour()
	a.pictures.frame()
	a.curve.flush()
}

// sync updates the page when the queue is empty.
func (a *app) sync() {
	if len(a.queue) > 0 {
		return
	}
	a.show()
	a.pending.tell(
		work{"answers", a.jobs.Busy()},
		work{"components", a.held || a.waiting || a.drawn != a.s.DOM},
		work{"pictures", a.pictures.asked},
		work{"chart", a.curve.loading || a.curve.drawing},
		work{"address", a.address.timed},
	)
}

// show draws what has changed, now or when the least time since the last drawing has passed.
func (a *app) show() {
	body := get(global("document", "body"), "dataset")
	if !a.held || a.s.Phase() != "ready" {
		set(body, "state", a.s.Phase())
	}
	if a.held && a.s.Settling() { // the prepared page shows the final answer already
		return
	}
	a.pictures.sync()
	a.curve.sync()
	if a.held && !a.s.Awaits() {
		a.held = false
	}
	if a.held || a.drawn == a.s.DOM || a.waiting && !a.awaited {
		return
	}
	due := a.drawnAt + drawEvery
	if !a.awaited {
		due = a.drawnAt + drawProgressEvery
	}
	if a.s.Dragging() { // pictures and components in one frame would be late for it
		due = max(due, a.pictures.framedAt+drawApart)
		if a.pictures.asked && now() > a.pictures.framedAt+drawEarly {
			due = max(due, a.drawnAt+drawLatest) // that frame draws sooner, but a hidden page has no frames
		}
	}
	if wait := due - now(); wait > 0 {
		a.waiting = true
		after(int(wait)+1, func() {
			a.Later(func() { a.waiting = false }) // syncs again
		})
		return
	}
	a.draw()
}

// draw draws the components.
func (a *app) draw() {
	if a.drawnAt == 0 { // the prepared page may be about another network
		call(global("document", "documentElement"), "removeAttribute", "data-other")
	}
	a.drawn, a.awaited = a.s.DOM, false
	if err := a.renderer.draw(a.root, &a.meter); err != nil {
		complain("components", err)
	}
	a.picker.sync()
	a.controls.sync()
	a.drawnAt = now()
	a.pictures.sync()
	a.curve.sync()
	a.table.sync(a.s)
	a.layers.sync()
	a.share.sync()
	set(get(global("document", "body"), "dataset"), "state", a.s.Phase())
	a.embed.sync()
	if !permalink.Empty(a.s) {
		set(global("document"), "title", answer.Title(a.s)+" – memtide")
	}
	a.meter.end("settle")
}

// host passes a new host element to the part that paints it.
func (a *app) host(name string, element js.Value) {
	v := safejs.Safe(realjs.Value(element))
	switch {
	case name == "tradeoff", name == "sweep":
		a.curve.host(name, v)
	case name == "layer-scroll":
		a.layers.host(v)
	case name == "layer-rows":
		a.table.host(v)
	default:
		a.pictures.host(name, v)
	}
}

// noSecond is jobs.Runner.NoSecond.
func noSecond(err error) string {
	return "The part of memtide that this needs cannot be loaded: " + err.Error() + "."
}

// fetchSecond is jobs.Second.Fetch.
func (a *app) fetchSecond(ctx context.Context) (func() (proto.Pool, error), error) {
	module, err := wait(ctx, call(global("memtide"), "second"))
	if err != nil {
		return nil, err
	}
	return func() (proto.Pool, error) {
		p, err := pool.NewReader(module)
		if err != nil {
			return nil, err // not a nil *pool.Pool in an interface
		}
		p.OnSilence(a.silence)
		return p, nil
	}, nil
}

// wait waits until a promise is fulfilled and returns its value. The page's goroutine must not call it.
func wait(ctx context.Context, promise safejs.Value) (safejs.Value, error) {
	values, refused := make(chan safejs.Value, 1), make(chan string, 1)
	then(promise, func(v safejs.Value) { values <- v }, func(v safejs.Value) { refused <- text(v, "message") })
	select {
	case v := <-values:
		return v, nil
	case why := <-refused:
		return safejs.Value{}, errors.New(why)
	case <-ctx.Done():
		return safejs.Value{}, ctx.Err()
	}
}
