package answer

// The words of the verdict and of its bar, in one place.
const (
	wordsOf       = "%s of %s"                                                   // range, memory of a card
	wordsNeeded   = "%s needed, %s %s"                                           // range, cards, their memory
	wordsStates   = "weights, gradients and optimizer alone need %s; %s has %s." // states, cards, memory
	wordsNothing  = "Nothing is computed again or moved."
	wordsSlower   = "%s slower" + wordsThan
	wordsNoSlower = "no slower"
	wordsThan     = " than if everything fitted" // only where there is room
	wordsUnsure   = "Unsure: %s."
	wordsFree     = "%s stay free."
	wordsTooSmall = "Does not fit in %s: " // budget
	wordsAtLeast  = "%s needs %s at least" // plan, bytes
	wordsHas      = "%s has %s"            // cards, memory
	wordsKeepAll  = "Everything needs %s."
	wordsRoom     = " There is room for at least %s %s at once." // count, what is counted
	wordsNoPlan   = "No plan makes these smaller: they move and recompute activations. With them the step needs %s."
	wordsPolicy   = "This policy: %s."
	wordsFullest  = " on rank %d, the fullest"
	wordsBusy     = "Playing the step…"
	wordsMoreWork = "Looking for more…"
	wordsLimit    = "Stopped after a few seconds, because a link asked for it: more can be known."
	wordsStopped  = "Stopped: more can be known."

	wordsTooMuch  = "%s too much"
	wordsGoesOn   = "everything: %s →"
	wordsKeepMark = "keep everything: %s"
	wordsMark     = "plan may use %s"
	wordsAside    = "allocator %s, CUDA %s"
	wordsAtPeak   = "Memory at the peak of the step: "

	unsureAllocator = "PyTorch’s allocator"
	unsureExperts   = "how busy the experts are"
	unsureTimes     = "times are those of the %s"
	unsureSizes     = "sizes are by formula"
	unsureFile      = "where the file’s sizes come from"
)
