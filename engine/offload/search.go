package offload

import (
	"math/rand/v2"
	"slices"

	"memtide/engine"
)

// search looks for the set with the least step time in a model: local search
// that starts again from a disturbed best set. It is ours; no paper has it.
type search struct {
	m     *model
	poll  *engine.Poll
	floor int64 // no set is faster: stop there
	left  int   // evaluations that are left
	order []int // the values that can move
	best  []bool
	value int64 // of best

	set    []bool       // at hand
	bytes  engine.Bytes // of set
	travel int64        // of set, there and back
}

// newSearch starts from a set, which must fit.
func newSearch(m *model, start []bool, floor int64, evaluations int, poll *engine.Poll) *search {
	s := &search{m: m, poll: poll, floor: floor, left: evaluations, best: slices.Clone(start), value: m.time(start)}
	s.set = make([]bool, m.n)
	for i := range m.n {
		if m.size[i] > 0 {
			s.order = append(s.order, i)
		}
	}
	return s
}

// over tells whether to stop: nothing is better, or there is no more time.
func (s *search) over() bool { return s.value <= s.floor || s.left <= 0 || s.poll.Err() != nil }

// flip moves x_i into the set or out of it.
func (s *search) flip(i int) {
	sign := int64(1)
	if s.set[i] {
		sign = -1
	}
	s.set[i] = !s.set[i]
	s.bytes += engine.Bytes(sign) * s.m.size[i]
	s.travel += sign * (s.m.out[i] + s.m.in[i])
}

// restart makes the best set the one at hand.
func (s *search) restart() {
	for i, sent := range s.best {
		if s.set[i] != sent {
			s.flip(i)
		}
	}
}

// below is the step time of the set at hand if it is less than limit, and no
// less than limit otherwise. Most sets of a search are too small or too large.
func (s *search) below(limit int64) int64 {
	if s.bytes < s.m.excess || s.travel >= limit {
		return never
	}
	s.left--
	return s.m.below(s.set, limit)
}

// steepest makes the best of all changes of one value or exchanges of two, until
// none helps. It starts from and changes the best set.
func (s *search) steepest() {
	for !s.over() {
		s.restart()
		bi, bj := -1, -1
		for a, i := range s.order {
			if s.over() {
				break
			}
			s.flip(i)
			if t := s.below(s.value); t < s.value {
				s.value, bi, bj = t, i, -1
			}
			for _, j := range s.order[a+1:] {
				if s.set[j] != s.set[i] || s.left <= 0 {
					continue // i has been flipped: an exchange takes two that were different
				}
				s.flip(j)
				if t := s.below(s.value); t < s.value {
					s.value, bi, bj = t, i, j
				}
				s.flip(j)
			}
			s.flip(i)
		}
		if bi < 0 {
			return
		}
		s.best[bi] = !s.best[bi]
		if bj >= 0 {
			s.best[bj] = !s.best[bj]
		}
	}
}

// iterate disturbs the best set in two to five values, descends from there, and
// keeps what is better, until the evaluations are used up.
func (s *search) iterate(r *rand.Rand) {
	if len(s.order) == 0 {
		return
	}
	for !s.over() {
		s.restart()
		for range 2 + r.IntN(4) {
			s.flip(s.order[r.IntN(len(s.order))])
		}
		r.Shuffle(len(s.order), func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
		if t := s.descend(); t < s.value {
			s.value = t
			copy(s.best, s.set)
		}
	}
}

// descend makes the first change that helps, in the present order of the values,
// until none does. A set that does not fit is first filled up from the front.
func (s *search) descend() int64 {
	at := s.below(never)
	for i := 0; at == never && i < s.m.n; i++ {
		if s.m.size[i] > 0 && !s.set[i] {
			s.flip(i)
			at = s.below(never)
		}
	}
	s.left-- // also where nothing is ever evaluated, the search ends
	for again := true; again && at > s.floor; {
		again = false
		for a, i := range s.order {
			if s.left <= 0 || s.poll.Err() != nil {
				return at
			}
			if t := s.tryFrom(a, i, at); t < at {
				at, again = t, true
			}
		}
	}
	return at
}

// tryFrom flips the a-th value of the order, or exchanges it with a later one,
// if that takes less than at; otherwise it leaves the set as it is.
func (s *search) tryFrom(a, i int, at int64) int64 {
	s.flip(i)
	if t := s.below(at); t < at {
		return t
	}
	for _, j := range s.order[a+1:] {
		if s.set[j] != s.set[i] {
			continue
		}
		s.flip(j)
		if t := s.below(at); t < at {
			return t
		}
		s.flip(j)
		if s.left <= 0 {
			break
		}
	}
	s.flip(i)
	return at
}
