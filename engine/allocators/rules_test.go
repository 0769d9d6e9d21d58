package allocators

import (
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/enginetest"
)

// TestRulesOnlyPrune switches every combination of the search's rules off: none
// of them may change whether a placement exists.
func TestRulesOnlyPrune(t *testing.T) {
	feasible := 0
	for seed := range uint64(60) {
		r := enginetest.Rand(seed)
		var buffers []alloc.Buffer
		for range 2 + r.IntN(5) {
			start := r.IntN(6)
			buffers = append(buffers, alloc.Buffer{Start: start, End: start + 1 + r.IntN(5),
				Bytes: engine.Bytes(1 + r.IntN(4))})
		}
		q, err := alloc.FromLives(buffers)
		if err != nil {
			t.Fatal(err)
		}
		bound := int64(q.AggregatePeak())
		for capacity := bound - 1; capacity <= bound+1; capacity++ {
			want := newSearch(q, 0).solveUnits(capacity)
			if want == found {
				feasible++
			}
			for without := rule(1); without <= allRules; without++ {
				if got := newSearch(q, without).solveUnits(capacity); got != want {
					t.Errorf("seed %d, capacity %d, without rules %04b: got outcome %d, want %d\n%+v", seed, capacity,
						without, got, want, buffers)
				}
			}
		}
	}
	if feasible < 60 || feasible > 130 {
		t.Errorf("%d of 180 capacities are enough: the cases are off", feasible)
	}
}

// TestRulesOnUnavoidableHoles proves without each rule but the canonical one
// that paper 003's sequence of a_ij and d_j does not fit into 12 thirds.
func TestRulesOnUnavoidableHoles(t *testing.T) {
	vectors := enginetest.Load("alloc")
	var list []alloc.Entry
	for _, e := range vectors[0].Trace {
		list = append(list, alloc.Entry{Name: e.ID, Free: e.Free, Bytes: engine.Bytes(e.Size)})
	}
	q, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	for without := range allRules + 1 {
		if without&canonical != 0 {
			continue
		}
		for capacity, want := range map[int64]outcome{12: none, 13: found} {
			if got := newSearch(q, without).solveUnits(capacity); got != want {
				t.Errorf("in %d without rules %04b: got outcome %d, want %d", capacity, without, got, want)
			}
		}
	}
}

func newSearch(q *alloc.Requests, without rule) *exact {
	s := newExact(newGeometry(q), nil)
	s.without = without
	return s
}

// solveUnits searches to the end; capacity is in bytes.
func (s *exact) solveUnits(capacity int64) outcome { return s.solve(capacity/s.unit, 1<<62) }
