package remat

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestSlotsAgainstPlainRecursion counts memory in slots, and compares the results with the plain recursion over
// the rounded sizes, and with exact bytes.
func TestSlotsAgainstPlainRecursion(t *testing.T) {
	r := enginetest.Rand(18)
	solved, dearer := 0, 0
	for i := range 300 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 12, MaxSize: 300, MaxTime: 100})
		budget := enginetest.RandomBudget(r, c)
		slots := 5 + r.IntN(60)
		input := fmt.Sprintf("seed 18 chain %d budget %d slots %d\n%s", i, budget, slots, enginetest.Dump(c))
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
		want, fits := plain(slotTerms(c, budget, slots))
		sol, err := Rotor.Solve(p, engine.Args{"slots": fmt.Sprint(slots)}, nil)
		if fits != (err == nil) {
			t.Fatalf("%sgot %v, the plain recursion says that it fits: %v", input, err, fits)
		}
		if !fits {
			continue
		}
		solved++
		if got := int64(sol.Makespan - c.ForwardTime() - c.BackTime()); got != want || sol.Peak > budget {
			t.Fatalf("%sgot extra time %d and peak %d, want %d", input, got, sol.Peak, want)
		}
		exact, err := Rotor.Solve(p, nil, nil)
		if err != nil || exact.Makespan > sol.Makespan || sol.Bound != exact.Makespan ||
			sol.Optimal != (exact.Makespan == sol.Makespan) {
			t.Fatalf("%sexact: %v, %v; slots: %v, bound %v, optimal %v", input, exact, err, sol.Makespan, sol.Bound,
				sol.Optimal)
		}
		if exact.Makespan < sol.Makespan {
			dearer++
		}
		if len(sol.Notes) != 2 || !strings.HasPrefix(sol.Notes[1], "The slots cost ") {
			t.Errorf("%snotes: got %q, want what the slots cost", input, sol.Notes)
		}
	}
	if solved < 80 || dearer < 40 {
		t.Errorf("%d of 300 cases fit, and the slots cost something in %d: the generator is off", solved, dearer)
	}
}

// TestSlotsRefuseKeepAll checks a counterexample to the paper's 1+1/S: 600 of 1000 units are enough to keep
// everything, and 500 slots are not.
func TestSlotsRefuseKeepAll(t *testing.T) {
	c := &engine.Chain{Stages: slices.Repeat([]engine.Stage{{Forward: 1, Back: 1, Out: 1, Saved: 1}}, 600)}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, 1000)
	if peak := c.KeepAllPeak(); peak != 600 {
		t.Fatalf("keeping everything needs %d, want 600", peak)
	}
	exact, err := Rotor.Solve(p, nil, nil)
	if err != nil || exact.Makespan != 1200 {
		t.Errorf("exact: got %v, %v; want 1200", exact, err)
	}
	slots, err := Rotor.Solve(p, engine.Args{"slots": "500"}, nil)
	if err != nil || slots.Makespan <= 1200 || slots.Bound != 1200 {
		t.Errorf("500 slots: got %v, %v; want more than 1200, and 1200 as the bound", slots, err)
	}
}

// TestTooFewSlots checks that the error does not depend on the budget: the operations need more
// tensors than there are slots.
func TestTooFewSlots(t *testing.T) {
	c := &engine.Chain{Input: 1, InputGrad: 1, Stages: []engine.Stage{{Forward: 1, Back: 1, Out: 1, Saved: 1, Grad: 1}}}
	for slots, want := range map[string]error{"3": engine.ErrUnsupported, "4": nil} {
		_, err := Rotor.Solve(engine.NewChainProblem(c, engine.Device{}, engine.Whole, 1000),
			engine.Args{"slots": slots}, nil)
		if !errors.Is(err, want) {
			t.Errorf("%s slots: got %v, want %v", slots, err, want)
		}
	}
}
