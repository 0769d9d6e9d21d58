package combined

import (
	"reflect"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// someTerms returns a problem that recomputation alone can solve, its terms, and the step time of recomputation
// alone in ticks.
func someTerms(t *testing.T, seed uint64) (p *engine.Problem, tm *terms, limit int64) {
	t.Helper()
	shape := enginetest.Shape{MinStages: 30, MaxStages: 30, MaxSize: 1 << 30, MaxTime: 1e7}
	c := enginetest.RandomChain(enginetest.Rand(90000+seed), shape)
	p = engine.NewChainProblem(c, engine.Device{ToHost: 100e9, ToDev: 100e9}, engine.Streamed, c.KeepAllPeak()*35/100)
	rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tm = mustTerms(t, p)
	return p, tm, int64(rotor.Makespan) * tm.q
}

// TestEffort checks that the limit of a search counts work instead of time. A search that may do no work still
// makes its first pass. It has a plan and a true bound, reports that it was stopped, and has the same result
// every time. With enough work it ends with a proof.
func TestEffort(t *testing.T) {
	stopped, seeds := 0, uint64(12)
	for seed := range seeds {
		_, tm, limit := someTerms(t, seed)
		if tm.effort.left != modelEffort {
			t.Fatalf("seed %d: a solution may take work of %d, want %d", seed, tm.effort.left, int64(modelEffort))
		}
		full, err := solve(tm, limit, widths, nil)
		all := modelEffort - tm.effort.left
		if err != nil || full.note != "" || full.bound != full.cost || all <= 0 {
			t.Fatalf("seed %d: with plenty of work the search ends with %v, %q, cost %d and bound %d after work of %d; want a proof", seed, err, full.note, full.cost, full.bound, all)
		}
		var first *optimum
		for range 2 {
			_, tm, _ := someTerms(t, seed)
			tm.effort.left = 0
			o, err := solve(tm, limit, widths, nil)
			if err != nil || o.cost < full.cost || o.cost > limit || o.bound > full.cost || len(o.plans) == 0 &&
				o.cost < limit {
				t.Errorf("seed %d: got %v, cost %d, bound %d and %d plans; the optimum is %d", seed, err, o.cost,
					o.bound, len(o.plans), full.cost)
			}
			if first != nil && !reflect.DeepEqual(first, o) {
				t.Errorf("seed %d: the search stopped at %d and at %d", seed, first.bound, o.bound)
			}
			if first = o; o.bound == o.cost {
				continue // the first search proved it
			}
			stopped++
			if used := -tm.effort.left; o.note == "" || used >= all {
				t.Errorf("seed %d: %q, and work of %d of %d was done", seed, o.note, used, all)
			}
		}
	}
	if stopped < int(seeds) {
		t.Errorf("only %d of %d searches were stopped: the generator is off", stopped, 2*seeds)
	}
}

// TestEffortIsTold checks that a solution whose search was stopped says so, and does not claim to be optimal.
func TestEffortIsTold(t *testing.T) {
	for seed := range uint64(4) {
		for _, left := range []int64{0, modelEffort} {
			p, tm, limit := someTerms(t, seed)
			tm.effort.left = left
			o, err := solve(tm, limit, widths, nil)
			if err != nil {
				t.Fatal(err)
			}
			rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sol, err := choose(p, tm, o, rotor, false)
			if err != nil || sol.Stopped != (o.note != "") || sol.Stopped &&
				(sol.Optimal || !slices.Contains(sol.Notes, o.note)) {
				t.Errorf("seed %d, work %d: got %v, stopped %v, optimal %v, notes %q; want what the search says: %q",
					seed, left, err, sol.Stopped, sol.Optimal, sol.Notes, o.note)
			}
		}
	}
}

// TestWholeEffort checks that the improvement of plans for whole transfers uses up the work that it may do, and
// ends soon after.
func TestWholeEffort(t *testing.T) {
	for seed := range uint64(4) {
		work := func(allowed int64) (used int64) {
			p, tm, limit := someTerms(t, seed)
			p.Transfers = engine.Whole
			o, err := solve(tm, limit, wholeWidths, nil)
			if err != nil || len(o.plans) == 0 {
				t.Fatalf("seed %d: %v, %d plans; want some", seed, err, len(o.plans))
			}
			tm.effort.left = allowed
			if err := wholePlans(p, tm, o, false, nil); err != nil {
				t.Fatal(err)
			}
			return allowed - tm.effort.left
		}
		all := work(1e15)
		if used := work(all / 4); used < all/4 || used > all/2 {
			t.Errorf("seed %d: work of %d was allowed of %d, %d was done", seed, all/4, all, used)
		}
	}
}
