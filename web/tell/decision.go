package tell

import (
	"memtide/engine/sim"
	"memtide/web/display"
)

// decisions are the letters and the words of decisions, by their bits.
var decisions = [...]struct{ letter, words string }{
	sim.Keep:                    {"K", "kept"},
	sim.Recompute:               {"R", "computed again"},
	sim.Offload:                 {"O", "moved"},
	sim.Recompute | sim.Offload: {"R+O", "computed again and moved"},
}

// DecisionLetter is the short form of a decision: K, R, O or R+O.
func DecisionLetter(d sim.Decision) string { return decisions[d].letter }

// DecisionName is a decision in words.
func DecisionName(d sim.Decision) string { return decisions[d].words }

// kindRoles are the colours of kinds of spans.
var kindRoles = [...]display.Role{sim.SpanForward: display.Forward, sim.SpanRecompute: display.Recompute, sim.SpanBackward: display.Backward,
	sim.SpanOffload: display.Transfer, sim.SpanFetch: display.Transfer, sim.SpanNetwork: display.Transfer, sim.SpanCPU: display.Fixed}

// roleOf is the colour of a kind of spans.
func roleOf(k sim.SpanKind) display.Role { return kindRoles[k] }

// roleOfStage is the colour of what is decided about a stage.
func (m *Model) roleOfStage(k int) display.Role {
	switch d := m.Decision(k); {
	case d&sim.Offload != 0:
		return display.Transfer
	case d&sim.Recompute != 0:
		return display.Recompute
	}
	return display.Forward
}

// DecisionRole is the colour of a decision.
func DecisionRole(d sim.Decision) display.Role {
	switch {
	case d&sim.Recompute != 0:
		return display.Recompute
	case d&sim.Offload != 0:
		return display.Transfer
	}
	return display.Forward
}
