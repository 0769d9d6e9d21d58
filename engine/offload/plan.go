package offload

import (
	"fmt"
	"math"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/ordered"
)

// Ordered is the best ordered schedule that offloads a given set of the x_i: all offloads in increasing order of i, as
// early as possible, then all fetches in decreasing order, as late as possible. Its operations are F_0..F_{n-1},
// B_{n-1}..B_0. Other orders can be faster, even if all offloads come before all fetches.
type Ordered struct {
	*ordered.Timeline
	Set  []bool // Set[i]: x_i is offloaded, i = 0..n-1; values of no bytes stay
	step *step
}

// NewOrdered finds the best ordered schedule for a set of the x_i, i = 0..n-1, with whole or
// streamed transfers as the problem says. ok is false if no ordered schedule of that set fits into
// the budget. The problem must be a chain with a link to the host.
func NewOrdered(p *engine.Problem, set []bool) (plan *Ordered, ok bool) {
	return newStep(p).plan(set)
}

// step holds the quantities of a chain, named after the symbols of paper 000.
type step struct {
	p            *engine.Problem
	n            int
	size         []engine.Bytes  // [|x_i|], i = 0..n-1
	needF, needB []engine.Bytes  // [m_F, m_B] memory while F_i, B_i runs if nothing is offloaded, i = 0..n-1
	timeF, timeB []time.Duration // [u_F, u_B]
	streamed     bool
}

func newStep(p *engine.Problem) *step {
	c := p.Chain.Chain
	n := c.Len()
	s := &step{p: p, n: n, streamed: p.Transfers == engine.Streamed}
	x, held := c.Input, p.Graph.Fixed+c.Input
	for i := range n {
		st := &c.Stages[i]
		s.size = append(s.size, x)
		x = st.Saved
		held += x
		s.needF = append(s.needF, held+st.FwdTemp+c.Beside(i)+c.Beside(i+1)+c.HeldGrad(n))
		s.needB = append(s.needB, held+st.BwdTemp+c.Grad(i)+c.Grad(i+1))
		s.timeF = append(s.timeF, st.Forward)
		s.timeB = append(s.timeB, st.Back)
	}
	return s
}

// peak returns the memory that is needed if nothing is offloaded [Mpeak].
func (s *step) peak() (peak engine.Bytes) {
	for i := range s.n {
		peak = max(peak, s.needF[i], s.needB[i])
	}
	return peak
}

// smallest returns the least budget that any set fits into.
func (s *step) smallest() engine.Bytes {
	least, _ := s.tightest(false)
	return least
}

// played returns the timeline of a set, before Play. Its runs are the operations, each with the
// value that moves with it.
func (s *step) played(set []bool) *ordered.Timeline {
	runs := make([]ordered.Run, 2*s.n)
	for i := range s.n {
		runs[i] = ordered.Run{Lasts: s.timeF[i], Need: s.needF[i], Item: i, Moves: s.size[i]}
		runs[2*s.n-1-i] = ordered.Run{Lasts: s.timeB[i], Need: s.needB[i], Item: i, Moves: s.size[i]}
	}
	return ordered.New(s.p, runs, s.n, func(i int) bool { return set[i] })
}

// plan plays a set. ok is false if it does not fit.
func (s *step) plan(set []bool) (*Ordered, bool) {
	p := &Ordered{Timeline: s.played(set), Set: make([]bool, s.n), step: s}
	if !p.Play(true, math.MaxInt64) {
		return nil, false
	}
	for _, t := range p.Transfers {
		p.Set[t.Item] = true
	}
	p.Measure()
	return p, true
}

// Schedule returns the schedule. The counter reaches an offload of x_i when F_{i-1} has ended, and the release of x_i
// when F_i has ended. It reaches a fetch at the end of an operation that ends no later than the fetch's planned start,
// while the next operation is still running then. So transfers start exactly when they are planned to.
func (p *Ordered) Schedule() engine.Schedule {
	return p.write(func(k int, t *ordered.Transfer) bool { return t.FetchAt < p.Runs[k].End })
}

// write returns the schedule. due reports whether the next fetch is queued before operation k.
func (p *Ordered) write(due func(k int, t *ordered.Transfer) bool) engine.Schedule {
	g, n := p.step.p.Chain, p.step.n
	sched := make(engine.Schedule, 0, 5*n+3*len(p.Transfers))
	fetch := len(p.Transfers) - 1
	queue := func(k int) {
		for ; fetch >= 0 && due(k, &p.Transfers[fetch]); fetch-- {
			t := &p.Transfers[fetch]
			sched = append(sched, engine.Fetch(item(g, t.Item), t.FetchAt))
		}
	}
	for i := range n {
		if p.Set[i] {
			sched = append(sched, engine.Offload(item(g, i)))
		}
		queue(i)
		sched = append(sched, engine.Run(g.Fwd(i+1)))
		if p.Set[i] {
			sched = append(sched, engine.Free(item(g, i)))
		}
		sched = freeUnsaved(sched, g, i)
	}
	for k := n; k >= 1; k-- {
		queue(2*n - k)
		if p.Set[k-1] {
			sched = waitUnsaved(sched, g, k-1)
		}
		sched = append(sched, engine.Run(g.Bwd(k)), engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
	}
	return append(sched, engine.Free(g.Act(0)))
}

// freeUnsaved appends the release of a^i after F^{i+1} if no backward reads it.
func freeUnsaved(sched engine.Schedule, g *engine.ChainGraph, i int) engine.Schedule {
	if g.Chain.Unsaved(i) {
		return append(sched, engine.Free(g.Act(i)))
	}
	return sched
}

// waitUnsaved appends a wait for x_i before B^{i+1} if no backward reads a^i. B^{i+1} does not read
// x_i then and would not wait by itself; in the model it does.
func waitUnsaved(sched engine.Schedule, g *engine.ChainGraph, i int) engine.Schedule {
	if g.Chain.Unsaved(i) {
		return append(sched, engine.Wait(item(g, i)))
	}
	return sched
}

// item returns the value that is x_i.
func item(g *engine.ChainGraph, i int) engine.ValueID {
	if i == 0 {
		return g.Act(0)
	}
	return g.Saved(i)
}

// begin returns the step of a problem. It returns an error if no set of values can be offloaded:
// there is no link and one is needed, or the budget is too small for every set.
func begin(p *engine.Problem) (*step, error) {
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if least, why := s.tightest(false); p.Budget < least {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: why}
	}
	return s, nil
}

// linked returns the step of a problem, and an error if values have to move and there is no usable link.
func linked(p *engine.Problem) (*step, error) {
	s := newStep(p)
	if s.peak() <= p.Budget {
		return s, nil
	}
	return s, p.Linked()
}

// tightest returns the least budget that any set fits into, and what needs it: while F_i and B_i run, everything before
// x_i can be away, and nothing else. With any, it is the least budget of all schedules, not only of sets: the gradient
// of the loss can be away too, and x_i while operations run that do not read it.
func (s *step) tightest(any bool) (least engine.Bytes, why string) {
	g := s.p.Chain
	var before, seed engine.Bytes // bytes that can be away
	var most engine.ChainOp
	if any {
		seed = g.Chain.HeldGrad(s.n)
		least, why = s.before(0), "the step begins with it"
	}
	for i := range s.n {
		unread := any && g.Chain.Unsaved(i)
		if unread {
			before += s.size[i]
		}
		for _, need := range []struct {
			bytes engine.Bytes
			kind  engine.ChainOpKind
		}{{s.needF[i] - seed, engine.FAll}, {s.needB[i], engine.BStep}} {
			if need.bytes-before > least {
				least, most = need.bytes-before, engine.ChainOp{Kind: need.kind, Stage: i + 1}
			}
		}
		if !unread {
			before += s.size[i]
		}
	}
	if most.Stage > 0 {
		why = "even with everything else on the host " + g.Needs(most, least)
	}
	return least, why
}

// mustPlan is plan for a set that fits.
func (s *step) mustPlan(set []bool) *Ordered {
	plan, ok := s.plan(set)
	if !ok {
		panic(fmt.Sprintf("offload: no plan for %v within %d bytes, although %d are enough for all", set, s.p.Budget,
			s.smallest()))
	}
	return plan
}

// The sets that Optimal and Bound range over.
const (
	withinAll     = "schedules that offload and do not recompute"
	withinOrdered = "schedules that offload activations in the order of the layers, then fetch them in reverse, and do not recompute"
)

// among names a set of schedules of the model. If no backward reads a^i, x_i could leave before
// F^{i+1} has run, and need not be back for B^{i+1}. The model has no such schedules, and none in
// which an operation runs its second algorithm.
func (s *step) among(within string) string {
	if s.p.Chain.Chain.HasUnsaved() {
		within += ", with each saved set there while the stage after it runs"
	}
	return s.p.Graph.FirstWays(within)
}

// claim is a solution that is being completed.
type claim struct {
	*engine.Solution
	step *step
}

// solution returns a solution for the plan, with the claims that every strategy can make.
func (p *Ordered) solution() claim {
	lower, name := bound.Of(p.step.p, engine.MayOffload)
	sol := &engine.Solution{
		Schedule:     p.Schedule(),
		Makespan:     p.Makespan,
		Peak:         p.Peak,
		Optimal:      p.Makespan <= lower,
		OptimalAmong: withinAll,
		Bound:        lower,
	}
	if len(p.Transfers) == 0 {
		sol.Note("Everything fits: nothing is offloaded.")
		return claim{sol, p.step}
	}
	sol.Notes = append(sol.Notes,
		fmt.Sprintf("Offloads %d of %d activations.", len(p.Transfers), p.step.n),
		fmt.Sprintf("Lower bound: %s.", name))
	return claim{sol, p.step}
}

// ordered claims that no ordered schedule is faster than least, if that is more than what holds for all schedules.
func (c claim) ordered(least time.Duration) {
	if c.Optimal || least <= c.Bound {
		return
	}
	c.OptimalAmong, c.Bound = c.step.among(withinOrdered), least
	c.Optimal = c.Makespan <= least
	c.Note("The bound holds for schedules that offload in the order of the layers and fetch in reverse after the last offload: another order can be faster (Lemma 3 of Beaumont et al. 2020 is false).")
}

// short rounds a duration to four digits, for people.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return d.Round(unit)
}
