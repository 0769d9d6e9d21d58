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

// TestRecastPlays checks plans of chains with outputs that no backward reads, including plans that offload. The
// plans fit, their claims hold, and none is slower than recomputation alone.
func TestRecastPlays(t *testing.T) {
	r := enginetest.Rand(61)
	solved, moving := 0, 0
	for i := range 150 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 4, MaxStages: 12, MaxSize: 30})
		enginetest.GiveUnsaved(r, c)
		budget := enginetest.RandomBudget(r, c)
		for _, transfers := range []engine.Transfers{engine.Whole, engine.Streamed} {
			p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), transfers, budget)
			input := fmt.Sprintf("seed 61 chain %d, budget %d, %v transfers\n%s", i, budget, transfers,
				enginetest.Dump(c))
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
				t.Fatalf("%sclaims %d and %d, plays %d and %d", input, sol.Makespan, sol.Peak, trace.Makespan,
					trace.Peak)
			}
			solved++
			for _, st := range sol.Schedule {
				if st.Kind == engine.DoOffload {
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

// TestApartOffloads plans blocks that save much more than their outputs, which are unsaved, as in a
// transformer. The saved sets are offloaded, and the step is faster than with recomputation alone.
func TestApartOffloads(t *testing.T) {
	c := &engine.Chain{Name: "blocks", Batch: 1, Input: 1}
	for i := range 12 {
		c.Stages = append(c.Stages, engine.Stage{Name: fmt.Sprint("block ", i), Forward: 100, Back: 200, Out: 4,
			Saved: 96, Grad: 4, Unsaved: true})
	}
	c.Stages = append(c.Stages, engine.Stage{Name: "loss", Forward: 10, Back: 10})
	d := enginetest.Device(engine.FullDuplex)
	p := engine.NewChainProblem(c, d, engine.Whole, 800)
	sol, err := Pofo.Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	saved := 0
	for _, st := range sol.Schedule {
		if st.Kind == engine.DoOffload && p.Graph.Values[st.Value].Size == 96 {
			saved++
		}
	}
	if saved == 0 || sol.Makespan >= rotor.Makespan {
		t.Errorf("pofo takes %d with %d saved sets on the host, recomputation alone %d\n%s", sol.Makespan, saved,
			rotor.Makespan, enginetest.Dump(c))
	}
}

// TestRoomierFillsTheBudget solves chains whose unsaved outputs are planned as another chain, which needs more
// memory than the chain itself. It checks that some plans use the memory that the first plan left, that none is
// slower, and that all fit.
func TestRoomierFillsTheBudget(t *testing.T) {
	r := enginetest.Rand(62)
	args, _ := Pofo.Parse(nil)
	faster := 0
	for i := range 60 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 6, MaxStages: 12, MaxSize: 30})
		enginetest.GiveUnsaved(r, c)
		p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole,
			enginetest.RandomBudget(r, c))
		input := fmt.Sprintf("seed 62 chain %d, budget %d\n%s", i, p.Budget, enginetest.Dump(c))
		first, err := solveRecast(p, args, 0, &shared{}, nil)
		var none *engine.InfeasibleError
		if errors.As(err, &none) {
			continue
		}
		more, errMore := solveRecast(p, args, 2, &shared{}, nil)
		if err != nil || errMore != nil {
			t.Fatalf("%s%v, %v", input, err, errMore)
		}
		if more.Makespan > first.Makespan || more.Peak > p.Budget {
			t.Errorf("%stakes %v with a peak of %d, without further plans %v", input, more.Makespan, more.Peak,
				first.Makespan)
		}
		if more.Makespan < first.Makespan {
			faster++
		}
	}
	if faster < 3 {
		t.Errorf("further plans are faster %d times of 60: want 3 or more", faster)
	}
}
