package draw

import "memtide/engine/sim"

// bandRoles are the colours of categories.
var bandRoles = [sim.NumCategories]Role{sim.Fixed: Fixed, sim.Gradient: Backward, sim.Activation: Forward, sim.Recomputed: Recompute,
	sim.InTransfer: Transfer, sim.Workspace: Muted}

// kindRoles are the colours of kinds of spans.
var kindRoles = [...]Role{sim.SpanForward: Forward, sim.SpanRecompute: Recompute, sim.SpanBackward: Backward,
	sim.SpanOffload: Transfer, sim.SpanFetch: Transfer, sim.SpanNetwork: Transfer, sim.SpanCPU: Fixed}

// roleOf is the colour of a kind of spans.
func roleOf(k sim.SpanKind) Role { return kindRoles[k] }

// roleOfStage is the colour of what is decided about a stage.
func (m *tellModel) roleOfStage(k int) Role {
	switch d := m.Decision(k); {
	case d&sim.Offload != 0:
		return Transfer
	case d&sim.Recompute != 0:
		return Recompute
	}
	return Forward
}

// decisionRole is the colour of a decision.
func decisionRole(d sim.Decision) Role {
	switch {
	case d&sim.Recompute != 0:
		return Recompute
	case d&sim.Offload != 0:
		return Transfer
	}
	return Forward
}
