package offload

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

// Limits of the search: the number of states grows with three to the power of the length of the
// chain, or more in full duplex. A state takes about 250 bytes.
const (
	maxExactStages = 12
	maxExactStates = 250_000
)

// SolveExact is the Solver of the strategy offloadexact. The strategy has a package of its own,
// because it is rarely used and should not be part of the program that every visit of the page
// loads.
func SolveExact(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if s.peak() <= p.Budget {
		return s.mustPlan(make([]bool, s.n)).solution().Solution, nil
	}
	switch {
	case s.streamed:
		return nil, fmt.Errorf("%w: it looks for the best order of whole transfers, and these are streamed",
			engine.ErrUnsupported)
	case s.n > maxExactStages:
		return nil, fmt.Errorf("%w: the network has %s; every order of transfers is tried for %d stages at most",
			engine.ErrUnsupported, p.Chain.Chain.Describe(), maxExactStages)
	}
	if least, why := s.tightest(true); p.Budget < least {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: why}
	}
	sol, ordered := s.firstExact(poll)
	if sol.Optimal || poll.Err() != nil {
		return sol.Solution, poll.Err()
	}
	e := newExact(s, sol.Makespan, poll)
	found := e.run()
	if found != nil {
		sol.adopt(found)
		if ordered != "" {
			sol.Notes = append(sol.Notes, ordered)
		}
	} else if e.least >= e.limit {
		sol.Note("No other order of transfers is faster.")
	}
	sol.claimAll(e)
	return sol.Solution, poll.Err()
}

// firstExact returns the solution that the search starts from, and a note about it: the best
// ordered schedule. If the budget only suffices with the gradient of the loss away, which no other
// method here moves, it is a schedule that moves all that it can, without a note.
func (s *step) firstExact(poll *engine.Poll) (sol claim, ordered string) {
	if s.p.Budget >= s.smallest() {
		best := bestSet(s, 1, 10_000, poll)
		sol = s.mustPlan(best.set).solution()
		which := "The best"
		if !best.proven {
			which = "The best that was found"
		}
		return sol, fmt.Sprintf("%s with offloads in the order of the layers, and then fetches in reverse, takes %v.",
			which, short(sol.Makespan))
	}
	lower, _ := bound.Of(s.p, engine.MayOffload)
	sol = claim{&engine.Solution{OptimalAmong: withinAll, Bound: lower}, s}
	half, p := *s, *s.p // one transfer at a time
	p.Device.Duplex, half.p = engine.HalfDuplex, &p
	sol.adopt(newExact(&half, never, nil).anyhow())
	sol.Optimal = sol.Makespan <= lower
	return sol, ""
}

// claimAll sets the claims after a search.
func (c claim) claimAll(e *exact) {
	least := min(c.Makespan, e.least)
	if least > c.Bound {
		c.OptimalAmong, c.Bound = c.step.p.Graph.FirstWays(withinAll), least
	}
	c.Optimal = c.Makespan <= c.Bound
	if !c.Optimal && e.poll.Err() == nil {
		c.Stopped = true
		c.Note("The search was stopped after %d states.", maxExactStates)
	}
}

// adopt replaces the schedule of the solution by w.
func (c claim) adopt(w *written) {
	c.Schedule, c.Makespan, c.Peak = w.schedule, w.makespan, w.peak
	note := fmt.Sprintf("Offloads %d activations.", w.activations)
	if w.gradients > 0 {
		note = fmt.Sprintf("Offloads %d activations and %d gradients.", w.activations, w.gradients)
	}
	c.Notes = []string{note}
}

// lasts returns the time of operation k, k = 0..2n-1.
func (s *step) lasts(k int) time.Duration {
	if k < s.n {
		return s.timeF[k]
	}
	return s.timeB[2*s.n-1-k]
}

// need returns the memory while operation k runs if nothing is offloaded.
func (s *step) need(k int) engine.Bytes {
	if k < s.n {
		return s.needF[k]
	}
	return s.needB[2*s.n-1-k]
}

// before returns the memory before operation k starts if nothing is offloaded.
func (s *step) before(k int) engine.Bytes {
	c := s.p.Chain.Chain
	if k < s.n {
		st := &c.Stages[k]
		return s.needF[k] - st.Saved - c.Beside(k+1) - st.FwdTemp
	}
	i := 2*s.n - 1 - k
	held := s.needB[i] - c.Stages[i].BwdTemp - c.Grad(i)
	if i == s.n-1 {
		held += c.HeldGrad(s.n) - c.Grad(s.n)
	}
	return held
}
