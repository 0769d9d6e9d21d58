package snapshot

import (
	"math"
	"math/bits"
	"slices"
)

// addrSet is a set of addresses that are known beforehand, for finding the next
// one above another: bits, and bits that say which words of bits are not empty.
type addrSet struct {
	all    []int64 // every address that can be in it, sorted
	levels [][]uint64
}

func newAddrSet(addrs []int64) *addrSet {
	s := &addrSet{all: slices.Clone(addrs)}
	slices.Sort(s.all)
	s.all = slices.Compact(s.all)
	for n := len(s.all); ; n = (n + 63) / 64 {
		s.levels = append(s.levels, make([]uint64, (n+63)/64))
		if n <= 64 {
			return s
		}
	}
}

func (s *addrSet) add(at int64) {
	i, _ := slices.BinarySearch(s.all, at)
	for _, level := range s.levels {
		level[i/64] |= 1 << (i % 64)
		i /= 64
	}
}

func (s *addrSet) remove(at int64) {
	i, _ := slices.BinarySearch(s.all, at)
	for _, level := range s.levels {
		level[i/64] &^= 1 << (i % 64)
		if level[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// after returns the next address above one; the largest number if there is none.
func (s *addrSet) after(at int64) int64 {
	i, ok := slices.BinarySearch(s.all, at)
	if ok {
		i++
	}
	i = s.next(i)
	if i < len(s.all) {
		return s.all[i]
	}
	return math.MaxInt64
}

// next returns the first member at place i or behind it.
func (s *addrSet) next(i int) int {
	for k, level := range s.levels {
		if i/64 >= len(level) {
			break
		}
		if word := level[i/64] >> (i % 64); word != 0 {
			i += bits.TrailingZeros64(word)
			for k--; k >= 0; k-- {
				i = 64*i + bits.TrailingZeros64(s.levels[k][i])
			}
			return i
		}
		i = i/64 + 1
	}
	return len(s.all)
}
