package graphs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestReorderLeast compares the smallest budget that reorder finds for small graphs with the smallest peak of all
// orders. The search alone misses it for the first four.
func TestReorderLeast(t *testing.T) {
	seeds := []uint64{181, 413, 1325, 1408}
	for seed := range uint64(100) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		g := enginetest.RandomGraph(enginetest.Rand(seed), 8)
		p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex)}
		m, err := newModel(g)
		if err != nil {
			t.Fatal(err)
		}
		want, _, _ := m.cost(m.given())
		var try func(seq []kindID)
		try = func(seq []kindID) {
			if len(seq) == len(m.order) {
				if peak, _, ok := m.cost(seq); ok {
					want = min(want, peak)
				}
			}
			for _, i := range m.order {
				missing := func(v int32) bool { return m.maker[v] != m.source() && !slices.Contains(seq, m.maker[v]) }
				if !slices.Contains(seq, i) && !slices.ContainsFunc(m.in[i], missing) {
					try(append(slices.Clone(seq), i))
				}
			}
		}
		try(nil)
		var small *engine.InfeasibleError
		if _, err := reorder.Solve(p, nil, nil); !errors.As(err, &small) || small.Smallest != want {
			t.Errorf("seed %d: got %v; want %d bytes\n%s", seed, err, want, enginetest.DumpGraph(g))
		}
	}
}

// TestReorderSays checks that a refusal does not claim that all orders need as much memory if not all were tried.
func TestReorderSays(t *testing.T) {
	g := Layered(enginetest.Rand(3), 60)
	_, err := reorder.Solve(&engine.Problem{Graph: g, Device: enginetest.Device(engine.HalfDuplex)}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "another may need less") {
		t.Errorf("got %v; want that another order may need less", err)
	}
}
