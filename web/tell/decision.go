package tell

import "memtide/engine/sim"

// decisions are the letters and the words of decisions, by their bits.
var decisions = [...]struct{ letter, words string }{
	sim.Keep:                    {"K", "kept"},
	sim.Recompute:               {"R", "recomputed"},
	sim.Offload:                 {"O", "offloaded"},
	sim.Recompute | sim.Offload: {"R+O", "recomputed and offloaded"},
}

// DecisionLetter is the short form of a decision: K, R, O or R+O.
func DecisionLetter(d sim.Decision) string { return decisions[d].letter }

// DecisionName is a decision in words.
func DecisionName(d sim.Decision) string { return decisions[d].words }
