package combined

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestSweepIsSolve checks that the work that budgets share changes no answer. The exception is a step without any
// extra time, which may have the schedule of a smaller budget. The cases are random chains at several rates in
// all modes, and resnet50.
func TestSweepIsSolve(t *testing.T) {
	offloads := 0
	for seed := range cases(24) {
		r := enginetest.Rand(80000 + seed)
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 4, MaxStages: 20, MaxSize: 1 << 20, MaxTime: 1e6})
		d := engine.Device{ToHost: engine.Rate(1+seed%5) * 7e8, ToDev: engine.Rate(1+seed/5%3) * 1e9}
		if seed%2 == 1 {
			d.Duplex = engine.FullDuplex
		}
		p := engine.NewChainProblem(c, d, engine.Streamed, 0)
		if seed/2%2 == 1 {
			p.Transfers = engine.Whole
		}
		budgets := []engine.Bytes{engine.NoLimit, 0}
		for range 10 {
			budgets = append(budgets, enginetest.RandomBudget(r, c))
		}
		offloads += sweepIsSolve(t, fmt.Sprintf("seed %d, %v, %v", seed, p.Transfers, d), p, budgets)
		if t.Failed() {
			t.Fatal(enginetest.Dump(c))
		}
	}
	for _, mode := range []engine.Transfers{engine.Streamed, engine.Whole} {
		p := benchProblem(t, "resnet50", 100)
		p.Transfers = mode
		var budgets []engine.Bytes
		for x := range engine.Bytes(10) {
			budgets = append(budgets, p.Graph.Fixed+p.Room()*(28+8*x)/100)
		}
		offloads += sweepIsSolve(t, fmt.Sprintf("resnet50, %v", mode), p, budgets)
	}
	if offloads < int(cases(40)) {
		t.Errorf("only %d schedules offload: the generator is off", offloads)
	}
}

// sweepIsSolve compares the solutions of a sweep with those of each budget alone, and counts the
// schedules that offload.
func sweepIsSolve(t *testing.T, input string, p *engine.Problem, budgets []engine.Bytes) (offloads int) {
	t.Helper()
	pofo := engine.Lookup("pofo")
	seen := make([]int, len(budgets))
	pofo.Sweep(p, nil, budgets, nil, func(i int, sol *engine.Solution, err error) {
		seen[i]++
		want, wantErr := pofo.Solve(p.WithBudget(budgets[i]), nil, nil)
		if (sol == nil) != (want == nil) || sol != nil && (sol.Makespan != want.Makespan || sol.Bound != want.Bound) {
			t.Errorf("%s, budget %d: the sweep gives %+v, want %+v", input, budgets[i], sol, want)
		} else if free := sol != nil && sol.Makespan == p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime(); free {
			if sol.Peak > budgets[i] || !sol.Optimal { // the schedule of a smaller budget is accepted
				t.Errorf("%s, budget %d: the sweep gives a peak of %d, optimal %v", input, budgets[i], sol.Peak, sol.Optimal)
			}
		} else if !reflect.DeepEqual(sol, want) || !reflect.DeepEqual(err, wantErr) {
			t.Errorf("%s, budget %d: the same step time in another way, or %v instead of %v", input, budgets[i], err,
				wantErr)
		}
		if sol != nil && slices.ContainsFunc(sol.Schedule,
			func(s engine.Instruction) bool { return s.Kind == engine.DoOffload }) {
			offloads++
		}
	})
	for i, count := range seen {
		if count != 1 {
			t.Errorf("%s: budget %d (%d) was answered %d times", input, i, budgets[i], count)
		}
	}
	return offloads
}
