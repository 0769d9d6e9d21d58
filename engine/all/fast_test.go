package all_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestFast puts every strategy on chains whose stages have two algorithms: the
// contract holds, and strategies that do not know the second one do what they do
// without it.
func TestFast(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	const seed = 23
	r := enginetest.Rand(seed)
	chosen := map[string]int{}
	for i := range 60 {
		c := enginetest.RandomChain(r, enginetest.Shape{MaxStages: 7})
		plain := *c
		plain.Stages = append([]engine.Stage(nil), c.Stages...)
		enginetest.GiveFast(r, c)
		for range 4 {
			budget, mode := enginetest.RandomBudget(r, c), modes[r.IntN(len(modes))]
			p := engine.NewChainProblem(c, enginetest.Device(mode.duplex), mode.transfers, budget)
			q := engine.NewChainProblem(&plain, p.Device, mode.transfers, budget)
			input := fmt.Sprintf("seed %d chain %d, budget %d, %v duplex, %v transfers\n%s", seed, i, budget, mode.duplex, mode.transfers, enginetest.Dump(c))
			for _, s := range engine.Strategies() {
				holds(t, input, s, p, nil)
				sol, err := s.Solve(p, nil, nil)
				without, errWithout := s.Solve(q, nil, nil)
				if fast := secondWays(sol); fast > 0 {
					chosen[s.Name] += fast
					continue
				}
				if takesAlgo(s) {
					continue
				}
				if !reflect.DeepEqual(err, errWithout) || sol != nil && !reflect.DeepEqual(sol.Schedule, without.Schedule) {
					t.Errorf("%s%s: the second algorithm changes the schedule, or the refusal %v, %v", input, s.Name, err, errWithout)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	for _, s := range engine.Strategies() {
		if got := chosen[s.Name]; takesAlgo(s) != (got > 0) {
			t.Errorf("%s runs %d operations by the second algorithm", s.Name, got)
		}
	}
}

// takesAlgo says whether a strategy chooses between algorithms.
func takesAlgo(s *engine.Strategy) bool {
	if slices.Contains([]string{"graphexact", "graphsearch", "graphpofo"}, s.Name) {
		return true
	}
	for _, p := range s.Params {
		if p.Name == "algo" {
			return true
		}
	}
	return false
}

func secondWays(sol *engine.Solution) (n int) {
	if sol == nil {
		return 0
	}
	for _, st := range sol.Schedule {
		if st.Alt {
			n++
		}
	}
	return n
}
