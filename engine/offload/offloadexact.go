package offload

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
)

// Limits of the search: the number of states grows with three to the power of the length of the
// chain, or more in full duplex. A state takes about 250 bytes.
const (
	maxExactStages = 12
	maxExactStates = 250_000
)

// SolveExact is the Solver of the strategy offloadexact. The strategy has a package of its own, because it is rarely
// used and should not be part of the program that every visit of the page loads.
func SolveExact(p *engine.Problem, _ engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := linked(p)
	if err != nil {
		return nil, err
	}
	if s.peak() <= p.Budget {
		return s.mustPlan(make([]bool, s.n)).solution().Solution, nil
	}
	switch {
	case s.streamed:
		return nil, fmt.Errorf("%w: it looks for the best order of whole transfers, and these are streamed",
			engine.ErrUnsupported)
	case s.n > maxExactStages:
		return nil, fmt.Errorf("%w: the network has %s; every order of transfers is tried for %d stages at most",
			engine.ErrUnsupported, p.Chain.Chain.Describe(), maxExactStages)
	}
	if least, why := s.tightest(true); p.Budget < least {
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least, Why: why}
	}
	sol, ordered := s.firstExact(poll)
	if sol.Optimal || poll.Err() != nil {
		return sol.Solution, poll.Err()
	}
	e := newExact(s, sol.Makespan, poll)
	found := e.run()
	if found != nil {
		sol.adopt(found)
		if ordered != "" {
			sol.Notes = append(sol.Notes, ordered)
		}
	} else if e.least >= e.limit {
		sol.Note("No other order of transfers is faster.")
	}
	sol.claimAll(e)
	return sol.Solution, poll.Err()
}

// firstExact returns the solution that the search starts from, and a note about it: the best
// ordered schedule. If the budget only suffices with the gradient of the loss away, which no other
// method here moves, it is a schedule that moves all that it can, without a note.
func (s *step) firstExact(poll *engine.Poll) (sol claim, ordered string) {
	if s.p.Budget >= s.smallest() {
		best := bestSet(s, 1, 10_000, poll)
		sol = s.mustPlan(best.set).solution()
		which := "The best"
		if !best.proven {
			which = "The best that was found"
		}
		return sol, fmt.Sprintf("%s with offloads in the order of the layers, and then fetches in reverse, takes %v.",
			which, short(sol.Makespan))
	}
	lower, _ := bound.Of(s.p, engine.MayOffload)
	sol = claim{&engine.Solution{OptimalAmong: withinAll, Bound: lower}, s}
	half, p := *s, *s.p // one transfer at a time
	p.Device.Duplex, half.p = engine.HalfDuplex, &p
	sol.adopt(newExact(&half, never, nil).anyhow())
	sol.Optimal = sol.Makespan <= lower
	return sol, ""
}

// claimAll sets the claims after a search.
func (c claim) claimAll(e *exact) {
	least := min(c.Makespan, e.least)
	if least > c.Bound {
		c.OptimalAmong, c.Bound = c.step.p.Graph.FirstWays(withinAll), least
	}
	c.Optimal = c.Makespan <= c.Bound
	if !c.Optimal && e.poll.Err() == nil {
		c.Stopped = true
		c.Note("The search was stopped after %d states.", maxExactStates)
	}
}

// adopt replaces the schedule of the solution by w.
func (c claim) adopt(w *written) {
	c.Schedule, c.Makespan, c.Peak = w.schedule, w.makespan, w.peak
	note := fmt.Sprintf("Offloads %d activations.", w.activations)
	if w.gradients > 0 {
		note = fmt.Sprintf("Offloads %d activations and %d gradients.", w.activations, w.gradients)
	}
	c.Notes = []string{note}
}

// lasts returns the time of operation k, k = 0..2n-1.
func (s *step) lasts(k int) time.Duration {
	if k < s.n {
		return s.timeF[k]
	}
	return s.timeB[2*s.n-1-k]
}

// need returns the memory while operation k runs if nothing is offloaded.
func (s *step) need(k int) engine.Bytes {
	if k < s.n {
		return s.needF[k]
	}
	return s.needB[2*s.n-1-k]
}

// before returns the memory before operation k starts if nothing is offloaded.
func (s *step) before(k int) engine.Bytes {
	c := s.p.Chain.Chain
	if k < s.n {
		st := &c.Stages[k]
		return s.needF[k] - st.Saved - c.Beside(k+1) - st.FwdTemp
	}
	i := 2*s.n - 1 - k
	held := s.needB[i] - c.Stages[i].BwdTemp - c.Grad(i)
	if i == s.n-1 {
		held += c.HeldGrad(s.n) - c.Grad(s.n)
	}
	return held
}

// parcel is a value that may travel: an activation x_0..x_n, or a gradient that one operation waits for.
type parcel struct {
	id      engine.ValueID
	grad    bool // it is a gradient
	size    engine.Bytes
	out, in time.Duration // times of its transfers
	made    int           // number of operations that have ended when it is made
	uses    []absence     // one before each operation that reads it
	latest  int           // the operation after the last absence that is worth it
}

// absence is the time before a reader of a value and after its previous reader or its maker.
type absence struct {
	from, until int // the operations in between are from..until-1; operation until reads the value
	// worth reports whether anything can be gained if the value is away then: see newParcels.
	worth bool
}

// newParcels returns the values of a chain that have bytes and can be away. An unsaved output is a value of its own,
// and the next stage does not read the saved set of its stage. Gradients matter in two ways. The gradient of the loss
// may be held from the start, and be away during the forward pass. Every other gradient is read by the operation after
// the one that makes it, so no operation runs while it is away.
//
// A value is away to make room. An operation that fits with everything on the device needs no room, and neither do
// transfers just before it. So there has to be an operation that exceeds the budget, in an absence or right after it.
// The second case is of use in full duplex only, where a fetch can take the room until an offload has made more. In
// half duplex, the time between two operations is best used for all its offloads and then for all its fetches, and
// values that are on the device before and after them can stay.
func newParcels(s *step, over []engine.Bytes, full bool) (all []parcel) {
	g, n := s.p.Chain, s.n
	dev := s.p.Device
	add := func(id engine.ValueID, grad bool, made int, readers ...int) {
		size := g.Values[id].Size
		if size == 0 {
			return
		}
		v := parcel{id: id, grad: grad, size: size, out: dev.ToHost.Time(size), in: dev.ToDev.Time(size), made: made}
		from := made
		for _, until := range readers {
			a := absence{from: from, until: until, worth: full && over[until] > 0}
			for k := from; k < until; k++ {
				a.worth = a.worth || over[k] > 0
			}
			if a.worth {
				v.latest = until
			}
			v.uses, from = append(v.uses, a), until+1
		}
		all = append(all, v)
	}
	add(item(g, 0), false, 0, 0, 2*n-1)
	for i := 1; i < n; i++ {
		if g.Chain.Unsaved(i) {
			add(g.Act(i), false, i, i)
			add(item(g, i), false, i, 2*n-i)
			continue
		}
		add(item(g, i), false, i, i, 2*n-1-i, 2*n-i)
	}
	add(item(g, n), false, n, n)
	if !g.Chain.LossGradAllocated {
		add(g.Grad(n), true, 0, n)
	}
	for k := n - 1; k >= 1; k-- {
		add(g.Grad(k), true, 2*n-k, 2*n-k)
	}
	return all
}

// absence returns the current or next absence of a value at a moment, or nil if no operation will read the value again.
func (v *parcel) absence(m *moment) *absence {
	done := int(m.done)
	if m.running {
		done++ // the values that it reads are on the device
	}
	for k := range v.uses {
		if v.uses[k].until >= done {
			return &v.uses[k]
		}
	}
	return nil
}

// later reports whether an absence that begins after done or more operations is worth it.
func (v *parcel) later(done int) bool {
	return slices.ContainsFunc(v.uses, func(a absence) bool { return a.from >= done && a.worth })
}

// reads reports whether operation k reads the value.
func (v *parcel) reads(k int) bool {
	return slices.ContainsFunc(v.uses, func(a absence) bool { return a.until == k })
}

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

// anyhow returns a schedule that fits if any does. One thing happens at a time: the next operation if it can start,
// otherwise the offload of a value if one makes sense, otherwise the fetch of a value that the operation reads.
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
