package ui

import (
	"html"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/input"
)

// Help lists the keys.
type Help struct {
	S    *state.State
	Page *permalink.Page
}

// Keys returns the list of keys.
func (c *Help) Keys() vugu.HTML {
	var b strings.Builder
	for _, k := range input.KeyRows() {
		b.WriteString("<div><dt>" + html.EscapeString(k.Label(c.S.View.KeyLabels)) + "</dt><dd>" + k.Does +
			"</dd></div>")
	}
	return vugu.HTML(b.String())
}
