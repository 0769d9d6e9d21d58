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

// solveRecast is solvePofo for a chain with unsaved outputs.
func solveRecast(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
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
