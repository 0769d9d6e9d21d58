package all_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// sweepers returns the strategies that share work in a sweep. The sweeps of strategies that search for long, and may
// find faster schedules in a sweep, are tested in their own packages.
func sweepers() []*engine.Strategy {
	return slices.DeleteFunc(engine.Strategies(), func(s *engine.Strategy) bool {
		return s.Sweeper == nil || s.Name == "graphsearch" || s.Name == "graphpofo"
	})
}

// TestSweep compares the results of a sweep with the results of Solve for each budget.
func TestSweep(t *testing.T) {
	swept := 0
	for _, s := range sweepers() {
		swept++
		r := enginetest.Rand(contractSeed + 1)
		for i := range 40 / fewer() {
			shape := enginetest.Shape{MaxStages: 40, MaxSize: 40, MaxTime: 300}
			if i%2 == 0 { // many ties
				shape = enginetest.Shape{MaxStages: 12, MaxSize: 3, MaxTime: 2}
			}
			c := enginetest.RandomChain(r, shape)
			budgets := []engine.Bytes{c.KeepAllPeak(), 0, engine.NoLimit, c.KeepAllPeak()}
			for range 12 {
				budgets = append(budgets, enginetest.RandomBudget(r, c))
			}
			mode := modes[i%len(modes)]
			p := engine.NewChainProblem(c, enginetest.Device(mode.duplex), mode.transfers, 0)
			for _, args := range argSets(s) {
				sweeps(t, fmt.Sprintf("chain %d, %v duplex, %v transfers, arguments %v\n%s%s", i, mode.duplex,
					mode.transfers, args, enginetest.Dump(c), s.Name), s, p, args, budgets)
				if t.Failed() {
					return
				}
			}
		}
	}
	if swept < 3 {
		t.Errorf("only %d strategies share work", swept)
	}
}

func sweeps(t *testing.T, input string, s *engine.Strategy, p *engine.Problem, args engine.Args,
	budgets []engine.Bytes) {
	t.Helper()
	seen := make([]int, len(budgets))
	s.Sweep(p, args, budgets, nil, func(i int, sol *engine.Solution, err error) {
		seen[i]++
		want, wantErr := s.Solve(p.WithBudget(budgets[i]), args, nil)
		if !sameOrFree(p, budgets[i], sol, want) || !reflect.DeepEqual(err, wantErr) {
			t.Errorf("%s within %d: the sweep gives %+v, %v; want %+v, %v", input, budgets[i], sol, err, want, wantErr)
		}
	})
	for i, count := range seen {
		if count != 1 {
			t.Errorf("%s: budget %d (%d) was answered %d times", input, i, budgets[i], count)
		}
	}
}

// sameOrFree reports whether two solutions are equal, or both fit and add no time to the step. In the latter case
// a sweep may return the schedule of a smaller budget.
func sameOrFree(p *engine.Problem, budget engine.Bytes, sol, want *engine.Solution) bool {
	free := p.Chain.Chain.ForwardTime() + p.Chain.Chain.BackTime()
	return reflect.DeepEqual(sol, want) || sol != nil && want != nil && sol.Makespan == free && want.Makespan == free &&
		sol.Optimal && sol.Peak <= budget
}

// TestSweepCancelled sweeps with a context that is done, and stops a sweep before its end. Every budget gets a result,
// and the remaining budgets get the error.
func TestSweepCancelled(t *testing.T) {
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 40, MaxStages: 40})
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, 0)
	var budgets []engine.Bytes
	for percent := engine.Bytes(5); percent <= 100; percent += 5 {
		budgets = append(budgets, c.KeepAllPeak()*percent/100)
	}
	for _, s := range sweepers() {
		for _, after := range []int{0, 7} {
			ctx, cancel := context.WithCancel(context.Background())
			if after == 0 {
				cancel()
			}
			answers, stopped := 0, 0
			s.Sweep(p, nil, budgets, engine.NewPoll(ctx, nil), func(_ int, _ *engine.Solution, err error) {
				if answers++; answers == after {
					cancel()
				}
				if errors.Is(err, context.Canceled) {
					stopped++
				}
			})
			cancel()
			if answers != len(budgets) || after == 0 && stopped != len(budgets) {
				t.Errorf("%s, stopped after %d: %d answers of %d, %d of them say that it was stopped", s.Name, after,
					answers, len(budgets), stopped)
			}
		}
	}
}

// TestSweepNeedsAChain checks that a sweep without a chain returns the error for every budget.
func TestSweepNeedsAChain(t *testing.T) {
	g := &engine.Graph{Ops: []engine.Op{{Name: "F1", Time: 1}}, Done: engine.NoValue}
	p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex)}
	for _, s := range sweepers() {
		s.Sweep(p, nil, []engine.Bytes{1, 2}, nil, func(i int, sol *engine.Solution, err error) {
			if want, wantErr := s.Solve(p, nil, nil); !reflect.DeepEqual(sol, want) ||
				!reflect.DeepEqual(err, wantErr) {
				t.Errorf("%s: got %v, %v; want %v, %v", s.Name, sol, err, want, wantErr)
			}
		})
	}
}

// TestSweepShares uses up the time of some budgets of a sweep. These get the error, and the others get the result of
// Solve, as if nothing had been stopped before them.
func TestSweepShares(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	c := enginetest.RandomChain(enginetest.Rand(contractSeed), enginetest.Shape{MinStages: 40, MaxStages: 40})
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, 0)
	var budgets []engine.Bytes
	for percent := engine.Bytes(5); percent <= 100; percent += 5 {
		budgets = append(budgets, c.KeepAllPeak()*percent/100)
	}
	for _, s := range sweepers() {
		const share = time.Second
		answers, stopped, after := 0, 0, 0
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), share*time.Duration(len(budgets)))
			defer cancel()
			poll := engine.NewPoll(ctx, nil)
			poll.Split(len(budgets))
			s.Sweep(p, nil, budgets, poll, func(i int, sol *engine.Solution, err error) {
				if answers++; errors.Is(err, context.DeadlineExceeded) {
					stopped++
				} else {
					if stopped > 0 {
						after++
					}
					want, wantErr := s.Solve(p.WithBudget(budgets[i]), nil, nil)
					if !sameOrFree(p, budgets[i], sol, want) || !reflect.DeepEqual(err, wantErr) {
						t.Errorf("%s, budget %d, after %d were stopped:\n got %+v, %v\nwant %+v, %v", s.Name,
							budgets[i], stopped, sol, err, want, wantErr)
					}
				}
				time.Sleep(share * 2 / 3)
				if answers%6 == 0 {
					time.Sleep(share * 3)
				}
			})
		})
		if answers != len(budgets) || stopped == 0 || after == 0 {
			t.Errorf("%s: %d of %d answers, %d stopped and %d solved after that; want all, and some of both", s.Name,
				answers, len(budgets), stopped, after)
		}
	}
}
