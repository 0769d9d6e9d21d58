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
	set   []bool
	best  []bool
	value int64 // of best
	order []int // the values that can move
}

// newSearch starts from a set, which must fit.
func newSearch(m *model, start []bool, floor int64, evaluations int, poll *engine.Poll) *search {
	s := &search{m: m, poll: poll, floor: floor, left: evaluations, best: slices.Clone(start), value: m.time(start)}
	s.set = slices.Clone(start)
	for i := range m.n {
		if m.size[i] > 0 {
			s.order = append(s.order, i)
		}
	}
	return s
}

// over tells whether to stop: nothing is better, or there is no more time.
func (s *search) over() bool { return s.value <= s.floor || s.left <= 0 || s.poll.Err() != nil }

// eval is the step time of the set at hand.
func (s *search) eval() int64 {
	s.left--
	return s.m.time(s.set)
}

// steepest makes the best of all changes of one value or exchanges of two, until
// none helps. It starts from and changes the best set.
func (s *search) steepest() {
	for !s.over() {
		copy(s.set, s.best)
		bi, bj := -1, -1
		for a, i := range s.order {
			if s.over() {
				break
			}
			s.set[i] = !s.set[i]
			if t := s.eval(); t < s.value {
				s.value, bi, bj = t, i, -1
			}
			for _, j := range s.order[a+1:] {
				if s.set[j] != s.set[i] || s.left <= 0 || s.poll.Err() != nil {
					continue // i has been flipped: an exchange takes two that were different
				}
				s.set[j] = !s.set[j]
				if t := s.eval(); t < s.value {
					s.value, bi, bj = t, i, j
				}
				s.set[j] = !s.set[j]
			}
			s.set[i] = !s.set[i]
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
		copy(s.set, s.best)
		for range 2 + r.IntN(4) {
			i := s.order[r.IntN(len(s.order))]
			s.set[i] = !s.set[i]
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
	at := s.eval()
	for i := 0; at == never && i < s.m.n; i++ {
		if s.m.size[i] > 0 && !s.set[i] {
			s.set[i] = true
			at = s.eval()
		}
	}
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
	s.set[i] = !s.set[i]
	if t := s.eval(); t < at {
		return t
	}
	for _, j := range s.order[a+1:] {
		if s.set[j] != s.set[i] {
			continue
		}
		s.set[j] = !s.set[j]
		if t := s.eval(); t < at {
			return t
		}
		s.set[j] = !s.set[j]
		if s.left <= 0 {
			break
		}
	}
	s.set[i] = !s.set[i]
	return at
}
