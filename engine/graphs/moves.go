package graphs

import (
	"math/bits"
	"slices"

	"memtide/engine"
)

// free returns the range of places to which the run at a place can move: after its inputs are made, before its
// first reader, and between the neighbouring runs of its operation. With the order kept, a first run stays between
// the first runs of the neighbouring operations.
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

// proposeShift moves the run at a place to a random one. It returns false if the run cannot move or would not.
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

// anywhere returns the place of a random run, other than source and sink.
func (s *state) anywhere(r *random) int32 { return 1 + r.below(int32(len(s.order))-2) }

// crowded returns a random place above the budget, or any place if it does not find one soon.
func (s *state) crowded(r *random) int32 {
	p := s.anywhere(r)
	for try := 0; s.excess > 0 && try < 40 && s.during[p] <= int64(s.budget); try++ {
		p = s.anywhere(r)
	}
	return p
}

// proposeInsert runs an operation again whose value is held over place j and read later.
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
		if r.one(4) { // anywhere between j and the reader
			at = j + 1 + r.below(k-j)
		}
		s.remake(r, v, at, depth)
		return true
	}
	return false
}

// repeatable reports whether an operation may run once more. Halving a chain again and again needs one run of its
// first operations for each halving. Without a limit, hot rounds run operations of almost no time hundreds of
// times, which costs much to evaluate and gains nothing.
func (s *state) repeatable(i int32) bool {
	return !s.m.once[i] && len(s.runs[i]) < 4+bits.Len(uint(len(s.m.order)))
}

// remake inserts a run that makes a value before a place. If depth is above 0, it may do the same for the values
// that the run reads, more often for those that would not be in memory. It returns the number of inserted runs.
func (s *state) remake(r *random, v, p int32, depth int) (added int32) {
	i := s.m.maker[v]
	for _, w := range s.m.in[i] {
		j := s.m.maker[w]
		if depth == 0 || j >= int32(s.m.ops) || !s.repeatable(j) {
			continue
		}
		x := s.makerBefore(w, p)
		c := s.copies[x] + s.m.kinds[s.kind[x]].write(w)
		odds := int32(1) // out of 5, that w is made again
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

// missed reports whether some read would find no copy if the run at position p were of kind instead. If instead is
// the constant none, the run is taken out.
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

// repeated returns the place of a random run of an operation with several runs, or none if every operation runs
// once.
func (s *state) repeated(r *random) int32 {
	if len(s.again) == 0 {
		return none
	}
	list := s.runs[s.again[r.below(int32(len(s.again)))]]
	return s.place[list[r.below(int32(len(list)))]]
}

// removable returns the place of a random run that can be removed, or none if it does not find one soon.
func (s *state) removable(r *random) int32 {
	for range 8 {
		p := s.repeated(r)
		if p == none {
			return none
		}
		x := s.order[p]
		list := s.runs[s.op[x]]
		if s.isTransfer(x) || s.alone(list) || list[0] == x && s.kept || s.missed(p, none) {
			continue
		}
		return p
	}
	return none
}

// proposeExchange removes one or two runs, and runs another operation again whose value is held over a crowded
// place.
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

// proposeKind changes the kind of a run: between full and output-only runs, and between the two algorithms.
func (s *state) proposeKind(r *random) bool {
	for range 12 {
		p := s.anywhere(r)
		op, id := s.op[s.order[p]], s.kind[s.order[p]]
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
