package app

import (
	"github.com/hack-pad/safejs"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/names"
)

// picker moves the focus: to the search field when the list of networks is opened, to its button when it is closed, and
// to the field that a choice in a list has opened, such as that of another card.
type picker struct {
	*core
	open   bool
	active string // ID of the entry that was scrolled into view last
	field  bool   // a list has a field for what it does not have
}

// sync is called when the components have been drawn.
func (p *picker) sync() {
	v := p.s.View.Picker
	document := global("document")
	switch {
	case v.Open && !p.open:
		call(call(document, "querySelector", "[data-do=picker-find]"), "focus", map[string]any{"preventScroll": true})
	case !v.Open && p.open && text(document, "activeElement", "tagName") == "BODY":
		call(call(document, "querySelector", "[data-do=picker]"), "focus", map[string]any{"preventScroll": true})
	}
	field := call(document, "querySelector", `.word:not([hidden]) > [data-do="own-card"], [data-do="option-number"]`)
	if exists(field) && !p.field && text(document, "activeElement", "tagName") == "SELECT" {
		call(field, "focus", map[string]any{"preventScroll": true})
		call(field, "select")
	}
	p.field = exists(field)
	if p.open = v.Open; !v.Open {
		v.Active = ""
	}
	if e := call(document, "getElementById", input.OptionElement(v.Active)); v.Active != p.active && exists(e) {
		call(e, "scrollIntoView", map[string]any{"block": "nearest"})
	}
	p.active = v.Active
}

// key handles a key in the search field. It returns false if the key edits the text.
func (p *picker) key(k input.Key, e safejs.Value) bool {
	m := input.PickerKey(p.s, k)
	if m == nil {
		return false
	}
	call(e, "preventDefault")
	p.Post(m)
	return true
}

// listen closes the list when the pointer or the focus leaves it.
func (p *picker) listen() {
	away := func(e safejs.Value) {
		if !p.s.View.Picker.Open || exists(call(get(e, "target"), "closest", ".picker")) {
			return
		}
		p.Later(func() {
			if p.s.View.Picker.Open {
				p.Do(state.TogglePicker{})
			}
		})
	}
	listen(global("document"), "pointerdown", away)
	listen(global("document"), "focusin", away)
}

// sharer keeps the focus in an open dialog, and copies and sends links.
type sharer struct {
	*core
	open bool
	back safejs.Value // the element that had the focus before
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
			call(e, "stopImmediatePropagation") // there are no shortcuts in a dialog
		}
	})
}

// copyText copies a field of the dialog. If the browser refuses, it selects the text, so that a person can copy it.
func (a *sharer) copyText(field string) {
	element := call(global("document"), "getElementById", "share-"+field)
	done := func() { a.Post(state.ShareNote{Text: "Copied."}) }
	clip(text(element, "value"), done, func() {
		a.Later(func() {
			call(element, "focus")
			call(element, "select")
			a.Do(state.ShareNote{Text: "The browser does not let the page copy. The text is selected: press Ctrl+C."})
		})
	})
}

// send shares the link through the device's list of apps. There is no note if the person cancels.
func (a *sharer) send() {
	address := a.page.Address(a.s, a.s.Sharing == nil || a.s.Sharing.Exact)
	then(call(global("navigator"), "share", map[string]any{"title": names.Of(a.s) + " – memtide", "url": address}),
		func(safejs.Value) { a.Post(state.ShareNote{Text: "Shared."}) },
		func(reason safejs.Value) {
			if text(reason, "name") != "AbortError" {
				a.Post(state.ShareNote{Text: "This device cannot share the link. Copy it instead."})
			}
		})
}
