package graphs_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// same holds the hashes of the strategies' answers on graphs of up to 40 operations.
var same = map[string]uint64{
	"blocks": 0xb84730992b06f766, "chen": 0xe636b6518890a303, "dtr": 0x99b43ef198222785,
	"graphsearch": 0xfbf3a44ec98916ae,
	"graphpofo":   0x9b35315a5aa16dbb, "keepall": 0x4dcdade3df30155c, "kusumoto": 0xddb98a77d5611a98,
	"lpmf": 0x697a12a855000c5a, "mincut": 0x65f87d9156e73770, "reorder": 0xed46c05737c1f88,
}

// TestSameEverywhere compares the solutions with stored hashes, natively and in WebAssembly. After an intended
// change of a strategy, store the hashes that the test prints.
func TestSameEverywhere(t *testing.T) {
	for _, s := range engine.Strategies() {
		if s.Class == engine.MayOffload || !s.Graphs || s.Name == "graphexact" {
			continue
		}
		r, sum := enginetest.Rand(77), fnv.New64a()
		for i := range 12 {
			g := enginetest.RandomGraph(r, 40)
			if i%3 == 2 {
				c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 9, MaxStages: 20})
				g = &engine.ExpandChain(c).Graph
			}
			p := &engine.Problem{Graph: g, Device: enginetest.Device(engine.Duplex(i % 2)), Budget: engine.NoLimit}
			keep, err := s.Solve(p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sol, err := s.Solve(p.WithBudget(keep.Peak*engine.Bytes(5+i%5)/10), nil, nil)
			var smallest engine.Bytes // the text of an error is not part of the hash
			if tight := (*engine.InfeasibleError)(nil); errors.As(err, &tight) {
				smallest = tight.Smallest
			}
			fmt.Fprintf(sum, "%t %d %+v\n", err == nil, smallest, sol)
		}
		if got := sum.Sum64(); got != same[s.Name] {
			t.Errorf("%s: got %#x, want %#x", s.Name, got, same[s.Name])
		}
	}
}
