package pipedream

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// TestGraphsOfProfiles: the graphs of operator files take as long as their
// chains, hold all weights, and are solved and verified, also in less memory.
func TestGraphsOfProfiles(t *testing.T) {
	for _, name := range []string{"testdata/branchy", "alexnet", "vgg16", "squeezenet1_0", "resnet18", "gnmt"} {
		file := name + ".graph.txt"
		if !strings.Contains(name, "/") {
			file = "../../../../shared/data/pipedream/" + file
		}
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the public PipeDream profiles are not at ../shared/data/pipedream")
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := profiles.Decode(name, profiles.Bytes(data), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Graph.Validate(); err != nil {
				t.Fatal(err)
			}
			formattest.CompareWithChain(t, p)
			problem := &engine.Problem{Graph: p.Graph, Budget: engine.NoLimit,
				Device: engine.Device{ToHost: 12e9, ToDev: 12e9, Duplex: engine.FullDuplex}}
			full := formattest.SolveGraph(t, "keepall", problem)
			for _, strategy := range []string{"window", "lms"} {
				if got := formattest.SolveGraph(t, strategy, problem); got.Makespan != full.Makespan {
					t.Errorf("%s with room for everything takes %v, want %v", strategy, got.Makespan, full.Makespan)
				}
				less := formattest.SolveGraph(t, strategy, problem.WithBudget(full.Peak*3/4))
				t.Logf("%s: %v in %d MiB, %v in %d MiB", strategy, full.Makespan, full.Peak>>20, less.Makespan,
					less.Peak>>20)
			}
		})
	}
}
