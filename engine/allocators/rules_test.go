package allocators

import (
	"testing"

	"memtide/engine"
	"memtide/engine/alloc"
)

// TestUnavoidableHoles checks that the exact search finds a placement for the sequence of a_ij and d_j of paper
// 003 (docs/paper-003.md) in 13 thirds of its unit, and none in 12.
func TestUnavoidableHoles(t *testing.T) {
	vectors := Vectors()
	var list []alloc.Entry
	for _, e := range vectors[0].Trace {
		list = append(list, alloc.Entry{Name: e.ID, Free: e.Free, Bytes: engine.Bytes(e.Size)})
	}
	q, err := alloc.FromEvents(list)
	if err != nil {
		t.Fatal(err)
	}
	for capacity, want := range map[int64]outcome{12: none, 13: found} {
		s := newExact(newGeometry(q), nil)
		if got := s.solve(capacity/s.unit, 1<<62); got != want {
			t.Errorf("in %d: got outcome %d, want %d", capacity, got, want)
		}
	}
}
