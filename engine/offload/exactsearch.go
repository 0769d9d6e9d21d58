package offload

import (
	"cmp"
	"time"

	"memtide/engine"
)

// exact is a best-first search (A*) over the times at which something ends. At each of them it decides which values
// leave the device, and what starts: the next operation, transfers, both or nothing. Starts at other times gain
// nothing, because such an activity could start as soon as the last one before it has ended.
//
// A value is copied to the host at most once, because the copy stays there. In an absence, it leaves the device at the
// first time at which it can, or not at all: when the operation before has ended or, if that comes later, its copy.
type exact struct {
	s       *step
	poll    *engine.Poll
	full    bool // full duplex: values may leave for the time between two operations
	values  []parcel
	readers [][]int         // by operation: the values that it reads
	over    []engine.Bytes  // by operation: its excess over the budget if nothing is away
	rest    []time.Duration // by k: times of the operations from k on
	nodes   []visit         // all moments that were reached
	open    engine.Heap[openNode]
	seen    map[moment]time.Duration // the earliest time of each moment
	limit   time.Duration            // schedules that take this long or longer are dropped
	least   time.Duration            // no schedule is faster; limit if no schedule is faster than the limit
}

// moment is the state when something has ended and nothing has started yet. Two schedules at equal
// moments can continue in the same ways.
type moment struct {
	where   uint64        // two bits for each value: onDevice, away, copied or back
	done    uint8         // number of operations that have ended
	running bool          // the next operation has started
	out, in int8          // the values under way, or -1
	run     time.Duration // how long the operation and the two transfers still take
	sent    time.Duration
	fetched time.Duration
}

// The places of a value.
const (
	onDevice = iota // on the device; the host has no copy, or the value does not leave again
	away            // on the host only
	copied          // on the device, with a copy on the host
	back            // the same, after its fetch has started
)

func (m *moment) place(i int) uint64 { return m.where >> (2 * i) & 3 }
func (m *moment) put(i int, at uint64) {
	m.where = m.where&^(3<<(2*i)) | at<<(2*i)
}

// others reports whether any value other than i is away.
func (m *moment) others(i int) bool {
	const low = 0x5555_5555_5555_5555
	return m.where&^(m.where>>1)&low&^(1<<(2*i)) != 0
}

// visit is a moment that was reached, and what was started before it.
type visit struct {
	m       moment
	at      time.Duration
	bound   time.Duration
	parent  int32
	op      bool // the next operation started at the parent's moment
	out, in int8 // the transfers that started then, or -1
}

// openNode is a node that was not expanded yet.
type openNode struct {
	bound, at time.Duration
	index     int32
}

// Before orders nodes by bound, and the later one first if bounds are equal.
func (x openNode) Before(y openNode) bool {
	return cmp.Or(cmp.Compare(x.bound, y.bound), cmp.Compare(y.at, x.at), cmp.Compare(x.index, y.index)) < 0
}

// newExact returns a search for schedules that take less than limit.
func newExact(s *step, limit time.Duration, poll *engine.Poll) *exact {
	e := &exact{s: s, poll: poll, full: s.p.Device.Duplex == engine.FullDuplex, limit: limit, least: limit,
		seen: map[moment]time.Duration{}, rest: make([]time.Duration, 2*s.n+1), readers: make([][]int, 2*s.n)}
	for k := range 2 * s.n {
		e.over = append(e.over, s.need(k)-s.p.Budget)
	}
	for k := 2*s.n - 1; k >= 0; k-- {
		e.rest[k] = e.rest[k+1] + s.lasts(k)
	}
	e.values = newParcels(s, e.over, e.full)
	for i := range e.values {
		for _, a := range e.values[i].uses {
			e.readers[a.until] = append(e.readers[a.until], i)
		}
	}
	return e
}

// start returns the state at the start of the step.
func (e *exact) start() visit {
	return visit{m: moment{out: -1, in: -1}, parent: -1, out: -1, in: -1}
}

// run returns the fastest schedule that takes less than the limit, or nil if there is none or the
// search stops early. least is a proven lower bound in all cases.
func (e *exact) run() *written {
	e.reach(e.start())
	for len(e.open) > 0 {
		k := e.open[0].index
		nd := e.nodes[k]
		if e.poll.Err() != nil || len(e.nodes) > maxExactStates {
			e.least = nd.bound
			return nil
		}
		e.open.Pop()
		if e.seen[nd.m] < nd.at {
			continue
		}
		if int(nd.m.done) == 2*e.s.n {
			e.least = nd.at
			return e.write(k)
		}
		e.expand(k, nd.m, nd.at)
	}
	return nil
}

// reach adds a node, unless its moment has been reached as early, or the node cannot lead to a
// schedule below the limit.
func (e *exact) reach(nd visit) {
	if at, ok := e.seen[nd.m]; ok && at <= nd.at {
		return
	}
	nd.bound = nd.at + e.remaining(&nd.m)
	if nd.parent >= 0 {
		nd.bound = max(nd.bound, e.nodes[nd.parent].bound)
	}
	if nd.bound >= e.limit {
		return
	}
	e.seen[nd.m] = nd.at
	e.nodes = append(e.nodes, nd)
	e.open.Push(openNode{nd.bound, nd.at, int32(len(e.nodes) - 1)})
}

// away returns the bytes that are not on the device.
func (e *exact) away(m *moment) (sum engine.Bytes) {
	for i := range e.values {
		if m.place(i) == away {
			sum += e.values[i].size
		}
	}
	return sum
}

// used returns the bytes in use on the device.
func (e *exact) used(m *moment) engine.Bytes {
	if m.running {
		return e.s.need(int(m.done)) - e.away(m)
	}
	return e.s.before(int(m.done)) - e.away(m)
}

// expand tries all decisions about what starts at a moment.
func (e *exact) expand(parent int32, m moment, at time.Duration) {
	if m.running {
		e.transfers(parent, m, at, false)
		return
	}
	k := int(m.done)
	if e.ready(&m, k) {
		started := m
		started.running, started.run = true, e.s.lasts(k)
		e.transfers(parent, started, at, true)
		// Waiting can only be better if the operation takes room that a fetch could use, and
		// there is room for both unless the operation exceeds the budget.
		if e.over[k] <= 0 {
			return
		}
	}
	e.transfers(parent, m, at, false)
}

// ready reports whether operation k can start: there is room for it, and the values that it reads are on the device. It
// is false if a copy under way would be useless because its value cannot leave later.
func (e *exact) ready(m *moment, k int) bool {
	if e.over[k] > e.away(m) {
		return false
	}
	for _, i := range e.readers[k] {
		if m.place(i) == away || int(m.in) == i || int(m.out) == i && !e.values[i].later(k+1) {
			return false
		}
	}
	return true
}

// transfers tries all decisions about which transfers start, and goes on to the next moment. op
// means that an operation has just started.
func (e *exact) transfers(parent int32, m moment, at time.Duration, op bool) {
	nd := visit{m: m, at: at, parent: parent, op: op, out: -1, in: -1}
	e.fetches(nd)
	if m.out >= 0 || !e.full && m.in >= 0 {
		return
	}
	for i := range e.values {
		if e.mayOffload(&m, i) {
			first := nd
			first.out, first.m.out, first.m.sent = int8(i), int8(i), e.values[i].out
			e.fetches(first)
		}
	}
}

// fetches tries all decisions about a fetch.
func (e *exact) fetches(nd visit) {
	e.advance(nd)
	if nd.m.in >= 0 || !e.full && nd.m.out >= 0 {
		return
	}
	room := e.s.p.Budget - e.used(&nd.m)
	for i := range e.values {
		if v := &e.values[i]; nd.m.place(i) == away && v.size <= room {
			with := nd
			with.in, with.m.in, with.m.fetched = int8(i), int8(i), v.in
			with.m.put(i, back)
			e.advance(with)
		}
	}
}

// mayOffload reports whether it makes sense to copy a value: it is on the device, and it can leave
// in an absence that is worth it.
func (e *exact) mayOffload(m *moment, i int) bool {
	v := &e.values[i]
	if m.place(i) != onDevice || v.made > int(m.done) {
		return false
	}
	a := v.absence(m)
	if a == nil {
		return false
	}
	from := int(m.done)
	if m.running && v.out >= m.run {
		from++ // it leaves after the operation
	}
	return e.gains(m, i, a, from) || v.later(a.until+1)
}

// gains reports whether anything can be gained if value i leaves in an absence before or while
// operation from runs: an operation from there on exceeds the budget, or the one after the absence
// does and another value is to be fetched before.
func (e *exact) gains(m *moment, i int, a *absence, from int) bool {
	if !a.worth {
		return false
	}
	for k := max(from, a.from); k < a.until; k++ {
		if e.over[k] > 0 {
			return true
		}
	}
	return e.full && e.over[a.until] > 0 && (m.running || int(m.done) < a.until || m.others(i))
}

// advance goes to the next time at which something ends, and ends it.
func (e *exact) advance(nd visit) {
	m := &nd.m
	next := time.Duration(never)
	if m.running {
		next = m.run
	}
	if m.out >= 0 {
		next = min(next, m.sent)
	}
	if m.in >= 0 {
		next = min(next, m.fetched)
	}
	if next == never {
		return // nothing is under way, and nothing could ever end
	}
	nd.at += next
	first, second := -1, -1 // values that may leave now: the one that was used and the one that was copied
	if m.running {
		m.run -= next
		if m.run == 0 {
			var useless bool
			first, useless = e.endOperation(m)
			if useless {
				return
			}
		}
	}
	if m.out >= 0 {
		m.sent -= next
		if m.sent == 0 {
			second = int(m.out)
			m.put(second, copied)
			m.out = -1
		}
	}
	if m.in >= 0 {
		m.fetched -= next
		if m.fetched == 0 {
			m.in = -1
		}
	}
	e.leaves(nd, first, second)
}

// endOperation ends the operation that runs. It returns the value that was used and can leave now, or -1. There is at
// most one, because the other values of the operation were just made or have no later reader. useless reports whether a
// copy was made of a value that has never left and will not.
func (e *exact) endOperation(m *moment) (used int, useless bool) {
	k := int(m.done)
	m.running = false
	m.done++
	used = -1
	for _, i := range e.readers[k] {
		at := m.place(i)
		if !e.values[i].later(k + 1) {
			useless = useless || at == copied
			m.put(i, onDevice)
		} else if at == copied || at == back && e.full {
			used = i
		}
	}
	return used, useless
}

// leaves tries all decisions about which of two values leave the device; each is -1 if there is no
// such value. In half duplex it is always better if a value leaves in an absence in which that is
// of use. Otherwise it may stay, if its copy can be of use in a later absence.
func (e *exact) leaves(nd visit, used, sent int) {
	i := used
	if i < 0 {
		i = sent
	}
	if i < 0 {
		e.reach(nd)
		return
	}
	v := &e.values[i]
	a := v.absence(&nd.m)
	if a == nil {
		return // the copy was useless
	}
	if nd.m.running && v.reads(int(nd.m.done)) {
		e.reach(nd) // decided when the operation has ended
		return
	}
	may := e.gains(&nd.m, i, a, int(nd.m.done))
	stay := (e.full || !may) && (i == used || v.later(a.until+1))
	if i == used {
		used = -1
	} else {
		sent = -1
	}
	if may {
		gone := nd
		gone.m.put(i, away)
		e.leaves(gone, used, sent)
	}
	if stay {
		e.leaves(nd, used, sent)
	}
}

// remaining returns a lower bound on the time from a moment to the end: the operations, the fetches
// of values that are away, and the transfers before and after operations that exceed the budget.
func (e *exact) remaining(m *moment) time.Duration {
	k := int(m.done)
	least := e.rest[k]
	var at time.Duration // start of the next operation
	if m.running {
		k++
		at = m.run
		least = m.run + e.rest[k]
	}
	least = max(least, e.fetching(m))
	gone := e.away(m)
	for ; k < 2*e.s.n; k++ {
		over := e.over[k]
		if over > 0 {
			at = max(at, e.leaving(m, over-gone))
		}
		at += e.s.lasts(k)
		least = max(least, at+e.rest[k+1])
		if over > 0 {
			least = max(least, at+e.s.p.Device.ToDev.Time(over)+e.s.timeB[0])
		}
	}
	return least
}

// fetching returns a lower bound from the known fetches: the value that is needed first comes first, and each fetch is
// followed by the operations that wait for it. A value that was copied and has not left does so at the latest in the
// last absence that is worth it; otherwise the copy would be useless.
func (e *exact) fetching(m *moment) (least time.Duration) {
	var link time.Duration
	if m.in >= 0 {
		link = m.fetched
		least = link + e.rest[e.values[m.in].absence(m).until]
	}
	if m.out >= 0 && !e.full {
		link = m.sent
	}
	for k := int(m.done); k < 2*e.s.n; k++ {
		for _, i := range e.readers[k] {
			v := &e.values[i]
			switch {
			case m.place(i) == away && v.absence(m).until == k:
			case (int(m.out) == i || m.place(i) == copied) && v.latest == k:
			default:
				continue
			}
			link += v.in
			least = max(least, link+e.rest[k])
		}
	}
	return least
}

// leaving returns the earliest time at which v more bytes can have left.
func (e *exact) leaving(m *moment, v engine.Bytes) time.Duration {
	// Values that have been copied leave without another transfer.
	for i := range e.values {
		if at := m.place(i); at == copied || at == back && e.full {
			v -= e.values[i].size
		}
	}
	if v <= 0 {
		return 0
	}
	var link time.Duration
	if m.out >= 0 {
		link = m.sent
		v -= e.values[m.out].size
	} else if m.in >= 0 && !e.full {
		link = m.fetched
	}
	return link + e.s.p.Device.ToHost.Time(v)
}
