package ui

import (
	"memtide/web/state"
)

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// alert returns what the notice tells; nothing if nothing is wrong, or if Findings tells it.
func (c *Notice) alert() state.Alert {
	if a := c.S.Alert; a != nil && a.File == "" {
		return *a
	}
	return state.Alert{}
}

// Text returns the headline, or the empty string if nothing is wrong.
func (c *Notice) Text() string { return c.alert().Text }

// Lines are details.
func (c *Notice) Lines() []string { return c.alert().Lines }

// Action returns the text of the button, or the empty string if there is none.
func (c *Notice) Action() string { return c.alert().Action }
