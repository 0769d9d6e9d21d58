package ui

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

	wordsSteps   = "Language models, whole training step"
	wordsStepDoc = "Weights, gradients, optimizer, sharding over cards, loss, and the memory that PyTorch reserves: does it train on these cards?"
	wordsOneCard = "One card, without sharding. The whole training step has that, the optimizer, and what PyTorch reserves."
	wordsAskStep = "Ask about its whole training step"

	wordsLonger  = "B is %s slower (%s, not %s)." // difference, step of B, of A
	wordsShorter = "B is %s faster (%s, not %s)."
	wordsAsLong  = "B takes as long as A: %s."
	wordsTry     = "Press to see it in the pictures, Enter to use it"
	wordsWhere   = "Where the %s come from"
)
