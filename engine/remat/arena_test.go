package remat

import (
	"slices"
	"testing"
)

// TestArenaKeepsLongRows puts rows that are longer than segments between short ones.
func TestArenaKeepsLongRows(t *testing.T) {
	var a arena
	var refs []rowRef
	lengths := []int{1, 300, 70_000, 2, 65_536, 65_535, 1, 140_000, 3}
	row := func(i, n int) []step { return slices.Repeat([]step{{int64(i), int64(n)}}, n) }
	for i, n := range lengths {
		refs = append(refs, a.put(row(i, n)))
	}
	for i, n := range lengths {
		if got := a.get(refs[i]); !slices.Equal(got, row(i, n)) {
			t.Errorf("row %d of %d steps: got %d steps, and they differ", i, n, len(got))
		}
	}
}
