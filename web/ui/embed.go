package ui

import (
	"slices"
	"strings"

	"memtide/web/format"
	"memtide/web/link"
	"memtide/web/state"
)

// Embed is the caption of a view in another page.
type Embed struct {
	S    *state.State
	Page *Page
}

// Title is what the view shows.
func (c *Embed) Title() string { return nameOf(c.S) }

// Line says budget and step time.
func (c *Embed) Line() string {
	p := c.S.Visible()
	if p == nil {
		if a := c.S.Alert; a != nil {
			return a.Text
		}
		return (&Results{S: c.S}).Work()
	}
	line := strategyTitle(p.Choice.Strategy) + " in " + format.Bytes(p.Solved.Budget) + ": " + format.Duration(p.Solved.Trace.Makespan) + " per step"
	if n := &(Notice{S: c.S}); n.Text() != "" {
		line = n.Text() + " " + line
	}
	if from := c.S.View.Frame.Opener; from != "" {
		line += " · opened by " + from
	}
	return line
}

// Address is the page with exactly what the view shows.
func (c *Embed) Address() string {
	if c.Page == nil || !c.S.View.Frame.Embed {
		return ""
	}
	return c.Page.Address(c.S, true)
}

// inserted is a fragment with other values for some keys. What belongs to a value
// that is replaced goes with it: the arguments of a strategy, the other source.
func inserted(fragment string, params map[string]string) string {
	gone := func(key string) bool {
		_, same := params[key]
		_, strategy := params["s"]
		_, preset := params["p"]
		_, data := params["d"]
		_, allocator := params["alloc"]
		return same || strategy && strings.HasPrefix(key, "s.") || allocator && strings.HasPrefix(key, "alloc.") ||
			(preset || data) && (key == "p" || key == "d" || key == "t" || key == "at" || key == "sel" || key == "title")
	}
	var out []string
	for _, pair := range strings.Split(fragment, "&") {
		if key, _, _ := strings.Cut(pair, "="); !gone(key) {
			out = append(out, pair)
		}
	}
	keys := make([]string, 0, len(params))
	for key := range params {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if params[key] != "" {
			out = append(out, key+"="+link.EscapeValue(params[key]))
		}
	}
	return strings.Join(out, "&")
}

// embedded is a link's message for a view that stays what it is: in another page,
// with or without a slider.
func embedded(f state.Frame, fragment string) (link.Link, state.Start, []string) {
	l, m, notes := follow(fragment)
	m.Frame.Embed, m.Frame.Control = f.Embed, f.Control
	if m.Frame.Show == nil {
		m.Frame.Show = f.Show
	}
	return l, m, notes
}
