package answer

import (
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// refusal returns the words of the verdict if the budget is too small.
func refusal(s *state.State) string {
	if exceeded(s) != nil {
		return Words[DoesNot]
	}
	return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget))
}

// tooSmall returns a sentence about a budget that is too small, with the smallest one that is large enough if known.
func tooSmall(s *state.State) string {
	name := s.Choice.PlanName()
	if d := exceeded(s); d != nil {
		return statesAlone(s.Network.Totals.States, s.Choice.Context(), d.Memory, known.Card(s.Choice, s.Network, d))
	}
	if s.OverBudget.Smallest == 0 {
		return name + " finds nothing."
	}
	return fmt.Sprintf("%s needs %s at least.", name, format.BytesUp(s.OverBudget.Smallest))
}

// exceeded returns the chosen card if weights, gradients and optimizer alone need more than it has, or nil.
func exceeded(s *state.State) *card.Card {
	d := state.DeviceOf(s.Choice)
	if d == nil || s.Network == nil || s.Network.Totals.States+s.Choice.Context() <= d.Memory {
		return nil
	}
	return d
}

// Hopeless reports whether no plan and no policy makes the step fit, because weights, gradients and optimizer alone
// are too much for the card. Beside adapters that is known when the policies are: block swap makes weights smaller.
func Hopeless(s *state.State) bool {
	if s.OverBudget == nil || s.Preview != nil || s.Compare != nil || exceeded(s) == nil || !s.Choice.Roomy() ||
		s.Earlier() {
		return false
	}
	args, policies := known.StepArgs(s.Choice, s.Network), s.Policies()
	if policies == nil && noPlan(args) == wordsNoSwap {
		return false
	}
	return !slices.ContainsFunc(policies, func(x state.Policy) bool { return x.Lacks <= 0 && !x.Apart })
}

// statesOnly makes the bar one of weights, gradients and optimizer alone, as they are while the optimizer runs.
func (n *need) statesOnly(p *known.Picture) {
	if p.Index().Problem.Chain == nil {
		return
	}
	r := p.Index().Problem.Chain.Chain.Resident
	gradients, buffers := n.states-r.Weights-r.Optimizer, engine.Bytes(0)
	if n.states == r.Total() {
		gradients, buffers = r.Grads, r.Pinned
	}
	n.parts = []part{{"fix", "weights", r.Weights}, {"fix", "gradients", gradients},
		{"fix", "optimizer", r.Optimizer}, {"fix", "buffers", buffers}}
	n.low, n.high = n.states, n.states
}

// beyond says what the card has if the smallest budget that is large enough exceeds it, or returns "".
func beyond(s *state.State) string {
	d := state.DeviceOf(s.Choice)
	if d == nil || s.OverBudget == nil || s.OverBudget.Smallest <= d.Memory || exceeded(s) != nil {
		return ""
	}
	return " " + format.Capital(fmt.Sprintf(wordsHas, known.Card(s.Choice, s.Network, d), format.Bytes(d.Memory))) + "."
}
