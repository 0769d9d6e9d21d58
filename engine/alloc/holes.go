package alloc

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// hole is a stretch of free memory [addr, end).
type hole struct{ addr, end engine.Bytes }

// Holes are the free stretches of a pool by address; no two of them touch.
type Holes []hole

// NewHoles is a pool of which nothing is used.
func NewHoles(pool engine.Bytes) Holes {
	if pool <= 0 {
		return nil
	}
	return Holes{{0, pool}}
}

// Low takes n bytes from the low end of the smallest hole that has them, the
// lowest of equal ones.
func (h *Holes) Low(n engine.Bytes) (addr engine.Bytes, ok bool) {
	best := -1
	for i, x := range *h {
		if size := x.end - x.addr; size >= n && (best < 0 || size < (*h)[best].end-(*h)[best].addr) {
			best = i
		}
	}
	if best < 0 {
		return NoAddr, false
	}
	addr = (*h)[best].addr
	(*h)[best].addr += n
	h.drop(best)
	return addr, true
}

// High takes n bytes from the top of the highest hole that has them.
func (h *Holes) High(n engine.Bytes) (addr engine.Bytes, ok bool) {
	for i := len(*h) - 1; i >= 0; i-- {
		if x := &(*h)[i]; x.end-x.addr >= n {
			x.end -= n
			addr = x.end
			h.drop(i)
			return addr, true
		}
	}
	return NoAddr, false
}

// drop removes hole i if it is used up.
func (h *Holes) drop(i int) {
	if (*h)[i].addr == (*h)[i].end {
		*h = slices.Delete(*h, i, i+1)
	}
}

// Give makes [addr, addr+n) free and joins it with its neighbours.
func (h *Holes) Give(addr, n engine.Bytes) {
	i, _ := slices.BinarySearchFunc(*h, addr, func(x hole, a engine.Bytes) int { return cmp.Or(cmp.Compare(x.addr, a), 1) })
	*h = slices.Insert(*h, i, hole{addr, addr + n})
	if i+1 < len(*h) && (*h)[i+1].addr == addr+n {
		(*h)[i].end = (*h)[i+1].end
		*h = slices.Delete(*h, i+1, i+2)
	}
	if i > 0 && (*h)[i-1].end == addr {
		(*h)[i-1].end = (*h)[i].end
		*h = slices.Delete(*h, i, i+1)
	}
}

// Largest is the size of the largest hole, and free that of all together.
func (h Holes) Largest() (largest, free engine.Bytes) {
	for _, x := range h {
		largest = max(largest, x.end-x.addr)
		free += x.end - x.addr
	}
	return largest, free
}
