package graphs

import (
	"math"
	"slices"
	"time"
)

// try is the move under way: its edits and their results.
type try struct {
	edits     []edit
	lasts     []oldLast
	dirty     []int32 // values whose copies may have other last readers
	mark      []int32 // by value: the last move in which it was dirty
	moves     int32   // number of the move
	low, high int32   // places whose memory may differ, in the new order
	grown     int32   // number of runs inserted less those removed
	newDuring []int64 // during of the places low to high
	newExcess int64
	newTook   time.Duration
	most      time.Duration // moves with a longer time are not kept
}

// edit is a change of a move.
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

// oldLast is the last reader of a copy before the move.
type oldLast struct{ copy, run int32 }

func (s *state) begin() {
	s.edits, s.lasts, s.dirty = s.edits[:0], s.lasts[:0], s.dirty[:0]
	s.moves++
	s.low, s.high, s.grown, s.newTook = nowhere, -1, 0, s.took
	if s.clock != nil {
		s.clock.begin()
	}
}

// widen adds a place to those whose memory may differ.
func (s *state) widen(p int32) {
	s.low, s.high = min(s.low, p), max(s.high, p)
}

// touch marks the values that a kind makes and reads as dirty.
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

// shift moves the run at a place to another place.
func (s *state) shift(from, to int32) {
	x := s.order[from]
	s.rotate(from, to)
	s.edits = append(s.edits, edit{shifted, x, from, to})
	s.touch(s.kind[x])
	s.widen(from)
	s.widen(to)
}

// rotate is shift without its memory.
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
	s.sort(s.op[x])
}

// sort sorts the runs of an operation by place.
func (s *state) sort(op int32) {
	list := s.runs[op]
	for k := 1; k < len(list); k++ {
		for j := k; j > 0 && s.place[list[j]] < s.place[list[j-1]]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// insert inserts a run of a kind before the run at a place.
func (s *state) insert(id kindID, p int32) {
	x, k := s.numberRun(id), &s.m.kinds[id]
	for w := range k.writes {
		s.last[s.copies[x]+int32(w)] = x
	}
	s.room[x].net = 0
	if s.low >= p && s.low < nowhere {
		s.low++
	}
	if s.high >= p {
		s.high++
	}
	s.putIn(x, p)
	s.edits = append(s.edits, edit{inserted, x, p, p})
	s.touch(id)
	s.widen(p)
	s.newTook += k.time
	s.grown++
}

// putIn is insert without its memory.
func (s *state) putIn(x, p int32) {
	op := s.op[x]
	s.order = slices.Insert(s.order, int(p), x)
	s.number(p)
	s.runs[op] = append(s.runs[op], x)
	s.list(op)
	s.sort(op)
	if s.clock != nil {
		s.count(&s.m.kinds[s.kind[x]], 1)
	}
}

// number sets the places of the runs from a place on.
func (s *state) number(from int32) {
	place, p := s.place, from
	for _, x := range s.order[from:] {
		place[x] = p
		p++
	}
}

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
		s.room[u].net += s.size[c]
		s.last[c] = none
		if q := s.place[u]; q > p {
			s.widen(q - 1)
		} else if q < p {
			s.widen(q)
		}
	}
	s.takeOut(p)
	s.edits = append(s.edits, edit{removed, x, p, p})
	s.touch(s.kind[x])
	s.widen(p)
	s.newTook -= k.time
	s.grown--
}

// takeOut is remove without its memory.
func (s *state) takeOut(p int32) {
	x := s.order[p]
	op := s.op[x]
	s.order = slices.Delete(s.order, int(p), int(p)+1)
	s.number(p)
	at := slices.Index(s.runs[op], x)
	s.runs[op] = slices.Delete(s.runs[op], at, at+1)
	s.list(op)
	if s.clock != nil {
		s.count(&s.m.kinds[s.kind[x]], -1)
	}
}

// list updates again and listed for an operation.
func (s *state) list(op int32) {
	at, several := s.listed[op], len(s.runs[op]) > 1
	switch {
	case several && at == none:
		s.listed[op] = int32(len(s.again))
		s.again = append(s.again, op)
	case !several && at != none:
		end := s.again[len(s.again)-1]
		s.again[at], s.listed[end] = end, at
		s.again, s.listed[op] = s.again[:len(s.again)-1], none
	}
}

// evaluate computes newExcess and newTook. It stops, with an excess above limit, once the excess is known to be
// above it.
func (s *state) evaluate(limit int64) {
	for _, v := range s.dirty {
		for _, x := range s.runs[s.m.maker[v]] {
			if w := s.m.kinds[s.kind[x]].write(v); w != none {
				s.settle(s.copies[x]+w, s.lastReader(x, w))
			}
		}
	}
	s.high = min(s.high, int32(len(s.order))-1)
	s.low = min(s.low, s.high)
	s.newDuring = s.newDuring[:0]
	excess := s.excess - (s.overs[s.high-s.grown+1] - s.overs[s.low])
	s.newExcess = s.sweep(excess, limit)
	if s.clock != nil && s.newExcess <= limit {
		s.newTook = s.tick()
	}
}

// sweep computes the memory of the places that may differ, and returns excess, that of the other places, plus
// theirs. It returns math.MaxInt64 if the sum is above limit.
func (s *state) sweep(excess, limit int64) int64 {
	used := int64(s.m.g.Fixed)
	if s.low > 0 {
		x := s.order[s.low-1]
		used = s.during[s.low-1] - s.room[x].needs + s.room[x].net
	}
	bar, unit := s.bar(), s.unit&63
	for _, x := range s.order[s.low : s.high+1] {
		r := s.room[x]
		during := used + r.needs
		s.newDuring = append(s.newDuring, during)
		used += r.net
		excess += max((during-bar)>>unit, 0)
		if excess > limit {
			return math.MaxInt64
		}
	}
	return excess
}

// settle sets the last reader of a copy.
func (s *state) settle(c, now int32) {
	was := s.last[c]
	if was == now {
		return
	}
	s.lasts = append(s.lasts, oldLast{c, was})
	s.last[c] = now
	s.room[was].net += s.size[c]
	s.room[now].net -= s.size[c]
	if p := s.place[was]; int(p) < len(s.order) && s.order[p] == was {
		s.widen(p)
	}
	s.widen(s.place[now])
}

// commit keeps the move.
func (s *state) commit() {
	low, end, n := int(s.low), int(s.high)+1, len(s.order)
	if s.grown != 0 {
		old := end - int(s.grown)
		during, overs := s.during, s.overs
		s.during = slices.Grow(during, max(int(s.grown), 0))[:n]
		s.overs = slices.Grow(overs, max(int(s.grown), 0))[:n+1]
		copy(s.during[end:], during[old:])
		copy(s.overs[end:], overs[old:])
	}
	copy(s.during[low:], s.newDuring)
	if more := s.newExcess - s.excess; more != 0 {
		for p := range s.overs[end:] {
			s.overs[end+p] += more
		}
	}
	s.sum(low, end)
	s.excess = s.newExcess
	if s.clock != nil {
		s.keepTimes()
	}
	s.took = s.newTook
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
	for _, o := range slices.Backward(s.lasts) {
		if now := s.last[o.copy]; now != none {
			s.room[now].net += s.size[o.copy]
		}
		s.room[o.run].net -= s.size[o.copy]
		s.last[o.copy] = o.run
	}
	for _, e := range slices.Backward(s.edits) {
		switch e.what {
		case shifted:
			s.rotate(e.to, e.from)
		case inserted:
			s.takeOut(e.to)
			s.spare[s.kind[e.run]] = append(s.spare[s.kind[e.run]], e.run)
		case removed:
			s.putIn(e.run, e.from)
		}
	}
}
