package combined

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// The paper's model knows no outputs that no backward reads (engine.Stage.Unsaved).
// Where a chain has some, plans are made for other chains that it knows (joined, apart),
// and the best of their plans is taken. Such a chain never needs less memory than what is
// run in its place, so its plans fit; they may run a little faster than planned, and
// what is claimed is what the simulator measures. Nothing is claimed to be the best.
type recast struct {
	q        *engine.Problem                       // of the other chain
	schedule func(engine.Schedule) engine.Schedule // of q's schedule, one of the chain's own
	note     string                                // what is done with outputs that no backward reads
}

// solveRecast is Plans for a chain with unsaved outputs. It makes at most tries further
// plans for more memory than the budget; see roomier.
func solveRecast(p *engine.Problem, args engine.Parsed, tries int, poll *engine.Poll) (*engine.Solution, error) {
	best, err := remat.Rotor.Solve(p, nil, poll)
	var none *engine.InfeasibleError
	if err != nil && !errors.As(err, &none) {
		return claimed(p, best), err
	}
	if best != nil {
		best = &engine.Solution{Schedule: best.Schedule, Makespan: best.Makespan, Peak: best.Peak,
			Notes: []string{"Nothing is offloaded: no schedule that offloads was found to be faster than recomputation alone."}}
	}
	for _, r := range []recast{newApart(p), newJoined(p)} {
		sol, err := r.solve(p, args, best, poll)
		if err == nil && sol != nil {
			sol = r.roomier(p, args, sol, tries, poll)
		}
		if sol != nil && (best == nil || sol.Makespan < best.Makespan) {
			best = sol
		}
		var other *engine.InfeasibleError
		switch {
		case errors.As(err, &other):
			if none != nil && other.Smallest < none.Smallest {
				none = other
			}
		case err != nil:
			return claimed(p, best), err
		}
	}
	if best == nil {
		return nil, none
	}
	return claimed(p, best), nil
}

// solve plans for the other chain. Plans that are no faster than best are not told.
func (r *recast) solve(p *engine.Problem, args engine.Parsed, best *engine.Solution, poll *engine.Poll) (*engine.Solution, error) {
	var rotor *engine.Solution
	var err error
	poll.Aside(func() { rotor, err = remat.Rotor.Solve(r.q, nil, poll) })
	common := &shared{shown: func(sol *engine.Solution) *engine.Solution {
		own, err := r.solution(p, sol)
		if err != nil || best != nil && best.Makespan <= own.Makespan {
			return nil // it was told before, or its groups were
		}
		return claimed(p, own)
	}}
	sol, err := solveFrom(r.q, args, rotor, err, common, poll)
	if sol == nil {
		return nil, err
	}
	own, problem := r.solution(p, sol)
	if problem != nil {
		return nil, problem
	}
	return own, err
}

// triesFor returns how many plans for more memory than the budget are made for a chain of n
// stages. It is 0 for long chains, whose plans take seconds each.
func triesFor(n int) int {
	if n > 64 {
		return 0
	}
	return 2
}

// roomier returns the fastest of sol and of plans for more memory than the budget. The
// other chain needs more memory than this one, so a plan for it leaves part of the budget
// unused, and a plan for that much more may still fit. A try that does not fit, or is no
// faster, halves what the next one adds.
func (r *recast) roomier(p *engine.Problem, args engine.Parsed, sol *engine.Solution, tries int, poll *engine.Poll) *engine.Solution {
	within := r.q
	defer func() { r.q = within }()
	more := p.Budget - sol.Peak
	for try := 0; try < tries && more > 0 && poll.Err() == nil; try++ {
		r.q = r.q.WithBudget(r.q.Budget + more)
		var faster *engine.Solution
		poll.Aside(func() { faster, _ = r.solve(p, args, sol, poll) })
		if faster == nil || faster.Makespan >= sol.Makespan {
			r.q = r.q.WithBudget(r.q.Budget - more)
			more /= 2
			continue
		}
		sol, more = faster, min(more, p.Budget-faster.Peak)
	}
	return sol
}

// solution is a solution for the other chain as one for this one.
func (r *recast) solution(p *engine.Problem, sol *engine.Solution) (*engine.Solution, error) {
	own, err := sim.Solution(p, r.schedule(sol.Schedule))
	if err != nil {
		return nil, fmt.Errorf("combined: a plan of another chain cannot be played: %w", err)
	}
	own.Notes = []string{fmt.Sprintf("No backward reads the outputs of %d stages: %s.", p.Chain.Chain.CountUnsaved(), r.note)}
	return own, nil
}

// claimed says what is proven of any schedule.
func claimed(p *engine.Problem, sol *engine.Solution) *engine.Solution {
	if sol == nil {
		return nil
	}
	c := p.Chain.Chain
	sol.OptimalAmong, sol.Bound = p.Graph.FirstWays("all schedules"), c.ForwardTime()+c.BackTime()
	sol.Optimal = sol.Makespan == sol.Bound
	return sol
}
