package offload

import (
	"slices"
	"time"

	"memtide/engine"
)

// tryOrder says which schedules fastestTransfers tries.
type tryOrder uint8

const (
	// anyOrder tries all schedules that run every operation once, by its first algorithm. Any value may travel,
	// activation or gradient, any number of times.
	anyOrder tryOrder = iota
	// inOrder tries those of them that offload activations in the order in which they are made, and fetch them in
	// the reverse order after the last offload. The saved activations of each stage must be on the device while
	// the stage after it runs.
	inOrder
)

// fastestTransfers returns a fastest schedule of whole transfers on a chain that takes less than below, by trying
// everything. It depends only on the definition in package sim, and on no method. It is for chains of up to 4
// stages; 6 is the most.
//
// Everything starts at 0 or when something ends: between two ends no value leaves the device, so whatever starts
// there can start at the first of them. At each of these times it tries every set of values to free. It frees
// nothing while an operation runs, except a value that is freed before the run and leaves with its offload. Then
// it tries to start the next operation or not, then every offload or none, then every fetch or none. A value
// without a later reader is freed at once. States that cannot end below the limit are dropped: operations run one
// after the other, and so do the fetches of the values that are away, the last of them before the last operation.
func fastestTransfers(p *engine.Problem, order tryOrder, below time.Duration) (s engine.Schedule, least time.Duration,
	ok bool) {
	t := newTries(p, order, below)
	start := tried{out: none, in: none, lastOut: none, lastIn: int8(len(t.values))}
	for i, v := range t.values {
		if p.Graph.Values[v].Initial&engine.OnDevice != 0 && t.last[i] >= 0 {
			start.dev |= 1 << i
		}
	}
	if t.used(&start) > p.Budget {
		return nil, 0, false
	}
	t.reach(tryNode{tried: start, parent: -1, ended: none})
	for len(t.open) > 0 {
		k := t.open.Pop().index
		n := t.nodes[k]
		if t.seen[n.tried] < n.at {
			continue
		}
		if int(n.done) == len(t.ops) && n.out == none && n.in == none {
			return t.program(k), n.at, true
		}
		t.free(decision{tryNode: tryNode{tried: n.tried, at: n.at, parent: k}})
	}
	return nil, 0, false
}

const none = -1

// tried is the state of a schedule when an operation or a transfer ends, before anything else starts. Values are
// bits: x_0 = a^0 and x_k = abar^k are bits 0..n, and delta^k is bit n+1+k.
type tried struct {
	dev, host, leaving uint16 // values on the device; values on the host; values freed during their offload
	done               uint8  // operations that have ended
	running            bool   // the next operation has started
	out, in            int8   // values in transfer to the host and back
	lastOut, lastIn    int8   // for inOrder: the latest values that started
	run, sent, came    time.Duration
}

// tryNode is a state, when it was reached, and how.
type tryNode struct {
	tried
	at     time.Duration
	least  time.Duration // a lower bound of the step time
	parent int32
	made   choice // what started at the time of the parent
	ended  int8   // the value whose transfer ends at this time, if any
}

// choice holds what starts at one time.
type choice struct {
	frees      uint16
	op         bool
	offload    int8
	leave      bool // the offloaded value is freed before the operation that runs
	fetch      int8
	begun, end bool // an operation runs after the choice; it has ended at the next time
}

// decision is a choice that is being made.
type decision struct{ tryNode }

type tryOp struct {
	in, out, dead uint16 // values that it reads, writes, and that have no reader after it
	need          engine.Bytes
	time          time.Duration
	id            engine.OpID
}

type tries struct {
	p      *engine.Problem
	order  tryOrder
	below  time.Duration
	full   bool
	acts   int // the number of activations, which are the first values
	values []engine.ValueID
	size   []engine.Bytes
	last   []int // the last operation that reads the value, -1 if none does
	toHost []time.Duration
	toDev  []time.Duration
	ops    []tryOp
	rest   []time.Duration // the time of the operations from each one on
	nodes  []tryNode
	open   engine.Heap[tryOpen]
	seen   map[tried]time.Duration
}

func newTries(p *engine.Problem, order tryOrder, below time.Duration) *tries {
	g := p.Chain
	n := g.Chain.Len()
	t := &tries{p: p, order: order, below: below, full: p.Device.Duplex == engine.FullDuplex, acts: n + 1,
		seen: map[tried]time.Duration{}}
	bit := map[engine.ValueID]int{}
	add := func(v engine.ValueID) {
		bit[v] = len(t.values)
		size := g.Values[v].Size
		t.values, t.size, t.last = append(t.values, v), append(t.size, size), append(t.last, -1)
		t.toHost, t.toDev = append(t.toHost, p.Device.ToHost.Time(size)), append(t.toDev, p.Device.ToDev.Time(size))
	}
	add(g.Act(0))
	for k := 1; k <= n; k++ {
		add(g.Saved(k))
		bit[g.Act(k)] = bit[g.Saved(k)] // a reader of a^k reads abar^k
	}
	for k := 1; k <= n; k++ {
		if g.Chain.Unsaved(k) {
			add(g.Act(k)) // an unsaved output is not part of abar^k
		}
	}
	for k := range n + 1 {
		add(g.Grad(k))
	}
	var order2n []engine.OpID
	for k := 1; k <= n; k++ {
		order2n = append(order2n, g.Fwd(k))
	}
	for k := n; k >= 1; k-- {
		order2n = append(order2n, g.Bwd(k))
	}
	t.rest = make([]time.Duration, 2*n+1)
	for k, id := range order2n {
		op := tryOp{id: id, need: g.Ops[id].Temp, time: g.Ops[id].Time}
		in := g.Ops[id].In
		if stage := min(k, 2*n-1-k); order == inOrder && g.Chain.Unsaved(stage) {
			in = append(slices.Clone(in), g.Saved(stage))
		}
		for _, v := range in {
			op.in |= 1 << bit[v]
			t.last[bit[v]] = k
		}
		for _, v := range g.Ops[id].Out {
			op.out |= 1 << bit[v]
			op.need += g.Values[v].Size
		}
		t.ops = append(t.ops, op)
	}
	for k := 2*n - 1; k >= 0; k-- {
		t.rest[k] = t.rest[k+1] + t.ops[k].time
		for i := range t.values {
			if t.last[i] == k || t.last[i] < 0 && t.ops[k].out>>i&1 == 1 {
				t.ops[k].dead |= 1 << i
			}
		}
	}
	return t
}

// used returns the bytes on the device.
func (t *tries) used(s *tried) engine.Bytes {
	sum := t.p.Graph.Fixed
	for i, x := range t.size {
		if (s.dev|s.leaving)>>i&1 == 1 || int(s.in) == i {
			sum += x
		}
	}
	if s.running {
		sum += t.ops[s.done].need
	}
	return sum
}

// reader returns the first operation that can still read a value that starts to move now. Values that only
// earlier operations read need not move.
func (s *tried) reader() int {
	if s.running {
		return int(s.done) + 1
	}
	return int(s.done)
}

// free tries every set of values to free.
func (t *tries) free(d decision) {
	if d.running {
		t.start(d)
		return
	}
	may := d.dev & d.host
	if d.out != none {
		may |= d.dev & (1 << d.out)
	}
	for set := may; ; set = (set - 1) & may {
		next := d
		next.made.frees = set
		next.dev &^= set
		if d.out != none {
			next.leaving |= set & (1 << d.out)
		}
		t.start(next)
		if set == 0 {
			return
		}
	}
}

// start tries both to start the next operation and not to start it.
func (t *tries) start(d decision) {
	if int(d.done) < len(t.ops) && !d.running {
		if op := &t.ops[d.done]; d.dev&op.in == op.in && t.used(&d.tried)+op.need <= t.p.Budget {
			next := d
			next.running, next.run, next.made.op = true, op.time, true
			t.offload(next)
		}
	}
	t.offload(d)
}

// offload tries every offload, and none.
func (t *tries) offload(d decision) {
	d.made.offload, d.made.begun = none, d.running
	t.fetch(d)
	if d.out != none || !t.full && d.in != none || t.order == inOrder && int(d.lastIn) < len(t.values) {
		return
	}
	for i := range t.values {
		if d.dev>>i&1 == 0 || d.host>>i&1 == 1 || t.last[i] < d.reader() || t.order == inOrder &&
			(i >= t.acts || i <= int(d.lastOut)) {
			continue
		}
		next := d
		next.out, next.sent, next.made.offload = int8(i), t.toHost[i], int8(i)
		if t.order == inOrder {
			next.lastOut = int8(i)
		}
		t.fetch(next)
		if d.running && t.ops[d.done].in>>i&1 == 0 {
			next.dev &^= 1 << i
			next.leaving |= 1 << i
			next.made.leave = true
			t.fetch(next)
		}
	}
}

// fetch tries every fetch, and none.
func (t *tries) fetch(d decision) {
	d.made.fetch = none
	t.pass(d)
	if d.in != none || d.out != none && (!t.full || t.order == inOrder) {
		return
	}
	used := t.used(&d.tried)
	for i, x := range t.size {
		if d.host>>i&1 == 0 || d.dev>>i&1 == 1 || t.last[i] < d.reader() || used+x > t.p.Budget ||
			t.order == inOrder && i >= int(d.lastIn) {
			continue
		}
		next := d
		next.in, next.came, next.made.fetch = int8(i), t.toDev[i], int8(i)
		if t.order == inOrder {
			next.lastIn = int8(i)
		}
		t.pass(next)
	}
}

// pass advances the time until something ends.
func (t *tries) pass(d decision) {
	n := &d.tryNode
	next := time.Duration(-1)
	sooner := func(is bool, left time.Duration) {
		if is && (next < 0 || left < next) {
			next = left
		}
	}
	sooner(n.running, n.run)
	sooner(n.out != none, n.sent)
	sooner(n.in != none, n.came)
	if next < 0 {
		return // nothing will ever end
	}
	n.at += next
	n.ended = none
	if n.running {
		n.run -= next
		if n.run == 0 {
			op := &t.ops[n.done]
			n.running, n.made.end = false, true
			n.done++
			n.dev = (n.dev | op.out) &^ op.dead
			n.host &^= op.dead
			if n.out != none {
				n.leaving |= op.dead & (1 << n.out)
			}
		}
	}
	if n.out != none {
		n.sent -= next
		if n.sent == 0 {
			bit := uint16(1) << n.out
			if t.last[n.out] >= int(n.done) {
				n.host |= bit
			}
			n.leaving &^= bit
			n.ended, n.out = n.out, none
		}
	}
	if n.in != none {
		n.came -= next
		if n.came == 0 {
			n.dev |= 1 << n.in
			n.ended, n.in = n.in, none
		}
	}
	t.reach(*n)
}

// reach adds a node, unless its state was reached as early before or cannot end below the limit.
func (t *tries) reach(n tryNode) {
	if at, ok := t.seen[n.tried]; ok && at <= n.at {
		return
	}
	n.least = n.at + t.remaining(&n.tried)
	if n.least >= t.below {
		return
	}
	t.seen[n.tried] = n.at
	t.nodes = append(t.nodes, n)
	t.open.Push(tryOpen{n.least, n.at, int32(len(t.nodes) - 1)})
}

// remaining returns a lower bound on the time from a state to the end of the step.
func (t *tries) remaining(s *tried) time.Duration {
	compute := t.rest[s.done]
	if s.running {
		compute += s.run - t.ops[s.done].time
	}
	link := s.came
	if s.in == none {
		link = 0
	}
	if !t.full && s.out != none {
		link = s.sent
	}
	for i := range t.values {
		made := i < t.acts && i <= int(s.done) || i >= t.acts && (t.last[i] == int(s.done) || i == len(t.values)-1)
		if made && t.last[i] >= s.reader() && s.dev>>i&1 == 0 && int(s.in) != i {
			link += t.toDev[i]
		}
	}
	if k := len(t.ops) - 1; int(s.done) < k || int(s.done) == k && !s.running {
		link += t.ops[k].time
	}
	return max(compute, link)
}

// tryOpen is an open node. Nodes are ordered by their bounds, and equal bounds by their times, the latest first.
type tryOpen struct {
	least, at time.Duration
	index     int32
}

func (a tryOpen) Before(b tryOpen) bool {
	return a.least < b.least || a.least == b.least && a.at > b.at
}
