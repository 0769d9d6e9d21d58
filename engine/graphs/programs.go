package graphs

import (
	"math/bits"
	"time"

	"memtide/engine"
)

// programs is the search over all programs of a small graph with whole transfers. From
// every state of the machine come: a run, a wait, or a fetch with reserve, after frees that
// it or what is queued needs; an offload; a fetch as soon as there is room, or not before
// a transfer that is under way or queued is over. One that starts later can be issued later.
type programs struct {
	device
	poll  *engine.Poll
	nodes []programNode
	index map[machine]int32
	open  engine.Heap[entry]
	limit int
}

type programNode struct {
	machine
	took   time.Duration
	parent int32
	freed  uint16
	step   engine.Step
}

// maxPrograms is how many states the search has at effort 1, of 300 bytes each.
const maxPrograms = 10_000

// newPrograms prepares the search; nil if the graph is not for it.
func newPrograms(p *engine.Problem, m *model, poll *engine.Poll) *programs {
	if m.varied() || m.ops > 8 || len(m.size) > 12 || p.Transfers != engine.Whole || len(m.in[m.sink()]) > 0 ||
		m.g.Done != engine.NoValue && len(m.order) < m.ops {
		return nil
	}
	s := &programs{poll: poll, index: map[machine]int32{}, limit: maxPrograms}
	d := &s.device
	d.half, d.room = p.Device.Duplex == engine.HalfDuplex, int64(p.Budget-m.g.Fixed)
	for _, size := range m.size {
		d.size = append(d.size, int64(size))
		d.outTime, d.inTime = append(d.outTime, int64(p.Device.ToHost.Time(size))),
			append(d.inTime, int64(p.Device.ToDev.Time(size)))
	}
	set := func(list []int32) (set uint16) {
		for _, v := range list {
			set |= 1 << v
		}
		return set
	}
	for i := range m.ops {
		k := &m.kinds[i]
		d.time, d.need = append(d.time, int64(k.time)), append(d.need, int64(k.bytes+k.temp))
		d.reads, d.writes = append(d.reads, set(k.reads)), append(d.writes, set(k.writes))
		d.must |= 1 << i
		if m.once[i] {
			d.once |= 1 << i
		}
	}
	if m.g.Done != engine.NoValue {
		d.done = 1 << m.maker[m.g.Done]
	}
	s.visit(programNode{machine: machine{dev: set(m.kinds[m.source()].writes)}, parent: none})
	return s
}

// find returns the fastest program, nil if there is none. ok is false if that is not known,
// because there are too many states or poll says so.
func (s *programs) find() (steps engine.Schedule, ok bool) {
	goals := map[int32]bool{}
	for len(s.open) > 0 {
		if s.poll.Err() != nil || len(s.nodes) > s.limit {
			return nil, false
		}
		e := s.open.Pop()
		if goals[e.node] && e.took == e.least {
			return s.trace(e.node), true
		}
		n := s.nodes[e.node]
		if e.took > n.took {
			continue
		}
		if s.complete(n.ran) {
			if took, ok := s.drain(n.machine); ok {
				goals[e.node] = true
				all := n.took + time.Duration(took)
				s.open.Push(entry{all, all, e.node})
			}
			continue
		}
		s.expand(e.node, &n)
	}
	return nil, true
}

// visit notes a state, unless it is known to be reached sooner.
func (s *programs) visit(n programNode) {
	at, known := s.index[n.machine]
	if known && s.nodes[at].took <= n.took {
		return
	}
	if known {
		s.nodes[at] = n
	} else {
		at = int32(len(s.nodes))
		s.index[n.machine] = at
		s.nodes = append(s.nodes, n)
	}
	left := n.took
	for i, t := range s.time {
		if n.ran>>i&1 == 0 {
			left += time.Duration(t)
		}
	}
	s.open.Push(entry{left, n.took, at})
}

// expand visits what can come next.
func (s *programs) expand(from int32, n *programNode) {
	next := func(z machine, took int64, freed uint16, step engine.Step) {
		s.visit(programNode{machine: z, took: n.took + time.Duration(took), parent: from, freed: freed, step: step})
	}
	for i := range s.time {
		if n.ran&s.once>>i&1 == 1 || n.ran>>i&1 == 1 && s.writes[i]&^n.dev == 0 {
			continue
		}
		s.freeing(n, n.dev&^s.reads[i], s.need[i], func(freed uint16) {
			z := n.machine
			z.free(freed)
			if took, ok := s.run(&z, i); ok {
				next(z, took, freed, engine.Run(engine.OpID(i)))
			}
		})
	}
	for v := range s.size {
		bit := uint16(1) << v
		switch {
		case s.size[v] == 0:
		case (n.host|n.out)&bit == 0:
			if z := n.machine; n.dev&bit != 0 && s.put(&z, cargo{value: int8(v) + 1}) {
				next(z, 0, 0, engine.Offload(engine.ValueID(v)))
			}
		case n.in&bit == 0:
			s.fetches(n, v, next)
		}
		if (n.in|n.out)&bit != 0 {
			s.freeing(n, n.dev, 0, func(freed uint16) {
				z := n.machine
				z.free(freed)
				if took, ok := s.wait(&z, v); ok {
					next(z, took, freed, engine.Wait(engine.ValueID(v)))
				}
			})
		}
	}
}

// fetches visits the fetches of a value that the host has. A device copy goes first.
func (s *programs) fetches(n *programNode, v int, next func(machine, int64, uint16, engine.Step)) {
	bit := uint16(1) << v
	own := n.dev & bit
	after := []int64{0}
	for l := range n.active {
		t := n.active[l].time
		if t > 0 {
			after = append(after, t)
		}
		for _, c := range n.queue[l][:n.queued[l]] {
			if c.fetch {
				t += s.inTime[c.value-1]
			} else {
				t += s.outTime[c.value-1]
			}
			after = append(after, t)
		}
	}
	for _, t := range after {
		z := n.machine
		z.free(own)
		if s.put(&z, cargo{value: int8(v) + 1, fetch: true, time: t}) {
			fetch := engine.Fetch(engine.ValueID(v), 0)
			if t > 0 {
				fetch.NotBefore = n.took + time.Duration(t)
			}
			next(z, 0, own, fetch)
		}
	}
	s.freeing(n, n.dev&^own, s.size[v]-s.bytes(own), func(freed uint16) {
		z := n.machine
		z.free(freed | own)
		if took, ok := s.reserve(&z, cargo{value: int8(v) + 1, fetch: true}); ok {
			fetch := engine.Fetch(engine.ValueID(v), 0)
			fetch.Reserve = true
			next(z, took, freed|own, fetch)
		}
	})
}

// freeing calls do with every set of copies to free before a step that needs so much
// beside: each of them is in the way of it, or of a fetch that is queued, while the others
// are gone.
func (s *programs) freeing(n *programNode, from uint16, need int64, do func(freed uint16)) {
	want := s.used(&n.machine) + need - s.room
	for l := range n.queue {
		for _, c := range n.queue[l][:n.queued[l]] {
			if c.fetch && !c.reserved {
				want += s.size[c.value-1]
			}
		}
	}
	for set := from; ; set = (set - 1) & from {
		all, least := s.bytes(set), int64(1)<<62
		for left := set; left != 0; left &= left - 1 {
			least = min(least, s.size[bits.TrailingZeros16(left)])
		}
		if set == 0 || least > 0 && all-least < want {
			do(set)
		}
		if set == 0 {
			return
		}
	}
}

// trace returns the program that leads to a node.
func (s *programs) trace(at int32) (steps engine.Schedule) {
	var nodes []*programNode
	for ; s.nodes[at].parent != none; at = s.nodes[at].parent {
		nodes = append(nodes, &s.nodes[at])
	}
	for k := len(nodes) - 1; k >= 0; k-- {
		for left := nodes[k].freed; left != 0; left &= left - 1 {
			steps = append(steps, engine.Free(engine.ValueID(bits.TrailingZeros16(left))))
		}
		steps = append(steps, nodes[k].step)
	}
	return steps
}
