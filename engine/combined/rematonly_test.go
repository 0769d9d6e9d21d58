package combined

import (
	"slices"
	"testing"

	"memtide/engine/enginetest"
)

// TestCoarser: fewer points are a lower bound of the many at every memory, and
// still rise.
func TestCoarser(t *testing.T) {
	for seed := range uint64(300) {
		r := enginetest.Rand(70000 + seed)
		var w []point
		peak, cost := int64(10_000), int64(0)
		for range 2 + r.IntN(200) {
			w = append(w, point{peak, cost})
			peak, cost = peak-1-int64(r.IntN(40)), cost+1+int64(r.IntN(9))
		}
		most := 2 + r.IntN(40)
		few := coarser(slices.Clone(w), most)
		if len(few) > most || len(w) > most && len(few) != most || few[0] != w[0] {
			t.Fatalf("seed %d: %d points became %d of %d allowed, the first is %v, want %v", seed, len(w), len(few),
				most, few[0], w[0])
		}
		for x, c := range w {
			at := below(few, c.peak)
			if at == len(few) || few[at].cost > c.cost {
				t.Fatalf("seed %d, point %d of %d: %v has nothing as good in %v", seed, x, len(w), c, few)
			}
		}
		for x := 1; x < len(few); x++ {
			if few[x].peak >= few[x-1].peak || few[x].cost <= few[x-1].cost {
				t.Fatalf("seed %d: %v does not rise", seed, few)
			}
		}
	}
}
