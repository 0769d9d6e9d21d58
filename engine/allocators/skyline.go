package allocators

// skyline is the upper edge of what is stacked, over the sections: a tree of
// maxima, in which raising a stretch and asking for its highest point take
// logarithmic time.
type skyline struct {
	leaves int32
	top    []int64 // by node: the highest point below it
	all    []int64 // by node: what every section below it has reached
}

func newSkyline(sections int) *skyline {
	leaves := int32(1)
	for int(leaves) < sections {
		leaves *= 2
	}
	return &skyline{leaves: leaves, top: make([]int64, 2*leaves), all: make([]int64, 2*leaves)}
}

// over is the highest point of sections [lo, hi).
func (s *skyline) over(lo, hi int32) int64 { return s.ask(1, 0, s.leaves, lo, hi) }

func (s *skyline) ask(node, from, to, lo, hi int32) int64 {
	if lo <= from && to <= hi {
		return s.top[node]
	}
	high, mid := s.all[node], (from+to)/2
	if lo < mid {
		high = max(high, s.ask(2*node, from, mid, lo, hi))
	}
	if hi > mid {
		high = max(high, s.ask(2*node+1, mid, to, lo, hi))
	}
	return high
}

// raise lifts sections [lo, hi) to a height that none of them exceeds.
func (s *skyline) raise(lo, hi int32, height int64) { s.lift(1, 0, s.leaves, lo, hi, height) }

func (s *skyline) lift(node, from, to, lo, hi int32, height int64) {
	s.top[node] = max(s.top[node], height)
	if lo <= from && to <= hi {
		s.all[node] = height
		return
	}
	mid := (from + to) / 2
	if lo < mid {
		s.lift(2*node, from, mid, lo, hi, height)
	}
	if hi > mid {
		s.lift(2*node+1, mid, to, lo, hi, height)
	}
}
