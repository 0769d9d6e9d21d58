package preset

import (
	"errors"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	_ "memtide/engine/remat"
	"memtide/engine/sim"
	_ "memtide/engine/window"
	"memtide/profiles/card"
)

// operators returns the graph of a preset.
func operators(t *testing.T, id string, batch int) *engine.Graph {
	t.Helper()
	p, err := Lookup(id).Build(Options{Batch: batch, Graph: true})
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	if p.Chain != nil || p.Graph == nil {
		t.Fatalf("%s: chain %v, graph %v; want the graph alone", id, p.Chain, p.Graph)
	}
	if err := p.Graph.Validate(); err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return p.Graph
}

// TestGraphTotals checks every graph against the chain of its network. Both have the same weights and other
// resident memory, and the same time up to the rounding to a nanosecond for each function. The forward variables
// are the outputs of all operators.
func TestGraphTotals(t *testing.T) {
	for _, p := range networks() {
		g := operators(t, p.ID, 2)
		c := built(t, p.ID, 2).Chain
		var weights engine.Bytes
		for _, v := range g.Values {
			if v.Kind == engine.KindWeight {
				weights += v.Size
			}
		}
		if weights != c.Resident.Weights || g.Fixed+weights != c.Resident.Total() {
			t.Errorf("%s: weights %d, fixed %d; want %d and %d together", p.ID, weights, g.Fixed, c.Resident.Weights,
				c.Resident.Total())
		}
		var total engine.Bytes
		took := -(c.ForwardTime() + c.BackTime())
		made := make([]bool, len(g.Values))
		for i := range g.Ops {
			took += g.Ops[i].Time
			for _, v := range g.Ops[i].Out {
				if made[v] {
					t.Errorf("%s: %s writes %s a second time", p.ID, g.Ops[i].Name, g.Values[v].Name)
				}
				made[v] = true
				total += g.Values[v].Size
			}
		}
		if took < -1 || int(took) > len(g.Ops) {
			t.Errorf("%s: the graph takes %v more than the chain; want at most a nanosecond for each of %d functions",
				p.ID, took, len(g.Ops))
		}
		for v := range g.Values {
			if !made[v] && g.Values[v].Initial == 0 {
				t.Errorf("%s: nothing makes %s", p.ID, g.Values[v].Name)
			}
		}
		if g.Stages != c.Len() {
			t.Errorf("%s: %d stages; want %d", p.ID, g.Stages, c.Len())
		}
	}
}

// TestGraphPeak checks that keeping everything has the peak of the chain, up to what the chain counts as
// temporaries of a whole stage.
func TestGraphPeak(t *testing.T) {
	for _, p := range networks() {
		g := operators(t, p.ID, 4)
		c := built(t, p.ID, 4).Chain
		problem := &engine.Problem{Graph: g, Budget: engine.NoLimit}
		sol, err := engine.Lookup("keepall").Solve(problem, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		trace, err := sim.Play(problem, sol.Schedule)
		if err != nil {
			t.Fatalf("%s: %v", p.ID, err)
		}
		ratio := float64(trace.Peak-c.Resident.Total()) / float64(c.KeepAllPeak()-c.Resident.Total())
		t.Logf("%s: %d functions, %d variables; activations of %.1f MiB, as a chain %.1f (%.3f)", p.ID, len(g.Ops),
			len(g.Values),
			mib(trace.Peak-c.Resident.Total()), mib(c.KeepAllPeak()-c.Resident.Total()), ratio)
		if ratio < 0.99 || ratio > 1.01 {
			t.Errorf("%s: keeping everything takes %d bytes as a graph, %d as a chain", p.ID, trace.Peak,
				c.KeepAllPeak())
		}
	}
}

// TestGraphBlock checks a basic block that was written by hand. The functions are those that a framework calls,
// in its order. The gradient of the shortcut is a variable of its own, to which that of the first convolution is
// added.
func TestGraphBlock(t *testing.T) {
	g := operators(t, "resnet18", 1)
	var names []string
	for i := range g.Ops {
		if op := &g.Ops[i]; op.Stage == 5 { // layer1.1
			text := op.Name + ":"
			for _, v := range op.In {
				text += " " + g.Values[v].Name + ","
			}
			text += " ->"
			for _, v := range op.Out {
				text += " " + g.Values[v].Name + ","
			}
			names = append(names, text)
		}
	}
	want := []string{
		"F layer1.1/conv1: layer1.0/norm5, layer1.1/conv1 weights, -> layer1.1/conv1,",
		"F layer1.1/norm2: layer1.1/conv1, layer1.1/norm2 weights, -> layer1.1/norm2, layer1.1/norm2 kept,",
		"F layer1.1/conv4: layer1.1/norm2, layer1.1/conv4 weights, -> layer1.1/conv4,",
		"F layer1.1/norm5: layer1.1/conv4, layer1.0/norm5, layer1.1/norm5 weights, -> layer1.1/norm5, layer1.1/norm5 kept,",
		"B layer1.1/norm5: d layer1.1/norm5, layer1.1/norm5, layer1.1/conv4, layer1.1/norm5 kept, layer1.1/norm5 weights, -> d layer1.0/norm5, d layer1.1/conv4,",
		"B layer1.1/conv4: d layer1.1/conv4, layer1.1/norm2, layer1.1/conv4 weights, -> d layer1.1/norm2,",
		"B layer1.1/norm2: d layer1.1/norm2, layer1.1/norm2, layer1.1/conv1, layer1.1/norm2 kept, layer1.1/norm2 weights, -> d layer1.1/conv1,",
		"B layer1.1/conv1: d layer1.1/conv1, layer1.0/norm5, d layer1.0/norm5, layer1.1/conv1 weights, -> d layer1.0/norm5,",
	}
	for i := range max(len(names), len(want)) {
		got, expected := "", ""
		if i < len(names) {
			got = names[i]
		}
		if i < len(want) {
			expected = want[i]
		}
		if got != expected {
			t.Errorf("function %d of layer1.1:\ngot  %s\nwant %s", i, got, expected)
		}
	}
}

// TestGraphInPlace checks what the grouping relies on: between two operators that write a storage, it is not read
// outside the group.
func TestGraphInPlace(t *testing.T) {
	for _, p := range networks() {
		net := p.build(p.filled(Options{Batch: 1}).setting())
		for _, s := range net.stages {
			written := make([]int, len(s.tape.values)) // by root: number of operators that have yet to write it
			for i := range s.tape.ops {
				written[s.tape.values[s.tape.ops[i].out].root]++
			}
			for i := range s.tape.ops {
				op := &s.tape.ops[i]
				own := s.tape.values[op.out].root
				for _, v := range op.in {
					if root := s.tape.values[v].root; root != own && written[root] > 0 {
						t.Errorf("%s, stage %s: operator %d reads value %d, which is written again", p.ID, s.name, i, v)
					}
				}
				written[own]--
			}
		}
	}
}

// TestGraphStrategies checks strategies that swap on the graphs of networks with skip connections, in four fifths
// of the memory that keeping everything takes.
func TestGraphStrategies(t *testing.T) {
	for _, id := range []string{"resnet18", "inception-v3"} {
		g := operators(t, id, 32)
		all := &engine.Problem{Graph: g, Device: card.Default().Device, Budget: engine.NoLimit}
		sol, err := engine.Lookup("keepall").Solve(all, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		problem := all.WithBudget(sol.Peak * 4 / 5)
		for _, name := range []string{"window", "lms"} {
			s := engine.Lookup(name)
			swapped, err := s.Solve(problem, nil, nil)
			var least *engine.InfeasibleError
			if errors.As(err, &least) {
				t.Errorf("%s, %s in %d: needs %d", id, name, problem.Budget, least.Smallest)
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
				continue
			}
			trace, err := sim.Play(problem, swapped.Schedule)
			if err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
				continue
			}
			if err := check.Trace(problem, swapped.Schedule, trace); err != nil {
				t.Errorf("%s, %s: %v", id, name, err)
			}
			if trace.Makespan <= sol.Makespan || trace.HostPeak == 0 {
				t.Errorf("%s, %s: %v with %d bytes on the host; want more than %v, and some", id, name,
					trace.Makespan, trace.HostPeak, sol.Makespan)
			}
			t.Logf("%s, %s: %v instead of %v, host %.0f MiB", id, name, trace.Makespan, sol.Makespan,
				mib(trace.HostPeak))
		}
	}
}

// TestSeparateOperators gives every operator a function of its own. The most that a function of ResNet-50 needs
// at once for each image falls from five tensors of a block of layer1 to a few.
func TestSeparateOperators(t *testing.T) {
	need := func(o Options) (most engine.Bytes, at string, functions int) {
		p, err := Lookup("resnet50").Build(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Graph.Validate(); err != nil {
			t.Fatal(err)
		}
		for i := range p.Graph.Ops {
			op := &p.Graph.Ops[i]
			sum := op.Temp
			for _, v := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(op.In, op.Out)))) {
				if p.Graph.Values[v].Kind != engine.KindWeight {
					sum += p.Graph.Values[v].Size
				}
			}
			if sum > most {
				most, at = sum, op.Name
			}
		}
		return most, at, len(p.Graph.Ops)
	}
	together, at, functions := need(Options{Batch: 1, Graph: true})
	tensor := engine.Bytes(256*56*56) * fp32Bytes
	if together < 5*tensor || together > 5*tensor+engine.MiB {
		t.Errorf("in place: %s needs %d, want five tensors of %d", at, together, tensor)
	}
	alone, at, more := need(Options{Batch: 1, Graph: true, Separate: true})
	if more <= functions || alone < 3*tensor || alone >= 4*tensor {
		t.Errorf("separately: %d functions instead of %d, %s needs %d; want more of them, three to four tensors of %d", more, functions, at, alone, tensor)
	}
	t.Logf("%d functions, at most %.2f MiB; separately %d, %.2f MiB (%s)", functions, mib(together), more,
		mib(alone), at)
	for in, want := range map[string]string{
		"resnet50-graph-separate-b32": "resnet50-graph-separate", "resnet50-separate-b32": "resnet50",
		"resnet50-separate-graph": "resnet50-graph-separate",
	} {
		if p, _, err := Parse(in); err != nil || p.ID != want {
			t.Errorf("%s: got %+v, %v; want %s", in, p, err, want)
		}
	}
}
