package ui

import (
	"fmt"
	"strconv"

	"memtide/web/format"
	"memtide/web/state"
)

// Pictures holds the hosts of the three pictures that share a time axis.
type Pictures struct {
	S     *state.State
	Hosts Hosts
}

// Label is the pictures' accessible name.
func (c *Pictures) Label() string {
	p := c.S.Visible()
	if p == nil {
		return "Timeline"
	}
	return fmt.Sprintf("Timeline of one training step, %s", format.Duration(p.Solved.Trace.Makespan))
}

// Hint tells what can be dragged.
func (c *Pictures) Hint() string {
	if c.S.Shown == nil {
		return ""
	}
	return "Drag the red line to change the budget. Ctrl and the wheel zoom, dragging pans."
}

// TableOpen is for aria-expanded.
func (c *Pictures) TableOpen() string { return strconv.FormatBool(c.S.View.Table) }

// TableText is the button's.
func (c *Pictures) TableText() string {
	if c.S.View.Table {
		return "Hide table"
	}
	return "Table"
}
