package answer

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
)

// The texts of what no plan can help.
const (
	wordsStates = "weights, gradients and optimizer alone need %s; %s has %s" // states, cards, memory
	wordsHas    = "%s has %s"                                                 // cards, memory
	wordsNoSwap = "Plans move and recompute activations; block swap makes the frozen weights smaller. With all of them the step needs %s."
	wordsNoPlan = "No plan makes these smaller: they move and recompute activations. With them the step needs %s."
)

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

// statesAlone says that the states of a step are too much for the memory of a card, of which CUDA takes some.
func statesAlone(states, context, memory engine.Bytes, card string) string {
	text := fmt.Sprintf(wordsStates, format.Bytes(states), card, format.Bytes(memory))
	if states > memory {
		return text + "."
	}
	return text + ", " + format.Bytes(context) + " of it for CUDA."
}

// exceeded returns the chosen card if weights, gradients and optimizer alone need more than it has, or nil.
func exceeded(s *state.State) *card.Card {
	d := state.DeviceOf(s.Choice)
	if d == nil || s.Network == nil || s.Network.Totals.States+s.Choice.Context() <= d.Memory {
		return nil
	}
	return d
}

// beyond says what the card has if the smallest budget that is large enough exceeds it, or returns "".
func beyond(s *state.State) string {
	d := state.DeviceOf(s.Choice)
	if d == nil || s.OverBudget == nil || s.OverBudget.Smallest <= d.Memory || exceeded(s) != nil {
		return ""
	}
	return " " + format.Capital(fmt.Sprintf(wordsHas, known.Card(s.Choice, s.Network, d), format.Bytes(d.Memory))) + "."
}

// noPlan says why no plan helps a step with args if its states alone are too much.
func noPlan(args engine.Args) string {
	if args != nil && ask.Value(args, "lora") != "0" {
		return wordsNoSwap
	}
	return wordsNoPlan
}
