package lookup

import (
	"slices"
	"testing"

	"memtide/engine/sim"
)

// TestGapAfterRunOfNoDuration checks that a run without duration comes before the gap that starts with it, so
// that the ends in a lane are sorted.
func TestGapAfterRunOfNoDuration(t *testing.T) {
	tr := &sim.Trace{Makespan: 20}
	tr.Spans = []sim.Span{{Start: 0, End: 5}, {Start: 5, End: 5}, {Start: 10, End: 20}}
	tr.Gaps = []sim.Gap{{Start: 5, End: 10}}
	l := newLane(tr, sim.Compute)
	if want := []int32{0, 1, ^0, 2}; !slices.Equal(l.Ref, want) {
		t.Errorf("the lane holds %v, want %v", l.Ref, want)
	}
}
