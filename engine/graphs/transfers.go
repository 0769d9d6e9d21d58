package graphs

import (
	"slices"
	"time"

	"memtide/engine"
)

// moves are the transfers of a model: further kinds that have places in a sequence. An offload and a wait read a
// value. The device copy stays until the wait is passed, and the wait holds the counter until the offload has
// ended. A fetch makes a copy that is allocated at the place of the fetch. So memory depends on places alone, as it
// does without transfers, and only the time has to be computed by going through the sequence. Playing the sequence
// needs no more memory than that, unless a value is made again while it is leaving.
type moves struct {
	offload, wait, fetch []kindID // by value: its kinds; none if it does not move
	out, in              []int64  // by value: times of its transfers
	half                 bool     // both directions share one lane
}

// linked returns the model with transfers of all values that are read, over the link of p. An offload and a wait are
// runs of an operation of their own, which reads the value. A fetch is a run of the operation that makes the value.
func (m *model) linked(p *engine.Problem) *model {
	n := len(m.size)
	l := *m
	l.moves = &moves{half: p.Device.Duplex == engine.HalfDuplex, offload: make([]kindID, n), wait: make([]kindID, n),
		fetch: make([]kindID, n),
		out:   make([]int64, n), in: make([]int64, n)}
	l.in, l.users, l.kinds = slices.Clone(m.in), slices.Clone(m.users), slices.Clone(m.kinds)
	for v := range m.size {
		l.offload[v], l.wait[v], l.fetch[v] = none, none, none
		at, op := int32(v), int32(len(l.in))
		l.in = append(l.in, nil)
		if i := m.maker[v]; i == none || m.size[v] == 0 || len(m.users[v]) == 0 || m.kinds[i].write(at) == none &&
			m.lean[i] == none {
			continue
		}
		l.out[v], l.moves.in[v] = int64(p.Device.ToHost.Time(m.size[v])), int64(p.Device.ToDev.Time(m.size[v]))
		l.users[v] = append(slices.Clone(m.users[v]), op)
		add := func(k kind) kindID {
			l.kinds = append(l.kinds, k)
			return kindID(len(l.kinds) - 1)
		}
		l.offload[v] = add(kind{op: op, what: engine.DoOffload, reads: []int32{at}})
		l.wait[v] = add(kind{op: op, what: engine.DoWait, reads: []int32{at}})
	}
	l.reads = len(l.kinds)
	for v := range m.size {
		if at := int32(v); l.offload[v] != none {
			l.fetch[v] = kindID(len(l.kinds))
			l.kinds = append(l.kinds, kind{op: m.maker[v], what: engine.DoFetch, writes: []int32{at},
				serves: m.within(at), bytes: m.size[v]})
		}
	}
	return &l
}

// within returns the values whose reads a copy of v serves.
func (m *model) within(v int32) (list []serve) {
	list = []serve{{v, 0}}
	for _, sv := range m.kinds[m.maker[v]].serves {
		if k := &m.kinds[m.maker[v]]; sv.value != v && k.writes[sv.write] == v {
			list = append(list, serve{sv.value, 0})
		}
	}
	return list
}

// moved returns the value of a transfer.
func (m *model) moved(k *kind) int32 {
	if k.what == engine.DoFetch {
		return k.writes[0]
	}
	return k.reads[0]
}

// moment is the time at which the counter reaches a place, and the times at which the lanes are free. On a
// half-duplex link both lanes are the same.
type moment struct{ now, out, in int64 }

// idle reports whether no transfer is under way.
func (t moment) idle() bool { return t.out <= t.now && t.in <= t.now }

// clock computes the times of a state with transfers.
type clock struct {
	at      []moment // by place, and at the end
	done    []int64  // by run: its end, if it is a transfer
	fetched []int32  // by value: number of fetches that serve its readers

	// The move under way: moments of the places from first to last-1. Those from last on change by shift.
	fresh       []moment
	first, last int
	shift       int64
	were        []oldEnd
}

// oldEnd is the end of a transfer before the move.
type oldEnd struct {
	run int32
	end int64
}

func (c *clock) begin() { c.were = c.were[:0] }

func (c *clock) undo() {
	for _, o := range slices.Backward(c.were) {
		c.done[o.run] = o.end
	}
	c.were = c.were[:0]
}

// count updates fetched when a run is inserted or removed.
func (c *clock) count(k *kind, by int32) {
	if k.what == engine.DoFetch {
		for _, sv := range k.serves {
			c.fetched[sv.value] += by
		}
	}
}

// isReader reports whether a run may read values. A fetch does not; it is among the runs of the operation that
// makes its value.
func (s *state) isReader(x int32) bool { return int(s.kind[x]) < s.m.reads }

func (s *state) isTransfer(x int32) bool { return int(s.kind[x]) >= s.m.runs }

// alone reports whether at most one of the runs of an operation is not a transfer.
func (s *state) alone(list []int32) bool {
	runs := 0
	for _, x := range list {
		if !s.isTransfer(x) {
			runs++
		}
	}
	return runs < 2
}

// restart computes all times.
func (s *state) restart() {
	c := s.clock
	clear(c.fetched)
	for _, x := range s.order {
		c.count(&s.m.kinds[s.kind[x]], 1)
	}
	c.begin()
	c.at = make([]moment, len(s.order)+1)
	s.low, s.high, s.grown = 0, int32(len(s.order))-1, 0
	s.took = s.tick()
	s.keepTimes()
}

// tick computes the times after the edits, from the first place that differs to the place from which on the lanes
// are idle as before and all times change by the same amount.
func (s *state) tick() (took time.Duration) {
	c, n := s.clock, len(s.order)
	for len(c.done) < len(s.kind) {
		c.done = append(c.done, 0)
	}
	c.fresh, c.first, c.shift = c.fresh[:0], int(s.low), 0
	t := c.at[s.low]
	late := int64(0) // the latest end of a transfer that has changed
	for p := s.low; int(p) < n; p++ {
		if p > s.high {
			old := c.at[p-s.grown]
			if t.idle() && old.idle() || t == old && late <= t.now {
				c.last, c.shift = int(p), t.now-old.now
				return s.took + time.Duration(c.shift)
			}
		}
		c.fresh = append(c.fresh, t)
		t, late = s.advance(t, p, late)
	}
	c.fresh = append(c.fresh, t)
	c.last = n + 1
	return time.Duration(max(t.now, t.out, t.in))
}

// advance returns the moment after place p, given the moment t before it.
func (s *state) advance(t moment, p int32, late int64) (moment, int64) {
	c, m := s.clock, s.m
	x := s.order[p]
	k := &m.kinds[s.kind[x]]
	var end int64
	switch k.what {
	case engine.DoRun:
		for _, v := range k.reads {
			if c.fetched[v] > 0 {
				if y := s.makerBefore(v, p); y != none && m.kinds[s.kind[y]].what == engine.DoFetch {
					t.now = max(t.now, c.done[y])
				}
			}
		}
		t.now += int64(k.time)
		return t, late
	case engine.DoWait:
		if y := s.offloadOf(k.reads[0]); y != none && s.place[y] < p {
			t.now = max(t.now, c.done[y])
		}
		return t, late
	case engine.DoOffload:
		end = max(t.now, t.out) + m.out[k.reads[0]]
		t.out = end
	case engine.DoFetch:
		end = max(t.now, t.in)
		if y := s.offloadOf(k.writes[0]); y != none {
			end = max(end, c.done[y])
		}
		end += m.moves.in[k.writes[0]]
		t.in = end
	}
	if m.half {
		t.in, t.out = end, end
	}
	if was := c.done[x]; was != end {
		late = max(late, was, end)
		c.were = append(c.were, oldEnd{x, was})
		c.done[x] = end
	}
	return t, late
}

// offloadOf returns the offload of a value, or none.
func (s *state) offloadOf(v int32) int32 {
	if id := s.m.offload[v]; id != none {
		for _, x := range s.runs[s.m.kinds[id].op] {
			if s.kind[x] == id {
				return x
			}
		}
	}
	return none
}

// keepTimes keeps the times of a move.
func (s *state) keepTimes() {
	c, n, old := s.clock, len(s.order), s.clock.at
	c.at = slices.Grow(old, max(int(s.grown), 0))[:n+1]
	if c.last <= n {
		copy(c.at[c.last:], old[c.last-int(s.grown):])
		if c.shift != 0 {
			s.later(c.last, c.shift)
		}
	}
	copy(c.at[c.first:], c.fresh)
}

// later delays everything from a place on.
func (s *state) later(from int, by int64) {
	c := s.clock
	for p := from; p <= len(s.order); p++ {
		t := &c.at[p]
		t.now, t.out, t.in = t.now+by, t.out+by, t.in+by
		if p < len(s.order) && s.isTransfer(s.order[p]) {
			c.done[s.order[p]] += by
		}
	}
}

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

// proposeStay removes a fetch, and the offload if it has no other fetch. With again, the value is made again instead.
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
