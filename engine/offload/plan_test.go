package offload

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
)

// TestEverySubset compares the closed form with the simulator for every set of values of random chains, in both
// transfer modes, on both kinds of links, at equal and different rates. The lower bounds must not exceed the best
// of the sets.
func TestEverySubset(t *testing.T) {
	plans, waits := 0, 0
	for seed := range uint64(400) {
		r := enginetest.Rand(seed)
		shape := enginetest.Shape{MaxStages: 6}
		if seed%4 == 3 {
			shape = enginetest.Shape{MaxStages: 4, MaxSize: 5000, MaxTime: 3000}
		}
		c := enginetest.RandomChain(r, shape)
		dev := enginetest.Device(engine.HalfDuplex)
		if seed%2 == 1 {
			rates := []engine.Rate{1e9, 5e8, 2e9, 333_333_333, 1_700_000_001, 12_500_000_000}
			dev.ToHost, dev.ToDev = rates[r.IntN(len(rates))], rates[r.IntN(len(rates))]
		}
		base := engine.NewChainProblem(c, dev, engine.Whole, 0)
		s := newStep(base)
		least, most := s.smallest(), s.peak()
		base.Budget = least + engine.Bytes(r.Int64N(int64(most-least)+1))
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
				p := *base
				p.Transfers, p.Device.Duplex = mode, duplex
				n, w := everySubset(t, seed, &p)
				plans, waits = plans+n, waits+w
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d plans played, %d of them with waiting", plans, waits)
}

func everySubset(t *testing.T, seed uint64, p *engine.Problem) (plans, waits int) {
	t.Helper()
	n := p.Chain.Chain.Len()
	best := time.Duration(1 << 62)
	compute, _ := bound.Of(p, 0)
	for mask := range 1 << n {
		set := make([]bool, n)
		for i := range set {
			set[i] = mask>>i&1 == 1
		}
		plan, ok := NewOrdered(p, set)
		if !ok {
			continue
		}
		plans++
		if plan.Makespan > compute {
			waits++
		}
		best = min(best, plan.Makespan)
		if plan.Makespan < plan.Fluid || plan.Makespan > plan.Fluid && p.Transfers == engine.Whole {
			t.Fatalf("seed %d %v: set %v: schedule %d, T(S) %d; want the same, or more if streamed", seed,
				p.Transfers, plan.Set, plan.Makespan, plan.Fluid)
		}
		if tr := played(t, "random", p, plan); tr == nil || t.Failed() {
			t.Fatalf("seed %d, rates %d and %d", seed, p.Device.ToHost, p.Device.ToDev)
		}
	}
	lb, ok1 := bound.LB(p)
	relax, ok2 := bound.Relax(p)
	if !ok1 || !ok2 || plans == 0 {
		t.Fatalf("seed %d: budget %d: LB %v, Relax %v, %d plans; want all\n%s", seed, p.Budget, ok1, ok2, plans,
			enginetest.Dump(p.Chain.Chain))
	}
	// Both bounds round down. Relax may lose up to a nanosecond for each of two more transfers.
	if slack := time.Duration(2); lb > relax+slack || relax > best {
		t.Fatalf("seed %d: budget %d: LB %d, Relax %d, best set %d; want them in this order\n%s", seed, p.Budget, lb,
			relax, best, enginetest.Dump(p.Chain.Chain))
	}
	return plans, waits
}
