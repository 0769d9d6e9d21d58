package graphs_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
	"memtide/engine/graphs"
)

// TestRecomputeIsTrue checks on the vectors and on random graphs, with the order kept and with any order, that
// the bound is never above the optimum, and that nothing fits into a budget that the bound refuses.
func TestRecomputeIsTrue(t *testing.T) {
	var problems []*engine.Problem
	for _, v := range graphs.Vectors("graph_small") {
		problems = append(problems, v.GraphProblem())
	}
	r := enginetest.Rand(31)
	for range 300 {
		problems = append(problems, randomProblem(r, 10))
	}
	feasible, tight, impossible, proven := 0, 0, 0, 0
	for i, p := range problems {
		for _, order := range []string{"any", "kept"} {
			b := bound.Recompute(p, order == "kept", nil)
			sol, err := engine.Lookup("graphexact").Solve(p, engine.Args{"order": order}, nil)
			var infeasible *engine.InfeasibleError
			switch {
			case errors.As(err, &infeasible):
				impossible++
				if !b.Fits {
					proven++
					if b.Need <= p.Budget || b.Need > infeasible.Smallest {
						t.Errorf("problem %d, order %s: %d bytes have to be there within %d; the smallest budget is %d\n%s", i, order, b.Need, p.Budget, infeasible.Smallest, enginetest.DumpGraph(p.Graph))
					}
				}
			case err != nil:
				t.Fatal(err)
			case !b.Fits || b.Time > sol.Makespan:
				t.Errorf("problem %d, order %s, within %d: the bound is %+v, and %d is possible\n%s", i, order,
					p.Budget, b, sol.Makespan, enginetest.DumpGraph(p.Graph))
			default:
				feasible++
				if b.Time == sol.Makespan {
					tight++
				}
			}
		}
	}
	t.Logf("tight in %d of %d, impossibility proven in %d of %d", tight, feasible, proven, impossible)
	if tight*10 < feasible*7 || proven*10 < impossible*8 {
		t.Errorf("tight in %d of %d, impossibility proven in %d of %d; want seven and eight tenths", tight, feasible,
			proven, impossible)
	}
}
