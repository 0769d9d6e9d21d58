package app

import (
	"github.com/hack-pad/safejs"

	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/snapshot"
	"memtide/web/ui/step"
	"memtide/web/ui/timeline"
)

// keyboard carries out what keys do.
type keyboard struct {
	*core
	controls *controls
	picker   *picker
	address  *address
	saver    *saver
}

// listen turns keys into messages, unless a control has the focus.
func (a *keyboard) listen() {
	listen(global("document"), "keydown", func(e safejs.Value) {
		if truth(e, "altKey") || truth(e, "defaultPrevented") {
			return
		}
		k := input.Key{Code: text(e, "code"), Key: text(e, "key"), Shift: truth(e, "shiftKey")}
		tag := text(e, "target", "tagName")
		if truth(e, "ctrlKey") || truth(e, "metaKey") {
			if !a.view { // there is nothing to undo, and what is saved or opened is the page around the view
				a.chord(k, e)
			}
			return
		}
		c, _, ok := commandOf(e)
		if ok && c.Do == "picker-find" && a.picker.key(k, e) {
			return
		}
		if a.s.View.NoShortcuts && k.Typed() {
			return
		}
		if k.Code != "Escape" && (tag == "INPUT" || tag == "SELECT" || tag == "TEXTAREA") {
			return
		}
		if tag == "BUTTON" && walkRadios(k, get(e, "target")) {
			call(e, "preventDefault")
			return
		}
		if tag == "BUTTON" && (k.Key == "Enter" || k.Key == " ") {
			return
		}
		if a.flameKey(k, e) || a.passKey(k, e) {
			return
		}
		inStage := exists(call(get(e, "target"), "closest", "#stage"))
		action, ok := input.KeyOf(k)
		// Arrows scroll the page unless the pictures have the focus.
		stops := action.Plays() && a.s.View.Play.On // wherever the focus is
		if !ok || action.Walks() && !inStage && !stops || a.view && !action.Looks(&a.s.View.Frame) {
			return
		}
		call(e, "preventDefault")
		a.Later(func() {
			if action.Plays() {
				a.Do(a.playStep())
			}
			a.Do(action.Act(a.s))
			a.say((&timeline.Selection{S: a.s}).Sentence())
		})
	})
}

// flameKey handles a key in the flame graph, and says whether it was one of its own.
func (a *keyboard) flameKey(k input.Key, e safejs.Value) bool {
	if !exists(call(get(e, "target"), "closest", "#flame")) {
		return false
	}
	m := input.FlameKey(k, a.s)
	if m == nil {
		return false
	}
	call(e, "preventDefault")
	a.Later(func() {
		a.Do(m)
		a.say(snapshot.FlameSentence(a.s))
	})
	return true
}

// passKey handles a key in the picture of a pipeline, and says whether it was one of its own.
func (a *keyboard) passKey(k input.Key, e safejs.Value) bool {
	m := input.PassKey(k)
	if m == nil || !exists(call(get(e, "target"), "closest", "#passes")) {
		return false
	}
	call(e, "preventDefault")
	a.Later(func() {
		a.Do(m)
		a.say(step.PassSentence(a.s))
	})
	return true
}

// chord handles a key that is pressed together with Ctrl or ⌘. What it does not
// know is the browser's, and all of it in a view in another page.
func (a *keyboard) chord(k input.Key, event safejs.Value) {
	target := get(event, "target")
	typing := text(target, "tagName") == "TEXTAREA" || text(target, "tagName") == "INPUT" &&
		text(target, "type") != "range" && text(target, "type") != "checkbox"
	switch input.ChordOf(k) {
	case input.ChordUndo:
		if typing { // what is typed in a field is undone by the field
			return
		}
		a.Later(func() { a.address.undo(k.Shift) })
	case input.ChordSave:
		a.Later(a.saver.shown)
	case input.ChordOpen:
		field := call(global("document"), "querySelector", "input[data-do=file]")
		if !exists(field) {
			return
		}
		call(field, "click") // at once: browsers open the list of files only for a key or a click
	default:
		return
	}
	call(event, "preventDefault")
}

const shortcutsKey = "memtide-shortcuts"

// savedShortcuts reports whether shortcuts were turned off before; storage may be
// forbidden.
func savedShortcuts() (off bool) {
	return text(call(global("localStorage"), "getItem", shortcutsKey)) == "off"
}

func saveShortcuts(off bool) {
	value := "on"
	if off {
		value = "off"
	}
	call(global("localStorage"), "setItem", shortcutsKey, value)
}

// askLabels asks the browser what stands on the keys that are known by their
// place. Most browsers do not know.
func (a *keyboard) askLabels() {
	keyboard := global("navigator", "keyboard")
	if !exists(get(keyboard, "getLayoutMap")) {
		return
	}
	then(call(keyboard, "getLayoutMap"), func(layout safejs.Value) {
		labels := map[string]string{}
		for _, place := range input.KeyPlaces() {
			if v := call(layout, "get", place); v.Type() == safejs.TypeString {
				labels[place], _ = v.String()
			}
		}
		a.Post(state.SetLabels{Labels: labels})
	}, func(safejs.Value) {}) // a frame may be forbidden to ask
}

// walkRadios chooses the radio button beside an element that is one, in a circle;
// false if it is none, or the key does not walk.
func walkRadios(k input.Key, element safejs.Value) bool {
	by := map[string]int{"ArrowDown": 1, "ArrowRight": 1, "ArrowUp": -1, "ArrowLeft": -1}[k.Key]
	group := call(element, "closest", "[role=radiogroup]")
	if by == 0 || !exists(group) || text(element, "role") != "radio" {
		return false
	}
	all := call(group, "querySelectorAll", "[role=radio]")
	n := int(number(all, "length"))
	for i := range n {
		if next := call(all, "item", (i+by+n)%n); call(all, "item", i).Equal(element) {
			call(next, "focus")
			call(next, "click")
			break
		}
	}
	return true
}
