package offload

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"memtide/engine"
)

// exact is a best-first search (A*) over the moments at which something ends. At
// each of them it decides what starts: the next operation, transfers, both or
// nothing. Starts at other moments gain nothing: such an activity could start as
// soon as the last one before it has ended.
type exact struct {
	s       *step
	poll    *engine.Poll
	full    bool            // full duplex
	rest    []time.Duration // of the operations from k on
	out, in []time.Duration // how long x_i travels
	tail    []time.Duration // of B_i..B_0
	nodes   []visit
	open    openNodes
	seen    map[moment]time.Duration
	limit   time.Duration // only what is faster is of interest
	least   time.Duration // no schedule is faster; limit if none is faster than that
}

// moment is what there is to know when something has ended, and nothing yet has
// started again. Two schedules at equal moments can go on in the same ways.
type moment struct {
	where   uint32        // two bits for each x_i: see here, copied, back
	done    uint8         // operations that have ended
	running bool          // the next one has started
	out, in int8          // x_i under way, or -1
	run     time.Duration // how long each of the three still takes
	sent    time.Duration
	fetched time.Duration
}

// The places of a value.
const (
	here   = iota // on the device, and never offloaded
	copied        // offloaded; it leaves the device when F_i has ended
	back          // fetched, or on its way
)

func (m *moment) place(i int) uint32 { return m.where >> (2 * i) & 3 }
func (m *moment) put(i int, at uint32) {
	m.where = m.where&^(3<<(2*i)) | at<<(2*i)
}

// visit is a moment that was reached, and what was started before it.
type visit struct {
	m       moment
	at      time.Duration
	bound   time.Duration
	parent  int32
	op      bool // the next operation started at the parent's moment
	out, in int8 // and these transfers, or -1
}

// openNodes is a heap of nodes by their bounds, the later moment first among
// equals.
type openNodes struct {
	nodes *[]visit
	index []int32
}

func (o *openNodes) Len() int      { return len(o.index) }
func (o *openNodes) Swap(a, b int) { o.index[a], o.index[b] = o.index[b], o.index[a] }
func (o *openNodes) Push(x any)    { o.index = append(o.index, x.(int32)) }
func (o *openNodes) Pop() any {
	last := len(o.index) - 1
	x := o.index[last]
	o.index = o.index[:last]
	return x
}
func (o *openNodes) Less(a, b int) bool {
	x, y := &(*o.nodes)[o.index[a]], &(*o.nodes)[o.index[b]]
	return cmp.Or(cmp.Compare(x.bound, y.bound), cmp.Compare(y.at, x.at), cmp.Compare(o.index[a], o.index[b])) < 0
}

// newExact looks for schedules that take less than limit.
func newExact(s *step, limit time.Duration, poll *engine.Poll) *exact {
	e := &exact{s: s, poll: poll, full: s.p.Device.Duplex == engine.FullDuplex, limit: limit, least: limit,
		seen: map[moment]time.Duration{}, rest: make([]time.Duration, 2*s.n+1)}
	e.open.nodes = &e.nodes
	for k := 2*s.n - 1; k >= 0; k-- {
		e.rest[k] = e.rest[k+1] + s.lasts(k)
	}
	var tail time.Duration
	for i := range s.n {
		e.out = append(e.out, s.p.Device.ToHost.Time(s.size[i]))
		e.in = append(e.in, s.p.Device.ToDev.Time(s.size[i]))
		tail += s.timeB[i]
		e.tail = append(e.tail, tail)
	}
	return e
}

// done tells whether everything has been looked at.
func (e *exact) done() bool { return e.least >= e.limit }

// run returns a schedule that takes less than the limit, the fastest one, or nil.
// least says what is proven, also if the search stops early.
func (e *exact) run() *events {
	start := moment{out: -1, in: -1}
	e.reach(visit{m: start, parent: -1, out: -1, in: -1})
	for len(e.open.index) > 0 {
		k := e.open.index[0]
		nd := e.nodes[k]
		if e.poll.Err() != nil || len(e.nodes) > maxExactStates {
			e.least = nd.bound
			return nil
		}
		heap.Pop(&e.open)
		if e.seen[nd.m] < nd.at {
			continue
		}
		if int(nd.m.done) == 2*e.s.n {
			e.least = nd.at
			return e.trace(k)
		}
		e.expand(k, nd.m, nd.at)
	}
	return nil
}

// reach adds a node, unless its moment has been reached as early or it cannot
// lead to anything faster than the limit.
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
	heap.Push(&e.open, int32(len(e.nodes)-1))
}

// away is what is not on the device.
func (e *exact) away(m *moment) (sum engine.Bytes) {
	for i, x := range e.s.size {
		if m.place(i) == copied && i < int(m.done) {
			sum += x
		}
	}
	return sum
}

// expand decides in every way what starts at a moment.
func (e *exact) expand(parent int32, m moment, at time.Duration) {
	if m.running {
		e.transfers(parent, m, at, false)
		return
	}
	k := int(m.done)
	over := e.s.need(k) - e.s.p.Budget
	if over <= e.away(&m) && e.ready(&m, k) {
		started := m
		started.running, started.run = true, e.s.lasts(k)
		e.transfers(parent, started, at, true)
		// An operation can gain from waiting only if it takes room that a fetch
		// could use, and there is room for all unless its need is too much.
		if over <= 0 {
			return
		}
	}
	e.transfers(parent, m, at, false)
}

// ready tells whether the operands of operation k are on the device: of B_i, x_i.
func (e *exact) ready(m *moment, k int) bool {
	i := 2*e.s.n - 1 - k
	if k < e.s.n {
		return true
	}
	return int(m.in) != i && int(m.out) != i && m.place(i) != copied
}

// transfers decides in every way which transfers start, and goes on to the next
// moment. op says that an operation has just started.
func (e *exact) transfers(parent int32, m moment, at time.Duration, op bool) {
	nd := visit{m: m, at: at, parent: parent, op: op, out: -1, in: -1}
	free := m.out < 0 && (e.full || m.in < 0)
	for i := -1; i < e.s.n; i++ {
		first := nd
		if i >= 0 {
			if !free || !e.mayOffload(&m, i) {
				continue
			}
			first.out, first.m.out, first.m.sent = int8(i), int8(i), e.out[i]
		}
		e.fetches(first)
	}
}

// fetches goes on with the choice of a fetch.
func (e *exact) fetches(nd visit) {
	e.advance(nd)
	if nd.m.in >= 0 || !e.full && nd.m.out >= 0 {
		return
	}
	held := e.s.before(int(nd.m.done))
	if nd.m.running {
		held = e.s.need(int(nd.m.done))
	}
	room := e.s.p.Budget - held + e.away(&nd.m)
	for i, x := range e.s.size {
		if nd.m.place(i) == copied && i < int(nd.m.done) && x <= room {
			with := nd
			with.in, with.m.in, with.m.fetched = int8(i), int8(i), e.in[i]
			with.m.put(i, back)
			e.advance(with)
		}
	}
}

// mayOffload tells whether it makes sense to offload x_i: it is there, and before
// B_i and after F_i an operation comes that needs too much.
func (e *exact) mayOffload(m *moment, i int) bool {
	if m.place(i) != here || i > int(m.done) || e.s.size[i] == 0 {
		return false
	}
	from := max(int(m.done), i+1)
	if m.running && from == int(m.done) {
		from++ // nothing leaves in time for what runs
	}
	for k := from; k < 2*e.s.n-1-i; k++ {
		if e.s.need(k) > e.s.p.Budget {
			return true
		}
	}
	return false
}

// advance goes to the next moment at which something ends, and ends it.
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
		return // nothing is under way: it would stay like that
	}
	nd.at += next
	if m.running {
		if m.run -= next; m.run == 0 {
			m.running = false
			m.done++
		}
	}
	if m.out >= 0 {
		if m.sent -= next; m.sent == 0 {
			m.put(int(m.out), copied)
			m.out = -1
		}
	}
	if m.in >= 0 {
		if m.fetched -= next; m.fetched == 0 {
			m.in = -1
		}
	}
	e.reach(nd)
}

// trace reads the events that lead to a node.
func (e *exact) trace(k int32) *events {
	ev := &events{s: e.s, makespan: e.nodes[k].at}
	var path []int32
	for ; k >= 0; k = e.nodes[k].parent {
		path = append(path, k)
	}
	slices.Reverse(path)
	could := false // the next operation could have started at an earlier moment
	for p := 1; p < len(path); p++ {
		from, nd := &e.nodes[path[p-1]], &e.nodes[path[p]]
		if nd.op {
			ev.starts, ev.held = append(ev.starts, from.at), append(ev.held, could)
			could = false
		} else if m := &from.m; !m.running && e.s.need(int(m.done))-e.s.p.Budget <= e.away(m) && e.ready(m, int(m.done)) {
			could = true
		}
		if i := nd.out; i >= 0 {
			ev.moves = append(ev.moves, event{item: int(i), start: from.at, end: from.at + e.out[i]})
		}
		if i := nd.in; i >= 0 {
			ev.moves = append(ev.moves, event{item: int(i), back: true, start: from.at, end: from.at + e.in[i]})
		}
	}
	return ev
}

// remaining is a lower bound on what a moment still takes: the operations, the
// fetches of what is away, and what has to leave before operations that need too
// much, and come back after them.
func (e *exact) remaining(m *moment) time.Duration {
	k := int(m.done)
	least := e.rest[k]
	var at time.Duration // the next operation starts
	if m.running {
		k++
		at = m.run
		least = m.run + e.rest[k]
	}
	least = max(least, e.fetching(m))
	away := e.away(m)
	for ; k < 2*e.s.n; k++ {
		over := e.s.need(k) - e.s.p.Budget
		if over > 0 {
			at = max(at, e.leaving(m, over-away))
		}
		at += e.s.lasts(k)
		least = max(least, at+e.rest[k+1])
		if over > 0 {
			least = max(least, at+e.s.p.Device.ToDev.Time(over)+e.tail[0])
		}
	}
	return least
}

// fetching is a lower bound from the fetches that are known: what is needed first
// comes first, and each is followed by the operations that wait for it.
func (e *exact) fetching(m *moment) (least time.Duration) {
	var link time.Duration
	if m.in >= 0 {
		link = m.fetched
		least = link + e.tail[m.in]
	}
	if m.out >= 0 && !e.full {
		link = m.sent
	}
	for i := e.s.n - 1; i >= 0; i-- {
		if m.place(i) == copied || int(m.out) == i {
			link += e.in[i]
			least = max(least, link+e.tail[i])
		}
	}
	return least
}

// leaving is when v more bytes can have left.
func (e *exact) leaving(m *moment, v engine.Bytes) time.Duration {
	// What was copied before its F_i has ended leaves with no further transfer.
	for i, x := range e.s.size {
		if m.place(i) == copied && i >= int(m.done) {
			v -= x
		}
	}
	if v <= 0 {
		return 0
	}
	var link time.Duration
	if m.out >= 0 {
		link = m.sent
		v -= e.s.size[m.out]
	} else if m.in >= 0 && !e.full {
		link = m.fetched
	}
	return link + e.s.p.Device.ToHost.Time(v)
}
