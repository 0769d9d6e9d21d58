package offload

import (
	"errors"
	"os"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// proofCases returns the number of problems that are compared with exhaustive search: many with MEMTIDE_LONG=1, a
// quarter of few with -short, and few otherwise.
func proofCases(few, many uint64) uint64 {
	if os.Getenv("MEMTIDE_LONG") != "" {
		return many
	}
	if testing.Short() {
		return few / 4
	}
	return few
}

// faster searches all schedules for one that takes less than limit, and plays it.
func faster(t *testing.T, seed uint64, p *engine.Problem, order tryOrder, limit time.Duration) (time.Duration, bool) {
	t.Helper()
	sched, least, ok := fastestTransfers(p, order, limit)
	if !ok {
		return 0, false
	}
	if tr, err := sim.Play(p, sched); err != nil || tr.Makespan != least {
		t.Fatalf("seed %d %v budget %d: exhaustive search has a schedule of %d that plays %v, %v\n%s", seed, p.Device,
			p.Budget, least, tr, err, enginetest.Dump(p.Chain.Chain))
	}
	return least, true
}

// TestExactIsExact compares offloadexact with every schedule of whole transfers that runs each operation once.
// None is faster, and the step time of offloadexact is among theirs.
func TestExactIsExact(t *testing.T) {
	kinds := map[string]int{}
	count := proofCases(6000, 160_000)
	for seed := range count {
		p, ok := enginetest.TightTransfers(enginetest.Rand(seed))
		if !ok {
			continue
		}
		input := func() string {
			return enginetest.Dump(p.Chain.Chain)
		}
		sol, err := play(t, "offloadexact", p, nil)
		if err != nil || !sol.Optimal || sol.Bound != sol.Makespan || sol.OptimalAmong != withinAll {
			t.Fatalf("seed %d %v budget %d: got %+v, %v; want an optimal one\n%s", seed, p.Device, p.Budget, sol, err,
				input())
		}
		if least, ok := faster(t, seed, p, anyOrder, sol.Makespan); ok {
			t.Fatalf("seed %d %v budget %d: got %d, optimal (%q); %d is possible\n%s", seed, p.Device, p.Budget,
				sol.Makespan, sol.Notes, least, input())
		}
		if seed%4 == 0 {
			if least, ok := faster(t, seed, p, anyOrder, sol.Makespan+1); !ok {
				t.Fatalf("seed %d %v budget %d: got %d; exhaustive search has %d, %v\n%s", seed, p.Device, p.Budget,
					sol.Makespan, least, ok, input())
			}
		}
		kinds["all"]++
		if p.Chain.Chain.HasUnsaved() {
			kinds["unsaved outputs"]++
		}
		if sol.Makespan > p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime() {
			kinds["with waiting"]++
		}
		s := newStep(p)
		if p.Budget < s.smallest() {
			kinds["gradient of the loss away"]++
		} else if ordered, _ := Search.Solve(p, nil, nil); sol.Makespan < ordered.Makespan {
			kinds["faster than ordered"]++
		}
	}
	t.Log(kinds)
	for kind, least := range map[string]int{"all": 500, "with waiting": 400, "gradient of the loss away": 10,
		"unsaved outputs": 50, "faster than ordered": 5} {
		if kinds[kind] < int(count)*least/1000 {
			t.Errorf("%d of %d cases: %s; the generator is off", kinds[kind], count, kind)
		}
	}
}

// TestExactSmallest checks that the smallest budget that offloadexact names is that of all schedules, and that
// one byte less is too little for any of them.
func TestExactSmallest(t *testing.T) {
	for seed := range proofCases(400, 4000) {
		p, ok := enginetest.TightTransfers(enginetest.Rand(seed))
		if !ok {
			continue
		}
		least := enginetest.LeastTransfers(p)
		var inf *engine.InfeasibleError
		if _, err := offloadExact.Solve(p.WithBudget(least-1), nil, nil); !errors.As(err, &inf) ||
			inf.Smallest != least || inf.Why == "" {
			t.Fatalf("seed %d budget %d: got %v, want that %d is the smallest, and why\n%s", seed, least-1, err,
				least, enginetest.Dump(p.Chain.Chain))
		}
		if _, ok := faster(t, seed, p.WithBudget(least-1), anyOrder, time.Hour); ok {
			t.Fatalf("seed %d: exhaustive search fits into %d bytes\n%s", seed, least-1, enginetest.Dump(p.Chain.Chain))
		}
		if sol, err := play(t, "offloadexact", p.WithBudget(least), nil); err != nil || !sol.Optimal {
			t.Fatalf("seed %d budget %d: got %+v, %v; want a schedule\n%s", seed, least, sol, err,
				enginetest.Dump(p.Chain.Chain))
		}
	}
}

// TestExactWithin checks schedules that earlier versions did not find. The first offloads values to make room for
// a fetch during an operation that needs too much memory. In the second a gradient is away between two
// operations. In the third the gradient of the loss is away during the forward pass.
func TestExactWithin(t *testing.T) {
	stage := func(fwd, back time.Duration, out, grad engine.Bytes) engine.Stage {
		return engine.Stage{Forward: fwd, Back: back, Out: out, Saved: out, Grad: grad}
	}
	half, full := enginetest.Device(engine.HalfDuplex), enginetest.Device(engine.FullDuplex)
	slow := full
	slow.ToHost, slow.ToDev = 333_333_333, 500_000_000
	for _, tc := range []struct {
		name   string
		chain  engine.Chain
		device engine.Device
		budget engine.Bytes
		want   time.Duration
	}{
		{"beside an operation", engine.Chain{Input: 2, InputGrad: 2, LossGradAllocated: true,
			Stages: []engine.Stage{stage(0, 2, 1, 0), stage(0, 2, 2, 0), stage(0, 3, 0, 1)}}, half, 5, 8},
		{"between operations", engine.Chain{Input: 3, LossGradAllocated: true,
			Stages: []engine.Stage{stage(0, 0, 8, 1), stage(0, 1, 8, 1), stage(0, 0, 5, 0)}}, slow, 19, 54},
		{"gradient of the loss", engine.Chain{Input: 3,
			Stages: []engine.Stage{stage(1, 0, 3, 0), {Forward: 1, Back: 2, Out: 2, Saved: 2, Grad: 1, FwdTemp: 1}}},
			full, 9, 5},
	} {
		p := engine.NewChainProblem(&tc.chain, tc.device, engine.Whole, tc.budget)
		sol, err := play(t, "offloadexact", p, nil)
		if err != nil || sol.Makespan != tc.want || !sol.Optimal {
			t.Errorf("%s, budget %d: got %+v, %v; want %d, optimal\n%s", tc.name, tc.budget, sol, err, tc.want,
				enginetest.Dump(&tc.chain))
		}
	}
}

// TestOrderedClaims compares the claims about step times of the methods that choose sets with all
// schedules of the sets that the claims name.
func TestOrderedClaims(t *testing.T) {
	kinds := map[string]int{}
	count := proofCases(3000, 160_000)
	for seed := range count {
		p, ok := enginetest.TightTransfers(enginetest.Rand(seed))
		if !ok {
			continue
		}
		for _, name := range []string{"offloadsearch", "dynprog", "greedy"} {
			sol, err := play(t, name, p, nil)
			if err != nil {
				continue // it would have to offload the gradient of the loss
			}
			order := anyOrder
			if sol.OptimalAmong == newStep(p).among(withinOrdered) {
				order = inOrder
				kinds[name]++
			} else if sol.OptimalAmong != withinAll {
				t.Fatalf("seed %d: %s claims something about %q", seed, name, sol.OptimalAmong)
			}
			if sol.Optimal != (sol.Makespan == sol.Bound) {
				t.Fatalf("seed %d %s: step time %d, bound %d, optimal %v", seed, name, sol.Makespan, sol.Bound,
					sol.Optimal)
			}
			if least, ok := faster(t, seed, p, order, sol.Bound); ok {
				t.Fatalf("seed %d %v budget %d: %s says that %d is the least within %q; %d is possible\n%s", seed,
					p.Device, p.Budget, name, sol.Bound, sol.OptimalAmong, least, enginetest.Dump(p.Chain.Chain))
			}
			if name != "offloadsearch" || order != inOrder {
				continue
			}
			if _, ok := faster(t, seed, p, order, sol.Makespan+1); !ok || !sol.Optimal {
				t.Fatalf("seed %d %v budget %d: %s takes %d (optimal %v), which exhaustive search does not find\n%s",
					seed, p.Device, p.Budget, name, sol.Makespan, sol.Optimal, enginetest.Dump(p.Chain.Chain))
			}
		}
	}
	t.Logf("claims about ordered schedules: %v", kinds)
	for _, name := range []string{"offloadsearch", "dynprog"} {
		if kinds[name] < int(count)/20 {
			t.Errorf("%s claims something about ordered schedules in %d of %d cases: the generator is off", name,
				kinds[name], count)
		}
	}
}

// TestOrderedWords checks that claims are about ordered schedules only. The fastest schedule with all offloads
// before all fetches need not be ordered: here it takes 15, and the best ordered one takes 17.
func TestOrderedWords(t *testing.T) {
	c := &engine.Chain{Input: 4, LossGradAllocated: true, Stages: []engine.Stage{
		{Out: 12, Saved: 12}, {Out: 6, Saved: 6}, {Forward: 3, Back: 7, FwdTemp: 16, BwdTemp: 12}}}
	dev := enginetest.Device(engine.HalfDuplex)
	dev.ToHost = 2e9
	p := engine.NewChainProblem(c, dev, engine.Whole, 24) // in halves of a byte and of a nanosecond
	sol, err := play(t, "offloadsearch", p, nil)
	if err != nil || sol.Makespan != 34 || !sol.Optimal || sol.OptimalAmong != withinOrdered {
		t.Errorf("offloadsearch: got %+v, %v; want 34, optimal within %q", sol, err, withinOrdered)
	}
	if _, ok := faster(t, 0, p, inOrder, 34); ok {
		t.Errorf("an ordered schedule takes less than 34")
	}
	sol, err = play(t, "offloadexact", p, nil)
	if err != nil || sol.Makespan != 30 || !sol.Optimal {
		t.Fatalf("offloadexact: got %+v, %v; want 30, optimal", sol, err)
	}
	tr, _ := sim.Play(p, sol.Schedule)
	var offloaded time.Duration
	for _, sp := range tr.Spans {
		if sp.Kind == sim.SpanOffload {
			offloaded = max(offloaded, sp.End)
		} else if sp.Kind == sim.SpanFetch && sp.Start < offloaded {
			t.Errorf("offloadexact fetches at %d, before an offload ends at %d", sp.Start, offloaded)
		}
	}
}
