package draw

import (
	"math"
	"testing"

	"memtide/web/lookup"
)

// TestEmpty checks that all pictures and queries work for an empty trace.
func TestEmpty(t *testing.T) {
	m := emptyModel()
	v := View{Width: 500}
	for pic := range NumPictures {
		for _, x := range []float64{-1, 0, 250, 499, math.Inf(1)} {
			if got, _ := m.Hit(pic, v, x, 60); got.Kind != lookup.Nothing {
				t.Errorf("Hit(%s, %v) = %+v", pic.Title(), x, got)
			}
		}
	}
	m.HeldAt(0, 3)
	if m.NumRows() != 0 || m.Step(lookup.Target{}, 1).Kind != lookup.Nothing {
		t.Errorf("the empty trace has something in it")
	}
}
