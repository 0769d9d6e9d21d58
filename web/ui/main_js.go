package ui

import (
	"strings"
	realjs "syscall/js"
	"time"

	"github.com/hack-pad/safejs"
	"github.com/vugu/vugu/js"

	"memtide/wasm/pool"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/link"
	"memtide/web/state"
)

// app is the page's program. All of it happens on one goroutine, which takes
// what is to be done from a queue: event handlers and answers only put it there.
type app struct {
	s     *state.State
	root  *Root
	pool  proto.Pool
	local serve.Local // reads presets at once, without waiting for a worker
	queue chan func()

	renderer renderer
	held     bool    // components wait for the first picture, to replace the prepared one without a jump
	drawn    int     // State.DOM when the components were drawn last
	drawnAt  float64 // and when
	waiting  bool    // a drawing of the components is scheduled
	paper    bool    // the page is being printed
	awaited  bool    // something other than progress has changed since

	jobs     jobs
	pictures pictures
	curve    curve
	replies  replies
	tables   tables
	layers   layerScroll
	address  address
	picker   picker
	page     Page
	share    sharer
	embed    embed
	live     safejs.Value
	said     string
	meter    meter
	pending  string // as told last, see tellPending
	told     bool
}

// The least times between two drawings of the components, in milliseconds: for
// progress, which nobody waits for, and for everything else.
const (
	drawProgressEvery = 100
	drawEvery         = 16
)

// firstWait is how long the components wait for the first picture.
const firstWait = 4000

// Main is the page's role of the program; module is the compiled program, which
// the workers run too. It never returns.
func Main(module safejs.Value) {
	a := &app{s: state.New(), queue: make(chan func(), 4096), held: true}
	p, err := pool.New(module)
	if err != nil {
		complain("workers", err)
		a.pool = new(here)
	} else {
		a.pool = p
	}
	if err = a.renderer.init(); err != nil {
		panic(err)
	}
	a.root = &Root{S: a.s, Hosts: a.host, Page: &a.page}
	a.setUp()
	for job := range a.queue {
		job()
		a.settle()
	}
}

// setUp connects the page to the browser and opens what the address says.
func (a *app) setUp() {
	a.meter.init()
	start := a.startMessage()
	embedded := a.s.View.Frame.Embed
	a.jobs.init(a)
	a.pictures.init(a)
	a.curve.init(a)
	a.replies.init(a)
	a.tables = tables{}
	a.address.init(a)
	a.embed.init(a, embedded)
	a.live = create(global("document", "body"), "div", "sr")
	call(a.live, "setAttribute", "aria-live", "polite")
	a.listenControls()
	a.listenShare() // before the keys: while the dialog is open they are its
	a.listenKeys()
	a.listenPicker()
	if !embedded {
		a.listenFiles()
	}
	a.listenTheme()
	a.listenPrint()
	a.pool.OnSilence(func(req *proto.Request, silent time.Duration) { // any request: only solves are shown
		if req.Op == proto.OpSolve {
			a.post(state.Silent{Quiet: silent > 0})
		}
	})
	after(firstWait, func() { a.later(func() { a.held = false }) })
	if a.s.View.Theme == "" && !embedded {
		a.s.View.Theme = a.savedTheme()
	}
	if !embedded {
		a.s.View.NoShortcuts = a.savedShortcuts()
	}
	a.do(start)
}

// startMessage opens what the address says, or the example.
func (a *app) startMessage() state.Message {
	a.page.locate(text(global("location"), "href"), text(global("document", "body", "dataset"), "site"))
	asked := link.Of(text(global("location"), "search"), text(global("location"), "hash"))
	l, start, notes := follow(asked)
	if text(global("document", "documentElement", "dataset"), "embed") != "" { // which no damage to the rest of the link changes
		start.Frame.Embed = true
	}
	a.page.Keep = l
	a.address.altered = link.Altered(asked)
	a.s.View.Frame = start.Frame
	if l.Theme != "" {
		a.s.View.Theme = l.Theme
		a.applyTheme(l.Theme)
	}
	if start.Frame.Embed {
		if _, _, wrong := embedded(start.Frame, asked); len(wrong) > 0 {
			return state.BadLink{Text: refusal(wrong)}
		}
	}
	if len(notes) > 0 {
		a.later(func() { a.do(state.BadLink{Text: strings.Join(notes, "\n")}) })
	}
	return start
}

// later puts something at the end of the queue; it may be called from anywhere.
func (a *app) later(f func()) {
	select {
	case a.queue <- f:
	default: // the queue is full only while the page hangs: wait outside of the event
		go func() { a.queue <- f }()
	}
}

// post puts a message at the end of the queue.
func (a *app) post(m state.Message) {
	if m != nil {
		a.later(func() { a.do(m) })
	}
}

// do changes the state by a message and starts what follows from it.
func (a *app) do(m state.Message) {
	if m == nil {
		return
	}
	for _, e := range a.s.Update(m) {
		a.start(e)
	}
	a.address.renew()
	switch m := m.(type) {
	case state.SweptPoint, state.Swept, state.SweepFailed:
		a.curve.dirty = true
	case state.SetBudget: // while a slider is dragged its schedules are waited for, which come soon
		a.awaited = a.awaited || m.Settled || a.s.Solving == nil
	case state.SetBandwidth:
		a.awaited = a.awaited || m.Settled || a.s.Solving == nil
	case state.SetRange, state.Progressed, state.OpenProgressed, state.PlaceProgressed, state.Answered, state.AskProgressed:
	default:
		a.awaited = true
	}
}

func (a *app) start(e state.Effect) {
	switch e := e.(type) {
	case state.Open:
		a.jobs.open(e)
	case state.Solve:
		a.jobs.solves.ask(e)
	case state.Sweep:
		a.jobs.sweep(e)
	case state.Place:
		a.jobs.place(e)
	case state.Inquire:
		a.jobs.inquire(e)
	case state.Cancel:
		a.jobs.cancel(e.ID)
	case state.UseThread:
		a.pool = new(here)
	case state.WriteURL:
		a.address.write(e.History)
	case state.CopyURL:
		a.address.copy()
		after(4000, func() { a.post(state.ForgetNote{}) })
	case state.Save:
		a.save(e.Kind)
	case state.Export:
		a.jobs.export(e)
	case state.Copy:
		a.copyText(e.Field)
	case state.Send:
		a.send()
	case state.SaveShortcuts:
		a.saveShortcuts(e.Off)
	case state.AskLabels:
		a.askLabels()
	case state.SaveTheme:
		a.saveTheme(e.Theme)
	}
}

// settle brings the page up to date after the queue's last entry.
func (a *app) settle() {
	if len(a.queue) > 0 {
		return
	}
	a.show()
	a.tellPending()
}

// show shows what has changed, now or as soon as there is time for it.
func (a *app) show() {
	body := get(global("document", "body"), "dataset")
	if !a.held || a.s.Phase() != "ready" {
		set(body, "state", a.s.Phase())
	}
	a.pictures.settle()
	a.curve.settle()
	if a.held && (!a.s.Awaits()) {
		a.held = false
	}
	if a.held || a.drawn == a.s.DOM || a.waiting && !a.awaited {
		return
	}
	every := float64(drawEvery)
	if !a.awaited {
		every = drawProgressEvery
	}
	if wait := a.drawnAt + every - now(); wait > 0 {
		a.waiting = true
		after(int(wait)+1, func() {
			a.later(func() { a.waiting = false }) // settles again
		})
		return
	}
	a.draw()
}

// draw draws the components.
func (a *app) draw() {
	a.drawn, a.awaited = a.s.DOM, false
	if err := a.renderer.draw(a.root, &a.meter); err != nil {
		complain("components", err)
	}
	a.picker.settle(a)
	a.drawnAt = now()
	a.pictures.settle()
	a.curve.settle()
	a.replies.settle()
	a.tables.settle(a.s)
	a.layers.settle()
	a.share.settle(a)
	set(get(global("document", "body"), "dataset"), "state", a.s.Phase())
	a.embed.settle()
	if a.s.Memory != nil || a.s.Network != nil {
		set(global("document"), "title", pageTitle(a.s))
	}
	a.meter.end("settle")
}

// host takes over an element that is painted by hand. It is called when a drawing
// has put the element into the page.
func (a *app) host(name string, element js.Value) {
	v := safejs.Safe(realjs.Value(element))
	switch name {
	case "tradeoff", "sweep":
		a.curve.host(name, v)
	case "layer-scroll":
		a.layers.host(a, v)
	case "reply-" + string(proto.Links), "reply-" + string(proto.LargestBatch):
		a.replies.host(proto.Question(strings.TrimPrefix(name, "reply-")), v)
	case "layer-rows", "answers-" + string(proto.WhatHelps), "answers-" + string(proto.Smallest), "answers-" + string(proto.Links), "answers-" + string(proto.LargestBatch):
		a.tables.host(name, v)
	default:
		a.pictures.host(name, v)
	}
}

// say has a screen reader say something.
func (a *app) say(sentence string) {
	if sentence != a.said {
		a.said = sentence
		set(a.live, "textContent", sentence)
	}
}
