package ui

import (
	"fmt"

	"memtide/web/format"
	"memtide/web/state"
)

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
