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
	if a := c.S.Alert; a != nil {
		return a.Text
	}
	if m := c.S.Misfit; m != nil {
		text := fmt.Sprintf("Cannot run in %s.", format.Bytes(m.Budget))
		if m.Smallest > 0 {
			text += fmt.Sprintf(" Smallest possible: %s.", format.BytesUp(m.Smallest))
		}
		return text
	}
	return ""
}

// Lines are details.
func (c *Notice) Lines() []string {
	if a := c.S.Alert; a != nil {
		return a.Lines
	}
	if m := c.S.Misfit; m != nil && c.S.Shown != nil && c.S.Shown.Network == c.S.Network {
		return []string{fmt.Sprintf("The pictures still show %s.", format.Bytes(c.S.Shown.Solved.Budget))}
	}
	return nil
}

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string {
	if a := c.S.Alert; a != nil {
		return a.Action
	}
	if m := c.S.Misfit; m != nil && m.Smallest > 0 {
		return "Set " + format.BytesUp(m.Smallest)
	}
	return ""
}
