package offload_test

import (
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestVDNNSets solves the vectors by the names of their sets, which the strategies derive from the kinds of the
// stages.
func TestVDNNSets(t *testing.T) {
	for _, v := range enginetest.Load("vdnn") {
		args := engine.Args{"set": v.Scheme}
		p := v.Problem(engine.Whole)
		solve := func(strategy string, budget engine.Bytes, prefix string) {
			t.Helper()
			sol, err := engine.Lookup(strategy).Solve(p.WithBudget(budget), args, nil)
			if err != nil {
				t.Errorf("%s: %s within %d: %v", v.ID, strategy, budget, err)
				return
			}
			span, _ := v.ExpectInt(prefix + "_scaled")
			peak, _ := v.ExpectInt(prefix + "_peak")
			if int64(sol.Makespan) != span || int64(sol.Peak) != peak {
				t.Errorf("%s: %s, set %s: got step time %d and peak %d, want %d and %d", v.ID, strategy, v.Scheme,
					sol.Makespan, sol.Peak, span, peak)
			}
		}
		solve("vdnn", engine.NoLimit, "sync")
		solve("vdnnpp", engine.NoLimit, "async_unlimited")
		peak, _ := v.ExpectInt("sync_peak")
		solve("vdnn", engine.Bytes(peak), "sync")
		solve("vdnnpp", engine.Bytes(peak), "async_at_sync_peak")
	}
}

// TestVDNNAsyncNeverWorse checks the claim of paper 003 (docs/paper-003.md) about vDNN++: within the memory that
// vDNN uses it fits and is no slower, whichever set is offloaded.
func TestVDNNAsyncNeverWorse(t *testing.T) {
	const seed = 31
	r := enginetest.Rand(seed)
	faster := 0
	for i := range 1500 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 12, MaxSize: 20, MaxTime: 30})
		if i%3 == 2 {
			enginetest.GiveFast(r, c)
		}
		for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := engine.NewChainProblem(c,
				enginetest.Device([]engine.Duplex{engine.HalfDuplex, engine.FullDuplex}[i%2]), transfers,
				engine.NoLimit)
			for _, set := range engine.Lookup("vdnn").Params[0].Choices {
				args := engine.Args{"set": set}
				if i%4 == 1 {
					args["ahead"] = "conv"
				}
				sync, err := engine.Lookup("vdnn").Solve(p, args, nil)
				if err != nil {
					t.Fatal(err)
				}
				async, err := engine.Lookup("vdnnpp").Solve(p.WithBudget(sync.Peak), args, nil)
				if err != nil {
					t.Fatalf("seed %d chain %d, %v transfers, set %s: vdnn needs %d, and vdnnpp does not fit: %v\n%s",
						seed, i, transfers, set, sync.Peak, err, enginetest.Dump(c))
				}
				if async.Makespan > sync.Makespan || async.Peak > sync.Peak {
					t.Fatalf("seed %d chain %d, %v transfers, set %s: vdnnpp takes %d with %d bytes, vdnn %d with %d\n%s", seed, i, transfers, set,
						async.Makespan, async.Peak, sync.Makespan, sync.Peak, enginetest.Dump(c))
				}
				if async.Makespan < sync.Makespan {
					faster++
				}
			}
		}
	}
	if faster < 1000 {
		t.Errorf("vdnnpp is faster in %d cases only: the generator is off", faster)
	}
}

// TestVDNNByHand checks a chain that can be calculated by hand: two convolutions of 10 forward and 10 backward,
// inputs of 30 and 20 bytes, and a byte per nanosecond.
func TestVDNNByHand(t *testing.T) {
	c := &engine.Chain{Input: 30, LossGradAllocated: true, Stages: []engine.Stage{
		{Kind: "conv", Forward: 10, Back: 10, Out: 20, Saved: 20, Grad: 20},
		{Kind: "conv", Forward: 10, Back: 10, Out: 5, Saved: 5, Grad: 5},
	}}
	for _, want := range []struct {
		strategy, set string
		time          time.Duration
		peak          engine.Bytes
	}{
		// x0 leaves until 30, x1 until 50. x1 returns until 70, x0 beside B2 until 100, and B1 runs until 110.
		{"vdnn", "conv", 110, 80},
		// x0 leaves until 30, x1 until 50. Both return, until 70 and 100, and B1 runs until 110.
		{"vdnnpp", "conv", 110, 80},
		// x0 leaves until 30, then F2 runs. x0 returns beside B2 from 40 to 70.
		{"vdnn", "aconv", 80, 80},
		// F2 does not wait. The barrier is at 30, and x0 returns from 30 to 60.
		{"vdnnpp", "aconv", 70, 80},
		{"vdnnpp", "dynamic", 40, 80},
	} {
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, engine.NoLimit)
		sol, err := engine.Lookup(want.strategy).Solve(p, engine.Args{"set": want.set}, nil)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := sim.Play(p, sol.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if trace.Makespan != want.time || trace.Peak != want.peak {
			t.Errorf("%s %s: got %d ns and %d bytes, want %d and %d", want.strategy, want.set, trace.Makespan,
				trace.Peak, want.time, want.peak)
		}
	}
}

// TestVDNNLink checks that a link is only required if the set needs one.
func TestVDNNLink(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(1), enginetest.Shape{MinStages: 6, MaxSize: 50})
	d := enginetest.Device(engine.HalfDuplex)
	d.ToHost = 0
	p := engine.NewChainProblem(c, d, engine.Whole, engine.NoLimit)
	for _, name := range []string{"vdnn", "vdnnpp"} {
		if _, err := engine.Lookup(name).Solve(p, engine.Args{"set": "all"}, nil); err != engine.ErrNeedsLink {
			t.Errorf("%s all: got %v, want %v", name, err, engine.ErrNeedsLink)
		}
		if sol, err := engine.Lookup(name).Solve(p, nil, nil); err != nil ||
			sol.Makespan != c.ForwardTime()+c.BackTime() {
			t.Errorf("%s dynamic: got %v, %v, want a schedule that keeps everything", name, sol, err)
		}
		if _, err := engine.Lookup(name).Solve(p.WithBudget(c.KeepAllPeak()-1), nil, nil); err != engine.ErrNeedsLink {
			t.Errorf("%s dynamic, a byte short: got %v, want %v", name, err, engine.ErrNeedsLink)
		}
	}
}
