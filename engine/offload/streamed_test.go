package offload

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// streamedOrdered returns the least step time, up to limit, of the ordered schedules of streamed
// transfers that the simulator plays: every set, every whole nanosecond as the earliest start of a
// fetch, and a wait for a fetch before any operation or none. It does not use plans.
func streamedOrdered(p *engine.Problem, limit time.Duration) (least time.Duration) {
	g, n := p.Chain, p.Chain.Chain.Len()
	value := func(i int) engine.ValueID {
		if i == 0 {
			return g.Act(0)
		}
		return g.Saved(i)
	}
	least = limit + 1
	var starts []time.Duration
	try := func(set []int, holdAt, holdFor int) {
		var s engine.Schedule
		in := map[int]bool{}
		for _, i := range set {
			in[i] = true
		}
		run := func(k int, op engine.OpID) {
			if k == holdAt {
				s = append(s, engine.Wait(value(set[holdFor])))
			}
			s = append(s, engine.Run(op))
		}
		for i := range n {
			if in[i] {
				s = append(s, engine.Offload(value(i)))
			}
			run(i, g.Fwd(i+1))
			if in[i] {
				s = append(s, engine.Free(value(i)))
			}
			if len(set) > 0 && i == set[len(set)-1] {
				for k := len(set) - 1; k >= 0; k-- {
					s = append(s, engine.Fetch(value(set[k]), starts[len(set)-1-k]))
				}
			}
		}
		for k := n; k >= 1; k-- {
			run(2*n-k, g.Bwd(k))
			s = append(s, engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
		}
		if tr, err := sim.Play(p, s); err == nil {
			least = min(least, tr.Makespan)
		}
	}
	var when func(set []int, from time.Duration)
	when = func(set []int, from time.Duration) {
		if len(starts) < len(set) {
			for at := from; at < least; at++ {
				starts = append(starts, at)
				when(set, at)
				starts = starts[:len(starts)-1]
			}
			return
		}
		try(set, -1, 0)
		for k := range set {
			for at := set[len(set)-1] + 1; at < 2*n; at++ {
				try(set, at, k)
			}
		}
	}
	for mask := range 1 << n {
		var set []int
		for i := range n {
			if mask>>i&1 == 1 {
				set = append(set, i)
			}
		}
		when(set, 0)
	}
	return least
}

// TestStreamedClaims compares claims about ordered schedules of streamed transfers with all of these schedules on
// tiny chains.
func TestStreamedClaims(t *testing.T) {
	claims, waits := 0, 0
	for seed := range proofCases(60, 3000) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 3, MaxSize: 2, MaxTime: 2})
		p := engine.NewChainProblem(c, enginetest.Device(engine.Duplex(seed%2)), engine.Streamed, 0)
		s := newStep(p)
		if s.smallest() == s.peak() {
			continue
		}
		p = p.WithBudget(s.smallest() + engine.Bytes(r.Int64N(int64(s.peak()-s.smallest()))))
		best := time.Duration(-1)
		for _, name := range []string{"offloadsearch", "dynprog"} {
			sol, err := play(t, name, p, nil)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if best < 0 {
				best = streamedOrdered(p, sol.Makespan)
			}
			if best < sol.Bound || sol.Optimal && best < sol.Makespan || name == "offloadsearch" && sol.Optimal &&
				best != sol.Makespan {
				t.Fatalf("seed %d %v budget %d: %s takes %d (optimal %v, bound %d) within %q; the best ordered schedule takes %d\n%s", seed, p.Device, p.Budget, name,
					sol.Makespan, sol.Optimal, sol.Bound, sol.OptimalAmong, best, enginetest.Dump(c))
			}
			if sol.OptimalAmong == withinOrdered {
				claims++
			}
			if sol.Makespan > c.ForwardTime()+c.BackTime() {
				waits++
			}
		}
	}
	t.Logf("%d claims about ordered schedules, %d with waiting", claims, waits)
	if waits == 0 {
		t.Error("nothing waits: the generator is off")
	}
}
