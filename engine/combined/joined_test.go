package combined

import (
	"errors"
	"fmt"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestJoinedPlays plays plans of chains with outputs that no backward reads, also
// those that offload: they fit, the claims come true, and none is slower than
// recomputation alone.
func TestJoinedPlays(t *testing.T) {
	r := enginetest.Rand(61)
	solved, moving := 0, 0
	for i := range 150 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 4, MaxStages: 12, MaxSize: 30})
		enginetest.GiveUnsaved(r, c)
		budget := enginetest.RandomBudget(r, c)
		for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), transfers, budget)
			input := fmt.Sprintf("seed 61 chain %d, budget %d, %v transfers\n%s", i, budget, transfers, enginetest.Dump(c))
			sol, err := Pofo.Solve(p, nil, nil)
			rotor, errRotor := engine.Lookup("rotor").Solve(p, nil, nil)
			var none *engine.InfeasibleError
			if errors.As(err, &none) && errRotor != nil {
				continue
			}
			if err != nil {
				t.Fatalf("%s%v", input, err)
			}
			if errRotor == nil && sol.Makespan > rotor.Makespan {
				t.Errorf("%stakes %v, recomputation alone %v", input, sol.Makespan, rotor.Makespan)
			}
			trace, err := sim.Play(p, sol.Schedule)
			if err != nil {
				t.Fatalf("%s%v", input, err)
			}
			if err := check.Trace(p, sol.Schedule, trace); err != nil {
				t.Fatalf("%s%v", input, err)
			}
			if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || trace.Peak > budget {
				t.Fatalf("%sclaims %d and %d, plays %d and %d", input, sol.Makespan, sol.Peak, trace.Makespan, trace.Peak)
			}
			solved++
			for _, st := range sol.Schedule {
				if st.Kind == engine.StepOffload {
					moving++
					break
				}
			}
		}
	}
	if solved < 80 || moving < 20 {
		t.Errorf("%d problems are solved, %d of them with offloads: the generator is off", solved, moving)
	}
	t.Logf("%d solved, %d with offloads", solved, moving)
}
