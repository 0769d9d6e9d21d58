package ui

import "memtide/engine/sim"

// The words of the page's head and of its first screen, in one place.
const (
	Tagline = "Does it train in this much GPU memory, and how much slower?"

	wordsOpen    = "Open your own model…"
	wordsStays   = "it stays in this browser"
	wordsLeaves  = "What leaves this browser: nothing"
	wordsPolicy  = "The page may not send anything anywhere: its content security policy forbids the browser to."
	wordsPlan    = "Plan"
	wordsBudget  = "Memory budget"
	wordsDetails = "Model details"
	wordsOrigin  = "Where the numbers come from"

	wordsOnOne    = "%s on one %s%s"                                           // of the device's memory, device, price
	wordsNeeded   = "%s is needed, and one %s has %s."                         // peak, device, its memory
	wordsResident = "%s is needed before the first layer runs; one %s has %s." // weights and the like, device, its memory
	wordsRange    = "%s" + wordsReserved + "; one %s has %s."                  // range, device, its memory
	wordsSlower   = ", %s slower" + wordsThan
	wordsNoSlower = ", no slower" + wordsThan
	wordsThan     = " than with enough memory" // only where there is room, as
	wordsReserved = " with CUDA and the allocator"
	wordsTooSmall = "Does not fit in %s: " // budget
	wordsAtLeast  = "%s needs %s at least" // plan, bytes
	wordsOneHas   = "one %s has %s"        // device, its memory
	wordsKeepAll  = "Keeping everything takes %s."
	wordsNoPlan   = "No plan helps here: they all move activations, and weights, gradients and optimizer alone are %s too much."

	wordsLonger  = "B is %s slower (%s, not %s)." // difference, step of B, of A
	wordsShorter = "B is %s faster (%s, not %s)."
	wordsAsLong  = "B takes as long as A: %s."
	wordsTry     = "Press to see it in the pictures, Enter to use it"
	wordsWhere   = "Where the %s come from"

	wordsAtPeak   = "at the peak of the step"
	wordsTooMuch  = "%s too much"
	wordsMore     = "%s more with everything kept"
	wordsKeepMark = "keep everything: %s"
	wordsMark     = "budget %s"
	wordsLeft     = "%s left for CUDA and the allocator"
)

// answerWords are the verdicts, with what follows them.
var answerWords = map[string]string{fits: "Fits: ", probably: "Probably fits: ", mayNot: "May not fit: ", doesNot: "Does not fit: ", failed: "Check failed: ", none: "No answer: ", unknown: "Needs "}

// barKinds are the parts of the bar at the peak, in the order of the stack.
var barKinds = [sim.NumCategories]struct{ class, name string }{
	sim.Fixed: {"fix", "weights, gradients, optimizer"}, sim.Gradient: {"bwd", "gradients of activations"}, sim.Activation: {"fwd", "activations kept"},
	sim.Recomputed: {"rec", "computed again"}, sim.InTransfer: {"xfer", "leaving or arriving"}, sim.Workspace: {"scratch", "scratch"},
}
