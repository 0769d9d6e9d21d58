package all_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// grace is how long after its deadline a strategy may return.
const grace = 100 * time.Millisecond

// TestDeadline gives every strategy a long chain and little time: it returns in
// time, with a solution or with the context's error, and does not say that
// nothing fits. On a busy machine any goroutine may stand still for a while, so
// being late counts if it happens three times.
func TestDeadline(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 800, MaxStages: 800, MaxSize: 1 << 28, MaxTime: 1e8})
	for _, s := range engine.Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			for _, given := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
				for _, percent := range []engine.Bytes{10, 50, 90} {
					p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, c.StoreAllPeak()/100*percent)
					late := time.Duration(0)
					for range 3 {
						if late = overrun(t, s, p, given); late <= grace {
							break
						}
					}
					if late > grace {
						t.Errorf("%s at %d %%: returned %v after the deadline of %v; %v are allowed", s.Name, percent, late, given, grace)
					}
				}
			}
		})
	}
}

// overrun solves a problem in the time given and says how much more it took.
func overrun(t *testing.T, s *engine.Strategy, p *engine.Problem, given time.Duration) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), given)
	defer cancel()
	began := time.Now()
	sol, err := s.Solve(p, nil, engine.NewPoll(ctx, nil))
	took := time.Since(began)
	var infeasible *engine.InfeasibleError
	switch {
	case err == nil && sol == nil:
		t.Errorf("%s: neither a solution nor an error", s.Name)
	case errors.As(err, &infeasible):
		// A true refusal names a budget at which there is none; if it needs more
		// time to tell, it is none either.
		least, cancel := context.WithTimeout(context.Background(), given)
		defer cancel()
		_, err := s.Solve(p.WithBudget(infeasible.Smallest), nil, engine.NewPoll(least, nil))
		if infeasible.Smallest <= p.Budget || errors.As(err, &infeasible) {
			t.Errorf("%s within %d bytes: refused with %v", s.Name, p.Budget, infeasible)
		}
	case err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, engine.ErrUnsupported):
		t.Errorf("%s: got %v, want %v", s.Name, err, context.DeadlineExceeded)
	}
	if err != nil && sol != nil {
		if _, err := sim.Play(p, sol.Schedule); err != nil {
			t.Errorf("%s: what it has when its time is over cannot be played: %v", s.Name, err)
		}
	}
	return took - given
}

// TestCancelled gives every strategy a context that is over already.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 10, MaxStages: 10})
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
