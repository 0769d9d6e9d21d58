package graphs

import (
	"math/bits"
	"slices"

	"memtide/engine"
)

// free returns the range of places to which the run at a place can go: after what it
// reads, before what reads it, between the runs of its own operation; with the order
// kept, a first run stays between the first runs beside it.
func (s *state) free(p int32) (low, high int32) {
	m, x := s.m, s.order[p]
	k := &m.kinds[s.kind[x]]
	low, high = 1, int32(len(s.order))-2
	list := s.runs[k.op]
	at := slices.Index(list, x)
	if at > 0 {
		low = s.place[list[at-1]] + 1
	}
	if at+1 < len(list) {
		high = s.place[list[at+1]] - 1
	}
	for _, sv := range k.serves {
		for _, i := range m.users[sv.value] {
			for _, y := range s.runs[i] {
				if q := s.place[y]; q > p && s.isReader(y) {
					high = min(high, q-1)
					break
				}
			}
		}
	}
	for _, v := range k.reads {
		low = max(low, s.place[s.makerBefore(v, p)]+1)
	}
	if k.what != engine.DoRun {
		low, high = s.freeTransfer(p, low, high)
	} else if s.kept && at == 0 {
		r := s.rank[k.op]
		if r > 0 {
			low = max(low, s.place[s.runs[m.order[r-1]][0]]+1)
		}
		if int(r)+1 < len(m.order) {
			high = min(high, s.place[s.runs[m.order[r+1]][0]]-1)
		}
	}
	return low, high
}

// proposeShift moves the run at a place; false if it cannot move or would not.
func (s *state) proposeShift(r *random, p int32) bool {
	low, high := s.free(p)
	if low >= high {
		return false
	}
	to := low
	switch way := r.below(8); {
	case way < 3:
		to = low + r.below(high-low+1)
	case way == 3:
	case way == 4:
		to = high
	default:
		to = 1 + r.near(high-low+1, 3)
		if r.one(2) {
			to = -to
		}
		to = min(max(p+to, low), high)
	}
	if to == p {
		return false
	}
	s.shift(p, to)
	return true
}

// anywhere returns the place of a run that can move.
func (s *state) anywhere(r *random) int32 { return 1 + r.below(int32(len(s.order))-2) }

// crowded returns a place that is above the budget, if one is found soon.
func (s *state) crowded(r *random) int32 {
	p := s.anywhere(r)
	for try := 0; s.excess > 0 && try < 40 && s.during[p] <= int64(s.budget); try++ {
		p = s.anywhere(r)
	}
	return p
}

// proposeInsert runs an operation again: one whose value lies over a place and is read later.
func (s *state) proposeInsert(r *random, j int32) bool {
	n := int32(len(s.order)) - 1
	for try := range 12 {
		k := j + r.below(n-j)
		if try&1 == 0 {
			k = j + r.near(n-j, 2)
		}
		in := s.m.kinds[s.kind[s.order[k]]].reads
		if k <= j || len(in) == 0 || s.isTransfer(s.order[k]) {
			continue
		}
		v := in[r.below(int32(len(in)))]
		i := s.m.maker[v]
		if i >= int32(s.m.ops) || !s.repeatable(i) || s.place[s.makerBefore(v, k)] >= j ||
			s.newTook+s.m.least(i) > s.most {
			continue
		}
		depth := 0
		if r.one(3) {
			depth = 3
		}
		at := k
		if r.one(4) { // between the crowded place and the reader
			at = j + 1 + r.below(k-j)
		}
		s.remake(r, v, at, depth)
		return true
	}
	return false
}

// repeatable reports whether an operation may run once more: halving a chain again and again needs
// as many runs of its first operations as halvings. Without a limit hot rounds
// run what takes next to no time hundreds of times, which costs much to evaluate and gains nothing.
func (s *state) repeatable(i int32) bool {
	return !s.m.once[i] && len(s.runs[i]) < 4+bits.Len(uint(len(s.m.order)))
}

// remake inserts a run that makes a value before a place, and with some depth runs
// of what it reads, more often of what would not be there by then. It returns how many.
func (s *state) remake(r *random, v, p int32, depth int) (added int32) {
	i := s.m.maker[v]
	for _, w := range s.m.in[i] {
		j := s.m.maker[w]
		if depth == 0 || j >= int32(s.m.ops) || !s.repeatable(j) {
			continue
		}
		x := s.makerBefore(w, p)
		c := s.copies[x] + s.m.kinds[s.kind[x]].write(w)
		odds := int32(1) // that it is made again rather than kept
		if l := s.last[c]; l != none && s.place[l] < p {
			odds = 2
		}
		if r.below(5) < odds {
			more := s.remake(r, w, p, depth-1)
			added += more
			p += more
		}
	}
	id := kindID(i)
	if ways := s.m.ways[i]; len(ways) > 1 {
		if other := ways[r.below(int32(len(ways)))]; s.m.kinds[other].write(v) != none {
			id = other
		}
	}
	s.insert(id, p)
	return added + 1
}

// missed reports whether some reader would find no copy if the run at a place were of
// another kind, or, with none, not there.
func (s *state) missed(p int32, instead kindID) bool {
	x := s.order[p]
	for _, sv := range s.m.kinds[s.kind[x]].serves {
		v := sv.value
		if instead != none && s.m.kinds[instead].write(v) != none || s.makerBefore(v, p) != none {
			continue
		}
		end := s.nextMaker(x, v)
		for _, i := range s.m.users[v] {
			for _, y := range s.runs[i] {
				if q := s.place[y]; q > p && q <= end && s.isReader(y) {
					return true
				}
			}
		}
	}
	return false
}

// repeated returns the place of a run of an operation that has several, or none if every operation runs once.
func (s *state) repeated(r *random) int32 {
	if len(s.again) == 0 {
		return none
	}
	list := s.runs[s.again[r.below(int32(len(s.again)))]]
	return s.place[list[r.below(int32(len(list)))]]
}

// proposeRemove takes out a run of an operation that has several.
func (s *state) proposeRemove(r *random) bool {
	p := s.removable(r)
	if p == none {
		return false
	}
	s.remove(p)
	return true
}

// removable returns the place of a run that can be taken out, if one is found soon.
func (s *state) removable(r *random) int32 {
	for range 8 {
		p := s.repeated(r)
		if p == none {
			return none
		}
		x := s.order[p]
		list := s.runs[s.op(x)]
		if s.isTransfer(x) || s.alone(list) || list[0] == x && s.kept || s.missed(p, none) {
			continue
		}
		return p
	}
	return none
}

// proposeExchange takes out a run, or two, and runs another operation again whose value lies
// over a crowded place.
func (s *state) proposeExchange(r *random) bool {
	p := s.removable(r)
	if p == none {
		return false
	}
	j := s.crowded(r)
	s.remove(p)
	if r.one(4) {
		if q := s.removable(r); q != none {
			s.remove(q)
			if q < j {
				j--
			}
		}
	}
	return s.proposeInsert(r, min(j, int32(len(s.order))-2))
}

// proposeKind makes a run of another kind of one: an output-only run of a full one, a second algorithm of
// the first, or the other way round.
func (s *state) proposeKind(r *random) bool {
	for range 12 {
		p := s.anywhere(r)
		op, id := s.op(s.order[p]), s.kind[s.order[p]]
		if s.isTransfer(s.order[p]) || op >= s.m.source() || len(s.m.ways[op]) < 2 {
			continue
		}
		other := s.m.ways[op][r.below(int32(len(s.m.ways[op])))]
		if other != id && !s.missed(p, other) {
			s.remove(p)
			s.insert(other, p)
			return true
		}
	}
	return false
}
