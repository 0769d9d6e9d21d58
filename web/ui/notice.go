package ui

import (
	"fmt"

	"memtide/web/format"
	"memtide/web/state"
)

// Notice says what went wrong, and offers the way on.
type Notice struct{ S *state.State }

// alert is what the notice tells; nothing if nothing is wrong, or if Findings tells it.
func (c *Notice) alert() state.Alert {
	if a := c.S.Alert; a != nil && a.File == "" {
		return *a
	}
	return state.Alert{}
}

// Text is the headline; empty if nothing is wrong.
func (c *Notice) Text() string { return c.alert().Text }

// Lines are details.
func (c *Notice) Lines() []string { return c.alert().Lines }

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string { return c.alert().Action }

// Problem says in a sentence or two what keeps the page from what was asked for, for
// where there is one line; empty if nothing does.
func Problem(s *state.State) string {
	switch {
	case s.OverBudget != nil:
		a := Answer{S: s}
		return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget)) + a.tooSmall(s.OverBudget)
	case s.Alert != nil:
		return s.Alert.Text
	}
	return ""
}
