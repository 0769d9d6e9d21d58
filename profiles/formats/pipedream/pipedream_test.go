package pipedream

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/formats/formattest"
)

// pipeDreamTable is what the five public graphs come to (msr-fiddle/pipedream,
// profiler/*/profiles, V100), found by an independent program in another
// language. F is rounded to 0.1 ms, sizes to MiB, weights to 0.1 MiB.
var pipeDreamTable = []struct {
	name               string
	stages             int
	raw, forward, back float64 // ms
	out, saved         engine.Bytes
	weights            float64 // MiB
	linear             bool
}{
	{"alexnet", 13, 44.8, 40.3, 40.5, 582, 758, 233.1, true},
	{"vgg16", 23, 233.9, 224.9, 438.6, 7371, 8866, 527.8, true},
	{"squeezenet1_0", 23, 113.2, 99.2, 172.1, 4870, 8607, 4.8, true},
	{"resnet18", 13, 107.4, 92.4, 152.3, 2500, 5269, 44.6, true},
	{"gnmt", 8, 33.5, 30.8, 55.9, 240, 329, 739.2, false},
}

// TestPipeDreamProfiles reads the public graphs; branchy.graph.txt in testdata
// and linear_test.go cover the rules without them.
func TestPipeDreamProfiles(t *testing.T) {
	for _, want := range pipeDreamTable {
		t.Run(want.name, func(t *testing.T) {
			data, err := os.ReadFile("../../../../shared/data/pipedream/" + want.name + ".graph.txt")
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the public PipeDream profiles are not at ../shared/data/pipedream")
			}
			if err != nil {
				t.Fatal(err)
			}
			p := formattest.CheckSample(t, want.name+".graph.txt", data)
			got := p.Totals()
			ms := func(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond)) / 1e6 }
			saved := got.Saved
			for _, s := range p.Chain.Stages { // the other program counts what nobody saves
				if s.Unsaved {
					saved += s.Out
				}
			}
			mib := func(b engine.Bytes) engine.Bytes { return (b + engine.MiB/2) / engine.MiB }
			tenths := float64((10*got.Resident.Weights+engine.MiB/2)/engine.MiB) / 10
			if p.Name != want.name || got.Stages != want.stages || ms(got.Forward) != want.forward ||
				ms(got.Back) != want.back ||
				mib(got.Out) != want.out || mib(saved) != want.saved || tenths != want.weights {
				t.Errorf("%s: %d stages, F %.1f, B %.1f ms, a %d, abar %d, weights %.1f MiB; want %+v",
					p.Name, got.Stages, ms(got.Forward), ms(got.Back), mib(got.Out), mib(saved), tenths, want)
			}
			notes := strings.Join(p.Source.Notes, "\n")
			raw := time.Duration(want.raw * 1e6).String()
			if !strings.Contains(notes, "250µs of synchronization") ||
				!strings.Contains(notes, "the forward was "+raw) {
				t.Errorf("the notes do not tell the debias from %s:\n%s", raw, notes)
			}
			if linear := p.NotLinear() == ""; linear != want.linear {
				t.Errorf("NotLinear() = %q, want a useful chain: %v", p.NotLinear(), want.linear)
			}
			warned := strings.Contains(strings.Join(p.Warnings, "\n"), "no useful chain")
			if warned == want.linear {
				t.Errorf("warnings %q, want one about a useless chain: %v", p.Warnings, !want.linear)
			}
		})
	}
}
