package llm

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
)

// The chain that keeps everything peaks where the program does, if its gradients are
// there from the beginning on; the best that the methods find stands in less.
func TestChainIsTheStep(t *testing.T) {
	card := CardOf("H100")
	for _, c := range []struct {
		name string
		s    Setup
		off  float64 // per cent
	}{
		{"eager", Setup{Model: Lookup("llama3.2-1b"), Seq: 4096, Weight: 2, Moments: 4, Static: true, Optimizer: "fused", Norm: "eager"}, 1},
		{"fused", Setup{Model: Lookup("llama3.2-1b"), Seq: 4096, Weight: 2, Moments: 4, Static: true, Optimizer: "fused", Norm: "fused", Loss: "chunked"}, 2},
		{"plain", Setup{Model: Lookup("gpt2"), Batch: 4, Seq: 1024, Weight: 2, Moments: 4, Static: true, Optimizer: "fused"}, 2},
		{"shared", Setup{Model: Lookup("qwen3-4b"), Seq: 8192, Weight: 4, Grad: 4, Moments: 8, Reduce: 4, Shard: 8, Optimizer: "fused", Accumulate: 2}, 2},
	} {
		p, err := Profile(c.s, card)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := run(t, c.s).Allocated
		got := p.Chain.KeepAllPeak()
		if d := 100 * (float64(got)/float64(want) - 1); d > c.off || d < -c.off {
			t.Errorf("%s: keeping everything takes %d bytes in the chain, %d in the program (%+.2f %%); want within %g %%", c.name, got, want, d, c.off)
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
	if _, err := Profile(Setup{Model: Lookup("gpt2"), Seq: 8, Stages: 2}, card); err == nil {
		t.Error("a pipeline became a chain; want a refusal")
	}
}
