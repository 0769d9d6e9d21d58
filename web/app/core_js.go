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

// core is shared by all parts of the page, and implements jobs.Page. One goroutine runs the functions
// in the queue, one after the other. Event handlers and jobs only add functions to the queue.
type core struct {
	s     *state.State
	page  permalink.Origin
	queue chan func()
	// followed is called after each message with its effects.
	followed func(state.Message, []state.Effect)

	view  bool          // the page is a view in another page; links that are followed later do not change that
	paper bool          // the page is being printed
	look  display.Theme // of canvases
	meter meter
	live  safejs.Value // the element for screen readers
	said  string       // its text
}

// Later adds f to the end of the queue. Any goroutine may call it.
func (c *core) Later(f func()) {
	select {
	case c.queue <- f:
	default: // the queue is full only while the page hangs: do not block the event handler
		go func() { c.queue <- f }()
	}
}

// Post calls Do with m at the end of the queue, unless m is nil.
func (c *core) Post(m state.Message) {
	if m != nil {
		c.Later(func() { c.Do(m) })
	}
}

// Do changes the state by a message and carries out the effects.
func (c *core) Do(m state.Message) {
	if m != nil {
		c.followed(m, c.s.Update(m))
	}
}

// fixed reports whether the budget cannot be changed, because the page is a view without a slider for it.
func (c *core) fixed() bool { return c.view && c.s.View.Frame.Control != "budget" }

// playStep returns the message that plays the step or stops playing, with reduced motion if the system asks for it.
func (c *core) playStep() state.Message {
	reduced := truth(call(safejs.Global(), "matchMedia", "(prefers-reduced-motion: reduce)"), "matches")
	return state.PlayStep{Now: c.Now(), Reduced: reduced}
}

// say makes a screen reader say a sentence.
func (c *core) say(sentence string) {
	if sentence != c.said {
		c.said = sentence
		set(c.live, "textContent", sentence)
	}
}

// noteTime is how long a note stays, in milliseconds.
const noteTime = 4000

// forget removes the note after noteTime.
func (c *core) forget() {
	after(noteTime, func() { c.Post(state.Tell{}) })
}

// After calls f in ms milliseconds.
func (c *core) After(ms int, f func()) { after(ms, f) }

// Now returns the time since the page was opened, in milliseconds.
func (c *core) Now() float64 { return now() }

// pending is the body's data-pending, a list of what the page has started and not ended. Programs that control the
// page wait until the list is empty or does not contain what they wait for.
//
//	answers     a request to a worker is under way
//	components  components will be drawn
//	pictures    a frame will paint pictures
//	chart       a chart will be drawn, or its library is being loaded
//	address     the address bar will be written
//
// When the dispatch of an event has returned, the list contains what the event has started.
type pending struct {
	list string // the last value of data-pending
	told bool   // data-pending has been set
}

// work is a possible entry of the list, and whether it is in the list now.
type work struct {
	name string
	is   bool
}

// tell sets data-pending if the list has changed.
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

func (r *renderer) init() (err error) {
	r.env, err = vugu.NewBuildEnv()
	r.script = global("memtideDOM")
	return err
}

// draw changes the page to the present components. If that fails, because something else has changed the page, draw
// builds the page again.
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

// apply changes what differs with one call of JavaScript, and passes new hosts to their handlers.
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

// meter records in the browser's timeline how long the parts of a drawing take, if a test has set memtideMeasure before
// the page was opened.
type meter struct {
	on bool
	at float64 // start of the present part, in milliseconds
}

// begin starts the first part.
func (m *meter) begin() {
	if m.on {
		m.at = now()
	}
}

// end ends a part and starts the next.
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

// listenPrint calls onPaper before and after the page is printed, possibly more than once.
func listenPrint(onPaper func(paper bool)) {
	listen(safejs.Global(), "beforeprint", func(safejs.Value) { onPaper(true) })
	listen(safejs.Global(), "afterprint", func(safejs.Value) { onPaper(false) })
	if m := call(safejs.Global(), "matchMedia", "print"); exists(m) { // for browsers without these events
		listen(m, "change", func(e safejs.Value) { onPaper(truth(e, "matches")) })
	}
}

// remembered is the prefix of the names of settings in the browser's storage.
const remembered = "memtide-"

// stored returns a setting of an earlier visit, or "" if it was not set or storage is forbidden.
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
