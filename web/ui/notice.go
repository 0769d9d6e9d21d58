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
	if m := c.S.OverBudget; m != nil {
		text := fmt.Sprintf("Cannot run in %s.", format.Bytes(m.Budget))
		if m.Smallest > 0 {
			text += fmt.Sprintf(" %s needs %s at least.", strategyTitle(c.S.Choice.Strategy), format.BytesUp(m.Smallest))
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
	if c.S.Shown != nil && c.S.Stale() {
		lines = append(lines, "The pictures show "+c.shown()+".")
	}
	if a := c.S.Alert; a != nil {
		if c.S.OverBudget != nil {
			lines = append(lines, a.Text)
		}
		lines = append(lines, a.Lines...)
	}
	return lines
}

// shown says which schedule the pictures still show: its budget, and what else
// is not what was asked for.
func (c *Notice) shown() string {
	p := c.S.Shown
	what := format.Bytes(p.Solved.Budget)
	if p.Choice.Strategy != c.S.Choice.Strategy {
		what = strategyTitle(p.Choice.Strategy) + " in " + what
	}
	if p.Network != c.S.Network {
		what += " for " + p.Network.Profile.Name
	}
	return what
}

// Action is the text of the button; empty if there is none.
func (c *Notice) Action() string {
	if m := c.S.OverBudget; m != nil {
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
