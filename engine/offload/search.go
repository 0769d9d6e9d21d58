package offload

import (
	"math/rand/v2"
	"slices"
	"time"

	"memtide/engine"
)

// search looks for the set with the least step time in a model. It is a local search that starts
// again from a disturbed best set. The method is our own; it is in no paper.
type search struct {
	m     *model
	poll  *engine.Poll
	floor int64 // no set is faster; the search stops there
	left  int   // evaluations left
	order []int // the values that can move; iterate shuffles them
	best  []bool
	value int64 // step time of best

	total   int                           // evaluations at the start
	repeats int                           // descents that ended with the step time of the best set
	reached int64                         // the step time that repeats counts
	rounds  int                           // number of disturbances so far
	play    func([]bool) *engine.Solution // plays a new best set for a report; nil: reports have no solution
	told    int64                         // step time of the last set that was reported
	next    time.Time                     // time of the next report
	set     []bool                        // current set
	bytes   engine.Bytes                  // size of set
	travel  int64                         // time of the transfers of set, out and in
}

// newSearch returns a search that starts from a set, which must fit.
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

// over reports whether to stop: the best set is optimal, or no evaluations or no time are left.
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

// hopeless reports, without an evaluation, that the current set with x_i flipped is too small to
// fit, or moves so much that it takes limit or longer. Most sets of a search are hopeless.
func (s *search) hopeless(i int, limit int64) bool {
	size, travel := s.m.size[i], s.m.out[i]+s.m.in[i]
	if s.set[i] {
		return s.bytes-size < s.m.excess || s.travel-travel >= limit
	}
	return s.bytes+size < s.m.excess || s.travel+travel >= limit
}

// restart makes the best set the current set.
func (s *search) restart() {
	for i, sent := range s.best {
		if s.set[i] != sent {
			s.flip(i)
		}
	}
}

// below returns the step time of the current set if it is less than limit, and otherwise a time of at least limit.
func (s *search) below(limit int64) int64 {
	if s.bytes < s.m.excess || s.travel >= limit {
		return never
	}
	s.left--
	for range 1 + s.m.n/100 { // an evaluation of a long chain takes as long as many of a short one
		if s.poll.Err() != nil {
			s.left = 0
		}
	}
	return s.m.below(s.set, limit)
}

// steepest repeatedly applies the best change of one value or exchange of two, until none helps. It
// starts from the best set and changes it.
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
					continue // i is flipped already: an exchange takes two values that were different
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

// The first scattered descents begin at random sets, and later one in afield does, because the best
// set so far may be a local optimum far from better ones. A descent exchanges a value with a few
// partners only, in random order: on chains of 100 stages, more and shorter descents find more.
const (
	scattered = 6
	afield    = 16
	partners  = 30
)

// enough returns how many descents must end with the best step time until the search stops. On the
// measured chains of 20 to 100 stages, no descent found a better set after 32 such ends, with the
// default number of evaluations. With more evaluations the number is larger.
func (s *search) enough() int { return max(48, s.total/4000) }

// iterate disturbs the best set in two to five values, descends from there, and keeps the result if it is better. It
// ends when it has used the given evaluations or descents have ended with the best step time often enough.
func (s *search) iterate(r *rand.Rand, evaluations int) {
	if len(s.order) == 0 {
		return
	}
	spared := max(0, s.left-evaluations)
	s.left -= spared
	defer func() { s.left += spared }()
	if s.reached != s.value { // another method has found a better set since
		s.repeats, s.reached = 0, s.value
	}
	for ; !s.over() && s.repeats < s.enough(); s.rounds++ {
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
			s.repeats++
		}
		if t < s.value {
			s.value, s.repeats, s.reached = t, 0, t
			copy(s.best, s.set)
		}
	}
}

// report reports the progress, and the best set if it is new. Playing a set takes time, so it does
// so only if the report is going to be passed on.
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

// descend applies the first change that helps, in the current order of the values, until none does.
// A set that does not fit is first extended with values from the front.
func (s *search) descend() int64 {
	at := s.below(never)
	for i := 0; at == never && i < s.m.n; i++ {
		if s.m.size[i] > 0 && !s.set[i] {
			s.flip(i)
			at = s.below(never)
		}
	}
	s.left-- // so that the search ends even if no set needs an evaluation
	for improved := true; improved && at > s.floor; {
		improved = false
		for a, i := range s.order {
			if s.left <= 0 || s.poll.Err() != nil {
				return at
			}
			near := s.order[a+1 : min(len(s.order), a+1+partners)]
			if t := s.try(i, near, at, nil); t < at {
				at, improved = t, true
			}
		}
	}
	return at
}

// try flips x_i, or exchanges it with one of some partners for which may returns true, if that
// takes less than limit, and returns the step time. Otherwise it leaves the set unchanged and
// returns limit. If may is nil, all partners are tried, until no evaluations are left.
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

// lighten lowers the sum of weights of the best set without making it slower, by removing a value
// or replacing one by a value of less weight.
func (s *search) lighten() {
	weight := func(i int) int64 { return s.m.weight(i, s.m.size[i]) }
	s.restart()
	limit := s.value + 1
	for lighter := true; lighter; {
		lighter = false
		for _, i := range s.order {
			if s.poll.Err() != nil {
				return
			}
			may := func(j int) bool { return j != i && weight(j) < weight(i) }
			if s.set[i] && s.try(i, s.order, limit, may) < limit {
				lighter = true
			}
		}
	}
	copy(s.best, s.set)
}
