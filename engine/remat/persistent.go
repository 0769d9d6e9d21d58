package remat

import (
	"errors"
	"fmt"
	"slices"

	"memtide/engine"
)

// persistent solves the terms of a problem's chain. The solution, which may
// come with the context's error, lacks the name of the set it is optimal in.
func persistent(p *engine.Problem, t *terms, poll *engine.Poll) (*engine.Solution, error) {
	f, err := prepare(t)
	if err != nil {
		return nil, err
	}
	f.found = func(o *optimum) {
		if sol := solution(p, o.seq); sol.Peak <= p.Budget { // bytes, where the terms are slots
			sol.Notes = []string{fmt.Sprintf("Found with %d stages taken as one.", o.group)}
			poll.Report(engine.Progress{Best: sol})
		}
	}
	return f.solution(p, t, unbounded, poll)
}

// solution solves scaled terms whose needs by state are f. What would need too
// much memory is solved with stages taken together, and is not called optimal.
func (f *floors) solution(p *engine.Problem, t *terms, known bounds, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	o, err := f.solve(t, allTricks, known, poll)
	if errors.Is(err, errNoRoom) {
		least := engine.Bytes(f.root()*t.memUnit) + c.Input + c.Resident.Total()
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: p.Chain.Needs(f.neediest(), least)}
	}
	if err != nil && (o.seq == nil || err != errTableFull && errors.Is(err, engine.ErrUnsupported)) {
		return nil, err
	}
	sol := solution(p, o.seq)
	least := c.ForwardTime() + c.BackTime()
	if want := least + t.duration(o.extra); sol.Makespan != want || sol.Peak > p.Budget {
		panic(fmt.Sprintf("remat: the sequence takes %v and %d bytes, the table says %v within %d", sol.Makespan,
			sol.Peak, want, p.Budget))
	}
	if err != nil {
		sol.Bound = least + t.duration(t.repeatedForward())
		if err == errTableFull {
			sol.Stopped = true
			sol.Notes = []string{fmt.Sprintf("Not proven optimal: the search was stopped, for its table would need more than %d MiB. Found with %d stages taken as one.", maxRowBytes>>20, o.group)}
			return sol, nil
		}
		sol.Notes = []string{fmt.Sprintf("Out of time: found with %d stages taken as one.", o.group)}
		return sol, err
	}
	sol.Optimal = true
	sol.Bound = sol.Makespan
	return sol, nil
}

// sweep solves for many budgets. The needs by state are found once. Two
// budgets that are solved bound those between them from both sides: more memory
// is never slower. So the table of a budget in between is filled below a limit
// that is close, and the grouped chains are not needed.
type sweep struct {
	p     *engine.Problem
	terms func(c *engine.Chain, budget engine.Bytes) *terms
	poll  *engine.Poll
	yield func(budget engine.Bytes, s *engine.Solution, err error)
	f     *floors
	extra map[engine.Bytes]int64 // of what is solved, in units of the terms
}

// inBytes is a method that finds the optimum of its terms in exact bytes.
type inBytes struct {
	terms  func(c *engine.Chain, budget engine.Bytes) *terms
	finish func(p *engine.Problem, sol *engine.Solution, err error) // names what a solution is optimal in
}

func (m inBytes) solve(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	if err := solvable(c); err != nil {
		return nil, err
	}
	sol, err := persistent(p, m.terms(c, p.Budget), poll)
	if sol != nil {
		m.finish(p, sol, err)
	}
	return sol, err
}

func (m inBytes) sweep(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
	yield func(int, *engine.Solution, error)) {
	if solvable(p.Chain.Chain) != nil {
		engine.SolveEach(m.solve, p, args, budgets, poll, yield)
		return
	}
	at := map[engine.Bytes][]int{}
	for i, b := range budgets {
		at[b] = append(at[b], i)
	}
	s := sweep{p: p, terms: m.terms, poll: poll, extra: map[engine.Bytes]int64{}}
	s.yield = func(b engine.Bytes, sol *engine.Solution, err error) {
		for _, i := range at[b] {
			if sol == nil {
				yield(i, nil, err)
				continue
			}
			own := *sol // every answer may be changed by itself
			own.Schedule, own.Notes = slices.Clone(sol.Schedule), slices.Clone(sol.Notes)
			m.finish(p, &own, err)
			yield(i, &own, err)
		}
	}
	sorted := slices.Clone(budgets)
	slices.Sort(sorted)
	s.run(slices.Compact(sorted))
}

// run solves budgets that rise.
func (s *sweep) run(budgets []engine.Bytes) {
	f, err := prepare(s.terms(s.p.Chain.Chain, engine.NoLimit))
	if err != nil {
		for _, b := range budgets {
			s.yield(b, nil, err)
		}
		return
	}
	s.f = f
	// What does not fit is told at once, the largest budget is solved first.
	for len(budgets) > 0 && !s.solve(budgets[0], unbounded) {
		budgets = budgets[1:]
	}
	if len(budgets) < 2 {
		return
	}
	last := len(budgets) - 1
	s.solve(budgets[last], unbounded)
	type gap struct{ lo, hi int }
	for open := []gap{{0, last}}; len(open) > 0; open = open[1:] {
		g := open[0]
		mid := (g.lo + g.hi) / 2
		if mid == g.lo {
			continue
		}
		s.solve(budgets[mid], s.between(budgets[g.lo], budgets[mid], budgets[g.hi]))
		open = append(open, gap{g.lo, mid}, gap{mid, g.hi})
	}
}

// solve solves one budget, and says whether it fits as far as that is known.
func (s *sweep) solve(budget engine.Bytes, known bounds) bool {
	s.poll.Next()
	t := *s.f.t
	t.room = s.terms(s.p.Chain.Chain, budget).room
	if t.room >= 0 {
		t.room /= t.memUnit
	}
	sol, err := s.f.solution(s.p.WithBudget(budget), &t, known, s.poll)
	if err == nil {
		c := s.p.Chain.Chain
		s.extra[budget] = int64(sol.Makespan-c.ForwardTime()-c.BackTime())/t.timeUnit - t.repeatedForward()
	}
	s.yield(budget, sol, err)
	var infeasible *engine.InfeasibleError
	return !errors.As(err, &infeasible)
}

// between returns what the optima of two budgets tell about one between them.
func (s *sweep) between(lo, mid, hi engine.Bytes) bounds {
	most, ok := s.extra[lo]
	least, okLeast := s.extra[hi]
	if !ok || !okLeast {
		return unbounded // the time was over
	}
	if most > least+least/2 {
		return unbounded // too far apart: the grouped chains know better
	}
	// The curve is mostly a little below the line between the two.
	share := float64(hi-mid) / float64(hi-lo)
	guess := (float64(least) + share*float64(most-least)) * 1.02
	return bounds{upper: most, guess: min(most, engine.Int64(guess)+1)}
}
