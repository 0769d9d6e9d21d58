package lookup

import (
	"math/rand/v2"
	"slices"
	"testing"

	"memtide/engine/sim"
)

// A run of no duration goes before the gap that starts with it: the ends of a
// lane are sorted.
func TestGapAfterRunOfNoDuration(t *testing.T) {
	tr := &sim.Trace{Makespan: 20}
	tr.Spans = []sim.Span{{Start: 0, End: 5}, {Start: 5, End: 5}, {Start: 10, End: 20}}
	tr.Gaps = []sim.Gap{{Start: 5, End: 10}}
	l := newLane(tr, sim.Compute)
	if want := []int32{0, 1, ^0, 2}; !slices.Equal(l.Ref, want) {
		t.Errorf("the lane holds %v, want %v", l.Ref, want)
	}
}

// The prefix sums agree with adding up.
func TestBusyIn(t *testing.T) {
	m := randomModel(3000, 9)
	ln := &m.Lanes[sim.Compute]
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		i := r.IntN(len(ln.From) + 1)
		j := i + r.IntN(len(ln.From)-i+1)
		var want [NumKinds]int64
		for x := i; x < j; x++ {
			want[ln.Kind[x]] += ln.To[x] - ln.From[x]
		}
		if got := ln.BusyIn(i, j); got != want {
			t.Fatalf("busyIn(%d, %d) = %v, want %v", i, j, got, want)
		}
	}
}

// The largest sums of a range are those that a scan finds.
func TestHigh(t *testing.T) {
	m := randomModel(2000, 12)
	x, r := &m.Memory, rand.New(rand.NewPCG(17, 18))
	for range 1000 {
		i := r.IntN(len(x.Samples))
		j := i + 1 + r.IntN(len(x.Samples)-i)
		var want Bounds
		for k := i; k < j; k++ {
			for c, b := range BoundsOf(&x.Samples[k]) {
				want[c] = max(want[c], b)
			}
		}
		if got := x.High(i, j); got != want {
			t.Fatalf("high(%d, %d) = %v, want %v", i, j, got, want)
		}
	}
}
