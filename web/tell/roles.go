package tell

import (
	"memtide/engine/sim"
	"memtide/web/display"
)

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
