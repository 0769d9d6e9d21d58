package graphs

import (
	"math/bits"
	"slices"
	"time"

	"memtide/engine"
)

// state is a sequence of runs with its memory, which moves change. A move is begin, a few edits (shift, insert,
// remove), evaluate, and then commit or undo. The cost of an evaluation is proportional to the readers of what
// moved and the places whose memory can differ.
//
// Runs have numbers that do not change when they move. Numbers of removed runs are used again for runs of the same
// kind. The run of the source is at place 0, that of the sink at the last place; neither moves.
type state struct {
	m      *model
	budget engine.Bytes
	kept   bool    // first runs keep the order of the operations
	unit   uint    // excess is counted in units of 1<<unit bytes, so that sums stay in range
	rank   []int32 // by operation: its index in m.order

	order  []int32   // by place: its run
	place  []int32   // by run
	kind   []kindID  // by run
	copies []int32   // by run: its first copy; there is a copy for each write
	last   []int32   // by copy: the run that reads it last, or the one that makes it
	size   []int64   // by copy
	op     []int32   // by run: its operation
	room   []room    // by run
	runs   [][]int32 // by operation: its runs in the order of their places
	spare  [][]int32 // by kind: numbers of removed runs
	again  []int32   // operations with several runs, in no particular order
	listed []int32   // by operation: its index in again, or none

	during  []int64 // by place: bytes during its run
	overs   []int64 // by place: sum of the excess before it
	took    time.Duration
	excess  int64 // sum over places of the bytes above the budget, in units
	repeats int   // number of runs that are not the first of their operation

	*clock // times; nil without transfers
	try    // the move under way
}

// room is the effect of a run on memory: needs is the bytes that it allocates while it runs, and net the bytes that
// it writes less those that it is the last reader of.
type room struct{ needs, net int64 }

// nowhere is after every place.
const nowhere = int32(1 << 30)

// newState returns the state of a sequence for which cost returns ok.
func newState(m *model, budget engine.Bytes, kept bool, seq []kindID) *state {
	s := &state{m: m, budget: budget, kept: kept, rank: make([]int32, m.ops+2),
		runs: make([][]int32, len(m.in)), spare: make([][]int32, len(m.kinds))}
	if m.moves != nil {
		s.clock = &clock{fetched: make([]int32, len(m.size))}
	}
	s.mark = make([]int32, len(m.size))
	s.listed = slices.Repeat([]int32{none}, len(m.in))
	for r, i := range m.order {
		s.rank[i] = int32(r)
	}
	s.load(seq)
	return s
}

// load replaces the sequence.
func (s *state) load(seq []kindID) {
	m := s.m
	for i := range s.runs {
		for _, x := range s.runs[i] {
			s.spare[s.kind[x]] = append(s.spare[s.kind[x]], x)
		}
		s.runs[i] = s.runs[i][:0]
		s.list(int32(i))
	}
	s.order, s.took, s.repeats = s.order[:0], 0, 0
	add := func(id kindID) {
		x, k := s.numberRun(id), &m.kinds[id]
		s.place[x] = int32(len(s.order))
		s.order = append(s.order, x)
		s.runs[k.op] = append(s.runs[k.op], x)
		s.list(k.op)
		s.repeats += min(len(s.runs[k.op])-1, 1)
		s.took += k.time
	}
	add(m.source())
	for _, id := range seq {
		add(id)
	}
	add(m.sink())
	for _, x := range s.order {
		for w := range m.kinds[s.kind[x]].writes {
			c := s.copies[x] + int32(w)
			s.last[c] = s.lastReader(x, int32(w))
			s.room[s.last[c]].net -= s.size[c]
		}
	}
	s.measure()
	if s.clock != nil {
		s.restart()
	}
}

// measure computes the memory of all places.
func (s *state) measure() {
	n := len(s.order)
	s.during, s.overs = make([]int64, n), make([]int64, n+1)
	used := int64(s.m.g.Fixed)
	var peak int64
	for p, x := range s.order {
		s.during[p] = used + s.room[x].needs
		peak = max(peak, s.during[p])
		used += s.room[x].net
	}
	s.unit = uint(max(bits.Len64(uint64(peak))-40, 0))
	s.sum(0, n)
	s.excess = s.overs[n]
}

// sum adds up the excess of the places from from to to.
func (s *state) sum(from, to int) {
	during := s.during[from:to]
	overs := s.overs[from : to+1]
	sum, bar, unit := overs[0], s.bar(), s.unit&63
	for p, bytes := range during {
		overs[p] = sum
		sum += max((bytes-bar)>>unit, 0)
	}
	overs[len(during)] = sum
}

// bar returns the budget minus (1<<unit - 1), so that (bytes-bar) >> unit is the number of units by which bytes
// exceed the budget, rounded up.
func (s *state) bar() int64 { return int64(s.budget) - (1<<s.unit - 1) }

// numberRun returns a number for a new run of a kind, which is not the last reader of any value yet.
func (s *state) numberRun(id kindID) int32 {
	if list := s.spare[id]; len(list) > 0 {
		x := list[len(list)-1]
		s.spare[id] = list[:len(list)-1]
		s.room[x].net = int64(s.m.kinds[id].bytes)
		return x
	}
	x := int32(len(s.kind))
	s.kind = append(s.kind, id)
	s.place = append(s.place, none)
	s.copies = append(s.copies, int32(len(s.last)))
	k := &s.m.kinds[id]
	s.op = append(s.op, k.op)
	s.room = append(s.room, room{int64(k.bytes + k.temp), int64(k.bytes)})
	for _, v := range k.writes {
		s.last = append(s.last, x)
		s.size = append(s.size, int64(s.m.size[v]))
	}
	return x
}

// lastReader returns the run that reads a write of run x last, or x itself if no run does.
func (s *state) lastReader(x, write int32) int32 {
	k := &s.m.kinds[s.kind[x]]
	best, at, place := x, s.place[x], s.place
	for _, sv := range k.serves {
		if sv.write != write {
			continue
		}
		end := nowhere
		if len(s.runs[k.op]) > 1 {
			end = s.nextMaker(x, sv.value)
		}
		for _, i := range s.m.users[sv.value] {
			for _, y := range s.runs[i] {
				if p := place[y]; p > at && p <= end && s.isReader(y) {
					best, at = y, p
				}
			}
		}
	}
	return best
}

// makes reports whether run x makes value v. Its operation must be the maker of v.
func (s *state) makes(x, v int32) bool { return s.m.kinds[s.kind[x]].write(v) != none }

// nextMaker returns the place of the next run after x that makes a value, or nowhere.
func (s *state) nextMaker(x, v int32) int32 {
	list := s.runs[s.op[x]]
	for _, y := range list[slices.Index(list, x)+1:] {
		if s.makes(y, v) {
			return s.place[y]
		}
	}
	return nowhere
}

// makerBefore returns the run whose copy of a value a run at a place reads, or none if there is no copy.
func (s *state) makerBefore(v, place int32) int32 {
	for _, y := range slices.Backward(s.runs[s.m.maker[v]]) {
		if s.place[y] < place && s.makes(y, v) {
			return y
		}
	}
	return none
}

// sequence returns the kinds of the runs, without source and sink.
func (s *state) sequence() []kindID {
	seq := make([]kindID, 0, len(s.order)-2)
	for _, x := range s.order[1 : len(s.order)-1] {
		seq = append(seq, s.kind[x])
	}
	return seq
}

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

// repeated returns the place of a random run of an operation with several runs, or none if every operation runs once.
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

// proposeExchange removes one or two runs, and runs another operation again whose value is held over a crowded place.
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
