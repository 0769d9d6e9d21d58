package all

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/check"
	"memtide/engine/sim"
	"memtide/profiles"
)

// TestGraphs checks that graphs made of operators take as long as their chains and hold all weights, and that
// strategies solve them, also in less memory, with verified schedules.
func TestGraphs(t *testing.T) {
	public, _ := filepath.Glob("../../../../shared/data/pipedream/*.graph.txt")
	made := 0
	for _, file := range append(sampleFiles(t), public...) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profiles.Decode(file, profiles.Bytes(data), nil)
		if err != nil || p.Graph == nil || !slices.Contains([]string{"onnx", "pipedream", "torchexport"}, p.Format) {
			continue
		}
		made++
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := p.Graph.Validate(); err != nil {
				t.Fatal(err)
			}
			compareWithChain(t, p)
			problem := &engine.Problem{Graph: p.Graph, Budget: engine.NoLimit,
				Device: engine.Device{ToHost: 12e9, ToDev: 12e9, Duplex: engine.FullDuplex}}
			full := solveGraph(t, engine.KeepAll, problem)
			for _, strategy := range []string{"window", "lms"} {
				if got := solveGraph(t, strategy, problem); got.Makespan != full.Makespan {
					t.Errorf("%s with room for everything takes %v, want %v", strategy, got.Makespan, full.Makespan)
				}
				if p.Format != "pipedream" {
					continue
				}
				less := solveGraph(t, strategy, problem.WithBudget(full.Peak*3/4))
				t.Logf("%s: %v in %d MiB, %v in %d MiB", strategy, full.Makespan, full.Peak>>20, less.Makespan,
					less.Peak>>20)
			}
		})
	}
	if made < 7 {
		t.Errorf("%d graphs; want those of testdata", made)
	}
}

// compareWithChain compares the graph with the chain of the same operators.
func compareWithChain(t *testing.T, p *profiles.Profile) {
	t.Helper()
	var forward, back time.Duration
	for _, o := range p.Graph.Ops {
		if o.Pass == engine.Forward {
			forward += o.Time
		} else {
			back += o.Time
		}
	}
	var weights engine.Bytes
	for _, v := range p.Graph.Values {
		if v.Kind == engine.KindWeight {
			weights += v.Size
		}
	}
	if c := p.Chain; forward != c.ForwardTime() || back != c.BackTime() || weights != c.Resident.Weights+c.Resident.Grads {
		t.Errorf("the graph takes %v and %v and has %d bytes of weights, the chain %v, %v and %d", forward, back,
			weights,
			c.ForwardTime(), c.BackTime(), c.Resident.Weights+c.Resident.Grads)
	}
}

// solveGraph plays the schedule that a strategy finds for p, verifies it, and returns the trace.
func solveGraph(t *testing.T, strategy string, p *engine.Problem) *sim.Trace {
	t.Helper()
	s := engine.Lookup(strategy)
	sol, err := s.Solve(p, nil, nil)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		t.Fatalf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if err := check.Trace(p, sol.Schedule, trace); err != nil {
		t.Errorf("%s in %d bytes: %v", strategy, p.Budget, err)
	}
	if trace.Makespan != sol.Makespan || trace.Peak != sol.Peak {
		t.Errorf("%s in %d bytes claims %v and %d bytes, measured are %v and %d", strategy, p.Budget, sol.Makespan,
			sol.Peak, trace.Makespan, trace.Peak)
	}
	return trace
}
