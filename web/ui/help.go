package ui

import (
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/permalink"
	"memtide/web/state"
)

// Help lists the keys.
type Help struct {
	S    *state.State
	Page *permalink.Page
}

// keyRow are keys as they stand on a keyboard of the United States, and what they
// do. Keys that are known by their place have the names of the places, in the
// order of the first words.
type keyRow struct{ keys, does, places string }

var keyTable = []keyRow{
	{"W S or + −", "zoom in, out", "KeyW KeyS"},
	{"A D or Shift ← →", "pan", "KeyA KeyD"},
	{"0", "show the whole step", ""},
	{"← →", "operation before, after", ""},
	{"↑ ↓", "lane above, below", ""},
	{"N P", "next, previous wait", ""},
	{"I", "jump to its cause", ""},
	{"Backspace", "back along the causes", ""},
	{"K", "show the critical chain", ""},
	{"[ ]", "budget down, up (Shift: ten steps)", "BracketLeft BracketRight"},
	{"F", "zoom to the selection", ""},
	{"G", "go to the peak", ""},
	{"T", "table", ""},
	{"M", "choose a network (model)", ""},
	{"/", "find a layer", ""},
	{"C", "compare, or close", ""},
	{"X", "swap A and B", ""},
	{"1 … 6", "strategy: " + keyTitles(), ""},
	{"Ctrl Z, Ctrl Shift Z", "undo, redo a decision", ""},
	{"Y", "copy the link", ""},
	{"Ctrl S", "save what is shown as a picture", ""},
	{"Ctrl O", "open a file", ""},
	{"?", "this help", ""},
	{"Esc", "close, deselect", ""},
}

// keyTitles are the strategies of the number keys.
func keyTitles() string {
	var out []string
	for _, name := range keyStrategies {
		out = append(out, strings.ToLower(strategyTitle(name)))
	}
	return strings.Join(out, ", ")
}

// label is what the keys of a row are called on the keyboard in use.
func (r keyRow) label(labels map[string]string) string {
	words := strings.Fields(r.keys)
	for i, place := range strings.Fields(r.places) {
		if l := labels[place]; l != "" {
			words[i] = strings.ToUpper(l)
		}
	}
	return strings.Join(words, " ")
}

// Keys is the list of keys.
func (c *Help) Keys() vugu.HTML {
	var b strings.Builder
	for _, k := range keyTable {
		b.WriteString("<div><dt>" + html.EscapeString(k.label(c.S.View.KeyLabels)) + "</dt><dd>" + k.does + "</dd></div>")
	}
	return vugu.HTML(b.String())
}
