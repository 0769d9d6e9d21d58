package preset

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/card"
)

// TestOptimizer checks that a network with an optimizer has its states and its step after everything else.
func TestOptimizer(t *testing.T) {
	plain := built(t, "resnet50", 8)
	w := plain.Chain.Resident.Weights
	rate := card.Default().MemoryRate / 100 * 80
	for _, c := range []struct {
		name   string
		states engine.Bytes
	}{{"sgd", w}, {"adamw", 2 * w}} {
		p, batch, err := Parse("resnet50-" + c.name + "-b8")
		if err != nil {
			t.Fatal(err)
		}
		profile, err := p.Profile(batch)
		if err != nil {
			t.Fatal(err)
		}
		step := profile.Chain.Stages[0]
		if want := rate.Time(3*w + 2*c.states); profile.Chain.Resident.Optimizer != c.states ||
			step.Kind != engine.OptimizerKind || step.Back != want {
			t.Errorf("%s: states %d, first stage %+v; want %d bytes and a step of %v", c.name,
				profile.Chain.Resident.Optimizer, step, c.states, want)
		}
		if err := profile.Chain.Validate(); err != nil || profile.Chain.Len() != plain.Chain.Len()+1 ||
			!strings.Contains(p.Title, p.Optimizer) {
			t.Errorf("%s: %v, %d stages, title %q; want one stage more than %d", c.name, err, profile.Chain.Len(),
				p.Title, plain.Chain.Len())
		}
		graph, err := p.Base().Build(Options{Batch: 8, Graph: true, Optimizer: c.name})
		if err != nil {
			t.Fatal(err)
		}
		before, err := p.Base().Build(Options{Batch: 8, Graph: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&engine.Problem{Graph: graph.Graph, Budget: engine.NoLimit}).Validate(); err != nil {
			t.Errorf("%s, operations: %v", c.name, err)
		}
		if more := graph.Graph.Fixed - before.Graph.Fixed; more != c.states-w ||
			len(graph.Graph.Ops) <= len(before.Graph.Ops) {
			t.Errorf("%s, operations: %d bytes more stay, %d operations of %d; want %d more, and steps", c.name, more,
				len(graph.Graph.Ops), len(before.Graph.Ops), c.states-w)
		}
	}
	if _, _, err := Parse("llama3-8b-step-adamw-b1"); err == nil {
		t.Error("a step of a language model gets a second optimizer")
	}
	if _, err := built(t, "lemma3", 1).Trained(profiles.FindOptimizer("adamw"), rate); err == nil {
		t.Error("a chain without weights gets an optimizer")
	}
}
