package combined

import (
	"slices"
	"testing"

	"memtide/engine/enginetest"
)

// TestSort checks that labels are sorted in the same order by keys and, where a list is longer than longest, directly.
func TestSort(t *testing.T) {
	r := enginetest.Rand(64)
	random := func(n int) []label {
		ls := make([]label, n)
		for x := range ls {
			ls[x] = label{cost: int64(r.IntN(1 + n/3)), held: int64(r.IntN(3)), out: int64(r.IntN(3)), in: int64(r.IntN(3)),
				from: int32(x), segment: int16(r.IntN(3)), saved: r.IntN(2) == 0, least: int64(x)}
		}
		return ls
	}
	var s shared
	for _, n := range []int{0, 1, 2, 3, 7, 100, 1000, longest + 1} {
		got := random(n)
		want := slices.Clone(got)
		s.sort(got)
		slices.SortFunc(want, func(a, b label) int {
			if a.cost != b.cost {
				return int(a.cost - b.cost)
			}
			return a.compare(&b)
		})
		for x := range got {
			if got[x] != want[x] {
				t.Errorf("%d labels: label %d is %+v, want %+v", n, x, got[x], want[x])
				break
			}
		}
	}
}
