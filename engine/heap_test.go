package engine_test

import (
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

type number int

func (a number) Before(b number) bool { return a < b }

// TestHeap pushes and pops random numbers, and compares each popped number with the least of a list.
func TestHeap(t *testing.T) {
	const seed = 4
	r := enginetest.Rand(seed)
	var h engine.Heap[number]
	var list []number
	for i := range 10_000 {
		if len(list) == 0 || r.IntN(5) < 3 {
			x := number(r.IntN(100))
			h.Push(x)
			list = append(list, x)
			continue
		}
		want := slices.Min(list)
		list = slices.Delete(list, slices.Index(list, want), slices.Index(list, want)+1)
		if got := h.Pop(); got != want || len(h) != len(list) {
			t.Fatalf("seed %d, call %d: got %d and %d left, want %d and %d", seed, i, got, len(h), want, len(list))
		}
	}
}
