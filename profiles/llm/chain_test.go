package llm

import (
	"math"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
)

// TestChainIsTheStep checks that the chain that keeps everything has the peak of the program, to the byte, and
// that rotor finds a schedule with 85 % of what is not resident.
func TestChainIsTheStep(t *testing.T) {
	card := CardOf("H100")
	for _, c := range []struct {
		name string
		s    Setup
	}{
		{"eager", Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 4096},
			Precision: Precision{Weight: 2, Moments: 4}, Code: Code{Norm: "eager"},
			Stepping: Stepping{Optimizer: "fused"}, Layout: Layout{Static: true}}},
		{"fused", Setup{Model: Lookup("llama3.2-1b"), Work: Work{Seq: 4096},
			Precision: Precision{Weight: 2, Moments: 4}, Code: Code{Norm: "fused"},
			Stepping: Stepping{Optimizer: "fused"}, HeadLoss: HeadLoss{Loss: "chunked"},
			Layout: Layout{Static: true}}},
		{"plain", Setup{Model: Lookup("gpt2"), Work: Work{Batch: 4, Seq: 1024},
			Precision: Precision{Weight: 2, Moments: 4}, Stepping: Stepping{Optimizer: "fused"},
			Layout: Layout{Static: true}}},
		{"shared", Setup{Model: Lookup("qwen3-4b"), Work: Work{Seq: 8192, Accumulate: 2},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
			Stepping:  Stepping{Optimizer: "fused"}, Layout: Layout{Shard: 8}}},
		{"apart", Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 8192},
			Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
			Stepping:  Stepping{Optimizer: "fused"}, Layout: Layout{Shard: 8, EndsApart: true}}},
	} {
		p, err := profileOf(c.s, card)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := run(t, c.s).Allocated
		got := p.Chain.KeepAllPeak()
		if got != want {
			t.Errorf("%s: keeping everything takes %d bytes in the chain, %d in the program (%+.2f %%)", c.name, got,
				want, 100*(float64(got)/float64(want)-1))
		}
		problem := engine.NewChainProblem(p.Chain, engine.Device{}, engine.Whole, engine.NoLimit)
		if err := problem.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		budget := p.Chain.Resident.Total() + (got-p.Chain.Resident.Total())*85/100
		sol, err := engine.Lookup("rotor").Solve(problem.WithBudget(budget), nil, nil)
		if err != nil {
			t.Errorf("%s: rotor in %d bytes: %v", c.name, budget, err)
		} else if sol.Peak > budget {
			t.Errorf("%s: rotor takes %d bytes of %d", c.name, sol.Peak, budget)
		}
	}
	if _, err := profileOf(Setup{Model: Lookup("gpt2"), Work: Work{Seq: 8}, Layout: Layout{Stages: 2}},
		card); err == nil {
		t.Error("a pipeline became a chain; want a refusal")
	}
}

// TestBesideStages checks that what is told to run beside the stages of a chain takes as long as the step is told to
// take for it: gathers and reductions of FSDP, weights that come from the host, and the optimizer there.
func TestBesideStages(t *testing.T) {
	for _, args := range []engine.Args{
		{"gpus": "8", "seq": "512"}, {"gpus": "8", "seq": "2048", "shard": "grad-op", "program": "torchtitan"},
		{"gpus": "4", "seq": "512", "shard": "zero3", "host": "yes", "host-weights": "yes"},
	} {
		a, err := New(Lookup("llama3.2-1b"), args)
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.profile(asChain)
		if err != nil {
			t.Fatal(err)
		}
		s := a.Setup.normal()
		program := newProgram(&s, s.end(true, true))
		var sum engine.Aside
		for _, st := range p.Chain.Stages[1:] { // without the optimizer
			for _, beside := range st.Asides {
				sum.Network += beside.Network
				sum.ToDev += beside.ToDev
			}
		}
		got, want := (sum.Network + sum.ToDev).Seconds(), program.gatherSeconds(a.Card)
		if sum.Network <= 0 || math.Abs(got-want) > want/1000 || (sum.ToDev > 0) != s.HostWeights {
			t.Errorf("%v: %v of the network, %v from the host; want %g s together", args, sum.Network, sum.ToDev, want)
		}
		if beside := p.Chain.Stages[0].Asides[1]; (beside.CPU > 0) != s.HostStep || beside.Stall > p.Chain.Stages[0].Back {
			t.Errorf("%v: beside the optimizer %+v of %v", args, beside, p.Chain.Stages[0].Back)
		}
	}
}
