package graphs

import (
	"time"

	"memtide/engine"
)

// course is how a round of annealing goes: in levels, at each of which temperature
// and weight are multiplied by a constant.
type course struct {
	temperature, cooling float64 // in shares of the step time
	weight, growing      float64 // of the excess as a share of the first peak; grows on the first 205 levels
}

const levels = 256

// The courses. The weight begins low: while the structure is decided, it has to be
// cheap to be above the budget.
var (
	wide   = course{1e-3, 0.976016475, 0.05, 1.02271847} // 1e-3 to 2e-6; 0.05 to 5
	narrow = course{3e-4, 0.98061751, 0.5, 1.01129544}   // 3e-4 to 2e-6; 0.5 to 5
	hot    = course{1e-2, 1, 0.05, 1}                    // throughout: it meets orders that no cooler round finds
	lower  = course{1e-2, 0.98217228, 2, 1.01129544}     // 1e-2 to 1e-4; 2 to 20, for less memory whatever the time
)

// annealer looks for a faster sequence within a budget.
type annealer struct {
	*state
	r         random
	poll      *engine.Poll
	reorder   bool // nothing runs again
	firstFit  bool // the first sequence within the budget will do
	scale     float64
	best      []kindID // nil if none is within the budget
	bestTook  time.Duration
	proposals int
	improved  func()      // told of every new best; may be nil
	plays     func() bool // whether the sequence can be played as it is; nil: it can
}

// anneal makes so many proposals in the course, the excess weighed so many times as
// much as in it. It stops early when nothing can be faster than enough, or when poll
// says so.
func (a *annealer) anneal(c course, proposals int, weight float64, enough time.Duration) {
	a.note()
	temperature, heavy := c.temperature, c.weight*weight
	level := 0
	for n := range proposals {
		if a.best != nil && (a.bestTook <= enough || a.firstFit) || a.poll.Err() != nil {
			return
		}
		for ; level < n*levels/proposals; level++ {
			temperature *= c.cooling
			if level < 205 {
				heavy *= c.growing
			}
		}
		a.proposals++
		a.begin()
		if !a.propose() {
			continue
		}
		a.evaluate()
		worse := float64(heavy*float64(a.newExcess-a.excess))/a.scale + float64(a.newTook-a.took)/float64(max(a.m.base, 1))
		if worse > 0 && (worse > 40*temperature || worse > float64(temperature*a.r.exponential())) {
			a.undo()
			continue
		}
		a.commit()
		a.note()
	}
}

// note keeps the sequence if it is within the budget and the fastest so far.
func (a *annealer) note() {
	if a.excess == 0 && (a.best == nil || a.took < a.bestTook) && (a.plays == nil || a.plays()) {
		a.best, a.bestTook = a.sequence(), a.took
		if a.improved != nil {
			a.improved()
		}
	}
}

// propose makes the edits of a move; false if there is none.
func (a *annealer) propose() bool {
	r := &a.r
	u := r.below(1000)
	switch {
	case a.clock != nil && u%4 == 0:
		return a.proposeTransfer(r)
	case a.m.isLean() && u%16 == 0 && !a.reorder:
		return a.proposeKind(r)
	case u < 280:
		return a.proposeShift(r, a.crowded(r))
	case u < 700 || a.reorder:
		return a.proposeShift(r, a.anywhere(r))
	case u < 850:
		if a.excess == 0 && !r.one(4) {
			return false
		}
		return a.proposeInsert(r)
	case u < 880:
		removed := a.proposeRemove(r)
		return removed && a.proposeInsert(r) || removed
	}
	return a.proposeRemove(r)
}
