package graphs

import (
	"testing"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
)

// TestWarm: sequences from other budgets make a short search better, never worse.
func TestWarm(t *testing.T) {
	gained := 0
	for seed := range uint64(5) {
		g := enginetest.RandomGraph(enginetest.Rand(seed), 90)
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		args, _ := graphSearch.Parse(nil)
		s := newSearcher(m, args, nil)
		s.total = 800
		keep, _, _ := m.cost(m.given())
		var budgets []engine.Bytes
		for k := engine.Bytes(4); k < 10; k++ {
			budgets = append(budgets, keep*k/10)
		}
		found := s.down(budgets)
		for _, b := range budgets {
			p := &engine.Problem{Graph: g, Budget: b}
			alone, err := s.solve(p, bound.AnyOrder)
			if err != nil {
				continue
			}
			sol := s.warm(p, alone, found)
			if sol.Peak > b || sol.Makespan > alone.Makespan {
				t.Errorf("seed %d within %d: %d in %d; alone %d", seed, b, sol.Makespan, sol.Peak, alone.Makespan)
			}
			if sol.Makespan < alone.Makespan {
				gained++
			}
		}
	}
	if gained < 2 {
		t.Errorf("%d are faster for what was found before", gained)
	}
	t.Logf("%d are faster", gained)
}
