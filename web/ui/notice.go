package ui

import "memtide/web/state"

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// alert is what the notice tells; nil if nothing is wrong, or if Findings tells it.
func (c *Notice) alert() *state.Alert {
	if a := c.S.Alert; a != nil && a.File == "" {
		return a
	}
	return nil
}

// Text is the headline; empty if nothing is wrong.
func (c *Notice) Text() string {
	if a := c.alert(); a != nil {
		return a.Text
	}
	return ""
}

// Lines are details.
func (c *Notice) Lines() []string {
	if a := c.alert(); a != nil {
		return a.Lines
	}
	return nil
}

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string {
	if a := c.alert(); a != nil {
		return a.Action
	}
	return ""
}
