package controls

// The words of the controls, in one place.
const (
	wordsOpen    = "Open your own…"
	wordsStays   = "a model, a trace or a table; it stays in this browser"
	Policy       = "The page may not send anything anywhere: its content security policy forbids the browser to."
	wordsPlan    = "Plan"
	wordsBudget  = "Plan may use"
	wordsAtMost  = "using at most"
	wordsMore    = "+ more"
	wordsSteps   = "Language and diffusion models, whole training step"
	wordsStepDoc = "Weights, gradients, optimizer, sharding over cards, loss, and the memory that PyTorch reserves: does it train on these cards?"

	wordsMoreTitle = "What else this sentence can say"
	wordsTakeLimit = "Let the plan use what the card leaves"
)
