package controls

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/format"
	"memtide/web/state"
	"memtide/web/tradeoff"
)

// Planned reports whether the case is one of schedules: a network with a plan in a budget.
func (c *Case) Planned() bool { return c.S.Step == nil && c.S.Memory == nil }

// By reports whether the sentence names the plan: where keeping everything does not fit, or
// something else was chosen.
func (c *Case) By() bool {
	return c.Planned() && (c.S.Choice.Strategy != engine.KeepAll || c.S.OverBudget != nil)
}

// Limited reports whether the sentence names the budget: where somebody chose it.
func (c *Case) Limited() bool { return c.Planned() && !c.S.Choice.Roomy() }

// Plan is the word that names the plan.
type Plan struct {
	S        *state.State
	Starting bool
}

// Doc returns the first sentence about the strategy.
func (c *Plan) Doc() string { return planDoc(c.S) }

// planDoc returns the first sentence about the strategy that is chosen.
func planDoc(s *state.State) string {
	st := engine.Lookup(s.Choice.Strategy)
	if st == nil {
		return ""
	}
	doc, _, _ := strings.Cut(st.Doc, "\n\n")
	return strings.Join(strings.Fields(doc), " ")
}

// Limit is the word that names the budget.
type Limit struct {
	S        *state.State
	Starting bool
}

// Closed reports whether the budget cannot be set yet, because no network is open.
func (c *Limit) Closed() bool { return c.S.Network == nil }

// Text returns the budget, or what is being typed there.
func (c *Limit) Text() string {
	if d := c.S.Draft; d.Field == "budget-text" {
		return d.Text
	}
	if c.Closed() {
		return ""
	}
	return format.Bytes(c.S.Budget())
}

// Note compares the budget with keeping everything.
func (c *Limit) Note() string {
	if c.Closed() || c.Starting {
		return "starting…"
	}
	all := c.S.Network.Totals.KeepAllPeak
	if c.S.Budget() >= all {
		return fmt.Sprintf("enough to keep everything (%s)", format.Bytes(all))
	}
	return fmt.Sprintf("%s of the %s that keep everything", format.Share(float64(c.S.Budget())/float64(all)),
		format.Bytes(all))
}

// More is what the sentence can still say: the words that are not in it. A word stands in
// one of the two.
type More struct {
	S        *state.State
	Starting bool
}

// By reports whether the sentence names the plan.
func (c *More) By() bool { return (&Case{S: c.S}).By() }

// Limited reports whether the sentence names the budget.
func (c *More) Limited() bool { return (&Case{S: c.S}).Limited() }

// Options returns the options of the network that the sentence does not name.
func (c *More) Options() []Word { return options(c.S, false) }

// BandwidthSteps returns the slider's last position.
func (c *More) BandwidthSteps() int { return tradeoff.BandwidthSteps }

// BandwidthPosition returns the slider's position.
func (c *More) BandwidthPosition() int { return tradeoff.BandwidthPosition(c.S.Choice.ToDev) }

// BandwidthText returns the number beside the slider, or what is being typed there.
func (c *More) BandwidthText() string {
	if c.S.Draft.Field == "bandwidth-text" {
		return c.S.Draft.Text
	}
	return format.Rate(c.S.Choice.ToDev)
}

// DeviceNote says when the times and the link to the host are those of different
// devices.
func (c *More) DeviceNote() string {
	timed, _ := timedDevice(c.S)
	link := card.Lookup(c.S.Choice.Device)
	switch {
	case timed == nil:
		return ""
	case link == nil:
		return "Times are for " + timed.Name + "; the link to the host is your own."
	case link.ID != timed.ID:
		return "Times are for " + timed.Name + "; the link to the host is that of " + link.Name + "."
	}
	return ""
}
