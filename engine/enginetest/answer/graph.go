package main

import (
	"errors"

	"memtide/engine"
	_ "memtide/engine/graphs"

	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

func init() { algorithms["graph"], algorithms["graph-joint"] = graph, graphJoint }

// graph answers the optimum of both freedoms, as it is played.
func graph(v *enginetest.Vector) (fields, error) {
	f := fields{}
	for field, order := range map[string]string{"order_kept": "kept", "any_order": "any"} {
		answer, err := recomputed(v.GraphProblem(), engine.Args{"order": order})
		if err != nil {
			return nil, err
		}
		f[field] = answer
	}
	return f, nil
}

func recomputed(p *engine.Problem, args engine.Args) (fields, error) {
	exact := engine.Lookup("graphexact")
	f := fields{"feasible": false, "time": nil}
	var infeasible *engine.InfeasibleError
	if _, err := exact.Solve(p.WithBudget(0), args, nil); errors.As(err, &infeasible) {
		f["min_budget"] = infeasible.Smallest
	} else if err != nil {
		return nil, err
	} else {
		f["min_budget"] = 0
	}
	sol, err := exact.Solve(p, args, nil)
	if errors.As(err, &infeasible) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return nil, err
	}
	f["feasible"], f["time"] = true, int64(trace.Makespan)
	return f, nil
}

// graphJoint answers the step time of what recomputes, reorders and moves, as it is played.
func graphJoint(v *enginetest.Vector) (fields, error) {
	p := v.GraphProblem()
	sol, err := engine.Lookup("graphpofo").Solve(p, engine.Args{"effort": "3"}, nil)
	var infeasible *engine.InfeasibleError
	if errors.As(err, &infeasible) {
		return fields{"feasible": false, "time": nil}, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return nil, err
	}
	return fields{"feasible": true, "time": v.Units(trace.Makespan)}, nil
}
