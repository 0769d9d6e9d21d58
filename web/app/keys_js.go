package app

import (
	"strconv"

	"github.com/hack-pad/safejs"
	"memtide/web/state"
	"memtide/web/ui"
	"memtide/web/ui/export"
	"memtide/web/ui/input"
	"memtide/web/ui/snapshot"
	"memtide/web/ui/step"
	"memtide/web/ui/timeline"
)

// keyboard carries out the actions of keys.
type keyboard struct {
	*core
	picker  *picker
	address *address
	saver   *saver
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
			if !a.view { // in a view these keys belong to the host
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
		if a.ownKey("#flame", input.FlameKey(k, a.s), snapshot.FlameSentence, e) ||
			a.ownKey("#passes", input.PassKey(k), step.PassSentence, e) {
			return
		}
		inStage := exists(call(get(e, "target"), "closest", "#stage"))
		action, ok := input.KeyOf(k)
		// Arrows and Space scroll the page unless the pictures have the focus.
		stops := action.Plays() && a.s.View.Play.On // does not need the focus
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

// ownKey does m, the message of a key in a picture with keys of its own, and says said afterwards. It returns false
// if m is nil or the picture does not have the focus.
func (a *keyboard) ownKey(picture string, m state.Message, said func(*state.State) string, e safejs.Value) bool {
	if m == nil || !exists(call(get(e, "target"), "closest", picture)) {
		return false
	}
	call(e, "preventDefault")
	a.Later(func() {
		a.Do(m)
		a.say(said(a.s))
	})
	return true
}

// chord handles a key that is pressed with Ctrl or ⌘. It leaves unknown ones to the browser.
func (a *keyboard) chord(k input.Key, event safejs.Value) {
	target := get(event, "target")
	typing := text(target, "tagName") == "TEXTAREA" || text(target, "tagName") == "INPUT" &&
		text(target, "type") != "range" && text(target, "type") != "checkbox"
	switch input.ChordOf(k) {
	case input.ChordUndo:
		if typing { // the field has its own undo
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
		call(field, "click") // immediately: browsers open the file dialog only while they handle a key or a click
	default:
		return
	}
	call(event, "preventDefault")
}

// askLabels asks the browser for the labels of the keys in input.KeyPlaces. Most browsers do not know them.
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
	}, func(safejs.Value) {}) // the browser may forbid it in a frame
}

// walkRadios chooses the radio button next to element, after the last one the first. It returns false if element is not
// a radio button or k is not an arrow key.
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

// controls carries out the commands of elements.
type controls struct {
	*core
	files *files
	saver *saver
	word  safejs.Value // the control that was used last; the zero value after sync
}

// listen turns events of elements into commands, with one set of listeners for the whole page.
func (a *controls) listen() {
	document := global("document")
	listen(document, "click", func(e safejs.Value) {
		c, element, ok := commandOf(e)
		if tag := text(element, "tagName"); ok && tag != "INPUT" && tag != "SELECT" {
			c.Settled = true
			if c.Do == "budget-off" {
				a.word = element
			}
			a.command(c, element)
		}
	})
	listen(document, "input", func(e safejs.Value) {
		if c, element, ok := commandOf(e); ok && text(element, "tagName") == "INPUT" {
			a.command(c, element)
		}
	})
	listen(document, "change", func(e safejs.Value) {
		if c, element, ok := commandOf(e); ok {
			c.Settled = true
			a.word = element
			a.command(c, element)
		}
	})
}

// sync moves the focus to the new element of the control that was used last. Choosing an option moves its control into
// the sentence, and removing it moves the control back.
func (a *controls) sync() {
	old, now := a.word, get(global("document"), "activeElement")
	if field := call(global("document"), "querySelector", "[data-do="+input.NumberField+"]"); exists(old) &&
		exists(field) && text(old, "dataset", "do") == "option" { // another number is to be typed
		a.word = field
		call(field, "select")
		return
	}
	if !exists(old) || truth(old, "isConnected") && now.Equal(old) {
		return
	}
	a.word = safejs.Value{}
	if !truth(old, "isConnected") && text(now, "tagName") == "BODY" {
		do := text(old, "dataset", "do")
		if do == input.NumberField { // the list has the number now
			do = "option"
		}
		selector := "[data-do=" + do + "]"
		if arg := text(old, "dataset", "arg"); arg != "" {
			selector += "[data-arg=" + arg + "]"
		}
		e := call(global("document"), "querySelector", selector)
		if !exists(e) {
			e = call(global("document"), "querySelector", "[data-do=more]")
		}
		if exists(e) {
			call(e, "focus", map[string]any{"preventScroll": true})
		}
	}
}

// commandOf returns the command of the element that an event is about.
func commandOf(event safejs.Value) (c input.Command, element safejs.Value, ok bool) {
	target := get(event, "target")
	if !exists(get(target, "closest")) {
		return c, element, false
	}
	element = call(target, "closest", "[data-do]")
	if !exists(element) {
		return c, element, false
	}
	data := get(element, "dataset")
	kind, _ := strconv.Atoi(text(data, "kind"))
	index, _ := strconv.Atoi(text(data, "index"))
	return input.Command{Do: text(data, "do"), Arg: text(data, "arg"), Value: text(element, "value"), Kind: kind,
		Index: index}, element, true
}

// command carries out a command that needs the browser, or updates the state by its message.
func (a *controls) command(c input.Command, element safejs.Value) {
	switch c.Do {
	case "file":
		if c.Settled && !a.view { // a host may learn what is open in its view
			a.files.read(get(element, "files"))
			set(element, "value", "") // so that the same file can be opened again
		}
	case "skip":
		call(call(global("document"), "getElementById", "stage"), "focus")
	case "play":
		a.Later(func() { a.Do(a.playStep()) })
	case "focus":
		call(call(global("document"), "querySelector", "[data-testid="+c.Arg+"]"), "focus")
	case "layers-csv":
		a.Later(func() { a.saver.offer(export.Layers(a.s, a.page.Address(a.s, true))) })
	case "copy-code":
		code := call(global("document"), "getElementById", ui.RunCode)
		clip(text(code, "textContent"), func() { a.Post(state.Copied{Say: "Code copied."}) },
			func() { call(code, "focus") })
	case "flame-svg":
		a.Later(func() { a.saver.offer(snapshot.FlameFile(a.s)) })
	case "passes-svg":
		a.Later(func() { a.saver.offer(step.PassesFile(a.s)) })
	case "show-buffer":
		a.Later(func() {
			a.Do(c.Message(a.s))
			call(call(global("document"), "querySelector", "[data-testid=map]"), "scrollIntoView",
				map[string]any{"block": "center"})
		})
	case "copy-line":
		a.Later(func() { a.saver.copyLine(c.Arg) })
	default:
		a.Later(func() { a.Do(c.Message(a.s)) })
	}
}
