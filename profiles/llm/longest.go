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

// Longest returns the most tokens of a sequence that fits, in steps of 1,024 and no more than the
// model has learned positions for; 0 if not even one step does. Reserved memory does not always rise with the length:
// the answer is a
// length that fits below one that does not.
func (a Ask) Longest(poll *engine.Poll) (int64, error) {
	limit := int64(mostTokens)
	if m := a.Setup.Model; m.Positions > 0 {
		limit = min(limit, m.Positions)
	}
	if w := a.Setup.Model.Window; w > 0 {
		limit = min(limit, w)
	}
	n, err := a.most("seq", seqStep, limit, poll)
	return n * seqStep, err
}

// Batch returns the most sequences of a micro batch that fit, or 0 if not even one does.
func (a Ask) Batch(poll *engine.Poll) (int64, error) { return a.most("batch", 1, mostSequences, poll) }

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
func bisect(low, high int64, poll *engine.Poll, isLow func(n int64) bool) (int64, int64, error) {
	for high-low > 1 {
		if err := poll.Now(); err != nil {
			return low, high, err
		}
		if mid := (low + high) / 2; isLow(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, high, poll.Now()
}

// most returns the largest number of steps of an option that fits, up to limit in the
// option's own numbers.
func (a Ask) most(option string, step, limit int64, poll *engine.Poll) (int64, error) {
	low, high, top := int64(0), int64(1), limit/step
	fits := func(n int64) bool { return a.fits(engine.Args{option: number(n * step)}) }
	for high <= top && fits(high) {
		if err := poll.Now(); err != nil {
			return low, err
		}
		low, high = high, 2*high
	}
	low, _, err := bisect(low, min(high, top+1), poll, fits)
	return low, err
}

// Fewest returns the smallest number of cards on which it fits: the degree of tensor
// parallelism times a power of two, or 0 if none was found.
func (a Ask) Fewest(poll *engine.Poll) (int64, error) {
	for n := orOne(a.Setup.Tensor) * orOne(a.Setup.Stages); n <= mostCards; n *= 2 {
		if err := poll.Now(); err != nil {
			return 0, err
		}
		if a.fits(engine.Args{"gpus": number(n)}) {
			return n, nil
		}
		if ask.Value(a.Args, "shard") == "none" { // each card holds as much as one
			break
		}
	}
	return 0, poll.Now()
}
