package main

import (
	"memtide/engine"
	_ "memtide/engine/graphs"

	"memtide/engine/enginetest"
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
	_, err := engine.Lookup("graphexact").Solve(p.WithBudget(0), args, nil)
	least, err := leastBudget(err)
	if err != nil {
		return nil, err
	}
	trace, err := solve(p, "graphexact", args)
	f := fields{"feasible": trace != nil, "time": nil, "min_budget": least}
	if trace != nil {
		f["time"] = int64(trace.Makespan)
	}
	return f, err
}

// graphJoint answers the step time of what recomputes, reorders and moves, as it is played.
func graphJoint(v *enginetest.Vector) (fields, error) {
	trace, err := solve(v.GraphProblem(), "graphpofo", engine.Args{"effort": "3"})
	f := fields{"feasible": trace != nil, "time": nil}
	if trace != nil {
		f["time"] = v.Units(trace.Makespan)
	}
	return f, err
}
