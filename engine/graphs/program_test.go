package graphs

import (
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestOfSchedule converts plans of other methods to sequences that take no longer, and checks that the search finds
// faster ones from some of them, also on chains.
func TestOfSchedule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	became, faster := 0, 0
	for seed := range uint64(8) {
		c := enginetest.RandomChain(enginetest.Rand(seed),
			enginetest.Shape{MinStages: 20, MaxStages: 20, MaxSize: 100, MaxTime: 300})
		d := enginetest.Device(engine.HalfDuplex)
		d.ToHost, d.ToDev = d.ToHost/4, d.ToDev/4
		p := engine.NewChainProblem(c, d, engine.Whole, c.KeepAllPeak()/2)
		m, err := newModel(p.Graph)
		if err != nil {
			t.Fatal(err)
		}
		m = m.linked(p)
		for _, name := range []string{"pofo", "window", "lms"} {
			sol, err := engine.Lookup(name).Solve(p, nil, nil)
			if err != nil {
				continue
			}
			seq := m.ofSchedule(p, sol.Schedule)
			if seq == nil {
				t.Errorf("seed %d: the plan of %s is no sequence", seed, name)
				continue
			}
			if s := newState(m, p.Budget, false, seq); s.took <= sol.Makespan+sol.Makespan/100 {
				became++
			} else {
				t.Logf("seed %d: the plan of %s takes %d, as a sequence %d", seed, name, sol.Makespan, s.took)
			}
			if name != "pofo" {
				continue
			}
			if found, err := graphPofo.Solve(p, nil, nil); err == nil && found.Makespan < sol.Makespan {
				faster++
				t.Logf("seed %d: pofo takes %d, graphpofo %d; no less than %d", seed, sol.Makespan, found.Makespan,
					found.Bound)
			}
		}
	}
	t.Logf("%d as fast, %d faster than pofo", became, faster)
	if became < 16 || faster < 1 {
		t.Errorf("%d are as fast as the plans, %d faster than pofo", became, faster)
	}
}
