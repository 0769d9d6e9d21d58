package app

import (
	"strings"
	realjs "syscall/js"

	"github.com/hack-pad/safejs"
	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
	"memtide/web/display"
	"memtide/web/dom"
	"memtide/web/permalink"
	"memtide/web/state"
)

// core is what all parts of the page have, and the page as jobs see it. All of it
// happens on one goroutine, which takes what is to be done from a queue: event
// handlers and answers only put it there.
type core struct {
	s     *state.State
	page  permalink.Origin
	queue chan func()
	// followed is called after a message with what follows from it.
	followed func(state.Message, []state.Effect)

	view  bool          // a view in another page, for good: no link that is followed later makes or ends one
	paper bool          // the page is being printed
	look  display.Theme // of what is painted by hand
	meter meter
	live  safejs.Value
	said  string
}

// Later puts something at the end of the queue; it may be called from anywhere.
func (c *core) Later(f func()) {
	select {
	case c.queue <- f:
	default: // the queue is full only while the page hangs: wait outside of the event
		go func() { c.queue <- f }()
	}
}

// Post puts a message at the end of the queue.
func (c *core) Post(m state.Message) {
	if m != nil {
		c.Later(func() { c.Do(m) })
	}
}

// Do changes the state by a message and starts what follows from it.
func (c *core) Do(m state.Message) {
	if m != nil {
		c.followed(m, c.s.Update(m))
	}
}

// fixed reports whether who looks at a view cannot change its budget.
func (c *core) fixed() bool { return c.view && c.s.View.Frame.Control != "budget" }

// playStep plays the step or stops it, as the system wants things to move.
func (c *core) playStep() state.Message {
	reduced := truth(call(safejs.Global(), "matchMedia", "(prefers-reduced-motion: reduce)"), "matches")
	return state.PlayStep{Now: c.Now(), Reduced: reduced}
}

// say has a screen reader say something.
func (c *core) say(sentence string) {
	if sentence != c.said {
		c.said = sentence
		set(c.live, "textContent", sentence)
	}
}

// noteTime is how long a note stays, in milliseconds.
const noteTime = 4000

// forget takes the note that is shown away, after a while.
func (c *core) forget() {
	after(noteTime, func() { c.Post(state.Tell{}) })
}

// After calls f in some milliseconds.
func (c *core) After(ms int, f func()) { after(ms, f) }

// Now returns the time since the page was opened, in milliseconds.
func (c *core) Now() float64 { return now() }

// pending is body's data-pending, a list of what the page has begun and not ended:
// whoever drives the page from outside waits until it is empty, or until it does
// not name what he waits for.
//
//	answers     a worker reads, solves, sweeps, places or is asked something
//	components  they are to be drawn again
//	pictures    a frame is on its way that paints them
//	chart       a chart is to be drawn again, or its library is on its way
//	address     the address bar is to be rewritten
//
// An event is taken in at once: when its dispatch has returned, the list names what
// follows from it.
type pending struct {
	list string // as told last
	told bool
}

// work is an entry of the list, and whether there is any of it now.
type work struct {
	name string
	is   bool
}

// tell tells the list if it has changed.
func (p *pending) tell(all ...work) {
	var names []string
	for _, w := range all {
		if w.is {
			names = append(names, w.name)
		}
	}
	if list := strings.Join(names, " "); !p.told || list != p.list {
		p.told, p.list = true, list
		set(get(global("document", "body"), "dataset"), "pending", list)
	}
}

// renderer draws the components.
type renderer struct {
	env    *vugu.BuildEnv
	tree   dom.Tree
	script safejs.Value // memtideDOM
}

func (r *renderer) init() error {
	var err error
	r.env, err = vugu.NewBuildEnv()
	r.script = global("memtideDOM")
	return err
}

// draw brings the page to what the components say now. If that fails, which takes
// somebody else who changes the page, it starts from what is there.
func (r *renderer) draw(root vugu.Builder, m *meter) error {
	m.begin()
	results := r.env.RunBuild(root)
	m.end("build")
	err := r.apply(results, m)
	if err != nil {
		complain("components", err)
		r.tree.Forget()
		err = r.apply(results, m)
	}
	return err
}

// apply carries out in one crossing what differs, and gives new elements away.
func (r *renderer) apply(results *vugu.BuildResults, m *meter) error {
	instructions, hosts, err := r.tree.Update(results)
	if err != nil {
		return err
	}
	m.end("write")
	if _, err := r.script.Call("update", string(instructions)); err != nil {
		return err
	}
	m.end("apply")
	for _, h := range hosts {
		if element := call(r.script, "node", h.ID); exists(element) {
			h.Handler.JSValueHandle(js.Value(realjs.Value(safejs.Unsafe(element))))
		}
	}
	return nil
}

// meter writes down in the browser's timeline how long the parts of a drawing
// take, if a measurement has asked for it before the page was opened.
type meter struct {
	on bool
	at float64
}

func (m *meter) init() { m.on = truth(safejs.Global(), "memtideMeasure") }

// begin is the beginning of the first part.
func (m *meter) begin() {
	if m.on {
		m.at = now()
	}
}

// end is the end of a part and the beginning of the next.
func (m *meter) end(part string) {
	if !m.on {
		return
	}
	at := now()
	call(global("performance"), "measure", "memtide:"+part, map[string]any{"start": m.at, "end": at})
	m.at = now()
}

// listenTheme calls changed when the system's colours change.
func listenTheme(changed func()) {
	for _, query := range []string{"(prefers-color-scheme: dark)", "(forced-colors: active)"} {
		if m := call(safejs.Global(), "matchMedia", query); exists(m) {
			listen(m, "change", func(safejs.Value) { changed() })
		}
	}
}

// listenPrint calls onPaper before and after the page is printed, some times more
// than once.
func listenPrint(onPaper func(paper bool)) {
	listen(safejs.Global(), "beforeprint", func(safejs.Value) { onPaper(true) })
	listen(safejs.Global(), "afterprint", func(safejs.Value) { onPaper(false) })
	if m := call(safejs.Global(), "matchMedia", "print"); exists(m) { // for browsers without these events
		listen(m, "change", func(e safejs.Value) { onPaper(truth(e, "matches")) })
	}
}

// remembered is the begin of the names under which the browser stores what was chosen.
const remembered = "memtide-"

// stored returns what was chosen in a visit before; storage may be forbidden.
func stored(name string) string {
	return text(call(global("localStorage"), "getItem", remembered+name))
}

func applyTheme(theme string) {
	root := global("document", "documentElement")
	if theme == "" {
		call(root, "removeAttribute", "data-theme")
	} else {
		call(root, "setAttribute", "data-theme", theme)
	}
}
