package step

import "memtide/wasm/proto"

// The words about training steps.
const (
	wordsNotTried = "Not all changes were tried: it was stopped."

	wordsOverhead = "allocator"
	wordsCUDA     = "CUDA and collectives"
	wordsExplore  = "What to keep, compute again or move"

	wordsNone          = "none fits"
	wordsNoneSure      = "none for sure"
	wordsWould         = "What would make it fit"
	wordsChanges       = "What would help"
	wordsTurned        = "Reserved with CUDA, against what a card has, and the time of the step. Click to take it."
	wordsNoChange      = "Nothing of what was tried helps."
	wordsNoFix         = "No combination of up to four changes was found that makes it fit."
	wordsPolicies      = "Policies of frameworks"
	wordsPoliciesHint  = "what their switches keep, compute again or move, each played, beside the optimum of whole blocks"
	wordsNearest       = "nearest published run, reserved"
	wordsNearestPlayed = "the same run, played here"
	wordsNearestLine   = "; the nearest published run is met to %s"
	wordsByPhase       = "What fills the card, phase by phase"
	wordsPhaseNote     = "The most that is allocated in each phase."
	wordsForProgram    = "for the program: %s" // memory of a card without CUDA's

	wordsRanks       = "Every rank at its peak"
	wordsRanksWait   = "On average a rank waits %s of the passes' time. A click on a rank shows its pictures."
	wordsPasses      = "Ranks of the pipeline"
	wordsRank        = "Rank %d"
	wordsInFlight    = "%d in flight"
	wordsFoldedRanks = "Ranks %d to %d: %s to %s"

	wordsEqualWork  = "time for equal work"
	wordsOrders     = "Schedules of the pipeline"
	wordsOrdersHint = "every order of passes, each played with its memory; where none is chosen the fastest that fits is taken"

	wordsLanes = "A lane is a rank, all on one axis of time: forwards blue, backwards green, those of the weights darker. The line is the end of the step as it is."

	wordsPassesHelp  = "Left and right: the next pass or idle time of the rank. Up and down: the same moment on the next rank. Enter: what led to it. Plus, minus and 0: zoom."
	wordsPassesAsk   = "A click on idle time says why the rank waits, and leads to the cause. Forwards are blue, backwards green, with lines where they are those of the weights; numbers are micro batches."
	wordsFollow      = "Follow the cause"
	wordsWholeStep   = "Whole step"
	wordsPassesSave  = "save the picture as SVG"
	wordsPassesTable = "As a table"
	wordsIdleTable   = "What ranks do"
	wordsIdleHead    = `<thead><tr><th scope="col">Rank</th><th scope="col">works</th><th scope="col">idle before its first pass</th><th scope="col">between passes</th><th scope="col">after its last</th></tr></thead><tbody>`
	wordsPassTable   = "Passes of rank %d"
	wordsPassHead    = `<thead><tr><th scope="col">Micro batch</th><th scope="col">pass</th><th scope="col">stage</th><th scope="col">starts</th><th scope="col">ends</th><th scope="col">waits before it</th><th scope="col">on the critical path</th></tr></thead><tbody>`

	wordsAssumed     = "Everything that is assumed"
	wordsAsUsual     = "as the program does"
	wordsOriginLine  = "%s exact, %s read in code; times are estimates"
	wordsSent        = "the step's requests, sent through PyTorch's caching allocator by its default and with expandable segments"
	wordsBusyExperts = "the range holds what was measured, up to 21 % above equal shares"
	wordsContextWhy  = "a fixed size, to be changed above"
	wordsTimeWhy     = "operations and bytes by the rates of the card and shares of them that were measured elsewhere"
)

// changeFits say what a change comes to where it does not fit now.
var changeFits = map[proto.Fit]string{proto.Fits: "fits", proto.Unsure: "may fit",
	proto.FitsNot: "not enough by itself"}
