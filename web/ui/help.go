package ui

import (
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/state"
)

// Help lists the keys.
type Help struct{ S *state.State }

var keyTable = [][2]string{
	{"W S or + −", "zoom in, out"},
	{"A D or Shift ← →", "pan"},
	{"0", "show the whole step"},
	{"← →", "operation before, after"},
	{"↑ ↓", "lane above, below"},
	{"N P", "next, previous wait"},
	{"I", "jump to its cause"},
	{"Backspace", "back along the causes"},
	{"K", "show the critical chain"},
	{"[ ]", "budget down, up (Shift: ten steps)"},
	{"F", "zoom to the selection"},
	{"G", "go to the peak"},
	{"T", "table"},
	{"M", "choose a network (model)"},
	{"/", "find a layer"},
	{"C", "compare, or close"},
	{"X", "swap A and B"},
	{"1 … 6", "strategy: " + keyTitles()},
	{"Ctrl Z, Ctrl Shift Z", "undo, redo a decision"},
	{"Y", "copy the link"},
	{"?", "this help"},
	{"Esc", "close, deselect"},
}

// keyTitles are the strategies of the number keys.
func keyTitles() string {
	var out []string
	for _, name := range keyStrategies {
		out = append(out, strings.ToLower(strategyTitle(name)))
	}
	return strings.Join(out, ", ")
}

// Keys is the list of keys.
func (c *Help) Keys() vugu.HTML {
	var b strings.Builder
	for _, k := range keyTable {
		b.WriteString("<div><dt>" + k[0] + "</dt><dd>" + k[1] + "</dd></div>")
	}
	return vugu.HTML(b.String())
}
