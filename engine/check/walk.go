package check

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// copyID is an index into checker.copies, or noCopy.
type copyID int32

const noCopy copyID = -1

// devCopy is one stay of a value, or of a run's temporaries, on the device.
type devCopy struct {
	value   engine.ValueID // NoValue for temporaries
	op      engine.OpID    // of temporaries, otherwise NoOp
	size    engine.Bytes
	cat     sim.Category
	from    sim.SpanID // the span that made it; NoSpan if it existed when the step began
	fetched bool
	offload sim.SpanID   // its last offload, which ends last because the lane is first in, first out; or NoSpan
	freedBy int          // the step that frees it; -1 if no step does
	readers []sim.SpanID // operations of other lanes that read it, perhaps after it was freed

	// The state during the replay.
	whole, freed, gone bool
	start, end         time.Duration
	bytes              engine.Bytes // on the device now
}

// stepPlan says which copies a step reads, makes and frees. It follows from the order of the schedule alone.
type stepPlan struct {
	inputs part // of lists.inputs: the inputs of a run
	makes  part // of copies: the temporaries and then the outputs of a run, or the copy that a fetch brings
	drops  part // of lists.drops: the copies that a free frees, or a run at its end
	// of lists.after: the spans that must have ended: transfers for a wait, copies to the host for a fetch or an
	// operation of the host, and the operations of Op.After for a run
	after  part
	source copyID       // the copy that an offload reads
	need   engine.Bytes // the room that a run takes for its outputs and temporaries
}

// part refers to the elements from..to-1 of a list.
type part struct{ from, to int32 }

// lists are the lists of all plans, one after the other. Thousands of small lists would cost more than the whole proof.
type lists struct {
	inputs []part   // for every input of a run, the part of serve with the copies that serve it
	serve  []copyID // copies
	drops  []copyID // copies
	after  []sim.SpanID
}

func (l *lists) inputsOf(p *stepPlan) []part { return l.inputs[p.inputs.from:p.inputs.to] }

func (l *lists) serving(p part) []copyID { return l.serve[p.from:p.to] }

// readsOf returns the copies that serve any input of a run.
func (l *lists) readsOf(p *stepPlan) []copyID {
	inputs := l.inputsOf(p)
	if len(inputs) == 0 {
		return nil
	}
	return l.serving(part{inputs[0].from, inputs[len(inputs)-1].to})
}

func (l *lists) dropsOf(p *stepPlan) []copyID { return l.drops[p.drops.from:p.drops.to] }

func (l *lists) afterOf(p *stepPlan) []sim.SpanID { return l.after[p.after.from:p.after.to] }

// walker is the state of all values after a step, regardless of times.
type walker struct {
	*checker
	own       []copyID           // by value: its own copy that is not freed, or noCopy
	was       []bool             // by value: it had a copy that is freed now
	lastOut   []sim.SpanID       // by value: its last offload, or NoSpan
	lastIn    []sim.SpanID       // by value: its last fetch, or NoSpan
	lastRun   []sim.SpanID       // by operation
	contained [][]engine.ValueID // by value: its parts, and theirs
}

// walk follows the schedule in its order. It finds the copies that serve every reader, and proves that every step
// can be carried out.
func (c *checker) walk() {
	n := len(c.g.Values)
	w := &walker{checker: c, own: make([]copyID, n), was: make([]bool, n),
		lastOut: make([]sim.SpanID, n), lastIn: make([]sim.SpanID, n),
		lastRun: slices.Repeat([]sim.SpanID{sim.NoSpan}, len(c.g.Ops)), contained: make([][]engine.ValueID, n)}
	c.plan = make([]stepPlan, len(c.s))
	c.copies = make([]devCopy, 0, n+3*len(c.t.Spans))
	c.lists.serve = make([]copyID, 0, 4*len(c.t.Spans))
	c.lists.inputs = make([]part, 0, 3*len(c.t.Spans))
	c.lists.drops = make([]copyID, 0, len(c.s)+len(c.t.Spans))
	for v := range c.g.Values {
		w.own[v], w.lastOut[v], w.lastIn[v] = noCopy, sim.NoSpan, sim.NoSpan
		for in := c.g.Values[v].PartOf; in != engine.NoValue; in = c.g.Values[in].PartOf {
			w.contained[in] = append(w.contained[in], engine.ValueID(v))
		}
		if c.g.Values[v].Initial&engine.OnDevice != 0 {
			w.add(engine.ValueID(v), w.category(engine.ValueID(v), false), sim.NoSpan)
		}
	}
	for i := range c.s {
		switch c.s[i].Kind {
		case engine.DoRun:
			if lanes.run != nil {
				lanes.run(w, i)
			} else {
				w.run(i)
			}
		case engine.DoFree:
			w.free(i)
		case engine.DoOffload:
			w.offload(i)
		case engine.DoFetch:
			w.fetch(i)
		default:
			v := c.s[i].Value
			w.waitFor(i, w.lastOut[v], w.lastIn[v])
		}
	}
}

// waitFor records the spans that must have ended before step i. It ignores NoSpan.
func (w *walker) waitFor(i int, ids ...sim.SpanID) {
	l := &w.lists
	from := len(l.after)
	for _, id := range ids {
		if id != sim.NoSpan {
			l.after = append(l.after, id)
		}
	}
	w.plan[i].after = part{int32(from), int32(len(l.after))}
}

// category returns the category of a value's memory. again says that the value is computed again.
func (c *checker) category(v engine.ValueID, again bool) sim.Category {
	switch {
	case c.g.Values[v].Kind == engine.KindGradient:
		return sim.Gradient
	case c.g.Values[v].Kind == engine.KindWeight, c.g.Values[v].Kind == engine.KindState:
		return sim.Fixed
	case again:
		return sim.Recomputed
	}
	return sim.Activation
}

func (w *walker) add(v engine.ValueID, cat sim.Category, from sim.SpanID) copyID {
	id := copyID(len(w.copies))
	w.copies = append(w.copies, devCopy{value: v, op: engine.NoOp, size: w.g.Values[v].Size, cat: cat, from: from,
		offload: sim.NoSpan, freedBy: -1})
	w.own[v] = id
	return id
}

// drop frees the value's own copy at step i.
func (w *walker) drop(v engine.ValueID, i int) {
	id := w.own[v]
	w.copies[id].freedBy = i
	w.lists.drops = append(w.lists.drops, id)
	w.own[v], w.was[v] = noCopy, true
}

// input returns the copies that a reader of v may read.
func (w *walker) input(v engine.ValueID) part {
	l := &w.lists
	from := len(l.serve)
	for ; v != engine.NoValue; v = w.g.Values[v].PartOf {
		if w.own[v] != noCopy {
			l.serve = append(l.serve, w.own[v])
		}
	}
	return part{int32(from), int32(len(l.serve))}
}

func (w *walker) run(i int) {
	op, plan, id, l := &w.g.Ops[w.s[i].Op], &w.plan[i], w.spanOf[i], &w.lists
	plan.inputs.from = int32(len(l.inputs))
	for _, v := range op.In {
		ids := w.input(v)
		if ids.from == ids.to {
			reason, found := InputAbsent, "no copy of "+w.g.Values[v].Name
			for u := v; u != engine.NoValue; u = w.g.Values[u].PartOf {
				if w.was[u] {
					reason, found = ReadAfterFree, w.g.Values[v].Name+" freed before"
				}
			}
			w.atStep(reason, i, w.span(id).Start, found, "every input of "+w.name(i)+" on the device")
		}
		l.inputs = append(l.inputs, ids)
	}
	plan.inputs.to = int32(len(l.inputs))
	work := op.Temp
	if w.s[i].Alt {
		work = op.Alt.Temp
	}
	w.copies = append(w.copies, devCopy{value: engine.NoValue, op: w.s[i].Op, size: work, cat: sim.Workspace,
		from: id, offload: sim.NoSpan, freedBy: i})
	temp := len(w.copies) - 1
	plan.makes.from, plan.drops.from, plan.need = int32(temp), int32(len(l.drops)), work
	l.drops = append(l.drops, copyID(temp))
	outs := written(op, w.s[i].OutputOnly)
	// Older copies of the outputs and of their parts are freed at the end of the run.
	for _, v := range outs {
		if old := w.own[v]; old != noCopy && w.copies[old].from != id {
			w.drop(v, i)
		}
		for _, u := range w.contained[v] {
			if old := w.own[u]; old != noCopy && w.copies[old].from != id && !w.arriving(old, w.span(id).End) {
				w.drop(u, i)
			}
		}
	}
	plan.drops.to = int32(len(l.drops))
	for _, v := range outs {
		w.add(v, w.category(v, w.span(id).Kind == sim.SpanRecompute), id)
		plan.need += w.g.Values[v].Size
	}
	plan.makes.to = int32(len(w.copies))
}

// arriving reports whether a copy is still being fetched at a time, so that it cannot be freed.
func (w *walker) arriving(id copyID, at time.Duration) bool {
	cp := &w.copies[id]
	return cp.fetched && w.span(cp.from).End > at
}

func (w *walker) free(i int) {
	v := w.s[i].Value
	if w.own[v] == noCopy {
		w.atStep(FreeAbsent, i, 0, w.name(i), "a value that is on the device")
	}
	n := int32(len(w.lists.drops))
	w.plan[i].drops = part{n, n + 1}
	w.drop(v, i)
}

func (w *walker) offload(i int) {
	v, id := w.s[i].Value, w.spanOf[i]
	if w.own[v] == noCopy {
		reason := OffloadAbsent
		if w.was[v] {
			reason = ReadAfterFree
		}
		w.atStep(reason, i, w.span(id).Start, w.name(i), "a value that is on the device")
	}
	w.plan[i].source = w.own[v]
	w.copies[w.own[v]].offload = id
	w.lastOut[v] = id
}

func (w *walker) fetch(i int) {
	v, id := w.s[i].Value, w.spanOf[i]
	at := w.span(id).Start
	if w.own[v] != noCopy {
		w.atStep(FetchResident, i, at, w.name(i), "a value that is not on the device")
	}
	if w.lastOut[v] != sim.NoSpan {
		w.waitFor(i, w.lastOut[v])
	} else if w.g.Values[v].Initial&engine.OnHost == 0 {
		w.atStep(NoHostCopy, i, at, w.name(i), "a value that the host has")
	}
	cp := w.add(v, w.category(v, false), id) // a fetched value counts as an activation even if it was recomputed
	w.copies[cp].fetched = true
	w.plan[i].makes = part{int32(cp), int32(cp) + 1}
	w.lastIn[v] = id
}

// checkTimes proves that no span starts before the counter, the lane, the data and the earliest start allow it.
func (c *checker) checkTimes() {
	c.reach = make([]time.Duration, len(c.s)+1)
	var now time.Duration
	lastOf := slices.Repeat([]sim.SpanID{sim.NoSpan}, int(sim.NumLanes))
	for i := range c.s {
		kind := c.s[i].Kind
		c.reach[i] = now
		if kind == engine.DoWait {
			for _, id := range c.lists.afterOf(&c.plan[i]) {
				now = max(now, c.span(id).End)
			}
		}
		if !hasSpan(kind) {
			continue
		}
		c.checkStart(i, lastOf)
		sp := c.at(i)
		lastOf[sp.Lane] = c.spanOf[i]
		if c.computes(i) {
			now = sp.End
		}
	}
	c.reach[len(c.s)] = now
}

// checkStart compares one start with the counter, the lane, the data and the window.
func (c *checker) checkStart(i int, lastOf []sim.SpanID) {
	sp, st := c.at(i), &c.s[i]
	late := func(r Reason, until time.Duration, why string) {
		c.atStep(r, i, sp.Start, fmt.Sprintf("%s at %v", c.name(i), sp.Start),
			fmt.Sprintf("no start before %v, %s", until, why))
	}
	if sp.Start < c.reach[i] {
		late(StepOrder, c.reach[i], "when the schedule gets there")
	}
	if last := lastOf[sp.Lane]; last != sim.NoSpan && sp.Start < c.span(last).End {
		late(LaneOverlap, c.span(last).End, "when the lane is free")
	}
	if st.Kind == engine.DoRun {
		for k, ids := range c.lists.inputsOf(&c.plan[i]) {
			if ready := c.readyAt(ids); sp.Start < ready {
				late(InputNotReady, ready, "when "+c.g.Values[c.g.Ops[st.Op].In[k]].Name+" is there")
			}
		}
	} else if c.p.Device.Duplex == engine.HalfDuplex {
		other := lastOf[sim.ToHost+sim.ToDev-sp.Lane]
		if other != sim.NoSpan && sp.Start < c.span(other).End {
			late(HalfDuplexBroken, c.span(other).End, "when the other direction is over")
		}
	}
	for _, id := range c.lists.afterOf(&c.plan[i]) {
		if before := c.span(id); sp.Start < before.End {
			if st.Kind == engine.DoRun && slices.Contains(c.g.Ops[st.Op].After, before.Op) {
				late(NotAfter, before.End, "when "+c.name(before.Step)+" is over")
			}
			late(HostCopyNotReady, before.End, "when the copy to the host is over")
		}
	}
	if sp.Start < st.NotBefore {
		late(BeforeWindow, st.NotBefore, "its earliest start")
	}
}

// readyAt returns when the first of the copies is whole, or 0 for no copies.
func (c *checker) readyAt(ids part) time.Duration {
	first := time.Duration(-1)
	for _, id := range c.lists.serving(ids) {
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
