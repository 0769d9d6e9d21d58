package graphs

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// annealed returns the fastest schedule that the annealing alone, without the exact search, finds for the graph
// of a vector at the default effort. ok is false if it finds no schedule.
func annealed(t *testing.T, p *engine.Problem, order string, seed uint64) (found *engine.Solution, ok bool) {
	t.Helper()
	m, err := newModelOfWays(p.Graph)
	if err != nil {
		t.Fatal(err)
	}
	args, err := graphSearch.Parse(engine.Args{"order": order})
	if err != nil {
		t.Fatal(err)
	}
	if sol := m.keepAll(p.Budget, within(args)); sol != nil {
		return sol, true
	}
	s := newSearcher(m, args, nil)
	s.seed = seed
	found, err = s.solve(p, within(args))
	return found, err == nil
}

// TestAnnealingFindsOptima checks that the annealing finds 99.5 % of the optima of the solvable vectors, and
// never a faster schedule.
func TestAnnealingFindsOptima(t *testing.T) {
	feasible, equal := 0, 0
	vectors := Vectors("graph_small")
	if testing.Short() {
		vectors = vectors[:60]
	}
	for _, v := range vectors {
		p := v.GraphProblem()
		for _, order := range []string{"any", "kept"} {
			want, err := graphExact.Solve(p, engine.Args{"order": order}, nil)
			sol, ok := annealed(t, p, order, 1)
			switch {
			case err != nil && ok || err == nil && ok && (sol.Makespan < want.Makespan || sol.Bound > want.Makespan):
				t.Errorf("%s, order %s: the search says %+v; the optimum is %+v, %v", v.ID, order, sol, want, err)
			case err == nil:
				feasible++
				if ok && sol.Makespan == want.Makespan {
					equal++
				} else {
					t.Logf("%s, order %s: %+v, want %d", v.ID, order, sol, want.Makespan)
				}
			}
		}
	}
	if equal*1000 < feasible*995 {
		t.Errorf("%d of %d are optimal; want 99.5 %%", equal, feasible)
	}
	t.Logf("%d of %d are optimal", equal, feasible)
}

// TestAnnealingOfLayered checks that the search is not far from longer searches on a random layered graph, both
// with the order kept, where repetitions have to be exchanged, and in any order, where many runs can move.
func TestAnnealingOfLayered(t *testing.T) {
	for _, tc := range []struct {
		graph uint64
		ops   int
		order string
		most  time.Duration // the longest allowed step, in ten-thousandths of that of keeping everything
	}{{5, 120, "kept", 10662}, {13, 250, "kept", 10280}, {1, 500, "any", 10046}} {
		p := &engine.Problem{Graph: Layered(enginetest.Rand(tc.graph), tc.ops), Budget: engine.NoLimit}
		keep, err := graphSearch.Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		sol, ok := annealed(t, p.WithBudget(keep.Peak*8/10), tc.order, 1)
		if !ok {
			t.Fatalf("graph %d of %d operations: no schedule", tc.graph, tc.ops)
		}
		if most := keep.Makespan * tc.most / 10000; sol.Makespan > most {
			t.Errorf("graph %d of %d operations takes %v, want at most %v", tc.graph, tc.ops, sol.Makespan, most)
		}
	}
}

// TestAnyOrderIsNoSlower checks that the search in any order is no slower than the search with the order kept, on a
// network for which the latter starts far behind and ends ahead.
func TestAnyOrderIsNoSlower(t *testing.T) {
	g := UNet(3, 2)
	keep, err := graphSearch.Solve(&engine.Problem{Graph: g, Budget: engine.NoLimit}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenths := range []engine.Bytes{4, 5} {
		p := &engine.Problem{Graph: g, Budget: keep.Peak * tenths / 10}
		free, err := graphSearch.Solve(p, nil, nil)
		kept, errKept := graphSearch.Solve(p, engine.Args{"order": "kept"}, nil)
		if err != nil || errKept != nil || free.Makespan > kept.Makespan {
			t.Errorf("U-Net within %d: in any order %+v, %v; with the order kept %+v, %v", p.Budget, free, err, kept,
				errKept)
		}
	}
}

// TestAnnealingTakesSecondWays checks that the annealing finds the optima of graphs whose operations have two
// algorithms.
func TestAnnealingTakesSecondWays(t *testing.T) {
	r := enginetest.Rand(12)
	feasible, equal, second := 0, 0, 0
	for range 40 {
		g := enginetest.RandomGraph(r, 10)
		GiveAlt(r, g)
		p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
		keep, err := graphExact.Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p = p.WithBudget(keep.Peak * 8 / 10)
		want, err := graphExact.Solve(p, nil, nil)
		sol, ok := annealed(t, p, "any", 1)
		if err != nil {
			if ok {
				t.Errorf("the search says %+v, the exact one %v\n%s", sol, err, enginetest.DumpGraph(g))
			}
			continue
		}
		feasible++
		for _, st := range want.Schedule {
			if st.Alt {
				second++
			}
		}
		if ok && sol.Makespan < want.Makespan {
			t.Errorf("takes %d, the optimum is %d\n%s", sol.Makespan, want.Makespan, enginetest.DumpGraph(g))
		}
		if ok && sol.Makespan == want.Makespan {
			equal++
		}
	}
	if equal*100 < feasible*95 || second < feasible {
		t.Errorf("%d of %d are optimal, with %d runs in the second way; want 95 %% and one in each", equal, feasible,
			second)
	}
}
