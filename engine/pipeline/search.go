package pipeline

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// Options of a search.
type Options struct {
	Allowed
	Effort int        // passes that it may play; 0: 50 million
	Seed   uint64     // of its chance: for one seed it finds the same
	Orders [][][]Pass // it is no slower than these, where they fit
}

// Found is the best step of a search.
type Found struct {
	Order [][]Pass
	Trace *Trace
	Bound time.Duration // no order without joined passes is faster
	From  string        // what it began as: a schedule's name or a rule
}

// Proven reports whether no order is faster.
func (f *Found) Proven() bool { return f.Trace.Makespan == f.Bound }

// InfeasibleError says that no order was found that fits.
type InfeasibleError struct {
	Rank         int
	Needs, Limit engine.Bytes // of one pass alone; Needs is 0 where each pass fits alone
}

func (e *InfeasibleError) Error() string {
	if e.Needs > e.Limit {
		return fmt.Sprintf("rank %d needs %d bytes for one pass alone; its limit is %d", e.Rank, e.Needs, e.Limit)
	}
	return "no order was found that fits within the limits"
}

// searching is a search under way.
type searching struct {
	p     *Problem
	o     Options
	w     *work
	rng   *rand.Rand
	bound time.Duration
	best  *Found
	top   []candidate // different steps, the best first
	poll  *engine.Poll
}

// candidate is a step that annealing may begin with.
type candidate struct {
	order [][]Pass
	time  int64
}

// widest is how many candidates are kept.
const widest = 6

// Search looks for the fastest order within the limits: every published schedule that lies on the ranks in the same
// way,
// greedy orders by waves, and annealing from the best of them. It is never slower than a published
// schedule
// that fits, but for those that are searched themselves where little effort is allowed. When the poll ends it, it
// returns
// its best so far without an error, if there is one. Messages that compete are not searched, nor passes of different
// times for different micro batches, nor joined ones.
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
	s.improve(s.top[:min(1, len(s.top))], warmest, o.Effort/32) // for searches that are stopped soon
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

// enough reports whether the search ends.
func (s *searching) enough() bool { return s.proven() || s.poll.Err() != nil }

// try offers an order; its trace decides.
func (s *searching) try(order [][]Pass, from string) {
	t, err := s.p.Play(order)
	if err != nil {
		return
	}
	if s.best == nil || t.Makespan < s.best.Trace.Makespan {
		s.best = &Found{Order: order, Trace: t, Bound: s.bound, From: from}
	}
}

// candidate notes a step of the longest path.
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

// load tries an order that may have to be split or not to fit.
func (s *searching) load(order [][]Pass, from string) {
	if s.w.load(order) {
		s.candidate(s.w.passes(), slices.Max(s.w.free), from)
	}
}

// seeds tries the published schedules, and one micro batch after the other.
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

// named tries the published schedules that lie on the ranks in the same way: those by rule, or those that are searched.
func (s *searching) named(searched bool) {
	plan := Request{Ranks: s.p.Ranks, Group: s.p.Ranks, Chunks: max(1, len(s.p.Stages)/s.p.Ranks)}
	for _, n := range s.p.Micro {
		plan.Micro += n
	}
	for _, m := range makers {
		if m.searched != searched || s.p.Fused && m.split || !s.p.lies(plan.Problem(m.shape)) || m.refuse != nil &&
			m.refuse(&plan) != nil {
			continue
		}
		s.load(m.make(&plan, s.p), m.name)
	}
}

// lies reports whether the stages lie on the ranks as those of another problem, with as many micro batches.
func (p *Problem) lies(q *Problem) bool {
	return slices.Equal(p.Micro, q.Micro) &&
		slices.EqualFunc(p.Stages, q.Stages, func(a, b Stage) bool { return a.Rank == b.Rank && a.Path == b.Path })
}

// oneByOne runs one micro batch after the other, which holds least; with again every forward runs twice.
func (p *Problem) oneByOne(again bool) [][]Pass {
	order := make([][]Pass, p.Ranks)
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
				if again {
					put(Dropped, m, s)
				} else {
					put(Forward, m, s)
				}
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

// rules tries greedy orders by waves until as many passes were played.
func (s *searching) rules(effort int) {
	begin := s.w.played
	var top []*rule
	for i := 0; !s.enough() && s.w.played-begin <= effort; i++ {
		ru := s.w.wave(s.rng, i)
		if len(top) > 0 && s.rng.IntN(2) == 0 {
			ru = top[s.rng.IntN(len(top))].vary(s.rng)
		}
		s.w.played += len(s.p.Stages) // a rule that gets stuck at once counts as well
		if !s.w.greedy(ru, s.poll) {
			continue
		}
		t := int64(0)
		for _, list := range s.w.order {
			if n := len(list); n > 0 {
				t = max(t, s.w.end[list[n-1]])
			}
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

// anneal improves the candidates: all of them for a while, then the best one, at last from a low temperature. On the
// published cases that is better than one long annealing of the best one.
func (s *searching) anneal() {
	left := s.o.Effort - s.w.played
	s.improve(s.top, warmest, left/4)
	s.improve(s.top[:min(1, len(s.top))], warmest, left*3/10)
	s.improve(s.top[:min(1, len(s.top))], lukewarm, left-left/4-left*3/10)
}

// improve anneals some candidates from a temperature on, with as many passes in all.
func (s *searching) improve(list []candidate, from float64, effort int) {
	for _, c := range slices.Clone(list) {
		if s.enough() || !s.w.load(c.order) {
			continue
		}
		order, t := s.w.anneal(s.rng, s.o.Allowed, from, effort/len(list), int64(s.bound), s.poll)
		s.candidate(order, t, "annealing")
	}
}

// infeasible names a rank on which one pass alone does not fit.
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

// newRand returns the chance of a search.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
