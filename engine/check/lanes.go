package check

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// This file checks operations of the network and of the host's CPU. They are queued like transfers, and the counter
// goes on.

// lanes holds the functions of this file that the rest of the package calls. They are nil in programs that do not
// call LinkLanes, so that the linker drops them.
var lanes struct {
	run      func(w *walker, i int)
	needs    func(c *checker, i int, id sim.SpanID) bool
	endsUse  func(c *checker, sp *sim.Span) bool
	start    func(r *replayer, q, i int)
	end      func(r *replayer, i int)
	orderGap func(c *checker, g *sim.Gap)
}

// LinkLanes adds other lanes to the program. Package engine/lanes calls it.
func LinkLanes() {
	lanes.run, lanes.needs, lanes.endsUse = (*walker).runIn, (*checker).needs, (*checker).endsUse
	lanes.start, lanes.end, lanes.orderGap = (*replayer).startQueued, (*replayer).endQueued, (*checker).checkOrderGap
}

// computes reports whether a step runs on the compute lane, so that it holds the counter.
func (c *checker) computes(i int) bool {
	return c.s[i].Kind == engine.DoRun && c.g.Ops[c.s[i].Op].Lane == engine.LaneCompute
}

// copies reports whether a lane belongs to the host link.
func copies(lane sim.Lane) bool { return lane == sim.ToHost || lane == sim.ToDev }

// runIn is walker.run for graphs with other lanes. It also checks Op.After.
func (w *walker) runIn(i int) {
	id, op := w.spanOf[i], &w.g.Ops[w.s[i].Op]
	var after []sim.SpanID
	for _, a := range op.After {
		if w.lastRun[a] == sim.NoSpan {
			w.atStep(NotAfter, i, w.span(id).Start, w.name(i)+" without "+w.g.Ops[a].Name,
				"a run of that before")
		}
		after = append(after, w.lastRun[a])
	}
	w.lastRun[w.s[i].Op] = id
	if op.Lane == engine.LaneCompute {
		w.waitFor(i, after...)
		w.run(i)
		return
	}
	w.absent(i, op)
	if op.Lane == engine.LaneCPU {
		for _, v := range op.In {
			if w.lastOut[v] == sim.NoSpan && w.g.Values[v].Initial&engine.OnHost == 0 {
				w.atStep(NoHostCopy, i, w.span(id).Start, w.name(i)+" reads "+w.g.Values[v].Name,
					"a value that the host has")
			}
			after = append(after, w.lastOut[v])
		}
		for _, v := range op.Out {
			w.lastOut[v] = id
		}
		w.waitFor(i, after...)
		return
	}
	w.waitFor(i, after...)
	w.run(i)
	for _, cp := range w.lists.readsOf(&w.plan[i]) {
		w.copies[cp].readers = append(w.copies[cp].readers, id)
	}
	for _, v := range op.Out {
		w.lastIn[v] = id
	}
}

// absent proves that no output of an operation of another lane exists yet.
func (w *walker) absent(i int, op *engine.Op) {
	for _, v := range op.Out {
		onHost := w.lastOut[v] != sim.NoSpan || w.g.Values[v].Initial&engine.OnHost != 0
		if w.own[v] != noCopy || op.Lane == engine.LaneCPU && onHost {
			w.atStep(OutputThere, i, w.at(i).Start, w.g.Values[v].Name+" there before "+w.name(i),
				"a value that is not there")
		}
	}
}

// needs reports whether the operation of step i has to wait for span id, because of an input or of Op.After.
func (c *checker) needs(i int, id sim.SpanID) bool {
	brought := func(cp copyID) bool { return c.copies[cp].from == id }
	return slices.Contains(c.lists.afterOf(&c.plan[i]), id) ||
		slices.ContainsFunc(c.lists.readsOf(&c.plan[i]), brought)
}

// readAfter reports whether an operation of another lane reads a copy after the time at.
func (c *checker) readAfter(cp *devCopy, at time.Duration) bool {
	return slices.ContainsFunc(cp.readers, func(id sim.SpanID) bool { return c.span(id).End > at })
}

// endsUse reports whether the end of an operation of the network makes room: by its temporaries, or by a freed copy
// that nothing else reads.
func (c *checker) endsUse(sp *sim.Span) bool {
	return c.g.Ops[sp.Op].Temp > 0 || slices.ContainsFunc(c.lists.readsOf(&c.plan[sp.Step]), func(id copyID) bool {
		cp := &c.copies[id]
		return cp.gone && cp.end == sp.End && !c.readAfter(cp, sp.End)
	})
}

// nextHead returns the lane whose head is the first step after the step last, or -1 if there is no such lane.
func (r *replayer) nextHead(last int) int {
	best := -1
	for q, steps := range r.queues {
		if k := r.head[q]; k < len(steps) && steps[k] > last &&
			(best < 0 || steps[k] < r.queues[best][r.head[best]]) {
			best = q
		}
	}
	return best
}

// startQueued starts the operation of step i at the head of lane q, or proves that it could not start.
func (r *replayer) startQueued(q, i int) {
	plan := &r.plan[i]
	if !r.inputsWhole(i) || r.missing(plan.need) > 0 {
		return
	}
	if sp := r.at(i); sp.Start > r.now {
		r.atStep(TransferLate, i, r.now, fmt.Sprintf("%s at %v", r.name(i), sp.Start),
			fmt.Sprintf("a start at %v: lane, data and room are there", r.now))
	}
	for id := copyID(plan.makes.from); id < copyID(plan.makes.to); id++ {
		r.appear(id, r.copies[id].size)
	}
	r.begin(i)
	r.moving[q] = true
}

// endQueued ends an operation of another lane. Its outputs can be read, and inputs that were freed meanwhile leave.
func (r *replayer) endQueued(i int) {
	plan := &r.plan[i]
	for id := copyID(plan.makes.from); id < copyID(plan.makes.to); id++ {
		r.copies[id].whole = true
	}
	for _, id := range r.lists.dropsOf(plan) {
		r.giveUp(id)
	}
	for _, id := range r.lists.readsOf(plan) {
		if r.copies[id].freed {
			r.shrink(id)
		}
	}
}

// checkOrderGap checks the gap of a run that has its data and waits for an operation of Op.After.
func (c *checker) checkOrderGap(g *sim.Gap) {
	for k, ids := range c.lists.inputsOf(&c.plan[g.Step]) {
		if ready := c.readyAt(ids); ready > g.Start {
			c.badGap(g, GapReason, "waiting for no value",
				fmt.Sprintf("missing %s, which comes at %v", c.g.Values[c.g.Ops[c.s[g.Step].Op].In[k]].Name, ready))
		}
	}
	var last time.Duration
	for _, id := range c.lists.afterOf(&c.plan[g.Step]) {
		last = max(last, c.span(id).End)
	}
	if last != g.End || c.span(g.Cause).End != last || !slices.Contains(c.lists.afterOf(&c.plan[g.Step]), g.Cause) {
		c.badGap(g, GapCause, fmt.Sprintf("span %d", g.Cause),
			fmt.Sprintf("the last that %s comes after, which ends at %v", c.name(g.Step), last))
	}
}
