package ui

import (
	"fmt"

	"memtide/web/format"
	"memtide/web/state"
)

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// Text is the headline; empty if nothing is wrong.
func (c *Notice) Text() string {
	if m := c.S.Misfit; m != nil {
		text := fmt.Sprintf("Cannot run in %s.", format.Bytes(m.Budget))
		if m.Smallest > 0 {
			text += fmt.Sprintf(" Smallest possible: %s.", format.BytesUp(m.Smallest))
		}
		return text
	}
	if a := c.S.Alert; a != nil {
		return a.Text
	}
	return ""
}

// Lines are details.
func (c *Notice) Lines() (lines []string) {
	if c.S.Misfit != nil && c.S.Shown != nil {
		lines = append(lines, fmt.Sprintf("The pictures show %s.", format.Bytes(c.S.Shown.Solved.Budget)))
	}
	if a := c.S.Alert; a != nil {
		if c.S.Misfit != nil {
			lines = append(lines, a.Text)
		}
		lines = append(lines, a.Lines...)
	}
	return lines
}

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string {
	if m := c.S.Misfit; m != nil {
		if m.Smallest > 0 {
			return "Set " + format.BytesUp(m.Smallest)
		}
		return ""
	}
	if a := c.S.Alert; a != nil {
		return a.Action
	}
	return ""
}
