package ui

import (
	"strconv"

	"github.com/hack-pad/safejs"

	"memtide/web/state"
)

// listenControls turns what is done with elements into messages: one set of
// listeners for the whole page, which ask the element what it does.
func (a *app) listenControls() {
	document := global("document")
	listen(document, "click", func(e safejs.Value) {
		c, element, ok := commandOf(e)
		if tag := text(element, "tagName"); ok && tag != "INPUT" && tag != "SELECT" {
			c.Settled = true
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
			a.command(c, element)
		}
	})
}

// commandOf is the command of the element that an event is about.
func commandOf(event safejs.Value) (c Command, element safejs.Value, ok bool) {
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
	return Command{Do: text(data, "do"), Arg: text(data, "arg"), Value: text(element, "value"), Kind: kind, Index: index}, element, true
}

// command carries out what needs the browser; the rest is for the state.
func (a *app) command(c Command, element safejs.Value) {
	switch c.Do {
	case "file":
		if c.Settled && !a.embed.on { // what is open in a view may be known to its host
			a.readFiles(get(element, "files"))
			set(element, "value", "") // so that the same file can be opened again
		}
		return
	case "zoom-in":
		a.later(func() { a.do(zoomed(a.s, 0.5, 0.5)) })
		return
	case "layers-csv":
		a.later(a.saveLayers)
		return
	case "zoom-out":
		a.later(func() { a.do(zoomed(a.s, 2, 0.5)) })
		return
	}
	a.later(func() { a.do(c.Message(a.s)) })
}

// listenKeys turns keys into messages, unless a control has the focus.
func (a *app) listenKeys() {
	listen(global("document"), "keydown", func(e safejs.Value) {
		if truth(e, "altKey") || truth(e, "defaultPrevented") {
			return
		}
		k := Key{Code: text(e, "code"), Key: text(e, "key"), Shift: truth(e, "shiftKey")}
		tag := text(e, "target", "tagName")
		if truth(e, "ctrlKey") || truth(e, "metaKey") {
			if !a.embed.on { // there is nothing to undo, and what is saved or opened is the page around the view
				a.chord(k, e)
			}
			return
		}
		if c, element, ok := commandOf(e); ok && c.Do == "find" {
			a.findKey(k, c, element)
			return
		} else if ok && c.Do == "picker-find" && a.pickerKey(k, e) {
			return
		}
		if a.s.View.NoShortcuts && k.typed() {
			return
		}
		if k.Key == "/" && tag != "INPUT" && tag != "SELECT" && !a.embed.on {
			call(e, "preventDefault")
			call(call(global("document"), "querySelector", "[data-do=find]"), "focus")
			return
		}
		if k.Code != "Escape" && (tag == "INPUT" || tag == "SELECT" || tag == "TEXTAREA") {
			return
		}
		if tag == "BUTTON" && (k.Key == "Enter" || k.Key == " ") {
			return
		}
		inStage := exists(call(get(e, "target"), "closest", "#stage"))
		action, ok := keyOf(k)
		// Arrows scroll the page unless the pictures have the focus.
		if !ok || (action.step != 0 || action.lane != 0) && !inStage || a.embed.on && !action.looks(&a.s.View.Frame) {
			return
		}
		call(e, "preventDefault")
		a.later(func() {
			a.do(action.act(a.s))
			a.say((&Selection{S: a.s}).Sentence())
		})
	})
}

// findKey handles the keys of the field that finds layers: the next one, or back
// to the pictures.
func (a *app) findKey(k Key, c Command, element safejs.Value) {
	switch k.Key {
	case "Enter":
		c.Do = "find-next"
		a.command(c, element)
	case "Escape":
		set(element, "value", "")
		call(call(global("document"), "getElementById", "stage"), "focus", map[string]any{"preventScroll": true})
	}
}

// listenFiles takes files that are dropped or pasted anywhere. A view takes none:
// its host may ask what is open.
func (a *app) listenFiles() {
	document := global("document")
	root := get(document, "documentElement", "dataset")
	depth := 0
	hasFiles := func(e safejs.Value) bool {
		types := get(e, "dataTransfer", "types")
		return exists(types) && truth(call(types, "includes", "Files"))
	}
	show := func(on bool) {
		if on {
			set(root, "drop", "true")
		} else {
			set(root, "drop", "false")
			depth = 0
		}
	}
	listen(document, "dragenter", func(e safejs.Value) {
		if hasFiles(e) {
			depth++
			show(true)
		}
	})
	listen(document, "dragleave", func(e safejs.Value) {
		if depth--; depth <= 0 {
			show(false)
		}
	})
	listen(document, "dragover", func(e safejs.Value) {
		if hasFiles(e) {
			call(e, "preventDefault")
		}
	})
	listen(document, "drop", func(e safejs.Value) {
		show(false)
		if hasFiles(e) {
			call(e, "preventDefault")
			a.readFiles(get(e, "dataTransfer", "files"))
		}
	})
	listen(document, "paste", func(e safejs.Value) {
		data := get(e, "clipboardData")
		if tag := text(e, "target", "tagName"); tag == "INPUT" || !exists(data) {
			return
		}
		if number(data, "files", "length") > 0 {
			a.readFiles(get(data, "files"))
			return
		}
		s, err := call(data, "getData", "text").String()
		if err == nil && s != "" {
			a.later(func() { a.openFile("pasted text", []byte(s)) })
		}
	})
}

// largeFile is the size in bytes above which a file is read by a worker: copying
// it through the page would stop the page for a moment.
const largeFile = 4 << 20

// readFiles opens the first of some files, or compares the first two.
func (a *app) readFiles(files safejs.Value) {
	if number(files, "length") >= 2 {
		a.readBoth(get(files, "0"), get(files, "1"), int(number(files, "length")))
		return
	}
	file := get(files, "0")
	if !exists(file) {
		return
	}
	name := text(file, "name")
	if number(file, "size") > largeFile {
		a.openLarge(name, file)
		return
	}
	then(call(file, "arrayBuffer"), func(buffer safejs.Value) {
		content := bytesOf(buffer)
		a.later(func() { a.openFile(name, content) })
	}, func(reason safejs.Value) {
		a.post(state.BadLink{Text: name + " cannot be read: " + text(reason, "message")})
	})
}

// listenTheme follows the system's colours.
func (a *app) listenTheme() {
	for _, query := range []string{"(prefers-color-scheme: dark)", "(forced-colors: active)"} {
		if m := call(safejs.Global(), "matchMedia", query); exists(m) {
			listen(m, "change", func(safejs.Value) { a.later(a.recolour) })
		}
	}
	a.recolour()
}

// recolour has everything that is painted by hand painted again.
func (a *app) recolour() {
	a.pictures.recolour()
	a.curve.dirty = true
	a.replies.settle()
}

const themeKey = "memtide-theme"

// savedTheme is what was chosen before; storage may be forbidden.
func (a *app) savedTheme() string {
	theme := text(call(global("localStorage"), "getItem", themeKey))
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	a.applyTheme(theme)
	return theme
}

func (a *app) saveTheme(theme string) {
	call(global("localStorage"), "setItem", themeKey, theme)
	a.applyTheme(theme)
	a.recolour()
}

func (a *app) applyTheme(theme string) {
	root := global("document", "documentElement")
	if theme == "" {
		call(root, "removeAttribute", "data-theme")
	} else {
		call(root, "setAttribute", "data-theme", theme)
	}
}
