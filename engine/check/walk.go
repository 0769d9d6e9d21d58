package check

import (
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// copyID is an index into checker.copies; noCopy is none.
type copyID int32

const noCopy copyID = -1

// devCopy is one stay of a value, or of a run's temporaries, on the device.
type devCopy struct {
	value    engine.ValueID // NoValue for temporaries
	op       engine.OpID    // of temporaries, otherwise NoOp
	size     engine.Bytes
	cat      sim.Category
	from     sim.SpanID // NoSpan if it was there from the start
	fetched  bool
	offloads []sim.SpanID
	freedBy  int // the step that gives it up; -1 if none does

	// What the replay saw.
	whole, freed, gone bool
	start, end         time.Duration
	startSeq, endSeq   int
	bytes              engine.Bytes // on the device now
}

// stepPlan is what a step means for the copies: it follows from the order of
// the schedule alone.
type stepPlan struct {
	inputs [][]copyID   // of a run: for every input, the copies that serve it
	makes  []copyID     // outputs of a run, its temporaries first; what a fetch brings
	drops  []copyID     // given up: by a free, or at the end of a run
	source copyID       // what an offload copies
	after  []sim.SpanID // transfers that must have ended: of a wait; of a fetch, the copy to the host
	need   engine.Bytes // room that a run takes: its outputs and temporaries
}

// walker knows what is where after every step, whatever the times.
type walker struct {
	*checker
	own       []copyID     // by value: its own copy, not freed
	was       []bool       // by value: it had a copy that is freed now
	lastOut   []sim.SpanID // by value: its last offload
	lastIn    []sim.SpanID // by value: its last fetch
	contained [][]engine.ValueID
}

// walk follows the schedule in its order: which copy serves which reader, and
// whether every step can be meant.
func (c *checker) walk() *Refutation {
	n := len(c.g.Values)
	w := &walker{checker: c, own: make([]copyID, n), was: make([]bool, n),
		lastOut: make([]sim.SpanID, n), lastIn: make([]sim.SpanID, n), contained: make([][]engine.ValueID, n)}
	c.plan = make([]stepPlan, len(c.s))
	for v := range c.g.Values {
		w.own[v], w.lastOut[v], w.lastIn[v] = noCopy, sim.NoSpan, sim.NoSpan
		for i, outer := 0, c.g.Values[v].Within; outer != engine.NoValue && i < n; i, outer = i+1, c.g.Values[outer].Within {
			w.contained[outer] = append(w.contained[outer], engine.ValueID(v))
		}
		if c.g.Values[v].Initial&engine.OnDevice != 0 {
			w.add(engine.ValueID(v), w.category(engine.ValueID(v), false), sim.NoSpan)
		}
	}
	for i := range c.s {
		var r *Refutation
		switch c.s[i].Kind {
		case engine.StepRun:
			r = w.run(i)
		case engine.StepFree:
			r = w.free(i)
		case engine.StepOffload:
			r = w.offload(i)
		case engine.StepFetch:
			r = w.fetch(i)
		default:
			v := c.s[i].Value
			for _, id := range []sim.SpanID{w.lastOut[v], w.lastIn[v]} {
				if id != sim.NoSpan {
					c.plan[i].after = append(c.plan[i].after, id)
				}
			}
		}
		if r != nil {
			return r
		}
	}
	return nil
}

// category is the band of the memory picture that a value belongs to.
func (c *checker) category(v engine.ValueID, again bool) sim.Category {
	switch {
	case c.g.Values[v].Kind == engine.KindGradient:
		return sim.Gradient
	case c.g.Values[v].Kind == engine.KindWeight:
		return sim.Fixed
	case again:
		return sim.Recomputed
	}
	return sim.Activation
}

func (w *walker) add(v engine.ValueID, cat sim.Category, from sim.SpanID) copyID {
	id := copyID(len(w.copies))
	w.copies = append(w.copies, devCopy{value: v, op: engine.NoOp, size: w.g.Values[v].Size, cat: cat, from: from, freedBy: -1})
	w.own[v] = id
	return id
}

// drop gives up the value's own copy at step i.
func (w *walker) drop(v engine.ValueID, i int) {
	id := w.own[v]
	w.copies[id].freedBy = i
	w.plan[i].drops = append(w.plan[i].drops, id)
	w.own[v], w.was[v] = noCopy, true
}

// serving lists the copies that a reader of v may read.
func (w *walker) serving(v engine.ValueID) (ids []copyID) {
	for i := 0; v != engine.NoValue && i <= len(w.own); i++ {
		if w.own[v] != noCopy {
			ids = append(ids, w.own[v])
		}
		v = w.g.Values[v].Within
	}
	return ids
}

func (w *walker) run(i int) *Refutation {
	op, plan, id := &w.g.Ops[w.s[i].Op], &w.plan[i], w.spanOf[i]
	for _, v := range op.In {
		ids := w.serving(v)
		if len(ids) == 0 {
			reason, found := InputAbsent, "no copy of "+w.g.Values[v].Name
			for u, k := v, 0; u != engine.NoValue && k <= len(w.own); u, k = w.g.Values[u].Within, k+1 {
				if w.was[u] {
					reason, found = ReadAfterFree, w.g.Values[v].Name+" freed before"
				}
			}
			return w.atStep(reason, i, w.span(id).Start, found, "every input of "+w.name(i)+" on the device")
		}
		plan.inputs = append(plan.inputs, ids)
	}
	work := workspace(op, w.s[i].Alt)
	w.copies = append(w.copies, devCopy{value: engine.NoValue, op: w.s[i].Op, size: work, cat: sim.Workspace, from: id, freedBy: i})
	temp := copyID(len(w.copies) - 1)
	plan.makes, plan.drops, plan.need = append(plan.makes, temp), append(plan.drops, temp), work
	outs := written(op, w.s[i].Lean)
	// What was there before an output, and what is within it, goes at the end.
	for _, v := range outs {
		for _, u := range append([]engine.ValueID{v}, w.contained[v]...) {
			if w.own[u] != noCopy && w.copies[w.own[u]].from != id && (u == v || !w.arriving(w.own[u], w.span(id).End)) {
				w.drop(u, i)
			}
		}
	}
	for _, v := range outs {
		plan.makes = append(plan.makes, w.add(v, w.category(v, w.span(id).Kind == sim.SpanRecompute), id))
		plan.need += w.g.Values[v].Size
	}
	return nil
}

// arriving tells whether a copy is still on its way at a moment: then it cannot leave.
func (w *walker) arriving(id copyID, at time.Duration) bool {
	cp := &w.copies[id]
	return cp.fetched && w.span(cp.from).End > at
}

func (w *walker) free(i int) *Refutation {
	v := w.s[i].Value
	if w.own[v] == noCopy {
		return w.atStep(FreeAbsent, i, 0, w.name(i), "a value that is on the device")
	}
	w.drop(v, i)
	return nil
}

func (w *walker) offload(i int) *Refutation {
	v, id := w.s[i].Value, w.spanOf[i]
	if w.own[v] == noCopy {
		reason := OffloadAbsent
		if w.was[v] {
			reason = ReadAfterFree
		}
		return w.atStep(reason, i, w.span(id).Start, w.name(i), "a value that is on the device")
	}
	w.plan[i].source = w.own[v]
	src := &w.copies[w.own[v]]
	src.offloads = append(src.offloads, id)
	w.lastOut[v] = id
	return nil
}

func (w *walker) fetch(i int) *Refutation {
	v, id := w.s[i].Value, w.spanOf[i]
	at := w.span(id).Start
	if w.own[v] != noCopy {
		return w.atStep(FetchResident, i, at, w.name(i), "a value that is not on the device")
	}
	if w.lastOut[v] != sim.NoSpan {
		w.plan[i].after = append(w.plan[i].after, w.lastOut[v])
	} else if w.g.Values[v].Initial&engine.OnHost == 0 {
		return w.atStep(NoHostCopy, i, at, w.name(i), "a value that the host has")
	}
	cp := w.add(v, w.category(v, false), id) // what comes back is not told apart by how it was computed
	w.copies[cp].fetched = true
	w.plan[i].makes = append(w.plan[i].makes, cp)
	w.lastIn[v] = id
	return nil
}

// checkTimes compares every start with what it has to wait for, room excepted.
func (c *checker) checkTimes() *Refutation {
	c.reach = make([]time.Duration, len(c.s)+1)
	var now time.Duration
	var lastOf [sim.NumLanes]sim.SpanID
	for l := range lastOf {
		lastOf[l] = sim.NoSpan
	}
	for i, st := range c.s {
		c.reach[i] = now
		if st.Kind == engine.StepWait {
			for _, id := range c.plan[i].after {
				now = max(now, c.span(id).End)
			}
		}
		if !hasSpan(st.Kind) {
			continue
		}
		if r := c.checkStart(i, lastOf[:]); r != nil {
			return r
		}
		sp := c.at(i)
		lastOf[sp.Lane] = c.spanOf[i]
		if st.Kind == engine.StepRun {
			now = sp.End
		}
	}
	c.reach[len(c.s)] = now
	return nil
}

// checkStart compares one start with the counter, the lane, the data and the window.
func (c *checker) checkStart(i int, lastOf []sim.SpanID) *Refutation {
	sp, st := c.at(i), c.s[i]
	late := func(r Reason, until time.Duration, why string) *Refutation {
		return c.atStep(r, i, sp.Start, fmt.Sprintf("%s at %v", c.name(i), sp.Start), fmt.Sprintf("no start before %v, %s", until, why))
	}
	if sp.Start < c.reach[i] {
		return late(StepOrder, c.reach[i], "when the schedule gets there")
	}
	if last := lastOf[sp.Lane]; last != sim.NoSpan && sp.Start < c.span(last).End {
		return late(LaneOverlap, c.span(last).End, "when the lane is free")
	}
	if st.Kind == engine.StepRun {
		for k, ids := range c.plan[i].inputs {
			if ready := c.readyAt(ids); sp.Start < ready {
				return late(InputNotReady, ready, "when "+c.g.Values[c.g.Ops[st.Op].In[k]].Name+" is there")
			}
		}
		return nil
	}
	if c.p.Device.Duplex == engine.HalfDuplex {
		other := lastOf[sim.ToHost+sim.ToDev-sp.Lane]
		if other != sim.NoSpan && sp.Start < c.span(other).End {
			return late(HalfDuplexBroken, c.span(other).End, "when the other direction is over")
		}
	}
	for _, id := range c.plan[i].after {
		if sp.Start < c.span(id).End {
			return late(HostCopyNotReady, c.span(id).End, "when the copy to the host is over")
		}
	}
	if sp.Start < st.NotBefore {
		return late(BeforeWindow, st.NotBefore, "its earliest start")
	}
	return nil
}

// readyAt is when the first of the copies is whole.
func (c *checker) readyAt(ids []copyID) time.Duration {
	first := time.Duration(-1)
	for _, id := range ids {
		var at time.Duration
		if from := c.copies[id].from; from != sim.NoSpan {
			at = c.span(from).End
		}
		if first < 0 || at < first {
			first = at
		}
	}
	return max(first, 0)
}
