package graphs

import (
	"math"
	"math/bits"
	"time"

	"memtide/engine"
)

// course is the course of a round of annealing. It has levels; at each of them temperature and weight are
// multiplied by a constant.
type course struct {
	temperature, cooling float64 // as shares of the step time
	weight, growing      float64 // of the excess as a share of the first peak; it grows on the first 205 levels
}

// levels is the number of levels of a course.
const levels = 256

// The courses. The weight starts low, because exceeding the budget has to be cheap while the structure is decided.
var (
	wide   = course{1e-3, 0.976016475, 0.05, 1.02271847} // 1e-3 to 2e-6; 0.05 to 5
	ample  = course{2e-3, 0.973377381, 0.05, 1.02271847} // 2e-3 to 2e-6, for any order, which has more to decide
	gentle = course{5e-4, 0.978662724, 0.02, 1.02474328} // 5e-4 to 2e-6; 0.02 to 3
	narrow = course{3e-4, 0.98061751, 0.5, 1.01129544}   // 3e-4 to 2e-6; 0.5 to 5
	hot    = course{1e-2, 1, 0.05, 1}                    // constant; finds orders that no cooler round finds
	lower  = course{1e-2, 0.98217228, 2, 1.01129544}     // 1e-2 to 1e-4; 2 to 20, for less memory whatever the time
)

// annealer looks for a faster sequence within a budget.
type annealer struct {
	*state
	r         random
	poll      *engine.Poll
	reorder   bool     // nothing runs again
	firstFit  bool     // stop at the first sequence within the budget
	scale     float64  // the first peak, in units of the excess
	best      []kindID // the fastest sequence within the budget; nil until one is found
	bestTook  time.Duration
	proposals int         // number of proposals so far
	mostAgain int         // from this number of repeats on, proposeInsert is not tried
	improved  func()      // called at every new best sequence; may be nil
	counted   func()      // called at every level; may be nil
	plays     func() bool // reports whether the sequence can be played; nil: it always can
}

// newAnnealer returns an annealer of a state. scale is the peak that the excess is measured by.
func newAnnealer(st *state, seed uint64, scale engine.Bytes, poll *engine.Poll) *annealer {
	return &annealer{state: st, r: newRandom(seed), poll: poll,
		scale: float64(max(scale, 1)) / float64(int64(1)<<st.unit)}
}

// anneal makes the given number of proposals along a course; weight multiplies the course's weight of the excess.
// It stops early when the time of the best sequence is at most enough, or when poll ends it.
func (a *annealer) anneal(c course, proposals int, weight float64, enough time.Duration) {
	a.mostAgain = math.MaxInt
	if c == hot {
		a.mostAgain = len(a.m.order)/8 + 4
	}
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
			if a.counted != nil {
				a.counted()
			}
		}
		a.proposals++
		a.begin()
		limit, rate := float64(temperature*exponentials[a.r.next()>>54]), heavy/a.scale
		a.most = math.MaxInt64
		if a.clock == nil { // with transfers, times are not known before evaluate
			longest := limit + float64(rate*float64(a.excess))
			a.most = a.took + time.Duration(engine.Int64(float64(longest*float64(max(a.m.base, 1)))))
		}
		if !a.propose() {
			a.undo()
			continue
		}
		gain := a.share(a.newTook)
		if a.clock != nil {
			gain = a.share(0) // the time is not known yet; this is a lower bound
		}
		a.evaluate(a.excess + engine.Int64(min((limit-gain)/rate, 1<<60)))
		if float64(rate*float64(a.newExcess-a.excess))+a.share(a.newTook) > limit {
			a.undo()
			continue
		}
		a.commit()
		a.note()
	}
}

// share returns how much longer a time is than that of the sequence, as a share of the step.
func (a *annealer) share(took time.Duration) float64 {
	return float64(took-a.took) / float64(max(a.m.base, 1))
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

// propose makes the edits of a random move. It returns false if there is no move; undo then takes back any edits.
// With the order kept, only runs of operations with several runs can move.
func (a *annealer) propose() bool {
	r := &a.r
	u := r.below(1000)
	switch {
	case a.clock != nil && u%4 == 0:
		return a.proposeTransfer(r)
	case a.m.varied() && u%16 == 0 && !a.reorder:
		return a.proposeKind(r)
	case u < 700 && a.kept && a.clock == nil:
		if u < 300 {
			return a.proposeExchange(r)
		}
		p := a.repeated(r)
		return p != none && a.proposeShift(r, p)
	case u < 280:
		return a.proposeShift(r, a.crowded(r))
	case u < 700 || a.reorder:
		return a.proposeShift(r, a.anywhere(r))
	case u < 850:
		if a.excess == 0 && !r.one(4) || a.repeats >= a.mostAgain {
			return false
		}
		return a.proposeInsert(r, a.crowded(r))
	case u < 930:
		return a.proposeExchange(r)
	}
	p := a.removable(r)
	if p != none {
		a.remove(p)
	}
	return p != none
}

// random is a generator (xorshift64) whose numbers are the same on every machine.
type random uint64

func newRandom(seed uint64) random { return random(seed*0x9E3779B97F4A7C15 + 88172645463325252 | 1) }

func (r *random) next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = random(x)
	return x
}

// below returns a number from 0 to n-1.
func (r *random) below(n int32) int32 {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int32(hi)
}

// one returns true with probability 1/n.
func (r *random) one(n int32) bool { return r.below(n) == 0 }

// near returns a number from 0 to n-1 that is mostly small: n times a power of a uniform number.
func (r *random) near(n int32, power int) int32 {
	const full = 1 << 20
	x := uint64(full)
	u := r.next() >> 44
	for range power {
		x = x * u / full
	}
	return int32(x * uint64(n) / full)
}

// exponentials are numbers with the exponential distribution. They are rounded, so that they are the same on machines
// whose logarithms differ in the last bit.
var exponentials = func() (list [1024]float64) {
	const grains = 1 << 40
	for i := range list {
		list[i] = math.Round(-grains*math.Log(float64(2*i+1)/2048)) / grains
	}
	return list
}()
