// Package timeline shows one training step: its pictures on a time axis, the selection in words, and
// tables of operations and layers.
package timeline

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/vugu/vugu"
	"memtide/web/display"
	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tell"
	"memtide/web/ui/input"
	"memtide/web/ui/mount"
)

// Selection is the panel that explains the selection: why an operation waited, or why the peak is where it is.
type Selection struct{ S *state.State }

// None reports whether there are no waits.
func (c *Selection) None() bool {
	p := c.S.Visible()
	return p == nil || len(p.Gaps()) == 0
}

// Count returns the number of waits, with the number of the selected one.
func (c *Selection) Count() string {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	n := len(p.Gaps())
	if i := c.S.View.Wait(); i >= 0 && i < n {
		return fmt.Sprintf("%s of %s", format.Count(i+1), format.Count(n))
	}
	return format.CountOf(n, "wait")
}

// Title returns the question that the explanation answers.
func (c *Selection) Title() string {
	p := c.S.Visible()
	if p == nil {
		return "Why"
	}
	return p.Index().Question(c.S.View.Selected)
}

// lensWidth is the width of the lens before the page scales it, in CSS pixels.
const lensWidth = 324

// Lens returns a picture of the selected wait, or "" if no wait is selected.
func (c *Selection) Lens() vugu.HTML {
	p := c.S.Visible()
	if p == nil || c.S.View.Wait() < 0 {
		return ""
	}
	var scene draw.Scene
	if !p.Index().Lens(&scene, c.S.View.Selected, lensWidth) {
		return ""
	}
	var b strings.Builder
	if err := scene.WriteSVG(&b, display.SVGOptions{ID: "lens"}); err != nil {
		return ""
	}
	return vugu.HTML(b.String())
}

// HTML returns the explanation: sentences in the colours of what they are about, escaped.
func (c *Selection) HTML() vugu.HTML {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	var b strings.Builder
	m, t := p.Index(), c.S.View.Selected
	b.WriteString(`<ol class="because">`)
	for _, s := range m.Explain(t) {
		fmt.Fprintf(&b, `<li class="by-%s">%s<b>%s</b>%s</li>`, s.Role, html.EscapeString(s.Before),
			html.EscapeString(s.Name), html.EscapeString(s.After))
	}
	b.WriteString("</ol>")
	return vugu.HTML(b.String())
}

// Sentence describes the selection, or the peak if nothing is selected, for screen readers.
func (c *Selection) Sentence() string {
	p := c.S.Visible()
	switch {
	case p == nil:
		return ""
	case c.S.View.Selected.Kind != lookup.Nothing:
		return p.Index().Sentence(c.S.View.Selected)
	}
	return tell.Sentences(p.Index().Explain(lookup.Target{}))
}

// HasCause reports whether the selection waited for something.
func (c *Selection) HasCause() bool {
	p := c.S.Visible()
	return p != nil && p.Index().Cause(c.S.View.Selected).Kind != lookup.Nothing
}

// ChainSentence describes the critical chain, or returns "" while it is not shown.
func (c *Selection) ChainSentence() string {
	p := c.S.Visible()
	if p == nil || !c.S.View.Chain {
		return ""
	}
	return p.Index().ChainSentence()
}

// TipLines returns the lines of the tooltip for a target: a sentence about it, or over the memory the values in use at
// time at.
func TipLines(m *draw.Index, target lookup.Target, at time.Duration) []string {
	switch target.Kind {
	case lookup.Nothing, lookup.OnPlayhead:
		return nil
	case lookup.OnBudget:
		return []string{"Drag to change what the plan may use"}
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

// tipValues is the largest number of values in the tooltip over the memory.
const tipValues = 4

// TipOfPlaces returns the tooltip for a target in the pictures of addresses. at is draw.NoCursor in the map.
func TipOfPlaces(m *draw.Places, target lookup.Target, at time.Duration) string {
	if s := m.Sentence(target); s != "" || at == draw.NoCursor {
		return s
	}
	return m.MapSentence(at)
}

// Pictures is the section with the hosts of the pictures on the time axis.
type Pictures struct {
	S     *state.State
	Hosts mount.Hosts
}

// Height returns the style of a host. Pictures keep their heights, so that nothing below them moves.
func (c *Pictures) Height(name string) string {
	m := mount.ByName[name]
	return fmt.Sprintf("--height:%gpx;--slim:%gpx", m.Height(c.S, mount.Wide), m.Height(c.S, mount.Slim))
}

// Key returns the legend of the colours, as items of a list.
func (c *Pictures) Key() vugu.HTML {
	var models []*draw.Index
	for _, second := range []bool{false, true} {
		if p := (mount.Mount{Second: second}).Shown(c.S); p != nil {
			models = append(models, p.Index())
		}
	}
	var b strings.Builder
	for _, e := range draw.Key(models...) {
		fmt.Fprintf(&b, `<li><i class="sw %s"></i>%s</li>`, e.Class, e.Words)
	}
	return vugu.HTML(b.String())
}

// Label returns the accessible name of the pictures.
func (c *Pictures) Label() string {
	p := c.S.Visible()
	if p == nil {
		return "Timeline"
	}
	return "Timeline of one training step. " + p.Index().Summary(p.Solved.Budget)
}

// Hint says what can be dragged.
func (c *Pictures) Hint() string {
	if c.S.Shown == nil {
		return ""
	}
	if input.Visible(c.S).Whole() {
		return "Drag the red line to change what the plan may use. Drag across the pictures to zoom in; so does the wheel with Ctrl."
	}
	return "Drag the red line to change what the plan may use. Drag the pictures to move, with Shift to zoom in; 0 shows the whole step."
}

// TableText returns the text of the button that shows or hides the table.
func (c *Pictures) TableText() string {
	if c.S.View.Table {
		return "Hide table"
	}
	return "Table"
}

// NoLife reports whether the picture of a value's life is hidden. Only graphs have it, and not in a comparison.
func (c *Pictures) NoLife(second bool) bool {
	p := c.S.Visible()
	return second || c.S.Compare != nil || p == nil || !p.Index().IsGraph()
}

// Absent reports whether the pictures of a side are hidden: those of B without a comparison, and those of a side that
// has no schedule.
func (c *Pictures) Absent(second bool) bool {
	s := c.S
	if s.Compare == nil {
		return second
	}
	return s.Compare.Other.Failed != "" && !mount.Mount{Second: second}.Controlled(s)
}

// NoPlay reports whether the step cannot be played.
func (c *Pictures) NoPlay() bool { return c.S.Memory != nil || c.S.View.Frame.Embed }

// Playing returns aria-pressed of the button that plays the step.
func (c *Pictures) Playing() string { return strconv.FormatBool(c.S.View.Play.On) }

// PlayButton returns the content of that button.
func (c *Pictures) PlayButton() vugu.HTML {
	words, sign := "Play the step", "M9 7v12l10-6z"
	if c.S.View.Play.On {
		words, sign = "Stop", "M8 8h3v10h-3zM15 8h3v10h-3z"
	}
	return vugu.HTML(`<svg viewBox="0 0 26 26" width="26" height="26" aria-hidden="true"><circle cx="13" cy="13" r="12"></circle><path d="` + sign + `"></path></svg><span>` + words + `</span>`)
}
