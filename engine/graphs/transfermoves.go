package graphs

import (
	"slices"

	"memtide/engine"
)

// freeTransfer narrows the range of places of a transfer: a fetch stays after the offload and the wait, and an
// offload or a wait keeps the copy that it reads.
func (s *state) freeTransfer(p, low, high int32) (int32, int32) {
	k := &s.m.kinds[s.kind[s.order[p]]]
	v := s.m.moved(k)
	if k.what == engine.DoFetch {
		for _, y := range s.runs[s.m.kinds[s.m.offload[v]].op] {
			low = max(low, s.place[y]+1)
		}
		return low, high
	}
	for _, y := range s.runs[s.m.maker[v]] {
		if q := s.place[y]; q > p && s.m.kinds[s.kind[y]].write(v) != none {
			return low, min(high, q-1)
		}
	}
	return low, high
}

// gap is a range of places, around some place, in which a copy of a value is not read.
type gap struct {
	value      int32
	made       int32 // the place of the run that made the copy
	last, next int32 // places of the reads before and after
}

// gapOver returns the gap of a value over place j. ok is false if a run at j reads the value, if there is no read
// after j, if the value does not move, or has no copy of its own.
func (s *state) gapOver(j, v int32) (g gap, ok bool) {
	if s.m.offload[v] == none {
		return g, false
	}
	x := s.makerBefore(v, j+1)
	if x == none || s.place[x] >= j {
		return g, false
	}
	if k := &s.m.kinds[s.kind[x]]; k.writes[k.write(v)] != v { // it makes a value that contains v
		return g, false
	}
	g = gap{value: v, made: s.place[x], last: s.place[x], next: nowhere}
	for _, sv := range s.m.kinds[s.m.fetch[v]].serves {
		for _, i := range s.m.users[sv.value] {
			for _, y := range s.runs[i] {
				switch q := s.place[y]; {
				case q == j && !s.isTransfer(y):
					return g, false
				case q <= j && q > g.last && !s.isTransfer(y):
					g.last = q
				case q > j && q < g.next && !s.isTransfer(y):
					g.next = q
				}
			}
		}
	}
	if y := s.makerBefore(v, min(g.next, int32(len(s.order)))); g.next == nowhere || y != x {
		return g, false // made again before it is read
	}
	return g, true
}

// proposeSwap moves a value that is held over a crowded place out after its last read before that place, and back
// before the next read: it inserts the offload, the wait and the fetch at once.
func (s *state) proposeSwap(r *random) bool {
	n := int32(len(s.order)) - 1
	j := s.crowded(r)
	for try := range 12 {
		k := j + r.below(n-j+1)
		if try&1 == 0 {
			k = j + r.near(n-j+1, 2)
		}
		if k <= j || s.isTransfer(s.order[k]) {
			continue
		}
		in := s.m.kinds[s.kind[s.order[k]]].reads
		if len(in) == 0 {
			continue
		}
		if g, ok := s.gapOver(j, in[r.below(int32(len(in)))]); ok && s.swap(r, g, j) {
			return true
		}
	}
	return false
}

// swap makes the edits of proposeSwap for a gap over place j.
func (s *state) swap(r *random, g gap, j int32) bool {
	m, c := s.m, s.clock
	fetch := g.next
	switch r.below(4) {
	case 0, 1: // as late as possible to arrive in time
		for fetch > j+1 && c.at[g.next].now-c.at[fetch].now < m.moves.in[g.value] {
			fetch--
		}
	case 2:
		fetch = j + 1 + r.below(g.next-j)
	}
	op := m.kinds[m.offload[g.value]].op
	var out, wait int32 = none, none
	for _, y := range s.runs[op] {
		if s.kind[y] == m.offload[g.value] {
			out = s.place[y]
		} else {
			wait = s.place[y]
		}
	}
	if out != none && out < j && wait <= j {
		s.insert(m.fetch[g.value], fetch) // the host has a copy already
		return true
	}
	if out != none && (out <= g.next || wait <= g.next) {
		return false
	}
	leave := g.made + 1
	if r.one(2) {
		leave = g.last + 1
	}
	over := max(leave, g.last+1) // the place from which on the wait costs no time
	for over < j && c.at[over].now-c.at[leave].now < m.out[g.value] {
		over++
	}
	if over < j && r.one(4) {
		over += r.below(j - over + 1)
	}
	if over > j {
		return false
	}
	s.insert(m.fetch[g.value], fetch)
	if out != none { // move the later offload and its wait
		s.remove(max(out, wait) + 1)
		s.remove(min(out, wait) + 1)
	}
	s.insert(m.wait[g.value], over)
	s.insert(m.offload[g.value], leave)
	return true
}

// transferAt returns the place of a random transfer of a kind, or none if it does not find one soon.
func (s *state) transferAt(r *random, what func(engine.InstructionKind) bool) int32 {
	for range 24 {
		p := s.anywhere(r)
		if x := s.order[p]; s.isTransfer(x) && what(s.m.kinds[s.kind[x]].what) {
			return p
		}
	}
	return none
}

// proposeStay removes a fetch, and the offload if it has no other fetch. With again, the value is made again
// instead.
func (s *state) proposeStay(r *random, again bool) bool {
	p := s.transferAt(r, func(k engine.InstructionKind) bool { return k == engine.DoFetch })
	if p == none {
		return false
	}
	x := s.order[p]
	v := s.m.moved(&s.m.kinds[s.kind[x]])
	i := s.m.maker[v]
	if again && (i >= int32(s.m.ops) || s.m.once[i]) {
		return false
	}
	s.remove(p)
	if !slices.ContainsFunc(s.runs[i], func(y int32) bool { return s.kind[y] == s.m.fetch[v] }) {
		for _, y := range slices.Backward(slices.Clone(s.runs[s.m.kinds[s.m.offload[v]].op])) {
			if s.place[y] < p {
				p--
			}
			s.remove(s.place[y])
		}
	}
	if again {
		s.remake(r, v, p, 0)
	}
	return true
}

// proposeTransfer makes the edits of a move of transfers. It returns false if there is no move.
func (a *annealer) proposeTransfer(r *random) bool {
	u := r.below(16)
	switch {
	case u < 5:
		return (a.excess > 0 || r.one(2)) && a.proposeSwap(r)
	case u < 11:
		p := a.transferAt(r, func(engine.InstructionKind) bool { return true })
		return p != none && a.proposeShift(r, p)
	}
	return a.proposeStay(r, u >= 13)
}
