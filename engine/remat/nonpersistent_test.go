package remat

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestNonpersistentVectors compares nonpersistent with the proven optima over all sequences of Table 1, and over
// those that may also drop values at any time.
func TestNonpersistentVectors(t *testing.T) {
	compared, faster := 0, 0
	for _, v := range append(enginetest.Load("rotor_small"), enginetest.Load("paper_examples")...) {
		if v.Algorithm != "rotor" {
			continue
		}
		persistent, _ := v.ExpectInt("makespan")
		for drop, field := range map[string]string{"no": "makespan_nonpersistent_table1",
			"yes": "makespan_nonpersistent_freedrop"} {
			raw, has := v.Expect[field]
			feasible, _ := v.ExpectBool("feasible")
			if !has || feasible && string(raw) == "null" { // not computed
				continue
			}
			compared++
			want, fits := v.ExpectInt(field)
			sol, err := nonpersistent.Solve(v.Problem(engine.Whole), engine.Args{"drop": drop}, nil)
			var infeasible *engine.InfeasibleError
			if fits != (err == nil) || err != nil && !errors.As(err, &infeasible) || fits &&
				v.Units(sol.Makespan) != want {
				t.Errorf("%s, drop %s: got %v, %v; want %d, feasible %v", v.ID, drop, sol, err, want, fits)
			}
			if fits && feasible && want < persistent {
				faster++
			}
		}
	}
	if compared < 150 || faster < 5 {
		t.Errorf("%d values compared, %d of them below the persistent optimum: the vectors are not what they were",
			compared, faster)
	}
}

// TestSmallestNonpersistentChain solves the smallest chain that shows the effect of Figure 2: a step of 12
// instead of 15.
func TestSmallestNonpersistentChain(t *testing.T) {
	for _, v := range enginetest.Load("paper_examples") {
		if v.ID != "p002-nonpersistent-min" {
			continue
		}
		p := v.Problem(engine.Whole)
		best, err := Rotor.Solve(p, nil, nil)
		all, errAll := nonpersistent.Solve(p, nil, nil)
		if err != nil || errAll != nil || v.Units(best.Makespan) != 15 || v.Units(all.Makespan) != 12 {
			t.Errorf("got %v (%v) and %v (%v); want 15 and 12", best, err, all, errAll)
		}
		return
	}
	t.Fatal("the vector p002-nonpersistent-min is gone")
}

// TestNonpersistentAgainstBrute compares nonpersistent with a search that shares no code. Some of the chains are
// solved faster without persistency, or only without it.
func TestNonpersistentAgainstBrute(t *testing.T) {
	vectors := enginetest.Load("paper_examples")
	example := vectors[slices.IndexFunc(vectors,
		func(v enginetest.Vector) bool { return v.ID == "p002-nonpersistent-min" })]
	r := enginetest.Rand(14)
	feasible, faster := 0, 0
	for i := range 900 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 5, MaxSize: 5})
		budget := enginetest.RandomBudget(r, c) * 3 / 4
		if i%3 > 0 { // near the example
			c = example.Chain()
			budget = example.BudgetBytes() + engine.Bytes(r.IntN(3)) - 1
			vary(r, c)
		}
		input := fmt.Sprintf("seed 14 chain %d budget %d\n%s", i, budget, enginetest.Dump(c))
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
		want, fits := Best(c, budget, AllSequences)
		sol, err := nonpersistent.Solve(p, nil, nil)
		var infeasible *engine.InfeasibleError
		if fits != (err == nil) || err != nil && !errors.As(err, &infeasible) {
			t.Fatalf("%sgot %v, brute force says that it fits: %v", input, err, fits)
		}
		if !fits {
			if _, less := Best(c, infeasible.Smallest-1, AllSequences); less {
				t.Fatalf("%sgot that %d is the smallest budget; brute force fits into one byte less", input,
					infeasible.Smallest)
			}
			if _, does := Best(c, infeasible.Smallest, AllSequences); !does {
				t.Fatalf("%sgot that %d is the smallest budget; brute force does not fit into it", input,
					infeasible.Smallest)
			}
			continue
		}
		feasible++
		if sol.Makespan != want || !sol.Optimal {
			t.Fatalf("%sgot %v, optimal %v; want %v", input, sol.Makespan, sol.Optimal, want)
		}
		if best, ok := Best(c, budget, Persistent); !ok || best > want {
			faster++
		}
	}
	if feasible < 200 || faster < 50 {
		t.Errorf("%d of 900 cases fit, %d of them faster or only without persistency: the generator is off", feasible,
			faster)
	}
	t.Logf("%d feasible, %d better than persistent ones", feasible, faster)
}

// vary changes a few sizes and times of a chain by one, and may add a stage.
func vary(r *rand.Rand, c *engine.Chain) {
	if r.IntN(3) == 0 {
		at := 1 + r.IntN(c.Len())
		c.Stages = slices.Insert(c.Stages, at, c.Stages[at-1])
	}
	for range r.IntN(6) {
		st := &c.Stages[r.IntN(c.Len())]
		size := []*engine.Bytes{&st.Out, &st.Saved, &st.Grad, &st.FwdTemp, &st.BwdTemp}[r.IntN(5)]
		*size = max(0, *size+engine.Bytes(2*r.IntN(2)-1))
		st.Saved = max(st.Saved, st.Out)
		st.Forward = max(0, st.Forward+time.Duration(r.IntN(3)-1))
	}
	c.LossGradAllocated = r.IntN(4) == 0
}

// TestDropsPlay plays schedules that drop values at any time, which no sequence of Table 1 can, and
// checks that they are never slower.
func TestDropsPlay(t *testing.T) {
	r := enginetest.Rand(15)
	faster := 0
	for i := range 300 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 3, MaxStages: 7})
		budget := enginetest.RandomBudget(r, c) * 3 / 4
		input := fmt.Sprintf("seed 15 chain %d budget %d\n%s", i, budget, enginetest.Dump(c))
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
		strict, errStrict := nonpersistent.Solve(p, nil, nil)
		loose, err := nonpersistent.Solve(p, engine.Args{"drop": "yes"}, nil)
		if errStrict == nil && (err != nil || loose.Makespan > strict.Makespan) {
			t.Fatalf("%sgot %v, %v with drops; %v without", input, loose, err, strict.Makespan)
		}
		if err != nil {
			continue
		}
		if errStrict != nil || loose.Makespan < strict.Makespan {
			faster++
		}
		trace, err := sim.Play(p, loose.Schedule)
		if err != nil {
			t.Fatalf("%s%v", input, err)
		}
		if err := check.Trace(p, loose.Schedule, trace); err != nil {
			t.Errorf("%s%v", input, err)
		}
		if trace.Makespan != loose.Makespan || trace.Peak != loose.Peak {
			t.Errorf("%sclaims %d and %d, plays %d and %d", input, loose.Makespan, loose.Peak, trace.Makespan,
				trace.Peak)
		}
	}
	if faster < 10 {
		t.Errorf("drops help in %d of 300 cases only: the generator is off", faster)
	}
}

// TestNonpersistentRefusesLongChains checks that a chain with one stage too many is refused at
// once, and that the longest one stays within the memory that a browser tab may use.
func TestNonpersistentRefusesLongChains(t *testing.T) {
	shape := enginetest.Shape{MinStages: maxNonpersistentStages + 1, MaxStages: maxNonpersistentStages + 1}
	c := enginetest.RandomChain(enginetest.Rand(16), shape)
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak())
	if _, err := nonpersistent.Solve(p, nil, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("%d stages: got %v, want an error that wraps %v", c.Len(), err, engine.ErrUnsupported)
	}
	if got := bytesOfStates(&engine.Chain{Stages: make([]engine.Stage, maxNonpersistentStages)}); got > maxStateBytes {
		t.Errorf("%d stages take up to %d bytes; at most %d are allowed", maxNonpersistentStages, got, maxStateBytes)
	}
}

// TestNonpersistentBestSoFar stops the search after 2,000 polls. The best persistent schedule,
// which takes less than half of them, is the result.
func TestNonpersistentBestSoFar(t *testing.T) {
	r := enginetest.Rand(17)
	shape := enginetest.Shape{MinStages: maxNonpersistentStages, MaxStages: maxNonpersistentStages}
	stopped := 0
	for range 20 {
		c := enginetest.RandomChain(r, shape)
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/2)
		best, err := Rotor.Solve(p, nil, nil)
		if err != nil || best.Makespan < c.ForwardTime()+c.BackTime()+20 {
			continue // nothing to search for
		}
		sol, err := nonpersistent.Solve(p, nil, engine.NewPoll(engine.LimitCalls(t.Context(), 2000), nil))
		if !errors.Is(err, context.DeadlineExceeded) || sol == nil {
			t.Fatalf("got %v, %v; want a schedule and %v", sol, err, context.DeadlineExceeded)
		}
		if sol.Makespan != best.Makespan || sol.Optimal || sol.Bound > sol.Makespan {
			t.Errorf("got %v, optimal %v, bound %v; want %v, not said to be optimal", sol.Makespan, sol.Optimal,
				sol.Bound, best.Makespan)
		}
		stopped++
	}
	if stopped < 5 {
		t.Errorf("%d searches were stopped, want at least 5: the generator is off", stopped)
	}
}

// BenchmarkNonpersistent measures the longest chains that are searched.
func BenchmarkNonpersistent(b *testing.B) {
	shape := enginetest.Shape{MinStages: maxNonpersistentStages, MaxStages: maxNonpersistentStages, MaxSize: 1 << 20,
		MaxTime: 1e6}
	for seed := range uint64(4) {
		c := enginetest.RandomChain(enginetest.Rand(seed), shape)
		for _, percent := range []engine.Bytes{30, 50, 70} {
			b.Run(fmt.Sprintf("seed=%d/budget=%d", seed, percent), func(b *testing.B) {
				b.ReportAllocs()
				p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/100*percent)
				for b.Loop() {
					var infeasible *engine.InfeasibleError
					if _, err := nonpersistent.Solve(p, nil, nil); err != nil && !errors.As(err, &infeasible) {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
