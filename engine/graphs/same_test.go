package graphs_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// same are the hashes of what the strategies answer on graphs of up to 40 operations.
var same = map[string]uint64{
	"blocks": 0x7b677bde9eeaf655, "chen": 0x2ee79624cb84e32d, "dtr": 0x68ecbc77c3e4efcc, "graphsearch": 0x6fd955eec228934c,
	"kusumoto": 0x3baa24595b2935a6, "lpmf": 0x7108ad59e4ff2127, "mincut": 0x4405f75e7c76e5ca, "reorder": 0x95bbd6259f0651d5,
}

// TestSameEverywhere: the answers are those that are stored, natively and in
// WebAssembly. After a change of what a strategy answers, take what the test says.
func TestSameEverywhere(t *testing.T) {
	for _, s := range engine.Strategies() {
		if s.Class&engine.MayOffload != 0 || !s.Graphs || s.Name == "graphexact" {
			continue
		}
		r, sum := enginetest.Rand(77), fnv.New64a()
		for i := range 12 {
			g := enginetest.RandomGraph(r, 40)
			if i%3 == 2 {
				c := enginetest.RandomChain(r, enginetest.Shape{MinStages: 9, MaxStages: 20})
				g = &engine.ExpandChain(c).Graph
			}
			p := &engine.Problem{Graph: g, Budget: engine.NoLimit}
			keep, err := s.Solve(p, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sol, err := s.Solve(p.WithBudget(keep.Peak*engine.Bytes(5+i%5)/10), nil, nil)
			fmt.Fprintf(sum, "%v %+v\n", err, sol)
		}
		if got := sum.Sum64(); got != same[s.Name] {
			t.Errorf("%s: got %#x, want %#x", s.Name, got, same[s.Name])
		}
	}
}
