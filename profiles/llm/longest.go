package llm

import (
	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// What a search looks at, at most: tokens of a sequence, in steps that sequences are
// multiples of; sequences; cards.
const (
	mostTokens    = 1 << 20
	seqStep       = 1024
	mostSequences = 1 << 12
	mostCards     = 1 << 12
)

// longest returns the most tokens of a sequence that fits, in steps of 1,024 and no more than the
// model has learned positions for; 0 if not even one step does. Reserved memory does not always rise with the
// length: the answer is a length that fits below one that does not.
func (a Ask) longest() int64 {
	limit := int64(mostTokens)
	if m := a.Setup.Model; m.Positions > 0 {
		limit = min(limit, m.Positions)
	}
	if w := a.Setup.Model.Window; w > 0 {
		limit = min(limit, w)
	}
	return seqStep * a.most("seq", seqStep, limit)
}

// fits reports whether the question fits with some options changed.
func (a Ask) fits(changes engine.Args) bool { return answersFits(a.with(changes)) }

// answersFits reports whether the answer to a question, if there is one, is that it fits.
func answersFits(a Ask, err error) bool {
	if err != nil {
		return false
	}
	answer, err := a.answer(a.enough())
	return err == nil && answer.Verdict == Fits
}

// bisect narrows two numbers down to neighbours: low is the largest of those between them
// that are low.
func (a Ask) bisect(low, high int64, isLow func(n int64) bool) (int64, int64) {
	for high-low > 1 {
		a.goOn()
		if mid := (low + high) / 2; isLow(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	a.goOn()
	return low, high
}

// most returns the largest number of steps of an option that fits, up to limit in the
// option's own numbers.
func (a Ask) most(option string, step, limit int64) int64 {
	low, high, top := int64(0), int64(1), limit/step
	fits := func(n int64) bool { return a.fits(engine.Args{option: number(n * step)}) }
	for high <= top && fits(high) {
		a.goOn()
		low, high = high, 2*high
	}
	low, _ = a.bisect(low, min(high, top+1), fits)
	return low
}

// fewest returns the smallest number from 0 to most that fits, where more of them need less; 0 also if most
// is too few.
func (a Ask) fewest(most int64, fits func(n int64) bool) int64 {
	if fits(0) || !fits(most) {
		a.goOn()
		return 0
	}
	_, high := a.bisect(0, most, func(n int64) bool { return !fits(n) })
	return high
}

// fewestCards returns the smallest number of cards on which it fits: the degree of tensor
// parallelism times a power of two, or 0 if none was found.
func (a Ask) fewestCards() int64 {
	for n := orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); n <= mostCards; n *= 2 {
		a.goOn()
		if a.fits(engine.Args{"gpus": number(n)}) {
			return n
		}
		if ask.Value(a.Args, "shard") == "none" { // each card holds as much as one
			break
		}
	}
	a.goOn()
	return 0
}
