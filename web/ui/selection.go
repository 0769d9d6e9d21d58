package ui

import (
	"fmt"
	"strconv"

	"memtide/web/draw"
	"memtide/web/format"
	"memtide/web/state"
)

// Selection says what is selected and why it waited.
type Selection struct{ S *state.State }

// None says that there is no wait to go to.
func (c *Selection) None() bool {
	p := c.S.Visible()
	return p == nil || len(p.Gaps()) == 0
}

// Title counts the waits.
func (c *Selection) Title() string {
	p := c.S.Visible()
	if p == nil {
		return "Selection"
	}
	gaps := p.Gaps()
	if i := c.S.Wait(); i >= 0 && i < len(gaps) {
		return fmt.Sprintf("Wait %d of %d: %s", i+1, len(gaps), format.Duration(gaps[i].End-gaps[i].Start))
	}
	if len(gaps) == 0 && c.S.View.Selected.Kind == draw.Nothing {
		return "No waiting"
	}
	return "Selection"
}

// Sentence says what is selected, when, and why it waited.
func (c *Selection) Sentence() string {
	p := c.S.Visible()
	switch {
	case p == nil:
		return ""
	case c.S.View.Selected.Kind != draw.Nothing:
		return p.Model().Sentence(c.S.View.Selected)
	case len(p.Gaps()) == 0:
		return "The device computes from the first operation to the last. Click an operation to read about it."
	}
	return "Click an operation or a wait to read about it."
}

// HasCause says whether something let the selected thing start.
func (c *Selection) HasCause() bool {
	p := c.S.Visible()
	return p != nil && p.Model().Cause(c.S.View.Selected).Kind != draw.Nothing
}

// ChainPressed is for aria-pressed.
func (c *Selection) ChainPressed() string { return strconv.FormatBool(c.S.View.Chain) }

// ChainSentence says what the critical chain consists of, while it is shown.
func (c *Selection) ChainSentence() string {
	p := c.S.Visible()
	if p == nil || !c.S.View.Chain {
		return ""
	}
	return p.Model().ChainSentence()
}
