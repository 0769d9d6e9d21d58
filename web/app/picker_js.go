package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/state"
	"memtide/web/ui/input"
)

// picker keeps the focus where a person expects it: in the search field while the
// list of networks is open, and on its button afterwards.
type picker struct {
	*core
	open   bool
	active string // id of the entry that was brought into view last
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
	p.open = v.Open
	if !v.Open {
		p.active = ""
		return
	}
	if v.Active == p.active {
		return
	}
	if e := call(document, "getElementById", input.OptionElement(v.Active)); exists(e) {
		call(e, "scrollIntoView", map[string]any{"block": "nearest"})
	}
	p.active = v.Active
}

// key handles the keys of the search field; false leaves them to it.
func (p *picker) key(k input.Key, e safejs.Value) bool {
	m := input.PickerKey(p.s, k)
	if m == nil {
		return false
	}
	call(e, "preventDefault")
	p.Post(m)
	return true
}

// listen closes the list when the pointer or the focus goes elsewhere.
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
