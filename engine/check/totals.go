package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkCauses proves that the cause of every span held it back until it started.
func (c *checker) checkCauses() {
	lastRun := sim.NoSpan
	var holds []sim.SpanID                                                 // what held the counter last
	lastMove := slices.Repeat([]sim.SpanID{sim.NoSpan}, int(sim.NumLanes)) // by queue
	for i := range c.s {
		kind := c.s[i].Kind
		if kind == engine.DoWait || kind == engine.DoFetch {
			holds = c.heldBy(i, holds)
		}
		if !hasSpan(kind) {
			continue
		}
		sp := c.at(i)
		if sp.Cause != sim.NoSpan && (sp.Cause < 0 || int(sp.Cause) >= len(c.t.Spans)) || sp.Why >= sim.NumReasons {
			c.atStep(WrongCause, i, sp.Start, fmt.Sprintf("%d, span %d", sp.Why, sp.Cause),
				"a reason and a span that exist")
		}
		queue := sp.Lane
		if queue == sim.ToDev && c.p.Device.Duplex == engine.HalfDuplex {
			queue = sim.ToHost
		}
		var good bool
		if c.computes(i) {
			good = c.runCause(sp, lastRun)
			lastRun = c.spanOf[i]
			holds = append(holds[:0], lastRun)
		} else {
			good = c.moveCause(i, sp, append(holds, lastMove[queue]))
			lastMove[queue] = c.spanOf[i]
		}
		if !good {
			c.atStep(WrongCause, i, sp.Start, fmt.Sprintf("%v, span %d", sp.Why, sp.Cause),
				"what ended when it started")
		}
	}
}

// heldBy returns the spans that may have let the counter go at step i, a wait or a fetch with Reserve. If the step
// did not hold the counter, the earlier spans, holds, are among them.
func (c *checker) heldBy(i int, holds []sim.SpanID) []sim.SpanID {
	if c.reach[i+1] > c.reach[i] {
		holds = holds[:0]
	}
	if c.s[i].Kind == engine.DoFetch {
		if k, ok := c.gapUntil(c.reach[i+1]); ok && c.t.Gaps[k].Step == i {
			holds = append(holds, c.t.Gaps[k].Cause)
		}
		return holds
	}
	for _, id := range c.lists.afterOf(&c.plan[i]) {
		if c.span(id).End == c.reach[i+1] {
			holds = append(holds, id)
		}
	}
	return holds
}

// gapUntil returns the index of the gap that ends at a time, and whether there is one.
func (c *checker) gapUntil(at time.Duration) (int, bool) {
	return slices.BinarySearchFunc(c.t.Gaps, at,
		func(g sim.Gap, at time.Duration) int { return cmp.Compare(g.End, at) })
}

// runCause reports whether the cause of a run is the run before it or the gap before it.
func (c *checker) runCause(sp *sim.Span, lastRun sim.SpanID) bool {
	if sp.Start == 0 && lastRun == sim.NoSpan || sp.Start == 0 && sp.Why == sim.None {
		return sp.Why == sim.None && sp.Cause == sim.NoSpan
	}
	if lastRun != sim.NoSpan && c.span(lastRun).End == sp.Start {
		return sp.Why == sim.Dependency && sp.Cause == lastRun
	}
	i, ok := c.gapUntil(sp.Start)
	return ok && sp.Why == c.t.Gaps[i].Reason && sp.Cause == c.t.Gaps[i].Cause
}

// moveCause reports whether the cause of a transfer or queued operation is its earliest start, one of the spans
// before it on its lane or on the counter, a copy to the host, or a span that made room.
func (c *checker) moveCause(i int, sp *sim.Span, before []sim.SpanID) bool {
	if sp.Why == sim.None {
		return sp.Start == 0 && sp.Cause == sim.NoSpan
	}
	if sp.Why == sim.Window {
		return sp.Start == c.s[i].NotBefore && sp.Cause == sim.NoSpan
	}
	if sp.Cause == sim.NoSpan || c.span(sp.Cause).Step >= i && c.p.Device.Duplex == engine.HalfDuplex &&
		copies(sp.Lane) && copies(c.span(sp.Cause).Lane) {
		return false
	}
	cause := c.span(sp.Cause)
	onTime := cause.End == sp.Start
	switch sp.Why {
	case sim.Dependency: // what made room for a fetch that reserved it, byte by byte, may go on
		return (onTime || c.streamed() && cause.End > sp.Start && sp.Start == c.reach[i+1]) &&
			slices.Contains(before, sp.Cause)
	case sim.CopyOut:
		return onTime && cause.Kind == sim.SpanOffload
	case sim.NeedsRoom:
		return (sp.Kind == sim.SpanFetch || sp.Kind == sim.SpanNetwork) &&
			(onTime || c.streamed() && cause.Start <= sp.Start && sp.Start <= cause.End)
	}
	return onTime && sp.Why == sim.NeedsData && (copies(sp.Lane) || lanes.needs(c, i, sp.Cause))
}

// checkTotals compares the totals of the trace with the sums over its spans and gaps.
func (c *checker) checkTotals() {
	var first, again time.Duration
	var waiting [sim.NumReasons]time.Duration
	for i := range c.t.Spans {
		sp := &c.t.Spans[i]
		switch sp.Kind {
		case sim.SpanRecompute:
			again += sp.End - sp.Start
		case sim.SpanForward, sim.SpanBackward:
			first += sp.End - sp.Start
		}
	}
	for i := range c.t.Gaps {
		g := &c.t.Gaps[i]
		waiting[g.Reason] += g.End - g.Start
	}
	t := c.t
	if t.ComputeTime != first || t.RecomputeTime != again || t.Waiting != waiting {
		c.atTime(WrongTotals, 0,
			fmt.Sprintf("compute %v, recompute %v, waiting %v", t.ComputeTime, t.RecomputeTime, t.Waiting),
			fmt.Sprintf("compute %v, recompute %v, waiting %v", first, again, waiting))
	}
}

// checkDecisions compares the decisions with the spans. A stage is recomputed if its forward runs again, and
// offloaded if its output or its saved activations are.
func (c *checker) checkDecisions() {
	want := make([]sim.Decision, c.g.Stages)
	set := func(stage int, d sim.Decision) {
		if stage >= 1 && stage <= len(want) {
			want[stage-1] |= d
		}
	}
	for i := range c.t.Spans {
		switch sp := &c.t.Spans[i]; sp.Kind {
		case sim.SpanRecompute:
			set(c.g.Ops[sp.Op].Stage, sim.Recompute)
		case sim.SpanOffload:
			if v := &c.g.Values[sp.Value]; v.Kind == engine.KindActivation {
				set(v.Stage, sim.Offload)
			}
		}
	}
	if len(c.t.Decisions) != len(want) {
		c.atTime(WrongDecisions, 0, fmt.Sprintf("%d decisions", len(c.t.Decisions)), fmt.Sprint(len(want)))
	}
	for k, d := range c.t.Decisions {
		if d != want[k] {
			c.atTime(WrongDecisions, 0, fmt.Sprintf("decision %d for stage %d", d, k+1), fmt.Sprint(want[k]))
		}
	}
}
