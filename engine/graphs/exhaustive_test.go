package graphs_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/graphs"
)

// randomProblem draws a graph, some with operations that must not run again or have a second algorithm, and a budget
// between what its largest operation needs and what keeping everything takes.
func randomProblem(r *rand.Rand, most int) *engine.Problem {
	g := enginetest.RandomGraph(r, most)
	if r.IntN(3) == 0 {
		for i := range g.Ops {
			g.Ops[i].Once = r.IntN(3) == 0
			if r.IntN(4) == 0 {
				g.Ops[i].Pass = engine.Backward
			}
		}
	}
	if r.IntN(3) == 0 {
		graphs.GiveAlt(r, g)
	}
	p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
	keep, err := engine.Lookup("graphexact").Solve(p, nil, nil)
	if err != nil {
		panic(err)
	}
	_, err = engine.Lookup("graphexact").Solve(p.WithBudget(0), nil, nil)
	var infeasible *engine.InfeasibleError
	if !errors.As(err, &infeasible) {
		return p.WithBudget(0)
	}
	low := infeasible.Smallest - 1
	return p.WithBudget(low + engine.Bytes(r.Int64N(int64(keep.Peak-low)+1)))
}

// TestExhaustive compares graphexact with a search of every schedule of runs and
// frees, on 500 graphs of up to 8 operations, and on 10,000 with MEMTIDE_LONG=1.
func TestExhaustive(t *testing.T) {
	const seed = 17
	r := enginetest.Rand(seed)
	count := 500
	if os.Getenv("MEMTIDE_LONG") != "" {
		count = 10_000
	}
	if testing.Short() {
		count = 100
	}
	solved, again := 0, 0
	for i := range count {
		p := randomProblem(r, 8)
		for _, order := range []string{"any", "kept"} {
			want, feasible := BestGraph(p.Graph, p.Budget, order == "kept")
			sol, err := engine.Lookup("graphexact").Solve(p, engine.Args{"order": order}, nil)
			var infeasible *engine.InfeasibleError
			if errors.As(err, &infeasible) {
				_, does := BestGraph(p.Graph, infeasible.Smallest, order == "kept")
				_, less := BestGraph(p.Graph, infeasible.Smallest-1, order == "kept")
				if feasible || !does || less {
					t.Errorf("seed %d graph %d, order %s, within %d: refused with %v; takes %d, feasible %v, with the smallest %v, a byte less %v\n%s",
						seed, i, order, p.Budget, err, want, feasible, does, less, enginetest.DumpGraph(p.Graph))
				}
				continue
			}
			if err != nil || !feasible || sol.Makespan != want {
				t.Fatalf("seed %d graph %d, order %s, within %d: got %+v, %v; want %d, feasible %v\n%s", seed, i,
					order, p.Budget, sol, err, want, feasible, enginetest.DumpGraph(p.Graph))
			}
			solved++
			if sol.Makespan > sol.Bound || len(sol.Schedule) > 0 &&
				sol.Notes[0] != "Everything fits: nothing runs again." {
				again++
			}
			plays(t, p, sol)
		}
	}
	if solved < count/2 || again < count/8 {
		t.Errorf("%d are solved, in %d something had to give: the generator is off", solved, again)
	}
}
