package ui

import "memtide/web/state"

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// Text is the headline; empty if nothing is wrong.
func (c *Notice) Text() string {
	if a := c.S.Alert; a != nil {
		return a.Text
	}
	return ""
}

// Lines are details.
func (c *Notice) Lines() []string {
	if a := c.S.Alert; a != nil {
		return a.Lines
	}
	return nil
}

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string {
	if a := c.S.Alert; a != nil {
		return a.Action
	}
	return ""
}
