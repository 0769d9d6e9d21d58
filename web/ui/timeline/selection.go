package timeline

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
)

// Selection explains what is selected: why it waited, or why the peak is where it is.
type Selection struct{ S *state.State }

// None reports whether there is no wait to go to.
func (c *Selection) None() bool {
	p := c.S.Visible()
	return p == nil || len(p.Gaps()) == 0
}

// Count says which of the waits it is.
func (c *Selection) Count() string {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	n := len(p.Gaps())
	if i := c.S.View.Wait(); i >= 0 && i < n {
		return fmt.Sprintf("%s of %s", format.Count(i+1), format.Count(n))
	}
	if n == 1 {
		return "1 wait"
	}
	return format.Count(n) + " waits"
}

// Title returns the question that is answered.
func (c *Selection) Title() string {
	p := c.S.Visible()
	if p == nil {
		return "Why"
	}
	return p.Model().Question(c.S.View.Selected)
}

// lensWidth is how wide the lens is laid out; the page scales it.
const lensWidth = 324

// Lens returns the picture of the selected wait; empty if there is none.
func (c *Selection) Lens() vugu.HTML {
	p := c.S.Visible()
	if p == nil || c.S.View.Wait() < 0 {
		return ""
	}
	var scene draw.Scene
	if !p.Model().Lens(&scene, c.S.View.Selected, lensWidth) {
		return ""
	}
	var b strings.Builder
	if err := scene.WriteSVG(&b, display.SVGOptions{ID: "lens"}); err != nil {
		return ""
	}
	return vugu.HTML(b.String())
}

// HTML returns the explanation: sentences with the colours of what they are about. Names are escaped.
func (c *Selection) HTML() vugu.HTML {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	var b strings.Builder
	m, t := p.Model(), c.S.View.Selected
	b.WriteString(`<ol class="because">`)
	for _, s := range m.Explain(t) {
		fmt.Fprintf(&b, `<li class="by-%s">%s<b>%s</b>%s</li>`, s.Role, html.EscapeString(s.Before),
			html.EscapeString(s.Name), html.EscapeString(s.After))
	}
	b.WriteString("</ol>")
	return vugu.HTML(b.String())
}

// Sentence returns what is told of the selection where nothing can be seen.
func (c *Selection) Sentence() string {
	p := c.S.Visible()
	switch {
	case p == nil:
		return ""
	case c.S.View.Selected.Kind != lookup.Nothing:
		return p.Model().Sentence(c.S.View.Selected)
	}
	var parts []string
	for _, s := range p.Model().Explain(lookup.Target{}) {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, " ")
}

// HasCause reports whether something let the selected thing start.
func (c *Selection) HasCause() bool {
	p := c.S.Visible()
	return p != nil && p.Model().Cause(c.S.View.Selected).Kind != lookup.Nothing
}

// ChainSentence says what the critical chain consists of, while it is shown.
func (c *Selection) ChainSentence() string {
	p := c.S.Visible()
	if p == nil || !c.S.View.Chain {
		return ""
	}
	return p.Model().ChainSentence()
}

// TipLines say what is under the pointer: the thing itself, or over the memory
// what it holds at that moment.
func TipLines(m *draw.Model, target lookup.Target, at time.Duration) []string {
	switch target.Kind {
	case lookup.Nothing:
		return nil
	case lookup.OnBudget:
		return []string{"Drag to change what the plan may use"}
	case lookup.OnPlayhead:
		return nil
	case lookup.OnBand:
		held := m.HeldAt(at, tipValues)
		lines := []string{fmt.Sprintf("%s in use at %s", format.Bytes(held.Total), format.Moment(at, m.Makespan()))}
		for _, l := range held.Lives {
			line := l.Name + "  " + format.Bytes(l.Bytes)
			if l.Stage != "" {
				line += "  " + l.Stage
			}
			lines = append(lines, line)
		}
		if held.Others > 0 {
			lines = append(lines, fmt.Sprintf("and %d more, %s", held.Others, format.Bytes(held.Rest)))
		}
		return lines
	}
	return []string{m.Sentence(target)}
}

// tipValues is how many of the values in memory the tooltip lists.
const tipValues = 4

// TipOfPlaces says what is under the pointer in the pictures of addresses.
func TipOfPlaces(m *draw.Places, pic draw.Picture, target lookup.Target, at time.Duration) string {
	if s := m.Sentence(target); s != "" {
		return s
	}
	if pic == draw.AddressMap || at < 0 {
		return ""
	}
	return m.MapSentence(at)
}
