package allocators

import (
	"cmp"
	"slices"
)

// traits are the properties by which rankings order buffers; larger ones come first.
type traits struct {
	buffer              int32
	total, area, length float64
}

// rankings are the orders of MiniMalloc in which buffers of equal address are tried: by length of life, by area
// (size times length) and by the fullest section in which they live. None of them is best for all problems.
var rankings = [...]func(a, b traits) int{
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.length, a.length), cmp.Compare(b.area, a.area), cmp.Compare(b.total, a.total))
	},
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.area, a.area), cmp.Compare(b.length, a.length))
	},
	func(a, b traits) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.length, a.length), cmp.Compare(b.area, a.area))
	},
}

// ranked returns the buffers as candidates, in the order of the current ranking.
func (s *exact) ranked(part []int32) []candidate {
	all := make([]traits, len(part))
	for i, b := range part {
		t := traits{buffer: b, length: float64(s.span[b])}
		t.area = t.length * float64(s.size[b])
		for k := s.lo[b]; k < s.hi[b]; k++ {
			t.total = max(t.total, float64(s.left[k]))
		}
		all[i] = t
	}
	slices.SortFunc(all, func(a, b traits) int {
		return cmp.Or(rankings[s.ranking](a, b), cmp.Compare(a.buffer, b.buffer))
	})
	open := make([]candidate, len(all))
	for i, t := range all {
		open[i] = candidate{rank: int32(i), buffer: t.buffer}
	}
	return open
}
