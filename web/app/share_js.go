package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/state"
	"memtide/web/ui"
	"memtide/web/ui/names"
)

// sharer keeps the focus in the dialog and does what needs the browser.
type sharer struct {
	*core
	open bool
	back safejs.Value // what had the focus before
}

// sync is called when the components have been drawn.
func (h *sharer) sync() {
	open := h.s.Sharing != nil || h.s.View.Help
	if open == h.open {
		return
	}
	h.open = open
	document := global("document")
	if open {
		h.back = get(document, "activeElement")
		field := call(document, "getElementById", "share-link")
		if h.s.View.Help {
			field = call(document, "querySelector", ".help:not(.share) button")
		}
		call(field, "focus", map[string]any{"preventScroll": true})
		if !h.s.View.Help {
			call(field, "select")
		}
	} else if exists(get(h.back, "focus")) {
		call(h.back, "focus", map[string]any{"preventScroll": true})
	}
}

// listen keeps the keyboard inside the dialog while it is open.
func (a *sharer) listen() {
	a.s.View.CanSend = exists(global("navigator", "share"))
	listen(global("document"), "keydown", func(e safejs.Value) {
		dialog := call(global("document"), "querySelector", ".help-layer:not([hidden]) .help")
		if !exists(dialog) {
			return
		}
		switch inside := truth(call(dialog, "contains", get(e, "target"))); {
		case text(e, "key") == "Tab":
			all := call(dialog, "querySelectorAll", "button:not(:disabled), input, select")
			first, last := get(all, "0"), call(all, "item", number(all, "length")-1)
			to, from := first, last
			if truth(e, "shiftKey") {
				to, from = last, first
			}
			if active := get(global("document"), "activeElement"); !inside || active.Equal(from) ||
				active.Equal(dialog) && truth(e, "shiftKey") {
				call(e, "preventDefault")
				call(to, "focus")
			}
		case text(e, "key") == "Escape":
			call(e, "preventDefault")
			a.Post(state.Dismiss{})
		case inside && (a.s.Sharing != nil || text(e, "key") != "?") && !truth(e, "ctrlKey") && !truth(e, "metaKey"):
			call(e, "stopImmediatePropagation") // no letter is a command here
		}
	})
}

// copyText copies a field of the dialog; where the browser refuses, the text is
// selected and a person copies it.
func (a *sharer) copyText(field string) {
	element := call(global("document"), "getElementById", "share-"+field)
	done := func() { a.Post(state.ShareNote{Text: ui.Copied}) }
	clip(text(element, "value"), done, func() {
		a.Later(func() {
			call(element, "focus")
			call(element, "select")
			a.Do(state.ShareNote{Text: ui.CopyFromField})
		})
	})
}

// send has the device pass the link on. A person who changes their mind is told
// nothing.
func (a *sharer) send() {
	address := a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
	then(call(global("navigator"), "share", map[string]any{"title": names.Of(a.s) + " – memtide", "url": address}),
		func(safejs.Value) { a.Post(state.ShareNote{Text: ui.PassedOn}) },
		func(reason safejs.Value) {
			if text(reason, "name") != "AbortError" {
				a.Post(state.ShareNote{Text: ui.NotPassedOn})
			}
		})
}
