package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// follower runs the step of a program by a schedule of its chain, in the order of the simulator's trace, to find
// what a plan of a strategy allocates and what the allocator reserves for it. A copy to the device allocates
// before the operation during which it starts. A copy to the host frees after the operation during which it ends.
type follower struct {
	*program
	g      *engine.ChainGraph
	trace  *sim.Trace
	events []event

	ran  []bool     // by span
	held []*holding // by life
	here []*holding // by value: the newest copy on the device
	away []*holding // by value: sizes of the copy on the host
	w    *pass      // the micro batch
	grad handle     // gradient of the output of stage next
	next int        // the stage whose backward is next
	made *holding   // result of the newest forward
}

// event is the start or the end of a life: of a value's stay on the device.
type event struct {
	seq   int
	life  int
	start bool
}

// holding is what the program has of a value of the chain.
type holding struct {
	kept  *kept          // nil for an output
	out   handle         // the output; 0 if the value has none, or it was freed
	sizes []engine.Bytes // of kept values on the host
	bytes engine.Bytes   // of the output on the host
	life  int            // the life to which it belongs
}

// follow returns a program that runs steps by a trace of its chain.
func (p *program) follow(g *engine.ChainGraph, t *sim.Trace) *follower {
	f := &follower{program: p, g: g, trace: t}
	for i := range t.Lives {
		if l := &t.Lives[i]; l.Value != engine.NoValue {
			f.events = append(f.events, event{l.StartSeq, i, true}, event{l.EndSeq, i, false})
		}
	}
	slices.SortFunc(f.events, func(a, b event) int { return cmp.Compare(a.seq, b.seq) })
	return f
}

func (f *follower) step() {
	micro := f.s.micro()
	for m := range micro {
		f.final = m == micro-1
		f.pass()
	}
	if f.phase != Step { // the schedule has no stage for the optimizer
		f.phase = Step
		f.optimize()
	}
}

func (f *follower) pass() {
	n := f.g.Chain.Len()
	f.ran, f.held = make([]bool, len(f.trace.Spans)), make([]*holding, len(f.trace.Lives))
	f.here, f.away = make([]*holding, len(f.g.Values)), make([]*holding, len(f.g.Values))
	f.w, f.grad, f.next, f.phase = &pass{}, 0, n, Forward
	if f.s.Objective == ObjectiveGRPO {
		f.reference()
	}
	f.ready(f.root, true)
	begun := make([]bool, len(f.trace.Lives))
	for at, e := range f.events {
		l := &f.trace.Lives[e.life]
		switch {
		case !e.start:
			f.leave(e.life)
		case !begun[e.life]:
			begun[e.life] = true
			if l.From != sim.NoSpan && f.trace.Spans[l.From].Kind != sim.SpanFetch && !f.ran[l.From] {
				for _, later := range f.events[at:] { // copies that start while the operation runs
					c := &f.trace.Lives[later.life]
					if c.Start >= f.trace.Spans[l.From].End {
						break
					}
					if later.start && !begun[later.life] && f.fetched(c) {
						begun[later.life] = true
						f.arrive(later.life)
					}
				}
				f.ran[l.From] = true
				f.run(&f.trace.Spans[l.From])
			}
			f.arrive(e.life)
		}
	}
}

func (f *follower) fetched(l *sim.Life) bool {
	return l.From != sim.NoSpan && f.trace.Spans[l.From].Kind == sim.SpanFetch
}

// stage returns the number of the stage of a value, and whether the value is the stage's output or its saved set.
// Both are false for a gradient.
func (f *follower) stage(v engine.ValueID) (k int, output, saved bool) {
	n := f.g.Chain.Len()
	switch i := int(v); {
	case i <= n:
		return i, true, false
	case i <= 2*n:
		return i - n, false, true
	}
	return 0, false, false
}

// arrive starts a life with the result of a run, or with a copy from the host.
func (f *follower) arrive(life int) {
	l := &f.trace.Lives[life]
	k, output, saved := f.stage(l.Value)
	if k == 0 {
		return
	}
	if old := f.here[l.Value]; f.fetched(l) && f.away[l.Value] == nil && old != nil { // it leaves at the same time
		f.leave(old.life)
	}
	h := &holding{life: life}
	unsaved := f.g.Chain.Unsaved(k)
	switch from := f.away[l.Value]; {
	case f.fetched(l) && from != nil:
		if from.sizes != nil {
			h.kept = &kept{storage: make([]handle, len(from.sizes))}
			for root, n := range from.sizes {
				h.kept.storage[root] = f.take(n, Saved)
			}
		}
		if f.next > k { // the next stage will read it
			h.out = f.take(from.bytes, Saved)
		}
	case l.From == sim.NoSpan || f.made == nil:
	case saved:
		h.kept = f.made.kept
		if !unsaved {
			h.out = f.made.out
		}
	case output:
		h.out = f.made.out
	}
	f.held[life], f.here[l.Value] = h, h
}

func (f *follower) leave(life int) {
	l, h := &f.trace.Lives[life], f.held[life]
	f.held[life] = nil
	if h == nil {
		return
	}
	bytes := func(s handle) engine.Bytes {
		if s == 0 {
			return 0
		}
		return f.storages[s-1].bytes
	}
	if l.Offloaded {
		to := &holding{bytes: bytes(h.out)}
		if h.kept != nil {
			to.sizes = make([]engine.Bytes, len(h.kept.storage))
			for root, s := range h.kept.storage {
				to.sizes[root] = bytes(s)
			}
		}
		f.away[l.Value] = to
	}
	if h.kept != nil {
		for root, s := range h.kept.storage {
			f.give(s)
			h.kept.storage[root] = 0
		}
	}
	f.release(&h.out)
	if f.here[l.Value] == h {
		f.here[l.Value] = nil
	}
}

// output returns the copy of a stage's output that the next operation reads.
func (f *follower) output(k int) handle {
	for _, v := range []engine.ValueID{f.g.Act(k), f.g.Saved(max(k, 1))} {
		if h := f.here[v]; h != nil && h.out != 0 {
			return h.out
		}
	}
	return 0
}

func (f *follower) run(sp *sim.Span) {
	n := f.g.Chain.Len()
	if k := int(sp.Op) + 1; k <= n {
		f.made = &holding{}
		f.forward(k, sp.OutputOnly)
		return
	}
	k := 2*n - int(sp.Op)
	f.made = nil
	f.backward(k)
	f.next = k - 1
	if k > 1 { // the output of the stage before is not read again
		for _, v := range []engine.ValueID{f.g.Act(k - 1), f.g.Saved(k - 1)} {
			if h := f.here[v]; h != nil {
				f.release(&h.out)
			}
		}
	}
}

// forward runs the forward of a stage. The optimizer's forward does nothing.
func (f *follower) forward(k int, light bool) {
	switch n := f.g.Chain.Len(); k {
	case 1:
	case 2:
		f.made.out = f.take(f.units[0].block.values[blockInput].bytes, Saved)
		f.workspace(0)
		if !f.root.stays {
			f.reshard(f.root)
		}
	case n:
		if f.w.loss.norm != nil { // the loss has run and stays
			return
		}
		x := f.share(f.output(n - 1))
		if h := f.here[f.g.Act(n-1)]; h != nil && f.g.Chain.Unsaved(n-1) { // the loss frees it
			f.release(&h.out)
		}
		f.lossForward(f.w, x)
		f.release(&f.previous)
	default:
		u := f.units[k-3]
		f.ready(u, f.next == n)
		if light {
			f.made.out = u.block.passBy(f.ledger, f.output(k-1))
		} else {
			f.made.out, f.made.kept = u.block.forward(f.ledger, f.output(k-1))
			f.turn(f.made.out, Saved)
		}
		if !u.stays && f.s.gathers() && f.next != k {
			f.reshard(u)
		}
	}
}

func (f *follower) backward(k int) {
	switch n := f.g.Chain.Len(); k {
	case 1:
		if f.final {
			f.phase = Step
			f.optimize()
		}
	case 2:
		f.reduceEnds(f.grad)
		f.release(&f.w.loss.held)
		f.grad = 0
	case n:
		f.grad = f.lossBackward(f.w)
		f.phase = Backward
	default:
		i := k - 3
		u := f.units[i]
		f.ready(u, false)
		f.unshardBefore(i)
		h := f.here[f.g.Saved(k)]
		f.grad = f.unitBackward(u, f.output(k-1), f.grad, h.kept)
		h.kept = nil
		f.reduceUnit(u)
	}
}
