package answer

import (
	"fmt"
	"strings"

	"memtide/engine"
	"memtide/web/format"
)

// The kinds of answers. Only Fits is green: nothing that is nearly more than the card
// has, and nothing that is only computed by a formula, looks like good news.
const (
	Fits    = "fits"
	Should  = "should"
	MayNot  = "may-not"
	DoesNot = "not"
	Unknown = "needs" // nobody knows what the card has
	Failed  = "failed"
	None    = "none" // nothing is computed, and something says why
	Working = "working"
	versus  = "versus" // the difference stands in its place
)

// Words are the verdicts, with what follows them.
var Words = map[string]string{Fits: "Fits: ", Should: "Should fit: ", MayNot: "May not fit: ",
	DoesNot: "Does not fit: ",
	Failed:  "Check failed: ", None: "No answer: ", Unknown: "Needs "}

// need is what a step takes of a card, whichever way it was played: the word, the sentence
// and the bar follow from it.
type need struct {
	parts     []part       // what the program holds at the peak, from below
	low, high engine.Bytes // what it holds with its allocator
	context   engine.Bytes // what CUDA takes beside that
	all       engine.Bytes // what it holds with everything kept; 0 if that is not known
	memory    engine.Bytes // of a card; 0 if unknown
	states    engine.Bytes // weights, gradients and optimizer alone
	cards     string       // "one H100", "each H100"
	where     string       // on which rank
	price     string
	failed    string // why the check failed
	doubt     string // what is unsure of the sizes
	times     string // what is unsure of the times
}

// part is a use of memory.
type part struct {
	class, name string
	bytes       engine.Bytes
}

// from and to are the ends of what is needed of a card.
func (n *need) from() engine.Bytes { return n.low + n.context }
func (n *need) to() engine.Bytes   { return n.high + n.context }

// tight reports whether the upper end is above 95 per cent of the card.
func (n *need) tight() bool { return 20*n.to() > 19*n.memory }

// statesOver reports whether no plan helps: they move and recompute activations.
func (n *need) statesOver() bool { return n.memory > 0 && n.states+n.context > n.memory }

// kind returns the verdict.
func (n *need) kind() string {
	switch {
	case n.failed != "":
		return Failed
	case n.memory == 0:
		return Unknown
	case n.statesOver() || n.from() > n.memory:
		return DoesNot
	case n.to() > n.memory:
		return MayNot
	case n.tight() || n.doubt != "":
		return Should
	}
	return Fits
}

// span returns what is needed of a card: one number where both ends are within 0.1 GiB.
func (n *need) span() string {
	if n.to()-n.from() < engine.GiB/10 {
		return format.Bytes(n.to())
	}
	return format.Range(n.from(), n.to())
}

// outOf returns what is needed of what a card has, the unit said once where it is the same.
func (n *need) outOf() string {
	span, memory := n.span(), format.Bytes(n.memory)
	if at := strings.LastIndexByte(memory, ' '); at >= 0 {
		span = strings.TrimSuffix(span, memory[at:])
	}
	return fmt.Sprintf(wordsOf, span, memory) + n.where
}

// sentence stands behind the word.
func (n *need) sentence() string {
	price := n.price
	if price != "" {
		price = ", " + price
	}
	switch n.kind() {
	case Failed:
		return format.Sentence(n.failed)
	case Unknown:
		return format.Bytes(n.low) + price + "."
	case DoesNot:
		if n.statesOver() {
			return fmt.Sprintf(wordsStates, format.Bytes(n.states), n.cards, format.Bytes(n.memory))
		}
		return fmt.Sprintf(wordsNeeded, n.span()+n.where, n.cards+" has", format.Bytes(n.memory)) + "."
	}
	return n.outOf() + price + "."
}

// unsure says the worst that is not known for sure, or how much stays free.
func (n *need) unsure() string {
	worst := n.times
	switch kind := n.kind(); {
	case kind == Failed || kind == DoesNot || kind == Unknown:
		return ""
	case n.doubt == unsureExperts:
		worst = n.doubt
	case kind == MayNot || n.tight():
		worst = unsureAllocator
	case worst == "":
		worst = n.doubt
	}
	if worst == "" {
		return fmt.Sprintf(wordsFree, format.Bytes(n.memory-n.to()))
	}
	return fmt.Sprintf(wordsUnsure, worst)
}

// short returns the verdict in a title.
func (n *need) short() string {
	text := n.span()
	if n.memory > 0 {
		text = n.outOf()
	}
	switch n.kind() {
	case DoesNot:
		return "does not fit, " + text
	case Failed:
		return "check failed"
	}
	switch {
	case n.price == wordsNoSlower:
		text += ", " + n.price
	case n.price != "":
		text += ", +" + strings.TrimSuffix(n.price, " slower"+wordsThan)
	}
	return text
}
