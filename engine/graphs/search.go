package graphs

import (
	"errors"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/remat"
)

// searcher looks for fast sequences of one graph in one freedom.
type searcher struct {
	m     *model
	kept  bool // with the order kept; otherwise in any order
	seed  uint64
	poll  *engine.Poll
	total int                          // proposals for one budget
	tell  func(seq []kindID, done int) // gets sequences that are faster than all before; may be nil
	made  *plans                       // plans for all budgets; nil until needed

	inOrder *searcher     // in any order: the search with the order kept, whose answers count, too
	rival   time.Duration // with the order kept: the best time known in any order; 0 if none is known
}

// Limits of the number of proposals. Small graphs have more proposals per operation.
const (
	leastProposals = 60_000
	quickProposals = 1_500_000
	mostProposals  = 5_000_000
	placeProposals = 6_000_000_000 // divided by max(operations, reads/manyReads), the cost of a proposal
	manyReads      = 8
)

func newSearcher(m *model, args engine.Parsed, poll *engine.Poll) *searcher {
	s := &searcher{m: m, kept: args.Is("order", "kept"), seed: uint64(args.Int("seed")), poll: poll}
	n, reads := len(m.order), 0
	for _, in := range m.in {
		reads += len(in)
	}
	s.total = min(max(3600*n, min(9600*n, quickProposals), leastProposals), mostProposals,
		placeProposals/max(n, reads/manyReads, 1)) << (2*args.Int("effort") - 2)
	if s.kept { // more of the proposals are possible
		s.total /= 2
	} else {
		s.inOrder = &searcher{m: m, kept: true, seed: s.seed, poll: poll}
	}
	return s
}

// rounds are the rounds of annealing of the search within a budget.
type rounds struct {
	*searcher
	budget engine.Bytes
	first  []kindID      // sequence from which most rounds start
	best   []kindID      // best sequence within the budget so far
	took   time.Duration // time of best
	enough time.Duration // lower bound of the time
	scale  engine.Bytes  // peak of first
	weight float64       // weight of the excess, relative to that of the course
	round  uint64        // number of the next round
	done   int           // proposals of the rounds so far
}

// over reports whether nothing can be faster, or time is over.
func (r *rounds) over() bool { return r.took <= r.enough || r.poll.Err() != nil }

// anneal runs a round of count proposals. If it finds nothing and is not the first, the excess weighs more in later
// rounds.
func (r *rounds) anneal(c course, from []kindID, count int) {
	if r.over() || count <= 0 {
		return
	}
	found := false
	a := newAnnealer(newState(r.m, r.budget, r.kept, from), r.seed*1000+r.round, r.scale, r.poll)
	if r.tell != nil { // reports also show a best sequence that was not shown yet
		a.counted = func() { r.poll.Report(engine.Progress{Done: r.done + a.proposals, Total: r.total}) }
	}
	a.improved = func() {
		found = true
		if a.bestTook < r.took {
			r.took, r.best = a.bestTook, a.best
			if r.tell != nil {
				r.tell(r.best, r.done+a.proposals)
			}
		}
	}
	a.anneal(c, count, r.weight, r.enough)
	if r.round > 0 && !found {
		r.weight *= 6
	}
	r.done += count
	r.round++
}

// inTurn runs the rounds with the order kept, and returns the best sequence. A few repetitions decide there, and a
// long round misses the good ones as often as a short one. So three short rounds come first, a gentle one among
// them; every third round starts from the best sequence; and one round uses the remaining proposals. The rounds
// stop if they are far behind their rival.
func (r *rounds) inTurn() []kindID {
	next := min(r.total/4, max(300*len(r.m.order), 2500))
	for r.done < r.total && !r.over() && (r.round < 3 || !r.behind(r.took)) {
		count := min(next, r.total-r.done)
		if 5*next > 2*(r.total-r.done) {
			count = r.total - r.done
		}
		switch {
		case r.round == 0:
			r.anneal(gentle, r.first, count)
		case r.round%3 == 2:
			r.anneal(narrow, r.best, count)
		default:
			r.anneal(wide, r.first, count)
		}
		if r.round == 3 {
			next = r.total
		}
	}
	return r.best
}

// freely runs the rounds in any order, and returns the best sequence. After a hot and a short round, it calls kept,
// the search with the order kept, which has as many proposals as if it ran alone. A long round follows if kept
// found nothing faster, and in any case one from the best sequence.
func (r *rounds) freely(kept func(rival time.Duration) []kindID) []kindID {
	r.anneal(hot, r.first, r.total/12)
	r.anneal(ample, r.first, r.total/12)
	ahead := true
	if !r.over() {
		if seq := kept(r.took); seq != nil {
			_, took, _ := r.m.cost(seq)
			ahead = r.took < took
			if took < r.took {
				r.best, r.took = seq, took
			}
		}
	}
	if ahead {
		r.anneal(ample, r.first, r.total*3/8)
	}
	r.anneal(narrow, r.best, r.total/16)
	return r.best
}

// behind reports whether a search with the order kept is so far behind the rival that its remaining rounds are
// useless: short rounds come nearly as far.
func (s *searcher) behind(took time.Duration) bool {
	return s.rival > 0 && 2*(took-s.m.base) > 3*(s.rival-s.m.base)
}

// leanest looks for a sequence whose peak is at most budget. If there is none, it returns the one with the smallest
// peak that it found, which does not depend on the budget. It starts from best, and aims in steps between the peak so
// far and the lower bound of all schedules. If it finds nothing, steps get smaller. Without again, nothing runs again.
func (s *searcher) leanest(budget engine.Bytes, first, best []kindID, again bool) []kindID {
	peak, _, _ := s.m.cost(best)
	floor, _ := s.m.footprint()
	proposals := max(100*len(s.m.order), 2000)
	down, weight := 2, 1.0
	done := 0
	for step := uint64(1); peak > budget && peak > floor && down < 8 && done < placeProposals/len(s.m.order); step++ {
		s.poll.Report(engine.Progress{})
		if s.poll.Err() != nil {
			return best
		}
		aim := peak - max((peak-floor)>>down, 1)
		a := newAnnealer(newState(s.m, aim, s.kept, best), s.seed*1000+step<<32, peak, s.poll)
		a.firstFit, a.reorder = true, !again
		if a.reorder && !a.movable() {
			return best
		}
		a.anneal(lower, proposals, 1, 0)
		if a.best == nil { // try from first: other sequences are far from this one
			a.load(first)
			a.anneal(wide, max(3*proposals, 20_000), weight, 0)
		}
		done += a.proposals
		if a.best == nil {
			down++
			weight = min(weight*6, 216) // a small step may be a single repetition
			continue
		}
		best, weight = a.best, 1
		peak, _, _ = s.m.cost(best)
		down = max(down-1, 1)
	}
	return best
}

// known is what is known within a budget in either freedom.
type known struct {
	runs     *plans       // runs of DTR
	chain    []kindID     // rotor's schedule of a chain; nil if there is none
	smallest engine.Bytes // the smallest budget of rotor; 0 if unknown
}

// solve searches within the budget of p.
func (s *searcher) solve(p *engine.Problem, among string) (*engine.Solution, error) {
	k := &known{runs: s.dtrRuns(p.Budget)} // first, because the rest may take seconds
	k.chain, k.smallest = s.onChain(p)
	return s.solveFrom(p, among, k)
}

// solveFrom is solve, starting from what is known.
func (s *searcher) solveFrom(p *engine.Problem, among string, k *known) (*engine.Solution, error) {
	first := s.m.given()
	proven := bound.Recompute(p, s.kept, s.poll)
	if s.made == nil {
		s.made = &plans{m: s.m}
		s.made.add(first, "")
		s.made.add(s.m.quickest(), "")
		blockPlans(s.made, engine.Parsed{}, s.poll) // they keep the order
	}
	if s.inOrder != nil && s.inOrder.made == nil {
		s.inOrder.made = &plans{m: s.m, list: slices.Clone(s.made.list)}
	}
	fits, least := s.begin(p.Budget, first, k.runs)
	if k.chain != nil {
		if peak, took, _ := s.m.cost(k.chain); fits == nil || took < fits.took {
			fits = &plan{seq: k.chain, peak: peak, took: took}
		}
	} else if k.smallest > 0 {
		least = min(least, k.smallest)
	}
	if err := s.poll.Err(); err != nil {
		return nil, err
	}
	if fits == nil && s.inOrder != nil {
		s.inOrder.total, s.inOrder.tell, s.inOrder.rival = 0, nil, 0 // any plan will do
		sol, err := s.inOrder.solveFrom(p, "", k)
		if infeasible, ok := errors.AsType[*engine.InfeasibleError](err); ok {
			least = min(least, infeasible.Smallest)
		} else if err != nil {
			return nil, err
		} else {
			fits = &plan{seq: s.m.sequenceOf(sol), peak: sol.Peak, took: sol.Makespan}
		}
	}
	if fits == nil {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: s.why(proven, least)}
	}
	s.show(fits)
	r := &rounds{searcher: s, budget: p.Budget, first: first, best: fits.seq, took: fits.took, enough: proven.Time,
		weight: 1}
	r.scale, _, _ = s.m.cost(first)
	var best []kindID
	if s.kept {
		best = r.inTurn()
	} else {
		best = r.freely(func(rival time.Duration) []kindID { return s.orderKept(p, k, rival) })
	}
	return s.solution(best, among, proven.Time), s.poll.Err()
}

// orderKept returns the sequence that the search with the order kept finds, starting from what is known. It returns
// nil if the search cannot be faster than its rival, or finds nothing.
func (s *searcher) orderKept(p *engine.Problem, k *known, rival time.Duration) []kindID {
	in := s.inOrder
	in.rival = rival
	if rival <= bound.Recompute(p, true, s.poll).Time {
		return nil
	}
	in.total, in.tell = s.total/2, nil
	if s.tell != nil {
		in.tell = func(seq []kindID, done int) {
			if _, took, _ := s.m.cost(seq); took < rival {
				s.tell(seq, done)
			}
		}
	}
	sol, _ := in.solveFrom(p, "", k)
	if sol == nil {
		return nil
	}
	return s.m.sequenceOf(sol)
}

// show reports a plan. p may be nil.
func (s *searcher) show(p *plan) {
	if p != nil && s.tell != nil {
		s.tell(p.seq, 0)
	}
}

// begin returns the fastest plan within a budget to start from, or nil, and the least peak of all plans. If no
// other plan fits, it looks for less memory, from the given order and then from the plan with the least peak.
func (s *searcher) begin(budget engine.Bytes, first []kindID, runs *plans) (fits *plan, least engine.Bytes) {
	l := s.made
	low := l.list[0].peak
	if l.fastest(budget) == nil && (len(s.m.order) <= manyOps || len(runs.list) == 0) {
		l.add(s.leanest(budget, first, first, true), "")
		low = l.list[len(l.list)-1].peak
	}
	l.list = append(l.list, runs.list...)
	if p := l.leanest(); p.peak > budget && p.peak < low {
		l.add(s.leanest(budget, first, p.seq, true), "")
	}
	return l.fastest(budget), l.leanest().peak
}

// manyOps is the number of operations from which runs of DTR take the place of the search for less memory from the
// given order, which takes long.
const manyOps = 1500

// dtrRuns returns the runs of DTR within a budget, with all heuristics, and reports those that are faster than all
// before.
func (s *searcher) dtrRuns(budget engine.Bytes) *plans {
	l, m := &plans{m: s.m}, s.m.whole()
	for _, heuristic := range dtr.Params[0].Choices {
		r := newOnline(m, budget, heuristic, s.poll)
		r.most, r.looks = longRuns*len(m.order), mostLooks
		if r.all() {
			l.add(r.seq, "")
			if last := &l.list[len(l.list)-1]; l.fastest(budget) == last {
				s.show(last)
			}
		}
	}
	return l
}

// Limits of the runs of DTR that the search starts from: their length, as a multiple of the number of operations, and
// the number of missing values that they look at.
const (
	longRuns  = 6
	mostLooks = 4_000_000
)

// mostStages is the length of the longest chain for which the search starts from rotor's schedule.
const mostStages = 300

// onChain returns rotor's schedule of a chain as a sequence, or the smallest budget for which there is one. For
// other graphs it returns nil and 0.
func (s *searcher) onChain(p *engine.Problem) (seq []kindID, smallest engine.Bytes) {
	if p.Chain == nil || p.Chain.Stages > mostStages {
		return nil, 0
	}
	sol, err := remat.Rotor.Solve(p, nil, s.poll)
	if infeasible, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		return nil, infeasible.Smallest
	} else if err != nil {
		return nil, 0
	}
	return s.m.sequenceOf(sol), 0
}

// solution returns the solution of a sequence with its claims.
func (s *searcher) solution(seq []kindID, among string, proven time.Duration) *engine.Solution {
	sol := s.m.solution(seq)
	sol.OptimalAmong, sol.Bound = among, proven
	sol.Optimal = sol.Makespan == sol.Bound
	sol.Notes = []string{s.m.describe(seq)}
	return sol
}

// why returns what is proven about a budget that is too small, in words.
func (s *searcher) why(proven bound.Recomputed, least engine.Bytes) string {
	switch {
	case proven.Fits:
		return s.m.whyLeast(least)
	case proven.At == engine.NoOp:
		return "the step begins with more"
	}
	return s.m.g.Ops[proven.At].Name + " cannot run with less beside what later operations read and nothing makes again"
}
