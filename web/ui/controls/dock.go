package controls

import (
	"fmt"

	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/panel"
)

// Dock is the knob of the memory budget, which lies on the bar of the answer. On a phone it
// stays within reach of the thumb.
type Dock struct {
	S        *state.State
	Starting bool
}

// Closed reports whether there is nothing to set a budget for yet.
func (c *Dock) Closed() bool { return c.S.Network == nil }

// Value returns the budget, for where it stands beside the knob.
func (c *Dock) Value() string {
	if c.Closed() {
		return ""
	}
	return format.Bytes(c.S.Budget())
}

// BudgetValueText returns what the slider says of itself.
func (c *Dock) BudgetValueText() string {
	fits := "fits"
	if c.S.OverBudget != nil {
		fits = "does not fit"
	} else if c.S.Solving != nil {
		fits = "solving"
	}
	return format.Bytes(c.S.Budget()) + ", " + fits
}

// Place puts the slider over the bar of the answer, so that its knob stands where
// the bar shows the budget.
func (c *Dock) Place() string {
	p := c.S.Visible()
	if p == nil {
		return ""
	}
	whole, r := answer.Scale(c.S, p), c.S.KnobRange()
	r.From, r.To = min(r.From, c.S.Budget()), max(r.To, c.S.Budget()) // the knob is at an end
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("--from:%s;--span:%s", panel.Percent(r.From, whole), panel.Percent(r.To-r.From, whole))
}
