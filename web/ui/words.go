package ui

import "memtide/engine"

// The words of the page's head and of its first screen, in one place.
const (
	Tagline = "Does it train in this much GPU memory, and how much slower?"

	wordsAllocated = "allocated at the peak"

	wordsLeaves  = "What leaves this browser: nothing"
	wordsVersion = "memtide " + engine.Version
	wordsDetails = "Model details"

	wordsOneCard = "One card. The whole training step also asks about several, and about frameworks' policies."
	wordsAskStep = "Ask about its whole training step"

	wordsLonger  = "B is %s slower (%s, not %s)." // difference, step of B, of A
	wordsShorter = "B is %s faster (%s, not %s)."
	wordsAsLong  = "B takes as long as A: %s."
	wordsWhere   = "Where the %s come from"
)
