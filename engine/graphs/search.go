package graphs

import (
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/remat"
)

// searcher looks for fast sequences of one graph in one freedom.
type searcher struct {
	m     *model
	kept  bool
	seed  uint64
	poll  *engine.Poll
	total int                          // proposals for one budget
	tell  func(seq []kindID, done int) // told of sequences that are faster than all before; may be nil
	made  *plans                       // what methods make whatever the budget; nil until it is needed
}

// telling reports sequences as they are found.
func (s *searcher) telling(total int) {
	s.tell = func(seq []kindID, done int) {
		s.poll.Report(engine.Progress{Done: done, Total: total, Best: s.m.solution(seq)})
	}
}

// Graphs that take no time have more proposals for each operation.
const (
	leastProposals = 60_000
	quickProposals = 1_500_000
	mostProposals  = 5_000_000
	placeProposals = 6_000_000_000 // divided by the operations, or by so many reads: what a proposal costs grows with them
	manyReads      = 8
)

func newSearcher(m *model, args engine.Parsed, poll *engine.Poll) *searcher {
	s := &searcher{m: m, kept: args.Is("order", "kept"), seed: uint64(args.Int("seed")), poll: poll}
	n, reads := len(m.order), 0
	for _, in := range m.in {
		reads += len(in)
	}
	s.total = min(max(3600*n, min(9600*n, quickProposals), leastProposals), mostProposals, placeProposals/max(n, reads/manyReads, 1)) << (2*args.Int("effort") - 2)
	if s.kept { // fewer proposals come to nothing
		s.total /= 2
	}
	return s
}

// annealer begins with a sequence, in round number of the search for a budget.
func (s *searcher) annealer(budget engine.Bytes, seq []kindID, round uint64, scale engine.Bytes) *annealer {
	st := newState(s.m, budget, s.kept, seq)
	return &annealer{state: st, r: newRandom(s.seed*1000 + round), poll: s.poll, scale: float64(max(scale, 1)) / float64(int64(1)<<st.unit)}
}

// fastest searches within a budget in rounds, from the first sequence and, every third one, from the best.
// With a free order a hot one comes first, and then each is twice as long as the one before. With the order
// kept, where a few repetitions decide and a long round misses the good ones as often as a short one, three
// short ones come first, a gentle one among them, and one that takes the rest. A round that finds nothing
// makes the excess heavier for those after it. best is a sequence within the budget to
// begin with. It stops at a time that nothing beats, or when poll says so.
func (s *searcher) fastest(budget engine.Bytes, first, best []kindID, enough time.Duration) []kindID {
	scale, _, _ := s.m.cost(first)
	_, took, _ := s.m.cost(best)
	next := min(s.total/4, max(300*len(s.m.order), 2500))
	weight, done := 1.0, 0
	for round := uint64(0); done < s.total && took > enough && s.poll.Err() == nil; round++ {
		count := min(next, s.total-done)
		if 5*next > 2*(s.total-done) {
			count = s.total - done
		}
		c, from, found := wide, first, false
		switch {
		case round == 0 && !s.kept:
			c, count = hot, s.total/8
		case round == 0:
			c = gentle
		case round%3 == 2:
			c, from = narrow, best
		}
		a := s.annealer(budget, from, round, scale)
		if s.tell != nil { // what was told and not shown yet is shown by the way
			a.counted = func() { s.poll.Report(engine.Progress{Done: done + a.proposals, Total: s.total}) }
		}
		a.improved = func() {
			if found = true; a.bestTook < took {
				took, best = a.bestTook, a.best
				if s.tell != nil {
					s.tell(best, done+a.proposals)
				}
			}
		}
		a.anneal(c, count, weight, enough)
		switch {
		case s.kept && round == 2:
			next = s.total
		case !s.kept && round > 0:
			next *= 2
		}
		if round > 0 && !found {
			weight *= 6
		}
		done += count
	}
	return best
}

// leanest looks for a sequence whose peak is a budget at most, and gives up at one
// that does not depend on it: the least that is found. It begins with the best that is known, and goes down in steps between
// what it has and what no schedule is below; where it finds nothing, steps get smaller.
func (s *searcher) leanest(budget engine.Bytes, first, best []kindID, again bool) []kindID {
	peak, _, _ := s.m.cost(best)
	floor, _ := s.m.footprint()
	proposals := max(100*len(s.m.order), 2000)
	down, weight := 2, 1.0
	done := 0
	for step := uint64(1); peak > budget && peak > floor && down < 8 && done < placeProposals/len(s.m.order); step++ {
		if s.poll.Report(engine.Progress{}); s.poll.Err() != nil {
			return best
		}
		aim := peak - max((peak-floor)>>down, 1)
		a := s.annealer(aim, best, step<<32, peak)
		if a.firstFit, a.reorder = true, !again; a.reorder && !a.movable() {
			return best
		}
		a.anneal(lower, proposals, 1, 0)
		if a.best == nil { // other sequences are not near this one
			a.load(first)
			a.anneal(wide, max(3*proposals, 20_000), weight, 0)
		}
		if done += a.proposals; a.best == nil {
			down++
			weight = min(weight*6, 216) // what is run again may be all of a small step
			continue
		}
		best, weight = a.best, 1
		peak, _, _ = s.m.cost(best)
		down = max(down-1, 1)
	}
	return best
}

// solve searches within a budget.
func (s *searcher) solve(p *engine.Problem, among string) (*engine.Solution, error) {
	first := s.m.given()
	runs := s.letGo(p.Budget, s.show) // at once: what follows may take seconds
	proven := bound.Recompute(p, s.kept, s.poll)
	if s.made == nil {
		s.made = &plans{m: s.m}
		s.made.add(first, "")
		s.made.add(s.m.quickest(), "")
		blockPlans(s.made, engine.Parsed{}, s.poll) // which keep the order
	}
	fits, least := s.begin(p.Budget, first, runs)
	if seq, smallest := s.onChain(p); seq != nil {
		one := plans{m: s.m}
		if one.add(seq, ""); fits == nil || one.list[0].took < fits.took {
			fits = &one.list[0]
		}
	} else if smallest > 0 {
		least = min(least, smallest)
	}
	if err := s.poll.Err(); err != nil {
		return nil, err
	}
	if fits == nil {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: s.why(proven, least)}
	}
	s.show(fits)
	best := s.fastest(p.Budget, first, fits.seq, proven.Time)
	return s.solution(best, among, proven.Time), s.poll.Err()
}

// show tells of a plan, if there is one.
func (s *searcher) show(p *plan) {
	if p != nil && s.tell != nil {
		s.tell(p.seq, 0)
	}
}

// begin is the fastest plan within a budget that the search can begin with, nil if there is none,
// and the least memory of all plans. Where nothing else that is known fits, it looks for less memory from
// the given order, and then from what lets go of the most.
func (s *searcher) begin(budget engine.Bytes, first []kindID, runs *plans) (fits *plan, least engine.Bytes) {
	l := s.made
	low := l.list[0].peak
	if l.fastest(budget) == nil && (len(s.m.order) <= manyOps || len(runs.list) == 0) {
		l.add(s.leanest(budget, first, first, true), "")
		low = l.list[len(l.list)-1].peak
	}
	l.list = append(l.list, runs.list...)
	if l.fastest(budget) == nil {
		s.letMostGo()
		if p := l.leanest(); p.peak < low {
			l.add(s.leanest(budget, first, p.seq, true), "")
		}
	}
	return l.fastest(budget), l.leanest().peak
}

// manyOps is from how many operations on runs of DTR spare the search for less memory: from the
// given order the way down is long.
const manyOps = 1500

// letGo are the runs of DTR within a budget, whatever they let go first; show gets each that is faster
// than those before.
func (s *searcher) letGo(budget engine.Bytes, show func(*plan)) *plans {
	l, m := &plans{m: s.m}, s.m.whole()
	for _, heuristic := range dtr.Params[0].Choices {
		r := newOnline(m, budget, heuristic, s.poll)
		if r.most, r.looks = longRuns*len(m.order), mostLooks; r.all() {
			l.add(r.seq, "")
			if last := &l.list[len(l.list)-1]; l.fastest(budget) == last {
				show(last)
			}
		}
	}
	return l
}

// Of runs of DTR that the search begins with: how many times the operations they may be long, at
// how many missing values they may look, and how many budgets are tried to find the least.
const (
	longRuns    = 6
	mostLooks   = 4_000_000
	leastTrials = 8
)

// letMostGo adds runs of DTR within less and less.
func (s *searcher) letMostGo() {
	low, _ := s.m.footprint()
	high := s.made.leanest().peak
	for trial := 0; trial < leastTrials && high-low > 1; trial++ {
		mid := low + (high-low)/2
		runs := s.letGo(mid, func(*plan) {}).list
		if s.made.list = append(s.made.list, runs...); len(runs) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
}

// mostStages is how long a chain may be for the search to begin with rotor's schedule.
const mostStages = 300

// onChain is rotor's schedule of a chain as a sequence, or the smallest budget for which it has one;
// nil and 0 on other graphs.
func (s *searcher) onChain(p *engine.Problem) (seq []kindID, smallest engine.Bytes) {
	if p.Chain == nil || p.Chain.Stages > mostStages {
		return nil, 0
	}
	sol, err := remat.Rotor.Solve(p, nil, s.poll)
	var infeasible *engine.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return nil, infeasible.Smallest
	case err != nil:
		return nil, 0
	}
	return s.sequenceOf(sol), 0
}

func (s *searcher) solution(seq []kindID, among string, proven time.Duration) *engine.Solution {
	sol := s.m.solution(seq)
	sol.OptimalAmong, sol.Bound = among, proven
	sol.Optimal = sol.Makespan == sol.Bound
	sol.Notes = []string{s.m.describe(seq)}
	return sol
}

// why says what is proven about a budget that is too small.
func (s *searcher) why(proven bound.Recomputed, least engine.Bytes) string {
	switch {
	case proven.Fits:
		return s.m.whyLeast(least)
	case proven.At == engine.NoOp:
		return "the step begins with more"
	}
	return s.m.g.Ops[proven.At].Name + " cannot run with less beside what later operations read and nothing makes again"
}
