package graphs_test

import (
	"context"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestSweepOfTheSearch checks that every budget gets one answer, which plays as claimed and is no slower than alone
// or with less memory.
func TestSweepOfTheSearch(t *testing.T) {
	s := engine.Lookup("graphsearch")
	r := enginetest.Rand(3)
	for i := range 2 {
		g := enginetest.RandomGraph(r, 30)
		for len(g.Ops) < 18 {
			g = enginetest.RandomGraph(r, 30)
		}
		p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
		keep, err := s.Solve(p, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var budgets []engine.Bytes
		for k := engine.Bytes(10); k > 2; k-- {
			budgets = append(budgets, keep.Peak*k/10)
		}
		found := make([]*engine.Solution, len(budgets))
		s.Sweep(p, nil, budgets, nil, func(k int, sol *engine.Solution, err error) {
			alone, errAlone := s.Solve(p.WithBudget(budgets[k]), nil, nil)
			if found[k] != nil || (err == nil) != (errAlone == nil) || sol != nil && sol.Makespan > alone.Makespan {
				t.Errorf("graph %d within %d: got %+v, %v; by itself %+v, %v", i, budgets[k], sol, err, alone, errAlone)
			}
			if found[k] = sol; sol != nil {
				plays(t, p.WithBudget(budgets[k]), sol)
			}
		})
		for k := 1; k < len(found); k++ {
			if found[k] != nil && (found[k-1] == nil || found[k-1].Makespan > found[k].Makespan) {
				t.Errorf("graph %d: within %d %+v, within %d %+v", i, budgets[k-1], found[k-1], budgets[k], found[k])
			}
		}
	}
}

// TestSweepOfTheSearchStops checks that after a cancellation every remaining budget gets the error.
func TestSweepOfTheSearchStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &engine.Problem{Graph: enginetest.RandomGraph(enginetest.Rand(1), 40)}
	answers, stopped := 0, 0
	engine.Lookup("graphsearch").Sweep(p, nil, make([]engine.Bytes, 9), engine.NewPoll(ctx, nil),
		func(_ int, _ *engine.Solution, err error) {
			if answers++; answers == 3 {
				cancel()
			}
			if errors.Is(err, context.Canceled) {
				stopped++
			}
		})
	if answers != 9 || stopped < 6 {
		t.Errorf("%d answers of 9, %d of them stopped; want 6 of them", answers, stopped)
	}
	cancel()
}
