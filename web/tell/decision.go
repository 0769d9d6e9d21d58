package tell

import "memtide/engine/sim"

// DecisionLetter is the short form of a decision: K, R, O or R+O.
func DecisionLetter(d sim.Decision) string {
	switch d {
	case sim.Recompute:
		return "R"
	case sim.Offload:
		return "O"
	case sim.Recompute | sim.Offload:
		return "R+O"
	}
	return "K"
}

// DecisionName is a decision in words.
func DecisionName(d sim.Decision) string {
	switch d {
	case sim.Recompute:
		return "computed again"
	case sim.Offload:
		return "moved"
	case sim.Recompute | sim.Offload:
		return "computed again and moved"
	}
	return "kept"
}
