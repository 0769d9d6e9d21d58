package alloc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	_ "memtide/engine/remat"
	"memtide/engine/sim"
	"memtide/profiles/preset"
)

// TestRotorSchedulesOfPresets proves that the lives of rotor's schedules can be
// placed without any loss, for every preset and budgets from the smallest to
// one that keeps nearly everything. Best fit is reported beside it.
func TestRotorSchedulesOfPresets(t *testing.T) {
	for _, known := range preset.All() {
		p, err := known.Profile(known.DefaultBatch)
		if err != nil {
			t.Fatal(err)
		}
		problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, 0)
		rotor := engine.Lookup("rotor")
		_, err = rotor.Solve(problem, nil, nil)
		var infeasible *engine.InfeasibleError
		if !errors.As(err, &infeasible) {
			t.Fatalf("%s in nothing: got %v, want an InfeasibleError", known.ID, err)
		}
		all := p.Chain.StoreAllPeak() + p.Chain.Resident.Total()
		for tenths := engine.Bytes(0); tenths <= 9; tenths += 3 {
			budget := infeasible.Smallest + (all-infeasible.Smallest)*tenths/10
			sol, err := rotor.Solve(problem.WithBudget(budget), nil, nil)
			if err != nil {
				t.Fatalf("%s in %d: %v", known.ID, budget, err)
			}
			trace, err := sim.Play(problem.WithBudget(budget), sol.Schedule)
			if err != nil {
				t.Fatalf("%s in %d: %v", known.ID, budget, err)
			}
			r := alloc.FromTrace(trace, alloc.AsPlayed)
			if r.AggregatePeak() > trace.Peak {
				t.Errorf("%s in %d: %d bytes live at a moment, the trace's peak is %d", known.ID, budget, r.AggregatePeak(), trace.Peak)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			start := time.Now()
			l, err := alloc.Lookup("optimal").Place(r, engine.NoLimit, nil, engine.NewPoll(ctx, nil))
			took := time.Since(start)
			cancel()
			if err != nil {
				t.Fatalf("%s in %d: after %v: %v", known.ID, budget, took, err)
			}
			sound(t, "optimal", r, l)
			if l.Pool != r.AggregatePeak() || !l.Optimal {
				t.Errorf("%s in %d: got a pool of %d, optimal %v; want %d, true", known.ID, budget, l.Pool, l.Optimal, r.AggregatePeak())
			}
			best := place(t, "best-fit", r, engine.NoLimit)
			t.Logf("%s, %d/10: %d buffers, optimal after %v; best fit needs %.1f %% more", known.ID, tenths, len(r.Buffers), took,
				100*float64(best.Pool-l.Pool)/float64(l.Pool))
		}
	}
}
