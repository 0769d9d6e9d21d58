package offload

import (
	"errors"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestGreedySmallest checks that greedy finds a schedule within every budget from the smallest one on, and that
// below it no set of values suffices.
func TestGreedySmallest(t *testing.T) {
	for seed := range uint64(500) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		for _, mode := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), mode, 0)
			s := newStep(p)
			for budget := s.smallest(); budget <= s.peak()+1; budget += 1 + engine.Bytes(r.IntN(5)) {
				solved(t, p.WithBudget(budget))
			}
			if least := s.smallest(); least > 0 && least < s.peak() {
				tooSmall(t, p.WithBudget(least-1), least)
			}
			if t.Failed() {
				t.Fatalf("seed %d %v\n%s", seed, mode, enginetest.Dump(c))
			}
		}
	}
}

// solved solves a problem and checks the claims of the solution with the simulator.
func solved(t *testing.T, p *engine.Problem) {
	t.Helper()
	sol, err := greedy.Solve(p, nil, nil)
	if err != nil {
		t.Errorf("budget %d: %v", p.Budget, err)
		return
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Errorf("budget %d: %v", p.Budget, err)
		return
	}
	if err := check.Trace(p, sol.Schedule, tr); err != nil {
		t.Errorf("budget %d: %v", p.Budget, err)
	}
	if tr.Makespan != sol.Makespan || tr.Peak != sol.Peak {
		t.Errorf("budget %d: step time %d and peak %d, claimed %d and %d", p.Budget, tr.Makespan, tr.Peak,
			sol.Makespan, sol.Peak)
	}
	if sol.Makespan < sol.Bound || sol.Optimal != (sol.Makespan == sol.Bound) {
		t.Errorf("budget %d: step time %d, bound %d, optimal %v", p.Budget, sol.Makespan, sol.Bound, sol.Optimal)
	}
}

func tooSmall(t *testing.T, p *engine.Problem, least engine.Bytes) {
	t.Helper()
	_, err := greedy.Solve(p, nil, nil)
	var inf *engine.InfeasibleError
	if !errors.As(err, &inf) || inf.Smallest != least || inf.Why == "" {
		t.Errorf("budget %d: got %v, want that at least %d bytes are needed, and why", p.Budget, err, least)
	}
	n := p.Chain.Chain.Len()
	for mask := range 1 << n {
		set := make([]bool, n)
		for i := range set {
			set[i] = mask>>i&1 == 1
		}
		if plan, ok := NewOrdered(p, set); ok {
			t.Errorf("budget %d: set %v takes %d, want none", p.Budget, plan.Set, plan.Makespan)
		}
	}
}

func testChain() *engine.Chain {
	return &engine.Chain{Input: 4, LossGradAllocated: true, Stages: []engine.Stage{
		{Name: "one", Forward: 5, Back: 5, Out: 6, Saved: 6, Grad: 6},
		{Name: "two", Forward: 5, Back: 5, Out: 6, Saved: 6, Grad: 6},
		{Name: "three", Forward: 5, Back: 5, Out: 1, Saved: 1, Grad: 1},
	}}
}

func TestGreedyRefuses(t *testing.T) {
	dev := enginetest.Device(engine.HalfDuplex)
	p := engine.NewChainProblem(testChain(), dev, engine.Whole, 24)
	if _, err := greedy.Solve(p, nil, nil); err != nil {
		t.Errorf("with a link: %v", err)
	}
	for _, d := range []engine.Device{{}, {ToHost: 1e9}, {ToDev: 1e9}} {
		q := *p
		q.Device = d
		if _, err := greedy.Solve(&q, nil, nil); !errors.Is(err, engine.ErrNeedsLink) {
			t.Errorf("rates %d and %d: got %v, want %v", d.ToHost, d.ToDev, err, engine.ErrNeedsLink)
		}
		if sol, err := greedy.Solve(q.WithBudget(100), nil, nil); err != nil || !sol.Optimal || sol.Makespan != 30 {
			t.Errorf("rates %d and %d, plenty of memory: got %+v, %v, want 30 ns, optimal", d.ToHost, d.ToDev, sol, err)
		}
	}
	huge := testChain()
	huge.Stages[0].Saved, huge.Stages[1].Saved = 1<<60, 1<<60
	q := engine.NewChainProblem(huge, engine.Device{ToHost: 1, ToDev: 1}, engine.Whole, 1<<61+12)
	if _, err := greedy.Solve(q, nil, nil); !errors.Is(err, engine.ErrUnsupported) {
		t.Errorf("transfers of 2^60 s: got %v, want an error that wraps %v", err, engine.ErrUnsupported)
	}
	graph := &engine.Problem{Graph: p.Graph, Device: dev, Budget: 24}
	if _, err := greedy.Solve(graph, nil, nil); !errors.Is(err, engine.ErrNeedsChain) {
		t.Errorf("a graph: got %v, want %v", err, engine.ErrNeedsChain)
	}
}

// TestFirstValues checks an erratum of paper 000 (docs/paper-000.md), whose formula would offload x_0 even if
// everything fits.
func TestFirstValues(t *testing.T) {
	size := []engine.Bytes{0, 3, 0, 4}
	for _, c := range []struct {
		excess engine.Bytes
		want   []bool
	}{
		{-5, []bool{false, false, false, false}},
		{0, []bool{false, false, false, false}},
		{1, []bool{true, true, false, false}},
		{3, []bool{true, true, false, false}},
		{4, []bool{true, true, true, true}},
		{9, []bool{true, true, true, true}},
	} {
		if got := firstValues(size, c.excess); !slices.Equal(got, c.want) {
			t.Errorf("sizes %v, excess %d: got %v, want %v", size, c.excess, got, c.want)
		}
	}
}
