// Package timeline is one training step to look at: its pictures on a time axis, what is selected in words, and
// tables of operations and layers.
package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vugu/vugu"

	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/mount"
)

// Pictures holds the hosts of the pictures that share a time axis.
type Pictures struct {
	S     *state.State
	Hosts mount.Hosts
}

// Height returns the style of a host: pictures keep their height, so that nothing
// below them jumps.
func (c *Pictures) Height(name string) string {
	m := mount.ByName[name]
	return fmt.Sprintf("--height:%gpx;--slim:%gpx", m.Height(c.S, mount.Wide), m.Height(c.S, mount.Slim))
}

// Key says what the colours mean, as items of a list.
func (c *Pictures) Key() vugu.HTML {
	var models []*draw.Model
	for _, second := range []bool{false, true} {
		if p := (mount.Mount{Second: second}).Shown(c.S); p != nil {
			models = append(models, p.Model())
		}
	}
	var b strings.Builder
	for _, e := range draw.Key(models...) {
		fmt.Fprintf(&b, `<li><i class="sw %s"></i>%s</li>`, e.Class, e.Words)
	}
	return vugu.HTML(b.String())
}

// Label returns the pictures' accessible name.
func (c *Pictures) Label() string {
	p := c.S.Visible()
	if p == nil {
		return "Timeline"
	}
	return "Timeline of one training step. " + p.Model().Summary(p.Solved.Budget)
}

// Hint tells what can be dragged.
func (c *Pictures) Hint() string {
	if c.S.Shown == nil {
		return ""
	}
	if input.Visible(c.S).Whole() {
		return "Drag the red line to change what the plan may use. Drag across the pictures to zoom in; so does the wheel with Ctrl."
	}
	return "Drag the red line to change what the plan may use. Drag the pictures to move, with Shift to zoom in; 0 shows the whole step."
}

// TableText returns the button's.
func (c *Pictures) TableText() string {
	if c.S.View.Table {
		return "Hide table"
	}
	return "Table"
}

// NoLife reports whether the row of a value's life takes no room: it is of graphs, and
// a comparison has none.
func (c *Pictures) NoLife(second bool) bool {
	p := c.S.Visible()
	return second || c.S.Compare != nil || p == nil || !p.Model().IsGraph()
}

// Overlaid reports whether one picture has the memory of both sides: A filled, B as a
// line. Views in other pages, where nothing can be pressed, show both.
func (c *Pictures) Overlaid() bool { return mount.Overlaid(c.S) }

// Absent reports whether the pictures of a side take no room: those of B without a
// comparison, those of a side that has no schedule.
func (c *Pictures) Absent(second bool) bool {
	s := c.S
	if s.Compare == nil {
		return second
	}
	return s.Compare.Other.Failed != "" && !mount.Mount{Second: second}.Controlled(s)
}

// The words of playing.
const (
	wordsPlay = "Play the step"
	wordsStop = "Stop"
)

// NoPlay reports whether there is nothing to be played.
func (c *Pictures) NoPlay() bool { return c.S.Memory != nil || c.S.View.Frame.Embed }

// Playing is for aria-pressed.
func (c *Pictures) Playing() string { return strconv.FormatBool(c.S.View.Play.On) }

// PlayTitle says how to do it without the button.
func (c *Pictures) PlayTitle() string {
	return "A playhead crosses the pictures (Space, while they have the focus). Drag its handle to move through the step."
}

// PlayButton returns what the button shows.
func (c *Pictures) PlayButton() vugu.HTML {
	words, sign := wordsPlay, "M9 7v12l10-6z"
	if c.S.View.Play.On {
		words, sign = wordsStop, "M8 8h3v10h-3zM15 8h3v10h-3z"
	}
	return vugu.HTML(`<svg viewBox="0 0 26 26" width="26" height="26" aria-hidden="true"><circle cx="13" cy="13" r="12"></circle><path d="` + sign + `"></path></svg><span>` + words + `</span>`)
}
