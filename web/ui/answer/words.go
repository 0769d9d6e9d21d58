package answer

// The words of the verdict and of its bar, in one place.
const (
	wordsOnOne    = "%s on one %s%s"                                           // of the device's memory, device, price
	wordsNeeded   = "%s is needed, and one %s has %s."                         // peak, device, its memory
	wordsResident = "%s is needed before the first layer runs; one %s has %s." // weights and the like, device, its memory
	wordsTimesOf  = " Times are of: %s."                                       // device of the times
	wordsRange    = "%s" + wordsReserved + "; one %s has %s."                  // range, device, its memory
	wordsSlower   = ", %s slower" + wordsThan
	wordsNoSlower = ", no slower" + wordsThan
	wordsThan     = " than if everything fitted" // only where there is room, as
	wordsReserved = " with CUDA and the allocator"
	wordsTooSmall = "Does not fit in %s: " // budget
	wordsAtLeast  = "%s needs %s at least" // plan, bytes
	wordsOneHas   = "one %s has %s"        // device, its memory
	wordsKeepAll  = "Keeping everything takes %s."
	wordsNoPlan   = "No plan helps here: they all move activations, and weights, gradients and optimizer alone are %s too much."
	wordsAtPeak   = "at the peak of the step"
	wordsTooMuch  = "%s too much"
	wordsMore     = "%s more with everything kept"
	wordsKeepMark = "keep everything: %s"
	wordsMark     = "budget %s"
	wordsLeft     = "%s left for CUDA and the allocator"
	wordsUnused   = "%s of the card unused" // the reader has left more than those need
)
