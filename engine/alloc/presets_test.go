package alloc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	_ "memtide/engine/offload"
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
			if want := trace.Peak - p.Chain.Resident.Total(); r.AggregatePeak() != want {
				t.Errorf("%s in %d: %d bytes live at a moment, the trace's peak less what is resident is %d", known.ID, budget, r.AggregatePeak(), want)
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

// TestOffloadedLives takes the lives of a schedule that moves data. Their sum is
// what the simulator measured, some are flagged, and in either order of the
// requests of one moment the layouts are sound and the sum stays.
func TestOffloadedLives(t *testing.T) {
	p, err := preset.Lookup("resnet50").Profile(64)
	if err != nil {
		t.Fatal(err)
	}
	problem := engine.NewChainProblem(p.Chain, *p.Device, engine.Whole, 0)
	problem.Budget = p.Chain.Resident.Total() + p.Chain.StoreAllPeak()*2/3
	sol, err := engine.Lookup("greedy").Solve(problem, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := sim.Play(problem, sol.Schedule)
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Peak - p.Chain.Resident.Total()
	for order := alloc.AsPlayed; order <= alloc.DerivativeFirst; order++ {
		r := alloc.FromTrace(trace, order)
		if r.AggregatePeak() != want {
			t.Errorf("order %d: %d bytes live at a moment, want %d", order, r.AggregatePeak(), want)
		}
		flagged := 0
		for _, b := range r.Buffers {
			if b.High {
				flagged++
			}
		}
		if flagged == 0 {
			t.Errorf("order %d: no buffer is flagged", order)
		}
		for _, name := range []string{"best-fit", "high-end", "pytorch", "va"} {
			l := place(t, name, r, engine.NoLimit)
			t.Logf("order %d: %s reserves %d for %d, %d flagged", order, name, l.PeakReserved(), want, flagged)
		}
	}
}
