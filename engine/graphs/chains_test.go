package graphs_test

import (
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/profiles/preset"
)

// TestChainsOfPresets checks that a chain solved as a graph is no slower than by rotor, at budgets between the
// smallest one of rotor and keeping everything, and that its smallest budget is no larger.
func TestChainsOfPresets(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for WebAssembly, after this ran natively")
	}
	compared, faster := 0, 0
	for _, id := range []string{"resnet50", "inception-v3", "gpt2-medium"} {
		profile, err := preset.Lookup(id).Build(preset.Options{Batch: 32})
		if err != nil {
			t.Fatal(err)
		}
		chain := engine.ExpandChain(profile.Chain)
		p := &engine.Problem{Graph: &chain.Graph, Chain: chain, Device: enginetest.Device(engine.HalfDuplex)}
		rotor, search := engine.Lookup("rotor"), engine.Lookup("graphsearch")
		smallest := func(s *engine.Strategy) engine.Bytes {
			_, err := s.Solve(p, nil, nil)
			var infeasible *engine.InfeasibleError
			if !errors.As(err, &infeasible) {
				t.Fatalf("%s without memory: %v", id, err)
			}
			return infeasible.Smallest
		}
		low := smallest(rotor)
		if less := smallest(search); less > low {
			t.Errorf("%s: graphsearch needs %d, rotor %d", id, less, low)
		}
		for _, percent := range []engine.Bytes{0, 8, 30, 60, 90} {
			w := p.WithBudget(low + (profile.Chain.KeepAllPeak()-low)*percent/100)
			want, err := rotor.Solve(w, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := search.Solve(w, nil, nil)
			compared++
			switch {
			case err != nil || got.Makespan > want.Makespan:
				t.Errorf("%s, %d %%: got %+v, %v; rotor takes %v", id, percent, got, err, want.Makespan)
				continue
			case got.Makespan < want.Makespan:
				faster++
			}
			plays(t, w, got)
		}
	}
	if faster*3 < compared {
		t.Errorf("faster than rotor in %d of %d", faster, compared)
	}
}
