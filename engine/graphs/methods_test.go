package graphs_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/graphs"
)

// TestMethods runs every strategy of this package on the vectors and on random graphs. Every solution is played
// and checked. No solution is faster than the optimum, and none fits into less than the smallest budget. The
// smallest budget that a refusal names is enough.
func TestMethods(t *testing.T) {
	var problems []*engine.Problem
	for i, v := range graphs.Vectors("graph_small") {
		if i%4 == 0 {
			problems = append(problems, v.GraphProblem())
		}
	}
	r := enginetest.Rand(41)
	for range 60 {
		problems = append(problems, randomProblem(r, 12))
	}
	for _, s := range engine.Strategies() {
		if s.Class&engine.MayOffload != 0 || !s.Graphs {
			continue
		}
		solved := 0
		for i, p := range problems {
			sol, err := s.Solve(p, nil, nil)
			var infeasible *engine.InfeasibleError
			if errors.As(err, &infeasible) {
				if sol, err = s.Solve(p.WithBudget(infeasible.Smallest), nil, nil); err != nil {
					t.Errorf("%s, problem %d: refused with %v; then %v\n%s", s.Name, i, infeasible, err,
						enginetest.DumpGraph(p.Graph))
					continue
				}
				plays(t, p.WithBudget(infeasible.Smallest), sol)
				continue
			}
			if err != nil {
				t.Errorf("%s, problem %d: %v\n%s", s.Name, i, err, enginetest.DumpGraph(p.Graph))
				continue
			}
			plays(t, p, sol)
			best, err := engine.Lookup("graphexact").Solve(p, nil, nil)
			if err != nil || sol.Makespan < best.Makespan {
				t.Errorf("%s, problem %d, within %d: takes %d; the optimum is %+v, %v\n%s", s.Name, i, p.Budget,
					sol.Makespan, best, err, enginetest.DumpGraph(p.Graph))
				continue
			}
			solved++
		}
		t.Logf("%s solves %d of %d", s.Name, solved, len(problems))
		if solved < len(problems)/4 {
			t.Errorf("%s solves %d of %d only", s.Name, solved, len(problems))
		}
	}
}
