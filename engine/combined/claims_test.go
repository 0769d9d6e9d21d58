package combined

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestClaims checks the claims of solutions in both transfer modes and both duplex modes, at rates at which bytes
// take whole nanoseconds and at others.
func TestClaims(t *testing.T) {
	rates := [][2]engine.Rate{{1e9, 1e9}, {2e9, 3e9}, {1_300_000_000, 700_000_001}, {12_500_000_000, 13_100_000_000}}
	optimal, below := 0, 0
	for seed := range uint64(150) {
		r := enginetest.Rand(seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 9, MaxSize: 40, MaxTime: 30})
		budget := enginetest.RandomBudget(r, c)
		for _, rate := range rates {
			for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
				for _, duplex := range []engine.Duplex{engine.HalfDuplex, engine.FullDuplex} {
					for _, overlap := range []string{"no", "yes"} {
						d := engine.Device{ToHost: rate[0], ToDev: rate[1], Duplex: duplex}
						p := engine.NewChainProblem(c, d, mode, budget)
						sol := holds(t, p, engine.Args{"overlap": overlap})
						if t.Failed() {
							t.Fatalf("seed %d, rates %v, %v, %v, overlap %s, budget %d\n%s", seed, rate, mode, duplex,
								overlap, budget, enginetest.Dump(c))
						}
						if sol == nil {
							continue
						}
						if sol.Optimal {
							optimal++
						}
						if rotor, err := engine.Lookup("rotor").Solve(p, nil, nil); err == nil &&
							sol.Makespan < rotor.Makespan {
							below++
						}
					}
				}
			}
		}
	}
	t.Logf("%d claim to be optimal, %d are faster than recomputation alone", optimal, below)
	if optimal < 100 || below < 100 {
		t.Errorf("%d claim to be optimal, %d are faster than recomputation alone: the generator is off", optimal, below)
	}
}

// holds solves a problem and checks the claims of the solution with packages sim and check.
func holds(t *testing.T, p *engine.Problem, args engine.Args) *engine.Solution {
	t.Helper()
	return held(t, p, func(p *engine.Problem) (*engine.Solution, error) { return Pofo.Solve(p, args, nil) })
}

// planHolds is like holds for the best plan of the paper's model, without the faster schedules that are not such
// plans.
func planHolds(t *testing.T, p *engine.Problem) *engine.Solution {
	t.Helper()
	args, err := Pofo.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	return held(t, p, func(p *engine.Problem) (*engine.Solution, error) { return Plans(p, args, nil) })
}

func held(t *testing.T, p *engine.Problem, solve func(*engine.Problem) (*engine.Solution, error)) *engine.Solution {
	t.Helper()
	sol, err := solve(p)
	var infeasible *engine.InfeasibleError
	if errors.As(err, &infeasible) {
		if _, err := solve(p.WithBudget(infeasible.Smallest)); err != nil {
			t.Errorf("the smallest budget is said to be %d, and is refused: %v", infeasible.Smallest, err)
		}
		if _, err := engine.Lookup("rotor").Solve(p, nil, nil); err == nil {
			t.Errorf("refused, and rotor has a schedule")
		}
		return nil
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	tr, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := check.Trace(p, sol.Schedule, tr); err != nil {
		t.Error(err)
	}
	if tr.Makespan != sol.Makespan || tr.Peak != sol.Peak {
		t.Errorf("step time %d and peak %d, claimed %d and %d", tr.Makespan, tr.Peak, sol.Makespan, sol.Peak)
	}
	if sol.Bound > sol.Makespan {
		t.Errorf("bound %d, step time %d", sol.Bound, sol.Makespan)
	}
	if rotor, err := engine.Lookup("rotor").Solve(p, nil, nil); err == nil && rotor.Makespan < sol.Makespan {
		t.Errorf("rotor takes %d, pofo %d", rotor.Makespan, sol.Makespan)
	}
	return sol
}

// TestExactRates checks that, if a byte takes a whole nanosecond, the schedule of streamed transfers takes
// exactly the time that the plain recursion computes.
func TestExactRates(t *testing.T) {
	for seed := range uint64(400) {
		r := enginetest.Rand(1000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 6})
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Streamed,
			enginetest.RandomBudget(r, c))
		tm, err := newTerms(p)
		if err != nil {
			t.Fatal(err)
		}
		want, fits := plainMakespan(tm)
		sol := planHolds(t, p)
		if (sol != nil) != fits || fits && (int64(sol.Makespan) != want || sol.Bound != sol.Makespan) {
			t.Errorf("seed %d: got %+v; want %d, %v", seed, sol, want, fits)
		}
		if t.Failed() {
			t.Fatalf("seed %d, budget %d\n%s", seed, p.Budget, enginetest.Dump(c))
		}
	}
}
