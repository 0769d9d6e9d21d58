package ui

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/link"
	"memtide/web/state"
)

// address keeps the address bar being the permalink.
type address struct {
	a        *app
	fragment string // as written last
	writing  bool   // a write is scheduled
}

// writeEvery is the least time between two rewrites of the address in
// milliseconds: browsers refuse more than some hundred in half a minute.
const writeEvery = 250

func (d *address) init(a *app) {
	d.a = a
	d.fragment = strings.TrimPrefix(text(global("location"), "hash"), "#")
	follow := func(safejs.Value) { a.later(d.follow) }
	listen(safejs.Global(), "popstate", follow)
	listen(safejs.Global(), "hashchange", follow)
}

// follow goes where the address bar says.
func (d *address) follow() {
	hash := strings.TrimPrefix(text(global("location"), "hash"), "#")
	if hash == d.fragment {
		return
	}
	d.fragment = hash
	l, notes := link.Parse(hash)
	c, more := choiceOf(l)
	d.a.keep = l
	d.a.do(state.Navigate{Choice: c, From: l.Visible.From, To: l.Visible.To})
	if notes = append(notes, more...); len(notes) > 0 {
		d.a.do(state.BadLink{Text: strings.Join(notes, "\n")})
	}
}

// write puts the choice into the address bar: at once as a new entry of the
// history, or soon in place of the present one.
func (d *address) write(h state.History) {
	if h == state.Push {
		d.put("pushState")
		return
	}
	if d.writing {
		return
	}
	d.writing = true
	after(writeEvery, func() {
		d.a.later(func() {
			d.writing = false
			d.put("replaceState")
		})
	})
}

func (d *address) put(method string) {
	l := linkOf(d.a.s, d.a.keep)
	fragment := l.String()
	if fragment == d.fragment {
		return
	}
	d.fragment = fragment
	call(global("history"), method, nil, "", "#"+fragment)
}

// copy puts the link into the clipboard, where the browser allows it.
func (d *address) copy() {
	d.put("replaceState")
	failed := func(safejs.Value) {
		d.a.post(state.Copied{Err: "The browser does not let the page copy. The address bar holds the link."})
	}
	clipboard := global("navigator", "clipboard")
	if !exists(clipboard) {
		failed(clipboard)
		return
	}
	then(call(clipboard, "writeText", text(global("location"), "href")),
		func(safejs.Value) { d.a.post(state.Copied{}) }, failed)
}
