package offload

import (
	"math/rand/v2"
	"slices"
	"time"

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

	total   int                           // evaluations that there were
	again   int                           // descents that came back to the time of the best set
	reached int64                         // the time that again is about
	rounds  int                           // disturbances so far
	play    func([]bool) *engine.Solution // what a report says of a new best set; nil: nothing
	told    int64                         // value of the last set that was reported
	next    time.Time                     // no report before this moment
	set     []bool                        // at hand
	bytes   engine.Bytes                  // of set
	travel  int64                         // of set, there and back
}

// newSearch starts from a set, which must fit.
func newSearch(m *model, start []bool, floor int64, evaluations int, poll *engine.Poll) *search {
	s := &search{m: m, poll: poll, floor: floor, left: evaluations, best: slices.Clone(start), total: evaluations,
		value: m.time(start)}
	s.set = make([]bool, m.n)
	for i := range m.n {
		if m.size[i] > 0 {
			s.order = append(s.order, i)
		}
	}
	return s
}

// over reports whether to stop: nothing is better, or there is no more time.
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

// hopeless tells, without an evaluation, that the set at hand with x_i flipped
// is too small to fit, or moves so much that it takes limit or longer. Most sets
// of a search are.
func (s *search) hopeless(i int, limit int64) bool {
	size, travel := s.m.size[i], s.m.out[i]+s.m.in[i]
	if s.set[i] {
		return s.bytes-size < s.m.excess || s.travel-travel >= limit
	}
	return s.bytes+size < s.m.excess || s.travel+travel >= limit
}

// restart makes the best set the one at hand.
func (s *search) restart() {
	for i, sent := range s.best {
		if s.set[i] != sent {
			s.flip(i)
		}
	}
}

// below returns the step time of the set at hand if it is less than limit, and no
// less than limit otherwise.
func (s *search) below(limit int64) int64 {
	if s.bytes < s.m.excess || s.travel >= limit {
		return never
	}
	s.left--
	for range 1 + s.m.n/100 { // a long chain takes as long as many calls
		if s.poll.Err() != nil {
			s.left = 0
		}
	}
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
				if s.set[j] != s.set[i] || s.left <= 0 || s.hopeless(j, s.value) {
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

// The first scattered descents begin at random sets, and so does one of
// afield later: now and then the best set so far lies in a deep valley of its own.
// A descent exchanges a value with few partners, in random order: on
// chains of 100 stages more and shorter descents find more.
const (
	scattered = 6
	afield    = 16
	partners  = 30
)

// enough returns how often descents come back to the best time until it is taken for the
// best that they find. On the chains of 20 to 100 stages on which this was looked at,
// none found a better one after coming back 32 times with the default of evaluations;
// who asks for more gets more.
func (s *search) enough() int { return max(48, s.total/4000) }

// iterate disturbs the best set in two to five values, descends from there, and
// keeps what is better, until evaluations are used up or descents have come
// back to the best time often enough.
func (s *search) iterate(r *rand.Rand, evaluations int) {
	if len(s.order) == 0 {
		return
	}
	spared := max(0, s.left-evaluations)
	s.left -= spared
	defer func() { s.left += spared }()
	if s.reached != s.value { // something else has found better since
		s.again, s.reached = 0, s.value
	}
	for ; !s.over() && s.again < s.enough(); s.rounds++ {
		s.report()
		s.restart()
		changes := 2 + r.IntN(4)
		if s.rounds < scattered || s.rounds%afield == 0 {
			changes = len(s.order)
		}
		for range changes {
			s.flip(s.order[r.IntN(len(s.order))])
		}
		r.Shuffle(len(s.order), func(a, b int) { s.order[a], s.order[b] = s.order[b], s.order[a] })
		t := s.descend()
		if t == s.value {
			s.again++
		}
		if t < s.value {
			s.value, s.again, s.reached = t, 0, t
			copy(s.best, s.set)
		}
	}
}

// report says how far the search is, and the best set if it is a new one. Writing
// that down takes time, so it is done only if the report is going to be heard.
func (s *search) report() {
	now := time.Now()
	if now.Before(s.next) {
		return
	}
	s.next = now.Add(engine.ReportEvery * 11 / 10)
	pr := engine.Progress{Done: s.total - s.left, Total: s.total}
	if s.play != nil && s.value != s.told {
		pr.Best, s.told = s.play(s.best), s.value
	}
	s.poll.Report(pr)
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
			some := s.order[a+1 : min(len(s.order), a+1+partners)]
			if t := s.try(i, some, at, nil); t < at {
				at, again = t, true
			}
		}
	}
	return at
}

// try flips x_i, or exchanges it with one of some partners that may take its place, if
// that takes less than limit; otherwise it leaves the set as it is. Where may is nil all
// of them may, for as long as evaluations are left.
func (s *search) try(i int, partners []int, limit int64, may func(j int) bool) int64 {
	s.flip(i)
	if t := s.below(limit); t < limit {
		return t
	}
	for _, j := range partners {
		if s.set[j] != s.set[i] || may != nil && !may(j) || s.hopeless(j, limit) {
			continue
		}
		s.flip(j)
		if t := s.below(limit); t < limit {
			return t
		}
		s.flip(j)
		if may == nil && s.left <= 0 {
			break
		}
	}
	s.flip(i)
	return limit
}

// lighten lowers the sum of weights of the best set without making it slower, by taking
// one value out of it or putting one of less weight in its place.
func (s *search) lighten() {
	weight := func(i int) int64 { return s.m.weight(i, s.m.size[i]) }
	s.restart()
	limit := s.value + 1
	for again := true; again; {
		again = false
		for _, i := range s.order {
			if s.poll.Err() != nil {
				return
			}
			lighter := func(j int) bool { return j != i && weight(j) < weight(i) }
			if s.set[i] && s.try(i, s.order, limit, lighter) < limit {
				again = true
			}
		}
	}
	copy(s.best, s.set)
}
