package app

import (
	"strconv"

	"github.com/hack-pad/safejs"

	"memtide/web/state"
	"memtide/web/ui"
	"memtide/web/ui/input"
)

// controls carries out what is done with elements.
type controls struct {
	*core
	files *files
	saver *saver
	word  safejs.Value // what has just been used and has the focus
}

// listen turns what is done with elements into messages: one set of
// listeners for the whole page, which ask the element what it does.
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

// sync gives the focus back to what was used, if that moved: a word that is chosen goes into
// the sentence, and one that is taken away to what the sentence can still say.
func (a *controls) sync() {
	old, now := a.word, get(global("document"), "activeElement")
	if !exists(old) || truth(old, "isConnected") && now.Equal(old) {
		return
	}
	a.word = safejs.Value{}
	if !truth(old, "isConnected") && text(now, "tagName") == "BODY" {
		selector := "[data-do=" + text(old, "dataset", "do") + "]"
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

// hold has the explanation keep its height while answers below it are tried, so that
// these stay under the pointer, or lets it go.
func hold(on bool) {
	height := ""
	panel := call(global("document"), "querySelector", ".selection")
	if on {
		height = strconv.Itoa(int(number(panel, "offsetHeight"))) + "px"
	}
	set(get(panel, "style"), "minHeight", height)
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

// command carries out what needs the browser; the rest is for the state.
func (a *controls) command(c input.Command, element safejs.Value) {
	hold(c.Do == "try-answer")
	switch c.Do {
	case "file":
		if c.Settled && !a.view { // what is open in a view may be known to its host
			a.files.read(get(element, "files"))
			set(element, "value", "") // so that the same file can be opened again
		}
		return
	case "skip":
		call(call(global("document"), "getElementById", "stage"), "focus")
		return
	case "play":
		a.Later(func() { a.Do(a.playStep()) })
		return
	case "layers-csv":
		a.Later(a.saver.layers)
		return
	case "copy-code":
		code := call(global("document"), "getElementById", ui.RunCode)
		clip(text(code, "textContent"), func() { a.Post(state.Copied{Say: ui.CodeCopied}) },
			func() { call(code, "focus") })
		return
	case "flame-svg":
		a.Later(a.saver.flame)
		return
	case "passes-svg":
		a.Later(a.saver.passes)
		return
	case "show-buffer":
		a.Later(func() {
			a.Do(c.Message(a.s))
			call(call(global("document"), "querySelector", "[data-testid=map]"), "scrollIntoView",
				map[string]any{"block": "center"})
		})
		return
	case "copy-line":
		a.Later(func() { a.saver.copyLine(c.Arg) })
		return
	}
	a.Later(func() { a.Do(c.Message(a.s)) })
}
