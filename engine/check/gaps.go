package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkGaps proves that runs and gaps cover the step without overlap, and that every gap names what held the counter.
func (c *checker) checkGaps() {
	var at time.Duration
	next := 0
	gapsUntil := func(end time.Duration) {
		for ; at < end; next++ {
			if next >= len(c.t.Gaps) || c.t.Gaps[next].Start != at || c.t.Gaps[next].End > end ||
				c.t.Gaps[next].End <= at {
				found := "no gap"
				if next < len(c.t.Gaps) {
					found = fmt.Sprintf("a gap from %v to %v", c.t.Gaps[next].Start, c.t.Gaps[next].End)
				}
				c.atTime(GapMissing, at, found, fmt.Sprintf("gaps from %v to %v", at, end))
			}
			c.checkGap(&c.t.Gaps[next])
			at = c.t.Gaps[next].End
		}
	}
	for i := range c.s {
		if !c.computes(i) {
			continue
		}
		gapsUntil(c.at(i).Start)
		at = c.at(i).End
	}
	gapsUntil(c.t.Makespan)
	if next < len(c.t.Gaps) {
		g := &c.t.Gaps[next]
		c.atTime(GapMissing, g.Start,
			fmt.Sprintf("one more gap from %v to %v", g.Start, g.End), "no other gaps")
	}
}

// heldUntil returns when the counter leaves a step.
func (c *checker) heldUntil(step int) time.Duration {
	switch {
	case step == len(c.s):
		return c.t.Makespan
	case c.computes(step):
		return c.at(step).Start
	}
	return c.reach[step+1]
}

// badGap ends the proof with a refutation about a gap.
func (c *checker) badGap(g *sim.Gap, r Reason, found, want string) {
	c.refute(r, g.Step, sim.NoSpan, g.Start, found, want)
}

// checkGap proves that a gap names the step, the reason and the cause that held the counter.
func (c *checker) checkGap(g *sim.Gap) {
	if g.Step < 0 || g.Step > len(c.s) || g.Start < c.reach[g.Step] || g.End > c.heldUntil(g.Step) {
		c.badGap(g, GapReason, fmt.Sprintf("a gap until %v at step %d", g.End, g.Step),
			"the step that held the counter")
	}
	if g.Cause < 0 || int(g.Cause) >= len(c.t.Spans) || c.span(g.Cause).Lane == sim.Compute {
		c.badGap(g, GapCause, fmt.Sprintf("span %d", g.Cause), "the transfer that ended the gap")
	}
	cause := c.span(g.Cause)
	if g.Reason != sim.NeedsRoom && g.Need != 0 {
		c.badGap(g, GapReason, "a need of "+count(g.Need), "none: it is not room that is missing")
	}
	switch {
	case g.Step == len(c.s):
	case c.s[g.Step].Kind == engine.DoRun && g.Reason != sim.NeedsRoom:
		c.checkDataGap(g)
		return
	case c.s[g.Step].Kind != engine.DoWait:
		c.checkRoomGap(g)
		return
	}
	if cause.End != g.End {
		c.badGap(g, GapCause, fmt.Sprintf("span %d, which ends at %v", g.Cause, cause.End),
			fmt.Sprintf("a transfer that ends at %v", g.End))
	}
	if g.Step == len(c.s) {
		if g.Reason != sim.Drain || g.Value != cause.Value && g.Value != engine.NoValue {
			c.badGap(g, GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value), "transfers that end")
		}
		return
	}
	want := sim.NeedsData
	if cause.Kind == sim.SpanOffload || cause.Kind == sim.SpanCPU {
		want = sim.CopyOut
	}
	if !slices.Contains(c.lists.afterOf(&c.plan[g.Step]), g.Cause) {
		c.badGap(g, GapCause, fmt.Sprintf("span %d", g.Cause), "a transfer that "+c.name(g.Step)+" is for")
	}
	if g.Value != c.s[g.Step].Value || g.Reason != want {
		c.badGap(g, GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value),
			fmt.Sprintf("%v of value %d", want, c.s[g.Step].Value))
	}
}

// checkDataGap checks the gap of a run that waits for an input.
func (c *checker) checkDataGap(g *sim.Gap) {
	found := fmt.Sprintf("%v of value %d", g.Reason, g.Value)
	if g.Reason != sim.NeedsData {
		c.badGap(g, GapReason, found, "missing data or room")
	}
	if g.Value == engine.NoValue && lanes.orderGap != nil {
		lanes.orderGap(c, g)
		return
	}
	for k, ids := range c.lists.inputsOf(&c.plan[g.Step]) {
		named := c.g.Ops[c.s[g.Step].Op].In[k] == g.Value
		for _, id := range c.lists.serving(ids) {
			named = named || c.copies[id].value == g.Value
		}
		if !named {
			continue
		}
		if ready := c.readyAt(ids); ready < g.End {
			c.badGap(g, GapReason, found,
				fmt.Sprintf("a reason why it stood still after %v, when that value was there", ready))
		}
		for _, id := range c.lists.serving(ids) {
			if c.copies[id].from == g.Cause && c.span(g.Cause).End == g.End {
				return
			}
		}
		c.badGap(g, GapCause, fmt.Sprintf("span %d", g.Cause),
			fmt.Sprintf("the fetch that brought it at %v", c.readyAt(ids)))
	}
	c.badGap(g, GapReason, found, "an input of "+c.name(g.Step))
}

// checkRoomGap checks the gap of a run that has its data and waits for room, or of a fetch with Reserve, which
// waits for room only.
func (c *checker) checkRoomGap(g *sim.Gap) {
	run := c.s[g.Step].Kind == engine.DoRun
	if g.Reason != sim.NeedsRoom {
		c.badGap(g, GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value), "missing room")
	}
	for k, ids := range c.lists.inputsOf(&c.plan[g.Step]) {
		if ready := c.readyAt(ids); ready > g.Start {
			c.badGap(g, GapReason, "missing room",
				fmt.Sprintf("missing %s, which comes at %v", c.g.Values[c.g.Ops[c.s[g.Step].Op].In[k]].Name, ready))
		}
	}
	for _, id := range c.lists.afterOf(&c.plan[g.Step]) {
		if end := c.span(id).End; run && end > g.Start {
			c.badGap(g, GapReason, "missing room",
				fmt.Sprintf("waiting for %s, which ends at %v", c.name(c.span(id).Step), end))
		}
	}
	if g.Value != engine.NoValue {
		c.badGap(g, GapReason, fmt.Sprintf("missing room and value %d", g.Value), "no value")
	}
	i, ok := slices.BinarySearchFunc(c.waits, g.Start,
		func(w waited, at time.Duration) int { return cmp.Compare(w.at, at) })
	if !ok || c.waits[i].step != g.Step {
		c.badGap(g, GapReason, "missing room", "a moment at which there was none")
	}
	if w := c.waits[i]; g.Need > w.missing+w.slack || g.Need < w.missing-w.slack {
		c.badGap(g, GapReason, count(g.Need)+" missing", count(w.missing))
	}
	if cause := c.span(g.Cause); cause.Kind != sim.SpanOffload && cause.Kind != sim.SpanNetwork ||
		!c.letsGo(g.Cause, g.End) {
		c.badGap(g, GapCause, fmt.Sprintf("span %d", g.Cause), fmt.Sprintf("what makes room at %v", g.End))
	}
}

// letsGo reports whether the span id, an offload or an operation of the network, gives room back at a time.
func (c *checker) letsGo(id sim.SpanID, at time.Duration) bool {
	sp := c.span(id)
	if sp.Kind == sim.SpanNetwork {
		return sp.End == at && lanes.endsUse(c, sp)
	}
	src := &c.copies[c.plan[sp.Step].source]
	if c.readAfter(src, at) || !src.freed || src.freedBy >= 0 && c.heldUntil(src.freedBy) > at &&
		c.s[src.freedBy].Kind == engine.DoFree {
		return false
	}
	if c.streamed() {
		return sp.Start <= at && at <= sp.End
	}
	return sp.End == at
}
