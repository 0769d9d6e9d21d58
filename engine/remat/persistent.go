package remat

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
)

// persistent solves terms of the chain of p. The solution may come with the context's error. It
// lacks OptimalAmong, which the caller sets. If the tables would need too much memory, the solution
// is one for stages taken together, and does not claim to be optimal.
func persistent(p *engine.Problem, t *terms, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	o, err := solve(t, allTricks, func(o *optimum) {
		if sol := solution(p, o.seq); sol.Peak <= p.Budget { // in bytes, even if the terms count slots
			sol.Notes = []string{fmt.Sprintf("Found with %d stages taken as one.", o.group)}
			poll.Report(engine.Progress{Best: sol})
		}
	}, poll)
	if errors.Is(err, errNoRoom) {
		least := engine.Bytes(o.floors.root()) + c.Input + c.Resident.Total()
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least,
			Why: p.Chain.Needs(o.floors.neediest(), least)}
	}
	if err != nil && (o.seq == nil || err != errTableFull && errors.Is(err, engine.ErrUnsupported)) {
		return nil, err
	}
	sol := solution(p, o.seq)
	least := c.ForwardTime() + c.BackTime()
	if want := least + time.Duration(o.extra); sol.Makespan != want || sol.Peak > p.Budget {
		panic(fmt.Sprintf("remat: the sequence takes %v and %d bytes, the table says %v within %d", sol.Makespan,
			sol.Peak, want, p.Budget))
	}
	if err != nil {
		sol.Bound = least + time.Duration(t.repeatedForward())
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

// inBytes returns a Solver that finds the optimum in exact bytes of the terms that build returns.
// finish sets OptimalAmong and the notes of a solution.
func inBytes(build func(c *engine.Chain, budget engine.Bytes) *terms,
	finish func(p *engine.Problem, sol *engine.Solution, err error),
) func(*engine.Problem, engine.Parsed, *engine.Poll) (*engine.Solution, error) {
	return func(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		c := p.Chain.Chain
		if err := solvable(c); err != nil {
			return nil, err
		}
		sol, err := persistent(p, build(c, p.Budget), poll)
		if sol != nil {
			finish(p, sol, err)
		}
		return sol, err
	}
}
