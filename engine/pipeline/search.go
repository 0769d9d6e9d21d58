package pipeline

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// Options are the options of a search.
type Options struct {
	Allowed
	Effort int        // number of passes that it may play; 0: 50 million
	Seed   uint64     // seed of its random numbers; the same seed gives the same result
	Orders [][][]Pass // orders to start from; the result is no slower than those that fit
}

// Found is the best step of a search.
type Found struct {
	Order [][]Pass
	Trace *Trace
	Bound time.Duration // no order without joined passes is faster
	From  string        // its origin: a schedule's name or a method
}

// Proven reports whether it is proven that no order is faster.
func (f *Found) Proven() bool { return f.Trace.Makespan == f.Bound }

// InfeasibleError says that no order was found that fits.
type InfeasibleError struct {
	Rank         int
	Needs, Limit engine.Bytes // bytes of one pass alone; Needs is 0 if each pass fits alone
}

func (e *InfeasibleError) Error() string {
	if e.Needs > e.Limit {
		return fmt.Sprintf("rank %d needs %d bytes for one pass alone; its limit is %d", e.Rank, e.Needs, e.Limit)
	}
	return "no order was found that fits within the limits"
}

// searching is the state of a search.
type searching struct {
	p     *Problem
	o     Options
	w     *work
	rng   *rand.Rand
	bound time.Duration
	best  *Found
	top   []candidate // different steps, the fastest first
	poll  *engine.Poll
}

// candidate is a step that annealing may start from.
type candidate struct {
	order [][]Pass
	time  int64
}

// widest is the number of candidates that are kept.
const widest = 6

// Search looks for the fastest order within the limits: it tries every published schedule whose stages are on the
// same ranks, greedy orders by waves, and annealing from the best of them. The result is never slower than a
// published schedule that fits, except for searched schedules if Effort is small. When the poll ends the search,
// Search returns the best order so far without an error, if there is one. The search does not support messages that
// compete, different times for different micro batches, or joined passes.
func Search(p *Problem, o Options, poll *engine.Poll) (*Found, error) {
	if p.Messages != Latency && p.Messages != Included {
		return nil, fmt.Errorf("the search knows messages that do not compete; play the order with others: %w",
			engine.ErrUnsupported)
	}
	q := *p
	q.Cost, q.Pair = nil, nil
	if err := q.Check(); err != nil {
		return nil, err
	}
	o.Effort = cmp.Or(o.Effort, 50_000_000)
	s := &searching{p: &q, o: o, w: newWork(&q), rng: newRand(o.Seed), bound: q.Bound(o.Allowed), poll: poll}
	s.seeds()
	// A short annealing first, so that a search that is stopped soon has a good result.
	s.improve(s.top[:min(1, len(s.top))], warmest, o.Effort/32)
	s.rules(o.Effort / 4)
	if o.Effort >= 16*withinEffort && !s.enough() {
		s.named(true)
	}
	s.anneal()
	if o.Offload && !s.proven() {
		s.moveOut()
	}
	if s.best == nil {
		return nil, cmp.Or(poll.Err(), s.infeasible())
	}
	return s.best, nil
}

func (s *searching) proven() bool { return s.best != nil && s.best.Proven() }

// enough reports whether to end the search.
func (s *searching) enough() bool { return s.proven() || s.poll.Err() != nil }

// try plays an order and keeps it if it is the fastest so far.
func (s *searching) try(order [][]Pass, from string) {
	t, err := s.p.Play(order)
	if err != nil {
		return
	}
	if s.best == nil || t.Makespan < s.best.Trace.Makespan {
		s.best = &Found{Order: order, Trace: t, Bound: s.bound, From: from}
	}
}

// candidate adds an order whose longest path is t to the candidates, and tries it if it may be the fastest.
func (s *searching) candidate(order [][]Pass, t int64, from string) {
	i, equal := slices.BinarySearchFunc(s.top, t, func(c candidate, t int64) int { return cmp.Compare(c.time, t) })
	if i < widest && !equal {
		s.top = slices.Insert(s.top, i, candidate{order, t})
		s.top = s.top[:min(len(s.top), widest)]
	}
	if s.best == nil || time.Duration(t) < s.best.Trace.Makespan {
		s.try(order, from)
	}
}

// load makes an order a candidate if it fits; it may have to be split first.
func (s *searching) load(order [][]Pass, from string) {
	if s.w.load(order) {
		s.candidate(s.w.passes(), slices.Max(s.w.free), from)
	}
}

// seeds tries the given orders, the published schedules, and one micro batch after the other.
func (s *searching) seeds() {
	for i, order := range s.o.Orders {
		s.load(order, fmt.Sprintf("order %d", i))
	}
	s.named(false)
	s.load(s.p.oneByOne(false), "one micro batch after the other")
	if s.o.Recompute {
		s.load(s.p.oneByOne(true), "one micro batch after the other, all computed again")
	}
}

// named tries the published schedules whose stages are on the same ranks: those that are searched, or the others.
func (s *searching) named(searched bool) {
	plan := Request{Ranks: s.p.Ranks, Group: s.p.Ranks, Chunks: max(1, len(s.p.Stages)/s.p.Ranks)}
	for _, n := range s.p.Micro {
		plan.Micro += n
	}
	for _, m := range makers {
		suits := m.searched == searched && !(s.p.Fused && m.split) && s.p.sameLayout(plan.Problem(m.shape))
		if suits && (m.refuse == nil || m.refuse(&plan) == nil) {
			s.load(m.make(&plan, s.p), m.name)
		}
	}
}

// sameLayout reports whether the stages are on the same ranks and paths as in q, with the same numbers of micro
// batches.
func (p *Problem) sameLayout(q *Problem) bool {
	return slices.Equal(p.Micro, q.Micro) &&
		slices.EqualFunc(p.Stages, q.Stages, func(a, b Stage) bool { return a.Rank == b.Rank && a.Path == b.Path })
}

// oneByOne returns the order that runs one micro batch after the other, which holds the fewest bytes. With again,
// every forward runs twice.
func (p *Problem) oneByOne(again bool) [][]Pass {
	order := make([][]Pass, p.Ranks)
	forward := Forward
	if again {
		forward = Dropped
	}
	put := func(k Kind, m, s int) {
		r := p.Stages[s].Rank
		order[r] = append(order[r], Pass{Kind: k, Micro: m, Stage: s})
	}
	for first := 0; first < len(p.Stages); {
		end := first + 1
		for end < len(p.Stages) && !p.first(end) {
			end++
		}
		for m := range p.micro(first) {
			for s := first; s < end; s++ {
				put(forward, m, s)
			}
			for s := end - 1; s >= first; s-- {
				if again {
					put(Again, m, s)
				}
				if p.Fused {
					put(Backward, m, s)
					continue
				}
				put(Inputs, m, s)
				put(Weights, m, s)
			}
		}
		first = end
	}
	return order
}

// rules tries greedy orders by waves until effort passes were played.
func (s *searching) rules(effort int) {
	begin := s.w.played
	var top []*rule
	for i := 0; !s.enough() && s.w.played-begin <= effort; i++ {
		ru := s.w.wave(s.rng, i)
		if len(top) > 0 && s.rng.IntN(2) == 0 {
			ru = top[s.rng.IntN(len(top))].vary(s.rng)
		}
		s.w.played += len(s.p.Stages) // so that rules that get stuck at once count, too
		t, ok := s.w.greedy(ru, s.poll)
		if !ok {
			continue
		}
		better := s.best == nil || time.Duration(t) < s.best.Trace.Makespan
		if better || len(s.top) < widest || t < s.top[len(s.top)-1].time {
			s.candidate(s.w.passes(), t, "a greedy rule")
		}
		if better {
			top = append(top, ru)
			top = top[max(0, len(top)-3):]
		}
	}
}

// anneal improves the candidates: all of them for a while, then the best one, and at last the best one from a low
// temperature. For the published cases that is better than one long annealing of the best one.
func (s *searching) anneal() {
	left := s.o.Effort - s.w.played
	s.improve(s.top, warmest, left/4)
	s.improve(s.top[:min(1, len(s.top))], warmest, left*3/10)
	s.improve(s.top[:min(1, len(s.top))], lukewarm, left-left/4-left*3/10)
}

// improve anneals some candidates from a temperature on, playing effort passes in total.
func (s *searching) improve(list []candidate, from float64, effort int) {
	for _, c := range slices.Clone(list) {
		if s.enough() || !s.w.load(c.order) {
			continue
		}
		order, t := s.w.anneal(s.rng, s.o.Allowed, from, effort/len(list), int64(s.bound), s.poll)
		s.candidate(order, t, "annealing")
	}
}

// infeasible returns the error for a search that found no order. It names a rank on which one pass alone does not fit.
func (s *searching) infeasible() error {
	for i := range s.p.Stages {
		st := &s.p.Stages[i]
		needs := s.p.fixed(st.Rank) + max(st.Act+st.FwdTemp, st.Act+st.InputsTemp)
		if needs > s.p.limit(st.Rank) {
			return &InfeasibleError{st.Rank, needs, s.p.limit(st.Rank)}
		}
	}
	return &InfeasibleError{}
}

// newRand returns the random numbers of a search.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
