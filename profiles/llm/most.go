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

// Longest is the most tokens of a sequence that fits, in steps of 1,024; 0 if not even
// one step does. Reserved memory does not always rise with the length: the answer is a
// length that fits below one that does not.
func (a Ask) Longest(poll *engine.Poll) (int64, error) {
	n, err := a.most("seq", seqStep, mostTokens, poll)
	return n * seqStep, err
}

// Batch is the most sequences of a micro batch that fit; 0 if not even one does.
func (a Ask) Batch(poll *engine.Poll) (int64, error) { return a.most("batch", 1, mostSequences, poll) }

// fits says whether the question fits with some options changed.
func (a Ask) fits(changes engine.Args) bool {
	b, err := a.with(changes)
	if err != nil {
		return false
	}
	answer, err := b.answer(b.enough())
	return err == nil && answer.Verdict == Fits
}

// most is the largest number of steps of an option that fits, up to limit in the
// option's own numbers.
func (a Ask) most(option string, step, limit int64, poll *engine.Poll) (int64, error) {
	low, high, top := int64(0), int64(1), limit/step
	for high <= top && a.fits(engine.Args{option: number(high * step)}) {
		if err := poll.Now(); err != nil {
			return low, err
		}
		low, high = high, 2*high
	}
	for high = min(high, top+1); high-low > 1; {
		if err := poll.Now(); err != nil {
			return low, err
		}
		if mid := (low + high) / 2; a.fits(engine.Args{option: number(mid * step)}) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// Fewest is the smallest number of cards on which it fits: the degree of tensor
// parallelism times a power of two; 0 if none was found.
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
	return 0, nil
}
