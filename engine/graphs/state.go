package graphs

import (
	"math/bits"
	"slices"
	"time"

	"memtide/engine"
)

// state is a sequence of runs with its memory, changed by moves. A move is begin, a
// few edits (shift, insert, remove), evaluate, and then commit or undo. An evaluation
// costs as much as the readers of what moved and the places whose memory can differ.
//
// Runs have numbers that stay when they move; those that are removed are used again
// for runs of the same kind. The run of the source is at place 0, that of the sink at
// the last place: neither moves.
type state struct {
	m      *model
	budget engine.Bytes
	kept   bool    // first runs keep the order of the operations
	unit   uint    // excess is counted in units of 1<<unit bytes, so that sums stay in range
	rank   []int32 // of every operation its index in m.order

	order  []int32   // of every place its run
	place  []int32   // of every run
	kind   []kindID  // of every run
	copies []int32   // of every run its first copy; a copy for each write
	last   []int32   // of every copy the run that reads it last, or the one that makes it
	size   []int64   // of every copy
	opOf   []int32   // of every run
	needs  []int64   // of every run: bytes that it takes while it lasts
	net    []int64   // of every run: bytes that it writes, less those of which it is the last reader
	runs   [][]int32 // of every operation, by place
	spare  [][]int32 // of every kind: numbers of runs that are removed

	before  []int64 // of every place: bytes there before its run, and at the end
	during  []int64 // of every place: bytes while its run lasts
	took    time.Duration
	excess  int64 // sum over places of what is above the budget, in units
	repeats int   // runs that are not the first of their operation

	*clock // when everything happens; nil if nothing moves
	try    // the move under way
}

// try is what a move has changed, and what it comes to.
type try struct {
	edits     []edit
	lasts     []oldLast
	dirty     []int32 // values whose copies may have other last readers
	mark      []int32 // of every value the last move that it was dirty in
	moves     int32
	low, high int32 // places whose memory may differ, in the new order
	grown     int32
	newBefore []int64
	newDuring []int64
	newExcess int64
	newTook   time.Duration
}

type edit struct {
	what     uint8
	run      int32
	from, to int32
}

const (
	shifted uint8 = iota
	inserted
	removed
)

type oldLast struct{ copy, run int32 }

const nowhere = int32(1 << 30)

// newState begins with a sequence for which cost says ok.
func newState(m *model, budget engine.Bytes, kept bool, seq []kindID) *state {
	s := &state{m: m, budget: budget, kept: kept, rank: make([]int32, m.ops+2),
		runs: make([][]int32, len(m.in)), spare: make([][]int32, len(m.kinds))}
	if m.moves != nil {
		s.clock = newClock(m)
	}
	s.mark = make([]int32, len(m.size))
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
	}
	s.order, s.took, s.repeats = s.order[:0], 0, 0
	add := func(id kindID) {
		x, k := s.take(id), &m.kinds[id]
		s.place[x] = int32(len(s.order))
		s.order = append(s.order, x)
		s.runs[k.op] = append(s.runs[k.op], x)
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
			s.net[s.last[c]] -= s.size[c]
		}
	}
	s.measure()
	if s.clock != nil {
		s.restart()
	}
}

// measure finds the memory of all places.
func (s *state) measure() {
	n := len(s.order)
	s.before, s.during = make([]int64, n+1), make([]int64, n)
	used := int64(s.m.g.Fixed)
	var peak int64
	for p, x := range s.order {
		s.before[p], s.during[p] = used, used+s.needs[x]
		peak = max(peak, s.during[p])
		used += s.net[x]
	}
	s.before[n] = used
	s.unit = uint(max(bits.Len64(uint64(peak))-40, 0))
	s.excess = 0
	for _, during := range s.during {
		s.excess += s.above(during)
	}
}

// above is what is above the budget, in units.
func (s *state) above(during int64) int64 {
	if over := during - int64(s.budget); over > 0 {
		return (over-1)>>s.unit + 1
	}
	return 0
}

// take gives a number to a run of a kind, which is the last reader of nothing.
func (s *state) take(id kindID) int32 {
	if list := s.spare[id]; len(list) > 0 {
		x := list[len(list)-1]
		s.spare[id] = list[:len(list)-1]
		s.net[x] = int64(s.m.kinds[id].bytes)
		return x
	}
	x := int32(len(s.kind))
	s.kind = append(s.kind, id)
	s.place = append(s.place, none)
	s.copies = append(s.copies, int32(len(s.last)))
	k := &s.m.kinds[id]
	s.opOf = append(s.opOf, k.op)
	s.needs = append(s.needs, int64(k.bytes+k.temp))
	s.net = append(s.net, int64(k.bytes))
	for _, v := range k.writes {
		s.last = append(s.last, x)
		s.size = append(s.size, int64(s.m.size[v]))
	}
	return x
}

func (s *state) op(x int32) int32 { return s.opOf[x] }

// lastReader is the run that reads a write of a run last, itself if none does.
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

// nextMaker is the place of the next run after x that makes a value; nowhere if
// there is none.
func (s *state) nextMaker(x, v int32) int32 {
	list := s.runs[s.op(x)]
	for _, y := range list[slices.Index(list, x)+1:] {
		if s.m.kinds[s.kind[y]].write(v) != none {
			return s.place[y]
		}
	}
	return nowhere
}

// makerBefore is the run whose copy of a value a run at a place reads; none if there
// is no copy.
func (s *state) makerBefore(v, place int32) int32 {
	list := s.runs[s.m.maker[v]]
	for k := len(list) - 1; k >= 0; k-- {
		if y := list[k]; s.place[y] < place && s.m.kinds[s.kind[y]].write(v) != none {
			return y
		}
	}
	return none
}

// begin begins a move.
func (s *state) begin() {
	s.edits, s.lasts, s.dirty = s.edits[:0], s.lasts[:0], s.dirty[:0]
	s.moves++
	s.low, s.high, s.grown, s.newTook = nowhere, -1, 0, s.took
	if s.clock != nil {
		s.clock.begin()
	}
}

func (s *state) widen(p int32) {
	s.low, s.high = min(s.low, p), max(s.high, p)
}

// touch marks what a kind makes and reads: its copies may have other last readers.
func (s *state) touch(id kindID) {
	k := &s.m.kinds[id]
	for _, sv := range k.serves {
		s.touchValue(sv.value)
	}
	for _, v := range k.reads {
		s.touchValue(v)
	}
}

func (s *state) touchValue(v int32) {
	if s.mark[v] != s.moves {
		s.mark[v] = s.moves
		s.dirty = append(s.dirty, v)
	}
}

// shift moves the run at a place to another one.
func (s *state) shift(from, to int32) {
	x := s.order[from]
	s.rotate(from, to)
	s.edits = append(s.edits, edit{shifted, x, from, to})
	s.touch(s.kind[x])
	s.widen(from)
	s.widen(to)
}

func (s *state) rotate(from, to int32) {
	x := s.order[from]
	step := int32(1)
	if to < from {
		step = -1
	}
	for p := from; p != to; p += step {
		y := s.order[p+step]
		s.order[p], s.place[y] = y, p
	}
	s.order[to], s.place[x] = x, to
	s.sort(s.op(x))
}

// sort puts the runs of an operation into the order of their places.
func (s *state) sort(op int32) {
	list := s.runs[op]
	for k := 1; k < len(list); k++ {
		for j := k; j > 0 && s.place[list[j]] < s.place[list[j-1]]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// insert puts a run of a kind at a place; what was there comes after it.
func (s *state) insert(id kindID, p int32) {
	x, k := s.take(id), &s.m.kinds[id]
	for w := range k.writes {
		s.last[s.copies[x]+int32(w)] = x
	}
	s.net[x] = 0
	if s.low >= p && s.low < nowhere {
		s.low++
	}
	if s.high >= p {
		s.high++
	}
	s.putIn(x, p)
	s.edits = append(s.edits, edit{inserted, x, p, 0})
	s.touch(id)
	s.widen(p)
	s.newTook += k.time
	s.grown++
}

func (s *state) putIn(x, p int32) {
	s.order = append(s.order, 0)
	for q := int32(len(s.order)) - 1; q > p; q-- {
		y := s.order[q-1]
		s.order[q], s.place[y] = y, q
	}
	s.order[p], s.place[x] = x, p
	op := s.op(x)
	s.runs[op] = append(s.runs[op], x)
	s.sort(op)
	if s.clock != nil {
		s.count(&s.m.kinds[s.kind[x]], 1)
	}
}

// remove takes out the run at a place.
func (s *state) remove(p int32) {
	x := s.order[p]
	k := &s.m.kinds[s.kind[x]]
	if s.low > p && s.low < nowhere {
		s.low--
	}
	if s.high > p {
		s.high--
	}
	for w := range k.writes {
		c := s.copies[x] + int32(w)
		u := s.last[c]
		s.lasts = append(s.lasts, oldLast{c, u})
		s.net[u] += s.size[c]
		s.last[c] = none
		if q := s.place[u]; q > p {
			s.widen(q - 1)
		} else if q < p {
			s.widen(q)
		}
	}
	s.takeOut(p)
	s.edits = append(s.edits, edit{removed, x, p, 0})
	s.touch(s.kind[x])
	s.widen(p)
	s.newTook -= k.time
	s.grown--
}

func (s *state) takeOut(p int32) {
	x := s.order[p]
	n := int32(len(s.order)) - 1
	for q := p; q < n; q++ {
		y := s.order[q+1]
		s.order[q], s.place[y] = y, q
	}
	s.order = s.order[:n]
	list := s.runs[s.op(x)]
	at := slices.Index(list, x)
	s.runs[s.op(x)] = append(list[:at], list[at+1:]...)
	if s.clock != nil {
		s.count(&s.m.kinds[s.kind[x]], -1)
	}
}

// there tells whether a run is in the sequence.
func (s *state) there(x int32) bool {
	p := s.place[x]
	return int(p) < len(s.order) && s.order[p] == x
}

// evaluate finds newExcess and newTook of the edits.
func (s *state) evaluate() {
	for _, v := range s.dirty {
		for _, x := range s.runs[s.m.maker[v]] {
			if w := s.m.kinds[s.kind[x]].write(v); w != none {
				s.settle(x, w)
			}
		}
	}
	s.high = min(s.high, int32(len(s.order))-1)
	s.low = min(s.low, s.high)
	s.newExcess = s.excess
	for _, during := range s.during[s.low : s.high-s.grown+1] {
		s.newExcess -= s.above(during)
	}
	s.newBefore, s.newDuring = s.newBefore[:0], s.newDuring[:0]
	used := s.before[s.low]
	for _, x := range s.order[s.low : s.high+1] {
		during := used + s.needs[x]
		s.newBefore, s.newDuring = append(s.newBefore, used), append(s.newDuring, during)
		s.newExcess += s.above(during)
		used += s.net[x]
	}
	if s.clock != nil {
		s.newTook = s.tick()
	}
}

// settle finds the last reader of a copy anew.
func (s *state) settle(x, write int32) {
	c := s.copies[x] + write
	was, now := s.last[c], s.lastReader(x, write)
	if was == now {
		return
	}
	s.lasts = append(s.lasts, oldLast{c, was})
	s.last[c] = now
	s.net[was] += s.size[c]
	s.net[now] -= s.size[c]
	if s.there(was) {
		s.widen(s.place[was])
	}
	s.widen(s.place[now])
}

// commit keeps the move.
func (s *state) commit() {
	if s.grown != 0 {
		oldEnd, newEnd := s.high-s.grown+1, s.high+1
		tail, tailBefore := s.during[oldEnd:], s.before[oldEnd:]
		n := len(s.order)
		if s.grown > 0 {
			s.during = slices.Grow(s.during, int(s.grown))[:n]
			s.before = slices.Grow(s.before, int(s.grown))[:n+1]
		}
		copy(s.during[newEnd:n], tail)
		copy(s.before[newEnd:n+1], tailBefore)
		s.during, s.before = s.during[:n], s.before[:n+1]
	}
	copy(s.during[s.low:], s.newDuring)
	copy(s.before[s.low:], s.newBefore)
	if s.clock != nil {
		s.keepTimes()
	}
	s.excess, s.took = s.newExcess, s.newTook
	s.repeats += int(s.grown)
	for _, e := range s.edits {
		if e.what == removed {
			s.spare[s.kind[e.run]] = append(s.spare[s.kind[e.run]], e.run)
		}
	}
}

// undo takes the edits back, before or after evaluate.
func (s *state) undo() {
	if s.clock != nil {
		s.clock.undo()
	}
	for k := len(s.lasts) - 1; k >= 0; k-- {
		o := s.lasts[k]
		if now := s.last[o.copy]; now != none {
			s.net[now] += s.size[o.copy]
		}
		s.net[o.run] -= s.size[o.copy]
		s.last[o.copy] = o.run
	}
	for k := len(s.edits) - 1; k >= 0; k-- {
		switch e := s.edits[k]; e.what {
		case shifted:
			s.rotate(e.to, e.from)
		case inserted:
			s.takeOut(s.place[e.run])
			s.spare[s.kind[e.run]] = append(s.spare[s.kind[e.run]], e.run)
		case removed:
			s.putIn(e.run, e.from)
		}
	}
}

// sequence is the sequence of kinds.
func (s *state) sequence() []kindID {
	seq := make([]kindID, 0, len(s.order)-2)
	for _, x := range s.order[1 : len(s.order)-1] {
		seq = append(seq, s.kind[x])
	}
	return seq
}
