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

// longProblems returns problems that take long: a chain of 800 stages, and two shorter ones for strategies that refuse
// it, with little memory, and with half and nearly all of the memory for keeping everything.
func longProblems() (list []*engine.Problem) {
	for _, n := range []int{800, 100, 12} {
		c := enginetest.RandomChain(enginetest.Rand(contractSeed),
			enginetest.Shape{MinStages: n, MaxStages: n, MaxSize: 1 << 28, MaxTime: 1e8})
		for _, percent := range []engine.Bytes{10, 50, 90} {
			list = append(list, engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole,
				c.KeepAllPeak()/100*percent))
		}
	}
	return list
}

// TestDeadline stops every strategy after a number of polls on long problems. It must return a solution or the
// context's error, and not an InfeasibleError, and its schedule so far can be played. Some strategies end before they
// are stopped; TestStopsSoon checks that they do not take long.
func TestDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	var quick []string
	for _, s := range engine.Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			stopped := 0
			for _, calls := range []int{0, 1, 500, 5_000} {
				for _, p := range longProblems() {
					if solveLimited(t, s, p, engine.LimitCalls(t.Context(), calls)) && calls > 1 {
						stopped++
					}
				}
			}
			if stopped == 0 {
				quick = append(quick, s.Name)
			}
		})
	}
	if all := len(engine.Strategies()); len(quick) > all/2 {
		t.Errorf("%d of %d were never stopped in the middle, %q: the problems are off", len(quick), all, quick)
	}
}

// solveLimited solves a problem in a context that may stop it, checks the result, and reports whether it was stopped.
func solveLimited(t *testing.T, s *engine.Strategy, p *engine.Problem, ctx context.Context) (ended bool) {
	t.Helper()
	sol, err := s.Solve(p, nil, engine.NewPoll(ctx, nil))
	ended = errors.Is(err, context.DeadlineExceeded)
	var infeasible *engine.InfeasibleError
	switch {
	case err == nil && sol == nil:
		t.Errorf("%s within %d bytes: neither a solution nor an error", s.Name, p.Budget)
	case errors.As(err, &infeasible):
		// If the refusal is true, its smallest budget is not refused, though the strategy may be stopped again.
		_, err := s.Solve(p.WithBudget(infeasible.Smallest), nil, engine.NewPoll(ctx, nil))
		if infeasible.Smallest <= p.Budget || errors.As(err, &infeasible) {
			t.Errorf("%s within %d bytes: refused with %v", s.Name, p.Budget, infeasible)
		}
	case err != nil && !ended && !errors.Is(err, engine.ErrUnsupported):
		t.Errorf("%s within %d bytes: got %v, want %v", s.Name, p.Budget, err, context.DeadlineExceeded)
	}
	if err != nil && sol != nil {
		if _, err := sim.Play(p, sol.Schedule); err != nil {
			t.Errorf("%s within %d bytes: what it has when its time is over cannot be played: %v", s.Name,
				p.Budget, err)
		}
	}
	return ended
}

// BenchmarkLate reports how many milliseconds after a deadline of 5 ms every strategy
// returns.
func BenchmarkLate(b *testing.B) {
	const given = 5 * time.Millisecond
	for _, s := range engine.Strategies() {
		b.Run(s.Name, func(b *testing.B) {
			latest := time.Duration(0)
			for b.Loop() {
				for _, p := range longProblems() {
					ctx, cancel := context.WithTimeout(b.Context(), given)
					began := time.Now()
					_, _ = s.Solve(p, nil, engine.NewPoll(ctx, nil))
					latest = max(latest, time.Since(began)-given)
					cancel()
				}
			}
			b.ReportMetric(float64(latest)/1e6, "ms-late")
		})
	}
}

// TestCancelled gives every strategy a context that is done already.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 10, MaxStages: 10})
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, c.KeepAllPeak())
	for _, s := range engine.Strategies() {
		if _, err := s.Solve(p, nil, engine.NewPoll(ctx, nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", s.Name, err, context.Canceled)
		}
	}
}

// TestNoChain gives every strategy a graph that is not a chain. Each solves the graph or returns ErrUnsupported.
func TestNoChain(t *testing.T) {
	g := &engine.Graph{
		Values: []engine.Value{{Name: "x", Size: 1, PartOf: engine.NoValue}},
		Ops:    []engine.Op{{Name: "F1", Time: 1, Out: []engine.ValueID{0}}},
		Done:   0,
	}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex), Budget: 10}
	for _, s := range engine.Strategies() {
		if sol, err := s.Solve(p, nil, nil); err != nil && !errors.Is(err, engine.ErrUnsupported) || err == nil &&
			sol == nil {
			t.Errorf("%s: got %v, %v; want a solution or an error that wraps %v", s.Name, sol, err,
				engine.ErrUnsupported)
		}
	}
}
