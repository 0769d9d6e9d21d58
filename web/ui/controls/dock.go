package controls

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/panel"
	"memtide/web/ui/plans"
)

// Dock is what is changed most: the plan and the memory budget. On a phone it
// stays within reach of the thumb.
type Dock struct {
	S        *state.State
	Starting bool
}

// Closed says that there is nothing to set a budget for yet.
func (c *Dock) Closed() bool { return c.S.Network == nil }

// BudgetSteps is the slider's last position.
func (c *Dock) BudgetSteps() int { return max(c.S.KnobRange().Steps(), 1) }

// BudgetPosition is the slider's position.
func (c *Dock) BudgetPosition() int { return c.S.KnobRange().Position(c.S.Budget()) }

// BudgetText is the number beside the slider, or what is being typed there.
func (c *Dock) BudgetText() string {
	if c.S.Draft.Field == "budget-text" {
		return c.S.Draft.Text
	}
	if c.Closed() {
		return ""
	}
	return format.Bytes(c.S.Budget())
}

// BudgetValueText is what the slider says of itself.
func (c *Dock) BudgetValueText() string {
	fits := "fits"
	if c.S.OverBudget != nil {
		fits = "does not fit"
	} else if c.S.Solving != nil {
		fits = "solving"
	}
	return format.Bytes(c.S.Budget()) + ", " + fits
}

// BudgetNote compares the budget with keeping everything.
func (c *Dock) BudgetNote() string {
	if c.Closed() || c.Starting {
		return "starting…"
	}
	all := c.S.Network.Totals.KeepAllPeak
	if c.S.Budget() >= all {
		return fmt.Sprintf("enough to keep everything (%s)", format.Bytes(all))
	}
	return fmt.Sprintf("%s of the %s that keep everything", format.Share(float64(c.S.Budget())/float64(all)), format.Bytes(all))
}

// Entry is a plan in the list, with its time in the present budget.
func (c *Dock) Entry(p *state.Plan) string {
	switch time, _ := plans.Result(c.S, p); {
	case time != "":
		return p.Name + " · " + time
	case p.Failure != nil:
		return p.Name + " · " + plans.Failure(p.Failure)
	}
	return p.Name
}

// StrategyDoc is the first sentence about the strategy.
func (c *Dock) StrategyDoc() string {
	s := engine.Lookup(c.S.Choice.Strategy)
	if s == nil {
		return ""
	}
	doc, _, _ := strings.Cut(s.Doc, "\n\n")
	return strings.Join(strings.Fields(doc), " ")
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
