package answer

import (
	"cmp"
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
	if exceeded(s) != nil || lacking(s) != nil {
		return Words[DoesNot]
	}
	return fmt.Sprintf(wordsTooSmall, format.Bytes(s.OverBudget.Budget))
}

// tooSmall returns a sentence about a budget that is too small, with the smallest one that is large enough if known.
func tooSmall(s *state.State) string {
	name := s.Choice.PlanName()
	if s.Choice.KeepsAll() {
		name = "Keeping everything"
	}
	if d := exceeded(s); d != nil {
		return statesAlone(s.Network.Totals.States, s.Choice.Context(), d.Memory, known.Card(s.Choice, s.Network, d))
	}
	if s.OverBudget.Smallest == 0 {
		return name + " finds nothing."
	}
	if d := lacking(s); d != nil {
		least := s.OverBudget.Smallest
		needs := format.Range(least+s.Choice.Context(), known.AtWorst(s.Choice, s.Network, least)) + " at least"
		if low, high, context := s.Kept(); s.Choice.KeepsAll() && high > 0 {
			needs = format.Range(low+context, high+context) // as it was played
		}
		return fmt.Sprintf("%s needs %s, %s.", name, needs, has(s, d))
	}
	return fmt.Sprintf("%s needs %s at least.", name, format.BytesUp(s.OverBudget.Smallest))
}

// lacking returns the chosen card if the choice needs more memory than it has, whatever the allocator holds, or nil.
// It returns nil if a person chose the budget, which the verdict is about then.
func lacking(s *state.State) *card.Card {
	d, m := state.DeviceOf(s.Choice), s.OverBudget
	if d == nil || m == nil || m.Smallest == 0 || !s.Choice.Roomy() {
		return nil
	}
	needs := m.Smallest + s.Choice.Context()
	if low, _, context := s.Kept(); s.Choice.KeepsAll() && low > 0 { // as it was played
		needs = low + context
	}
	if needs <= d.Memory {
		return nil
	}
	return d
}

// pending reports whether it is not known yet if keeping everything fits: its peak is above what plans may use, but not
// above the card, and it was not played yet.
func pending(s *state.State) bool {
	return s.OverBudget != nil && s.Preview == nil && s.Compare == nil && s.Choice.Roomy() && s.Unplayed() &&
		lacking(s) == nil && exceeded(s) == nil
}

// has says how much memory a card has, as "one RTX 4090 has 24 GiB".
func has(s *state.State, d *card.Card) string {
	return fmt.Sprintf(wordsHas, known.Card(s.Choice, s.Network, d), format.Bytes(d.Memory))
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

// way returns the name of the fastest policy that fits, or "" if none is known. With block swap one may fit though the
// states alone are too much for the card.
func way(s *state.State) string {
	fit := slices.DeleteFunc(s.Policies(), func(x state.Policy) bool { return x.Lacks > 0 || x.Apart })
	if len(fit) == 0 {
		return ""
	}
	return slices.MinFunc(fit, func(x, y state.Policy) int { return cmp.Compare(x.Time, y.Time) }).Names[0]
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

// beyond says what the card has if the smallest budget that is large enough exceeds it and the verdict does not say it,
// or returns "".
func beyond(s *state.State) string {
	d := state.DeviceOf(s.Choice)
	if d == nil || s.OverBudget == nil || s.OverBudget.Smallest <= d.Memory || exceeded(s) != nil || lacking(s) != nil {
		return ""
	}
	return " " + format.Capital(has(s, d)) + "."
}
