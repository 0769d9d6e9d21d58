package ui

import (
	"strings"

	"github.com/hack-pad/safejs"

	"memtide/web/state"
)

// chord handles a key that is pressed together with Ctrl or ⌘. What it does not
// know is the browser's, and all of it in a view in another page.
func (a *app) chord(k Key, event safejs.Value) {
	target := get(event, "target")
	typing := text(target, "tagName") == "TEXTAREA" || text(target, "tagName") == "INPUT" &&
		text(target, "type") != "range" && text(target, "type") != "checkbox"
	switch chordOf(k) {
	case chordUndo:
		if typing { // what is typed in a field is undone by the field
			return
		}
		a.later(func() { a.address.undo(k.Shift) })
	case chordSave:
		a.later(a.saveShown)
	case chordOpen:
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

// saveShown saves what is shown as a picture, which opens it again.
func (a *app) saveShown() {
	f, ok := ExportFile(a.s, "svg", a.page.Address(a.s, true))
	if !ok {
		a.tell("There is no schedule to save yet.")
		return
	}
	a.saveFile(f)
	a.tell("Saved " + f.Name + ". Other formats: Share.")
}

// tell shows what a shortcut did, for a while.
func (a *app) tell(note string) {
	a.do(state.Tell{Text: note})
	after(4000, func() { a.post(state.ForgetNote{}) })
}

const shortcutsKey = "memtide-shortcuts"

// savedShortcuts says whether shortcuts were turned off before; storage may be
// forbidden.
func (a *app) savedShortcuts() (off bool) {
	return text(call(global("localStorage"), "getItem", shortcutsKey)) == "off"
}

func (a *app) saveShortcuts(off bool) {
	if a.embed.on {
		return
	}
	value := "on"
	if off {
		value = "off"
	}
	call(global("localStorage"), "setItem", shortcutsKey, value)
}

// keyPlaces are the places of all keys that are known by their place.
func keyPlaces() (out []string) {
	for _, r := range keyTable {
		out = append(out, strings.Fields(r.places)...)
	}
	return out
}

// askLabels asks the browser what stands on the keys that are known by their
// place. Most browsers do not know.
func (a *app) askLabels() {
	keyboard := global("navigator", "keyboard")
	if !exists(get(keyboard, "getLayoutMap")) {
		return
	}
	then(call(keyboard, "getLayoutMap"), func(layout safejs.Value) {
		labels := map[string]string{}
		for _, place := range keyPlaces() {
			if v := call(layout, "get", place); v.Type() == safejs.TypeString {
				labels[place], _ = v.String()
			}
		}
		a.post(state.SetLabels{Labels: labels})
	}, func(safejs.Value) {}) // a frame may be forbidden to ask
}
