package offload

import (
	"slices"
	"time"

	"memtide/engine"
)

// written is a schedule that the search has found.
type written struct {
	schedule               engine.Schedule
	makespan               time.Duration
	peak                   engine.Bytes
	activations, gradients int // numbers of values that are offloaded
}

// write returns the schedule that leads to node k. Transfers that start, and values that leave,
// while an operation runs are queued before the operation. An operation that waits although it
// could start is held back by a wait for the transfer at whose end it starts.
func (e *exact) write(k int32) *written {
	w := &written{makespan: e.nodes[k].at, peak: e.s.before(0)}
	var path []int32
	for ; k >= 0; k = e.nodes[k].parent {
		path = append(path, k)
	}
	slices.Reverse(path)
	held := false // the next operation could have started earlier
	var ended engine.ValueID
	for p := 1; p < len(path); p++ {
		from, nd := &e.nodes[path[p-1]], &e.nodes[path[p]]
		if nd.op {
			if held {
				w.schedule = append(w.schedule, engine.Wait(ended))
			}
			held = false
		} else if m := &from.m; !m.running && e.ready(m, int(m.done)) {
			held = true
		}
		began := e.began(nd, from)
		w.peak = max(w.peak, e.used(&began))
		if i := nd.out; i >= 0 {
			out := engine.Offload(e.values[i].id)
			out.NotBefore = from.at
			w.schedule = append(w.schedule, out)
			if e.values[i].grad {
				w.gradients++
			} else {
				w.activations++
			}
		}
		if i := nd.in; i >= 0 {
			w.schedule = append(w.schedule, engine.Fetch(e.values[i].id, from.at))
		}
		if nd.m.done > from.m.done {
			w.schedule = e.s.operation(w.schedule, int(from.m.done))
		}
		for i := range e.values {
			if nd.m.place(i) == away && from.m.place(i) != away {
				w.schedule = append(w.schedule, engine.Free(e.values[i].id))
			}
		}
		switch {
		case began.out >= 0 && nd.m.out < 0:
			ended = e.values[began.out].id
		case began.in >= 0 && nd.m.in < 0:
			ended = e.values[began.in].id
		}
	}
	return w
}

// began returns the moment from after the decisions that lead to nd.
func (e *exact) began(nd, from *visit) moment {
	m := from.m
	m.running = m.running || nd.op
	if nd.out >= 0 {
		m.out = nd.out
	}
	if nd.in >= 0 {
		m.in = nd.in
		m.put(int(nd.in), back)
	}
	return m
}

// operation appends operation k, and frees the values that have no reader after it.
func (s *step) operation(sched engine.Schedule, k int) engine.Schedule {
	g, n := s.p.Chain, s.n
	if k < n {
		return freeUnsaved(append(sched, engine.Run(g.Fwd(k+1))), g, k)
	}
	i := 2*n - k
	sched = append(sched, engine.Run(g.Bwd(i)), engine.Free(g.Grad(i)), engine.Free(g.Saved(i)))
	if i == 1 {
		sched = append(sched, engine.Free(g.Act(0)))
	}
	return sched
}

// anyhow returns a schedule that fits if any does. One thing happens at a time: the next operation
// if it can start, otherwise the offload of a value if one makes sense, otherwise the fetch of a
// value that the operation reads.
func (e *exact) anyhow() *written {
	e.reach(e.start())
	k := int32(0)
	for int(e.nodes[k].m.done) < 2*e.s.n {
		nd := visit{m: e.nodes[k].m, at: e.nodes[k].at, parent: k, out: -1, in: -1}
		m := &nd.m
		if done := int(m.done); e.ready(m, done) {
			nd.op, m.running, m.run = true, true, e.s.lasts(done)
		} else if i := e.first(func(i int) bool { return e.mayOffload(m, i) }); i >= 0 {
			nd.out, m.out, m.sent = int8(i), int8(i), e.values[i].out
		} else if i := e.first(func(i int) bool { return m.place(i) == away && e.values[i].reads(done) }); i >= 0 {
			nd.in, m.in, m.fetched = int8(i), int8(i), e.values[i].in
			m.put(i, back)
		}
		k = int32(len(e.nodes))
		e.advance(nd)
	}
	return e.write(k)
}

// first returns the first value i with is(i), or -1.
func (e *exact) first(is func(i int) bool) int {
	for i := range e.values {
		if is(i) {
			return i
		}
	}
	return -1
}
