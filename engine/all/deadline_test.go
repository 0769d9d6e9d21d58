package all_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// grace is how long after its deadline a strategy may return.
const grace = 100 * time.Millisecond

// TestDeadline gives every strategy a long chain and little time: it returns in
// time, with a solution or with the context's error, and does not say that
// nothing fits.
func TestDeadline(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 800, MaxStages: 800, MaxSize: 1 << 28, MaxTime: 1e8})
	for _, s := range engine.Strategies() {
		for _, given := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
			for _, percent := range []engine.Bytes{10, 50, 90} {
				p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, c.StoreAllPeak()/100*percent)
				ctx, cancel := context.WithTimeout(context.Background(), given)
				began := time.Now()
				sol, err := s.Solve(p, nil, engine.NewPoll(ctx, nil))
				took := time.Since(began)
				expired := ctx.Err() != nil
				cancel()
				var infeasible *engine.InfeasibleError
				switch {
				case took > given+grace:
					t.Errorf("%s at %d %%: took %v, %v were given", s.Name, percent, took, given)
				case err == nil && sol == nil:
					t.Errorf("%s at %d %%: neither a solution nor an error", s.Name, percent)
				case errors.As(err, &infeasible):
					// True or not: that is for TestContract, if it had the time.
					if _, again := s.Solve(p, nil, nil); expired && !errors.As(again, &infeasible) {
						t.Errorf("%s at %d %%: out of time is reported as %v", s.Name, percent, err)
					}
				case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, engine.ErrUnsupported):
					t.Errorf("%s at %d %%: got %v, want %v", s.Name, percent, err, context.DeadlineExceeded)
				}
			}
		}
	}
}

// TestCancelled gives every strategy a context that is over already.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 20, MaxStages: 20})
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, c.StoreAllPeak())
	for _, s := range engine.Strategies() {
		if _, err := s.Solve(p, nil, engine.NewPoll(ctx, nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", s.Name, err, context.Canceled)
		}
	}
}

// TestNoChain gives every strategy a graph that is no chain: it solves it, or
// says that it does not apply.
func TestNoChain(t *testing.T) {
	g := &engine.Graph{
		Values: []engine.Value{{Name: "x", Size: 1, Within: engine.NoValue}},
		Ops:    []engine.Op{{Name: "F1", Time: 1, Out: []engine.ValueID{0}}},
		Done:   0,
	}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: 10}
	for _, s := range engine.Strategies() {
		if sol, err := s.Solve(p, nil, nil); err != nil && !errors.Is(err, engine.ErrUnsupported) || err == nil && sol == nil {
			t.Errorf("%s: got %v, %v; want a solution or an error that wraps %v", s.Name, sol, err, engine.ErrUnsupported)
		}
	}
}
