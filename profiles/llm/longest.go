package llm

import (
	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// Limits of searches: tokens of a sequence, the step of such lengths, sequences of a micro batch, and cards.
const (
	mostTokens    = 1 << 20
	seqStep       = 1024
	mostSequences = 1 << 12
	mostCards     = 1 << 12
)

// longest returns the length of the longest sequence that fits, in steps of 1,024 tokens and up to the number of
// learned positions, or 0 if not even one step fits. Reserved memory does not always rise with the length, so
// that the answer is a length that fits where the next step does not.
func (a Ask) longest() int64 {
	limit := int64(mostTokens)
	for _, n := range []int64{a.Setup.Model.Positions, a.Setup.Model.Window} {
		if n > 0 {
			limit = min(limit, n)
		}
	}
	return seqStep * a.most("seq", seqStep, limit)
}

func (a Ask) fits(changes engine.Args) bool { return answersFits(a.with(changes)) }

func answersFits(a Ask, err error) bool {
	if err != nil {
		return false
	}
	answer, err := a.answer(a.enough())
	return err == nil && answer.Verdict == Fits
}

// bisect narrows low and high, of which only low is low by isLow, until they are neighbours.
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

// most returns the largest number of steps of an option that fits. limit is the largest value of the option.
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

// fewest returns the smallest number from 0 to most that fits, where larger numbers need less. It also returns 0
// if most does not fit.
func (a Ask) fewest(most int64, fits func(n int64) bool) int64 {
	if fits(0) || !fits(most) {
		a.goOn()
		return 0
	}
	_, high := a.bisect(0, most, func(n int64) bool { return !fits(n) })
	return high
}

// fewestCards returns the smallest number of cards on which the question fits: the tensor parallel degree times
// the stages times a power of two. It returns 0 if no such number fits.
func (a Ask) fewestCards() int64 {
	for n := orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); n <= mostCards; n *= 2 {
		a.goOn()
		if a.fits(engine.Args{"gpus": number(n)}) {
			return n
		}
		if ask.Value(a.Args, "shard") == "none" { // more cards do not change what each holds
			break
		}
	}
	a.goOn()
	return 0
}
