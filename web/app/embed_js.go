package app

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/timeline"
)

// embed exchanges messages with the host, the page that contains a view. docs/embedding.md describes the messages.
// Only a view does so, and only with its host: other pages must not learn what a person has opened in the page
// itself. A view opens only the files that its host sends. What the host sends is parsed and never executed.
type embed struct {
	*core
	recolour func() // paints all canvases again
	ready    bool   // the message ready has been sent
	link     string // the link that was sent last
	selected string // the name of the selection that was sent last
	problem  string // the problem that was sent last
}

func (e *embed) init() {
	if !e.view {
		return
	}
	listen(safejs.Global(), "message", e.hear)
	listen(safejs.Global(), "hashchange", func(safejs.Value) {
		e.Later(func() { e.follow(strings.TrimPrefix(text(global("location"), "hash"), "#")) })
	})
	root := global("document", "documentElement", "dataset")
	set(root, "embed", e.s.View.Frame.Control+" ") // a dataset value that is never empty
	onResize(global("document", "body"), func() { e.Later(e.size) })
	listen(global("document"), "keydown", func(k safejs.Value) {
		if text(k, "key") != "Escape" {
			return
		}
		call(get(global("document"), "activeElement"), "blur")
		e.send("escape", map[string]any{})
		call(global("parent"), "focus")
	})
}

// host returns the window of the host, or undefined if the page is not a view in a frame.
func (e *embed) host() safejs.Value {
	if parent := global("parent"); e.view && !parent.Equal(safejs.Global()) {
		return parent
	}
	return safejs.Undefined()
}

func (e *embed) send(kind string, fields map[string]any) {
	if host := e.host(); exists(host) {
		fields["type"] = kind
		call(host, "postMessage", map[string]any{"memtide": fields}, "*")
	}
}

// height returns the height that the view needs, in CSS pixels.
func (e *embed) height() int {
	return int(number(global("document", "body"), "offsetHeight")) + 1
}

// size sends the height, once the view is ready.
func (e *embed) size() {
	if e.ready {
		e.send("size", map[string]any{"height": e.height()})
	}
}

// fault sends an error about a message of the host or about the view.
func (e *embed) fault(code, text string) {
	e.send("error", map[string]any{"code": code, "text": text})
}

// sync is called when the components have been drawn. It sends what has changed.
func (e *embed) sync() {
	if !e.view {
		return
	}
	s := e.s
	if p := s.Phase(); !e.ready && p != "solving" &&
		!s.Awaits() { // a fallback schedule has a height too
		e.ready = true
		e.send("ready", map[string]any{"version": 1, "height": e.height()})
		e.size()
	}
	if !e.ready || s.Phase() == "solving" {
		return
	}
	if !permalink.Empty(s) {
		if now := e.page.Address(s, true); now != e.link {
			e.link = now
			e.tell()
		}
	}
	if name := s.View.SelectedName(s.Shown); name != e.selected {
		e.selected = name
		e.send("select", map[string]any{"name": name, "text": (&timeline.Selection{S: s}).Sentence()})
	}
	problem, code := answer.Problem(s), "open"
	switch {
	case s.OverBudget != nil:
		code = "budget"
	case s.Limited():
		code = "limit"
	}
	if problem != e.problem && problem != "" {
		e.fault(code, problem)
	}
	e.problem = problem
}

// tell sends the link of what is shown, and its numbers.
func (e *embed) tell() {
	if permalink.Empty(e.s) {
		e.link = e.page.Base
	}
	fields := map[string]any{"link": e.link}
	if p := e.s.Shown; p != nil {
		if p.Within("") != "" {
			fields["budgetBytes"] = float64(p.Solved.Budget)
		}
		fields["peakBytes"] = float64(p.Solved.Trace.Peak)
		fields["stepMs"] = p.Solved.Trace.Makespan.Seconds() * 1e3
	}
	e.send("state", fields)
}

// hear handles a message event.
func (e *embed) hear(event safejs.Value) {
	from := get(event, "source")
	if host := e.host(); !exists(from) || !exists(host) || !from.Equal(host) {
		return
	}
	data := get(event, "data")
	if data.Type() == safejs.TypeString {
		if word, _ := data.String(); word == "PING" {
			call(from, "postMessage", "PONG", "*")
		}
		return
	}
	if m := get(data, "memtide"); m.Type() == safejs.TypeObject {
		e.take(m, text(event, "origin"))
	}
}

func (e *embed) take(m safejs.Value, origin string) {
	switch kind := text(m, "type"); kind {
	case "open":
		e.Later(func() { e.open(m, origin) })
	case "set":
		params := map[string]string{}
		given := get(m, "params")
		if given.Type() != safejs.TypeObject {
			e.fault("message", "The message set has no params, an object of keys and values of the link.")
			return
		}
		keys := call(global("Object"), "keys", given)
		for i := range int(number(keys, "length")) {
			key, _ := call(keys, "at", i).String()
			value, _ := call(safejs.Global(), "String", get(given, key)).String()
			params[strings.ToLower(key)] = value
		}
		e.Later(func() { e.set(params) })
	case "get":
		e.Later(func() {
			e.link = e.page.Address(e.s, true)
			e.tell()
		})
	case "theme":
		value := text(m, "value")
		if value != "light" && value != "dark" && value != "auto" {
			e.fault("message", "The message theme has the value "+strconv.Quote(value)+
				"; light, dark or auto is expected.")
			return
		}
		e.Later(func() { e.theme(strings.TrimSuffix(value, "auto")) })
	default:
		e.fault("message", "No message is called "+strconv.Quote(kind)+"; open, set, get or theme is expected.")
	}
}

// theme sets the theme of the host: "light", "dark", or "" for that of the system.
func (e *embed) theme(theme string) {
	if e.s.View.Theme == theme {
		return
	}
	e.s.View.Theme = theme
	applyTheme(theme)
	e.recolour()
}

// set changes keys of the link of what is shown. It changes nothing if a value is not valid.
func (e *embed) set(params map[string]string) {
	now := ""
	if !permalink.Empty(e.s) {
		l := permalink.Of(e.s, e.page.Keep)
		now = l.String()
	}
	l, m, notes := permalink.Changed(e.s, now, params)
	if len(notes) > 0 {
		e.fault("open", permalink.Refusal(notes))
		return
	}
	e.navigate(l, m)
}

// open opens what the host has sent: a link or a profile.
func (e *embed) open(m safejs.Value, origin string) {
	if address := text(m, "link"); address != "" {
		_, fragment, ok := strings.Cut(address, "#")
		if !ok {
			fragment = address
		}
		e.follow(fragment)
		return
	}
	title := text(m, "title")
	for _, kind := range []string{"json", "csv", "buffer"} {
		content := []byte(text(m, kind))
		if b := get(m, kind); kind == "buffer" && b.Type() == safejs.TypeObject {
			content = bytesOf(b)
		}
		if len(content) > 0 {
			e.Do(state.PickFile{Name: cmp.Or(title, "profile."+kind), Title: title, Bytes: content})
			e.Do(state.SetOpener{Origin: origin})
			return
		}
	}
	e.fault("message", "The message open has no link, json, csv or buffer.")
}

// follow opens a link, unless it is not valid.
func (e *embed) follow(fragment string) {
	l, m, notes := permalink.Embedded(e.s.View.Frame, fragment)
	if len(notes) > 0 {
		e.fault("open", permalink.Refusal(notes))
		return
	}
	e.navigate(l, m)
}

func (e *embed) navigate(l link.Link, m state.Start) {
	if l.Frame.Theme != "" {
		e.theme(l.Frame.Theme)
	}
	e.page.Keep = l
	e.Do(state.Navigate(m))
}
