package lookup

import (
	"fmt"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/web/lookup/tracetest"
)

// TestLayersOfFunctions checks that a graph without stages has one layer for each forward operation, together
// with the backward operation that shares its values.
func TestLayersOfFunctions(t *testing.T) {
	p := tracetest.Skip()
	trace, err := sim.Play(p, engine.Schedule{engine.Run(0), engine.Offload(2), engine.Offload(1), engine.Run(1),
		engine.Run(2), engine.Run(3)})
	if err != nil {
		t.Fatal(err)
	}
	m := New(p, trace)
	if got, want := fmt.Sprint(m.Names, m.Sizes, m.OfOp, m.Count), "[conv add] [20 5] [1 2 2 1] 2"; got != want {
		t.Errorf("names, sizes, layers of operations and their number: %s; want %s", got, want)
	}
	if got, want := fmt.Sprint(m.Decision(1), m.Decision(2)), fmt.Sprint(sim.Offload, sim.Keep); got != want {
		t.Errorf("decisions %s; want %s", got, want)
	}
}

// TestLayersOfStages checks that the stages of a graph are its layers, unless there are more stages than
// operations.
func TestLayersOfStages(t *testing.T) {
	for _, c := range []struct {
		stages []int // stages of the four operations
		want   string
	}{
		{[]int{1, 2, 2, 1}, "[conv add] [20 5]"},
		{[]int{1, 1, 1, 1}, "[conv] [25]"},
		{[]int{0, 0, 0, 2_000_000_000}, "[conv add] [20 5]"},
	} {
		p := tracetest.Skip()
		for i, k := range c.stages {
			p.Graph.Ops[i].Stage = k
			p.Graph.Stages = max(p.Graph.Stages, k)
			for _, v := range p.Graph.Ops[i].Out {
				p.Graph.Values[v].Stage = k
			}
		}
		m := New(p, &sim.Trace{})
		if got := fmt.Sprint(m.Names, m.Sizes); got != c.want {
			t.Errorf("stages %v: names and sizes %s; want %s", c.stages, got, c.want)
		}
	}
}

// TestInCommon checks that the name of a stage is the part that the names of its forward operations have in
// common.
func TestInCommon(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"layer1.0/conv1", "layer1.0/relu2", "layer1.0"},
		{"layer1.0", "layer1.0/relu2", "layer1.0"},
		{"layer1.0/a/x", "layer1.0/a/y", "layer1.0/a"},
		{"layer1.0/conv", "layer1.0/conv1", "layer1.0"},
		{"same", "same", "same"},
		{"conv1", "conv10", "conv1"},
		{"conv", "relu", "conv"},
		{"", "relu", ""},
		{"/a", "/b", "/a"},
	} {
		if got := inCommon(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %q; want %q", c.a, c.b, got, c.want)
		}
	}
	p := tracetest.Skip()
	p.Graph.Stages = 1
	for i, name := range []string{"F block/conv", "F block/add", "B block/add", "B block/conv"} {
		p.Graph.Ops[i].Name, p.Graph.Ops[i].Stage = name, 1
	}
	if m := New(p, &sim.Trace{}); m.Names[0] != "block" {
		t.Errorf("the stage is called %q; want block", m.Names[0])
	}
}
