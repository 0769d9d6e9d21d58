package combined

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// everyPlan is the step time of the fastest of all plans of a problem as they run,
// found by trying them.
func everyPlan(t *testing.T, p *engine.Problem) time.Duration {
	t.Helper()
	best := time.Duration(never)
	b := &brute{c: p.Chain.Chain}
	b.each = func(all []bruteSegment) {
		for set := range 1 << (len(all) - 1) {
			var segs []segment
			for x, s := range all {
				ops := s.forward
				segs = append(segs, segment{first: ops[0].Stage, last: ops[len(ops)-1].Stage,
					saved:      ops[0].Kind == engine.FAll,
					afterSaved: x > 0 && segs[x-1].saved, offload: set>>x&1 == 1, backward: s.backward})
			}
			if line, err := newTimeline(p, segs, false); err == nil {
				best = min(best, line.Makespan)
			}
		}
	}
	b.cut(1, b.c.Input, nil)
	return best
}

// TestRounded: at rates at which bytes take no whole nanosecond, no bound is above
// the step time of the fastest plan as it runs, what is called optimal is that, and
// most of it is.
func TestRounded(t *testing.T) {
	rates := [][2]engine.Rate{{12_500_000_000, 12_500_000_000}, {1_300_000_000, 700_000_001}, {3e9, 2e9}, {30e9, 7e9}}
	feasible, optimal, lost, tight := uint64(0), uint64(0), uint64(0), uint64(0)
	for seed := range cases(1200) {
		r := enginetest.Rand(100_000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 4 + int(seed%5/4), MaxSize: 60, MaxTime: 12})
		rate := rates[seed%4]
		d := engine.Device{ToHost: rate[0], ToDev: rate[1], Duplex: duplexes[seed/4%2]}
		p := engine.NewChainProblem(c, d, engine.Streamed, enginetest.RandomBudget(r, c))
		sol := planHolds(t, p)
		want := everyPlan(t, p)
		if (sol != nil) != (want < never) || sol != nil &&
			(sol.Makespan < want || sol.Bound > want || sol.Optimal && sol.Makespan != want) {
			t.Fatalf("seed %d, budget %d, rates %v: got %+v, all plans %d\n%s", seed, p.Budget, rate, sol, want,
				enginetest.Dump(c))
		}
		if sol == nil {
			continue
		}
		feasible++
		if bound := roundedBound(t, p); bound > want {
			t.Fatalf("seed %d, budget %d, rates %v: the bound with rounded debts is %d, the fastest plan takes %d\n%s", seed, p.Budget, rate, bound, want, enginetest.Dump(c))
		} else if bound == want {
			tight++
		}
		if sol.Optimal {
			optimal++
		}
		if o, ok := plainMakespan(mustTerms(t, p)); ok && mustTerms(t, p).nanoseconds(o) < want {
			lost++
		}
	}
	t.Logf("%d feasible cases, %d proven to be optimal, %d lose by rounding, %d bounds with rounded debts are attained", feasible, optimal, lost, tight)
	if feasible < cases(400) || optimal < feasible*9/10 || lost < cases(20) {
		t.Errorf("%d feasible cases, %d proven to be optimal, %d lose by rounding", feasible, optimal, lost)
	}
}

// roundedBound is the least of the search with rounded debts, without a limit.
func roundedBound(t *testing.T, p *engine.Problem) time.Duration {
	t.Helper()
	tm := mustTerms(t, p)
	tm.grain = tm.q
	r, err := newLowerBound(tm, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.addSequences(tooLong-tm.base[tm.n], nil); err != nil {
		t.Fatal(err)
	}
	s, err := search(tm.frontsOf(tooLong-1-tm.base[tm.n], 0, allTricks, nil), r, tooLong, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tm.nanoseconds(s.best)
}
