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

// Keys is the list of keys.
func (c *Help) Keys() vugu.HTML {
	var b strings.Builder
	for _, k := range keyTable {
		b.WriteString("<div><dt>" + html.EscapeString(k.label(c.S.View.KeyLabels)) + "</dt><dd>" + k.does + "</dd></div>")
	}
	return vugu.HTML(b.String())
}
