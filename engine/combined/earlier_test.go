package combined

import (
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestEarlier: a fetch that stands after the run during which there is room for it begins in time,
// within the budget; where nothing waits, and where there is no room, the schedule is what it was.
func TestEarlier(t *testing.T) {
	stage := engine.Stage{Forward: 10, Back: 10, Out: 2, Saved: 6, Grad: 1}
	c := &engine.Chain{Input: 8, LossGradAllocated: true, Stages: []engine.Stage{stage, stage, stage}}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, 0)
	g := p.Chain
	late := engine.Schedule{engine.Offload(g.Act(0)), engine.Run(g.Fwd(1)), engine.Free(g.Act(0)),
		engine.Run(g.Fwd(2)), engine.Run(g.Fwd(3)),
		engine.Run(g.Bwd(3)), engine.Free(g.Saved(3)), engine.Run(g.Bwd(2)), engine.Free(g.Saved(2)),
		engine.Fetch(g.Act(0), 50), engine.Run(g.Bwd(1))}
	for _, tc := range []struct {
		budget engine.Bytes
		want   int64
	}{{22, 68}, {23, 60}, {engine.NoLimit, 60}} {
		q := p.WithBudget(tc.budget)
		sol, err := sim.Solution(q, late)
		if err != nil {
			t.Fatal(err)
		}
		got := Earlier(q, sol, true, nil)
		trace, err := sim.Play(q, got.Schedule)
		if err != nil || check.Trace(q, got.Schedule, trace) != nil || int64(got.Makespan) != tc.want ||
			got.Makespan != trace.Makespan || got.Peak != trace.Peak {
			t.Errorf("%v within %d: takes %d in %d, played %+v, %v; want %d", late, tc.budget, got.Makespan, got.Peak,
				trace, err, tc.want)
		}
		if again := Earlier(q, got, true, nil); again != got {
			t.Errorf("within %d: nothing more can be sooner, and the schedule is changed to %v", tc.budget,
				again.Schedule)
		}
	}
}

// TestEarlierHolds: what comes of plans on random chains is played and checked, no slower than it was.
func TestEarlierHolds(t *testing.T) {
	faster := 0
	args, _ := Pofo.Parse(nil)
	for seed := range cases(400) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 4, MaxStages: 8})
		enginetest.GiveUnsaved(r, c)
		p := engine.NewChainProblem(c, enginetest.Device(duplexes[seed%2]),
			[]engine.Transfers{engine.Whole, engine.Streamed}[seed/2%2], enginetest.RandomBudget(r, c))
		sol, err := Plans(p, args, nil)
		if err != nil {
			continue
		}
		for _, apart := range []bool{true, false} {
			got := Earlier(p, sol, apart, nil)
			trace, err := sim.Play(p, got.Schedule)
			if err != nil || check.Trace(p, got.Schedule, trace) != nil || trace.Makespan != got.Makespan ||
				trace.Peak != got.Peak || got.Makespan > sol.Makespan {
				t.Fatalf("seed %d, budget %d: %v takes %d; played %+v, %v; it took %d\n%s", seed, p.Budget,
					got.Schedule, got.Makespan, trace, err, sol.Makespan, enginetest.Dump(p.Chain.Chain))
			}
			if got.Makespan < sol.Makespan {
				faster++
			}
		}
	}
	if faster == 0 {
		t.Error("none is faster")
	}
	t.Logf("%d are faster", faster)
}
