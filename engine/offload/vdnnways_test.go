package offload_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// twoAlgorithms returns a chain that can be calculated by hand: a convolution of 10 forward and 20 backward or,
// with 25 and 40 bytes of workspace, 4 and 6; then a pool of 2 and 3. A byte takes a nanosecond.
func twoAlgorithms() *engine.Chain {
	return &engine.Chain{Input: 30, LossGradAllocated: true, Stages: []engine.Stage{
		{Kind: "conv", Forward: 10, Back: 20, Out: 20, Saved: 20, Grad: 20,
			Fast: &engine.Algorithm{Forward: 4, Back: 6, FwdTemp: 25, BwdTemp: 40}},
		{Kind: "pool", Forward: 2, Back: 3, Out: 5, Saved: 5, Grad: 5},
	}}
}

// TestVDNNAlgorithms compares solutions of twoAlgorithms with results by hand. If nothing is offloaded, F1 needs
// 50 bytes (75 by p), F2 55, B2 80 and B1 70 (110 by p).
func TestVDNNAlgorithms(t *testing.T) {
	for _, want := range []struct {
		algo, set string
		budget    engine.Bytes
		time      time.Duration // 0 means that nothing fits
		peak      engine.Bytes
		note      string
	}{
		{"p", "dynamic", 110, 15, 110, "2 of 2"},
		{"m", "dynamic", 110, 35, 80, "0 of 2"},
		{"dynamic", "dynamic", 110, 15, 110, "2 of 2"},
		// B1 by p no longer fits, whatever is offloaded, because it reads x0.
		{"p", "dynamic", 109, 0, 110, ""},
		{"dynamic", "dynamic", 109, 21 + 8, 80, "1 of 2"},
		{"dynamic", "dynamic", 80, 21 + 8, 80, "1 of 2"},
		// x0 leaves until 30 and returns beside B2 until 60. Then B1 runs.
		{"dynamic", "conv", 200, 60 + 6, 110, "2 of 2"},
	} {
		p := engine.NewChainProblem(twoAlgorithms(), enginetest.Device(engine.HalfDuplex), engine.Whole, want.budget)
		sol, err := engine.Lookup("vdnnpp").Solve(p, engine.Args{"algo": want.algo, "set": want.set}, nil)
		var least *engine.InfeasibleError
		if want.time == 0 {
			if !errors.As(err, &least) || least.Smallest != want.peak {
				t.Errorf("%s %s in %d: got %v, %v; want a refusal that names %d", want.algo, want.set, want.budget,
					sol, err, want.peak)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s in %d: %v", want.algo, want.set, want.budget, err)
			continue
		}
		trace, err := sim.Play(p, sol.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if trace.Makespan != want.time || trace.Peak != want.peak ||
			!strings.Contains(strings.Join(sol.Notes, " "), want.note) {
			t.Errorf("%s %s in %d: got %d ns, %d bytes, notes %q; want %d, %d and %q", want.algo, want.set, want.budget,
				trace.Makespan, trace.Peak, sol.Notes, want.time, want.peak, want.note)
		}
	}
}

// TestVDNNDynamic compares dynamic with every single set and algorithm. It is at least as fast as the fastest
// that fits, and fits wherever one of them does.
func TestVDNNDynamic(t *testing.T) {
	const seed = 33
	r := enginetest.Rand(seed)
	mixtures := 0
	for i := range 400 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 10, MaxSize: 20, MaxTime: 30})
		enginetest.GiveFast(r, c)
		p := engine.NewChainProblem(c, enginetest.Device(engine.Duplex(i%2)), engine.Whole,
			enginetest.RandomBudget(r, c))
		for _, name := range []string{"vdnn", "vdnnpp"} {
			best, err := engine.Lookup(name).Solve(p, nil, nil)
			beaten := err == nil
			for _, set := range []string{"all", "conv", "aconv"} {
				for _, algo := range []string{"m", "p"} {
					one, errOne := engine.Lookup(name).Solve(p, engine.Args{"set": set, "algo": algo}, nil)
					if errOne == nil && (err != nil || one.Makespan < best.Makespan) {
						t.Errorf("seed %d chain %d within %d: %s dynamic: %v, %v; %s(%s) takes %d\n%s", seed, i,
							p.Budget, name, best, err, set, algo, one.Makespan, enginetest.Dump(c))
					}
					beaten = beaten && (errOne != nil || best.Makespan < one.Makespan)
				}
			}
			if beaten {
				mixtures++
			}
		}
	}
	if mixtures < 50 {
		t.Errorf("seed %d: dynamic is better than every mode in %d cases only: the generator is off", seed, mixtures)
	}
}

// TestVDNNAhead checks the fetches when the inputs of two convolutions, x0 and x1, are offloaded. The pool after
// them also fetches x0, unless the search ends at x1.
func TestVDNNAhead(t *testing.T) {
	c := &engine.Chain{Input: 3, LossGradAllocated: true}
	for _, kind := range []string{"conv", "conv", "pool", "fc"} {
		c.Stages = append(c.Stages, engine.Stage{Kind: kind, Forward: 9, Back: 9, Out: 2, Saved: 2, Grad: 2})
	}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, engine.NoLimit)
	for ahead, want := range map[string]engine.OpID{"any": p.Chain.Bwd(3), "conv": p.Chain.Bwd(2)} {
		for _, name := range []string{"vdnn", "vdnnpp"} {
			sol, err := engine.Lookup(name).Solve(p, engine.Args{"set": "conv", "ahead": ahead}, nil)
			if err != nil {
				t.Fatal(err)
			}
			fetched, before := false, engine.NoOp
			for _, st := range sol.Schedule {
				fetched = fetched || st.Kind == engine.DoFetch && st.Value == p.Chain.Act(0)
				if fetched && st.Kind == engine.DoRun {
					before = st.Op
					break
				}
			}
			if before != want {
				t.Errorf("%s, %s: x0 is fetched before operation %d, want %d", name, ahead, before, want)
			}
		}
	}
}
