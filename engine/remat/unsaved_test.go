package remat

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestUnsavedAgainstBrute compares the optima of chains with unsaved outputs with a search that
// shares no code and tries more: such an output may stay after F_all has read it, and its stage may
// run once more after that.
func TestUnsavedAgainstBrute(t *testing.T) {
	r := enginetest.Rand(41)
	feasible, slower := map[string]int{}, map[string]int{}
	cases := 300
	if os.Getenv("MEMTIDE_LONG") != "" {
		cases = 30_000
	}
	for i := range cases {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 2, MaxStages: 5, MaxSize: 6})
		enginetest.GiveUnsaved(r, c)
		budget := enginetest.RandomBudget(r, c) * 4 / 5
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, budget)
		for name, class := range map[string]Class{"rotor": Segments,
			"revolve":       OutputsOnly,
			"nonpersistent": AllSequences} {
			input := fmt.Sprintf("%s, seed 41 chain %d budget %d\n%s", name, i, budget, enginetest.Dump(c))
			want, fits := Best(c, budget, class)
			sol, err := engine.Lookup(name).Solve(p, nil, nil)
			var infeasible *engine.InfeasibleError
			if fits != (err == nil) || err != nil && !errors.As(err, &infeasible) {
				t.Fatalf("%sgot %v, brute force says that it fits: %v", input, err, fits)
			}
			if !fits {
				if _, less := Best(c, infeasible.Smallest-1, class); less {
					t.Fatalf("%sgot that %d is the smallest budget; brute force fits into one byte less", input,
						infeasible.Smallest)
				}
				if _, does := Best(c, infeasible.Smallest, class); !does {
					t.Fatalf("%sgot that %d is the smallest budget; brute force does not fit into it", input,
						infeasible.Smallest)
				}
				continue
			}
			feasible[name]++
			if sol.Makespan > c.ForwardTime()+c.BackTime() {
				slower[name]++
			}
			if sol.Makespan != want || !sol.Optimal {
				t.Fatalf("%sgot %v, optimal %v; want %v", input, sol.Makespan, sol.Optimal, want)
			}
			playClaims(t, input, p, sol)
		}
	}
	for name := range feasible {
		if feasible[name] < cases/5 || slower[name] < cases/15 {
			t.Errorf("%s: %d of %d cases fit, %d of them compute again: the generator is off", name, feasible[name],
				cases, slower[name])
		}
	}
	t.Logf("%d cases, feasible %v, with recomputation %v", cases, feasible, slower)
}

// playClaims plays a solution and checks its claims with the simulator and the checker.
func playClaims(t *testing.T, input string, p *engine.Problem, sol *engine.Solution) {
	t.Helper()
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s%v", input, err)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Fatalf("%s%v", input, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak || trace.Peak > p.Budget {
		t.Fatalf("%sclaims %d and %d, plays %d and %d within %d", input, sol.Makespan, sol.Peak, trace.Makespan,
			trace.Peak, p.Budget)
	}
}

// TestUnsavedPlays plays the schedules of all strategies for recomputation and checks their claims, on chains
// that are too long for brute force, in bytes and in slots.
func TestUnsavedPlays(t *testing.T) {
	r := enginetest.Rand(42)
	played := 0
	for i := range 20 {
		c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 6, MaxStages: 60, MaxSize: 1 << 20, MaxTime: 1e6})
		enginetest.GiveUnsaved(r, c)
		p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, c.KeepAllPeak()/100*engine.Bytes(30+r.IntN(70)))
		for _, name := range []string{"rotor", "revolve", "sequential", "nonpersistent", "keepall"} {
			for _, args := range []engine.Args{nil, {"slots": "200"}, {"drop": "yes"}} {
				if _, err := engine.Lookup(name).Parse(args); err != nil {
					continue
				}
				input := fmt.Sprintf("%s %v, seed 42 chain %d budget %d\n%s", name, args, i, p.Budget,
					enginetest.Dump(c))
				sol, err := engine.Lookup(name).Solve(p, args, nil)
				q := p
				var infeasible *engine.InfeasibleError
				if errors.As(err, &infeasible) {
					q = p.WithBudget(infeasible.Smallest)
					sol, err = engine.Lookup(name).Solve(q, args, nil)
				}
				if errors.Is(err, engine.ErrUnsupported) {
					continue
				}
				if err != nil {
					t.Fatalf("%s%v", input, err)
				}
				playClaims(t, input, q, sol)
				played++
			}
		}
	}
	if played < 80 {
		t.Errorf("only %d solutions were played", played)
	}
}

// TestUnsavedKeepAll keeps everything of a convolution, a normalisation and a ReLU, none in place. The
// normalisation keeps the output of the convolution, and the ReLU its own. The output of the normalisation is
// unsaved: plain training frees it when the ReLU has run.
func TestUnsavedKeepAll(t *testing.T) {
	c := &engine.Chain{Input: 1, InputGrad: 0, Stages: []engine.Stage{
		{Name: "conv", Forward: 1, Back: 1, Out: 10, Saved: 10, Grad: 10},
		{Name: "bn", Forward: 1, Back: 1, Out: 10, Saved: 1, Grad: 10, Unsaved: true},
		{Name: "relu", Forward: 1, Back: 1, Out: 10, Saved: 10, Grad: 10},
		{Name: "loss"},
	}}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
	sol, err := engine.Lookup("keepall").Solve(p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The backward of relu needs the input, conv's output, the statistics, its output, and two gradients.
	if want := engine.Bytes(1 + 10 + 1 + 10 + 10 + 10); sol.Peak != want || c.KeepAllPeak() != want {
		t.Errorf("got a peak of %d, and %d of keeping everything; want %d", sol.Peak, c.KeepAllPeak(), want)
	}
	playClaims(t, "", p, sol)
	kept := *c
	kept.Stages = append([]engine.Stage(nil), c.Stages...)
	kept.Stages[1].Unsaved, kept.Stages[1].Saved = false, 11
	if got, want := kept.KeepAllPeak(), engine.Bytes(1+10+11+10+10+10); got != want {
		t.Errorf("with the output kept: got a peak of %d, want %d", got, want)
	}
}
