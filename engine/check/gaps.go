package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkGaps proves that runs and gaps cover the step without overlap, and that every gap names what held the
// counter.
func (c *checker) checkGaps() *Refutation {
	var at time.Duration
	next := 0
	gapsUntil := func(end time.Duration) *Refutation {
		for ; at < end; next++ {
			if next >= len(c.t.Gaps) || c.t.Gaps[next].Start != at || c.t.Gaps[next].End > end ||
				c.t.Gaps[next].End <= at {
				found := "no gap"
				if next < len(c.t.Gaps) {
					found = fmt.Sprintf("a gap from %v to %v", c.t.Gaps[next].Start, c.t.Gaps[next].End)
				}
				return c.refute(GapMissing, -1, sim.NoSpan, at, found, fmt.Sprintf("gaps from %v to %v", at, end))
			}
			if r := c.checkGap(&c.t.Gaps[next]); r != nil {
				return r
			}
			at = c.t.Gaps[next].End
		}
		return nil
	}
	for i := range c.s {
		if !c.computes(i) {
			continue
		}
		if r := gapsUntil(c.at(i).Start); r != nil {
			return r
		}
		at = c.at(i).End
	}
	if r := gapsUntil(c.t.Makespan); r != nil {
		return r
	}
	if next < len(c.t.Gaps) {
		g := &c.t.Gaps[next]
		return c.refute(GapMissing, -1, sim.NoSpan, g.Start,
			fmt.Sprintf("one more gap from %v to %v", g.Start, g.End), "no other gaps")
	}
	return nil
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

func (c *checker) checkGap(g *sim.Gap) *Refutation {
	wrong := func(r Reason, found, want string) *Refutation {
		return c.refute(r, g.Step, sim.NoSpan, g.Start, found, want)
	}
	if g.Step < 0 || g.Step > len(c.s) || g.Start < c.reach[g.Step] || g.End > c.heldUntil(g.Step) {
		return wrong(GapReason, fmt.Sprintf("a gap until %v at step %d", g.End, g.Step),
			"the step that held the counter")
	}
	if g.Cause < 0 || int(g.Cause) >= len(c.t.Spans) || c.span(g.Cause).Lane == sim.Compute {
		return wrong(GapCause, fmt.Sprintf("span %d", g.Cause), "the transfer that ended the gap")
	}
	cause := c.span(g.Cause)
	if g.Reason != sim.NeedsRoom && g.Need != 0 {
		return wrong(GapReason, "a need of "+count(g.Need), "none: it is not room that is missing")
	}
	switch {
	case g.Step == len(c.s):
	case c.s[g.Step].Kind == engine.DoRun && g.Reason != sim.NeedsRoom:
		return c.checkDataGap(g, wrong)
	case c.s[g.Step].Kind != engine.DoWait:
		return c.checkRoomGap(g, wrong)
	}
	if cause.End != g.End {
		return wrong(GapCause, fmt.Sprintf("span %d, which ends at %v", g.Cause, cause.End),
			fmt.Sprintf("a transfer that ends at %v", g.End))
	}
	if g.Step == len(c.s) {
		if g.Reason != sim.Drain || g.Value != cause.Value && g.Value != engine.NoValue {
			return wrong(GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value), "transfers that end")
		}
		return nil
	}
	want := sim.NeedsData
	if cause.Kind == sim.SpanOffload || cause.Kind == sim.SpanCPU {
		want = sim.CopyOut
	}
	if !slices.Contains(c.lists.afterOf(&c.plan[g.Step]), g.Cause) {
		return wrong(GapCause, fmt.Sprintf("span %d", g.Cause), "a transfer that "+c.name(g.Step)+" is for")
	}
	if g.Value != c.s[g.Step].Value || g.Reason != want {
		return wrong(GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value),
			fmt.Sprintf("%v of value %d", want, c.s[g.Step].Value))
	}
	return nil
}

// checkDataGap checks the gap of a run that waits for an input.
func (c *checker) checkDataGap(g *sim.Gap, wrong func(Reason, string, string) *Refutation) *Refutation {
	found := fmt.Sprintf("%v of value %d", g.Reason, g.Value)
	if g.Reason != sim.NeedsData {
		return wrong(GapReason, found, "missing data or room")
	}
	if g.Value == engine.NoValue && lanes.orderGap != nil {
		return lanes.orderGap(c, g, wrong)
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
			return wrong(GapReason, found,
				fmt.Sprintf("a reason why it stood still after %v, when that value was there", ready))
		}
		for _, id := range c.lists.serving(ids) {
			if c.copies[id].from == g.Cause && c.span(g.Cause).End == g.End {
				return nil
			}
		}
		return wrong(GapCause, fmt.Sprintf("span %d", g.Cause),
			fmt.Sprintf("the fetch that brought it at %v", c.readyAt(ids)))
	}
	return wrong(GapReason, found, "an input of "+c.name(g.Step))
}

// checkRoomGap checks the gap of a run that has its data and waits for room, or of a fetch with Reserve, which
// waits for room only.
func (c *checker) checkRoomGap(g *sim.Gap, wrong func(Reason, string, string) *Refutation) *Refutation {
	run := c.s[g.Step].Kind == engine.DoRun
	if g.Reason != sim.NeedsRoom {
		return wrong(GapReason, fmt.Sprintf("%v of value %d", g.Reason, g.Value), "missing room")
	}
	for k, ids := range c.lists.inputsOf(&c.plan[g.Step]) {
		if ready := c.readyAt(ids); ready > g.Start {
			return wrong(GapReason, "missing room",
				fmt.Sprintf("missing %s, which comes at %v", c.g.Values[c.g.Ops[c.s[g.Step].Op].In[k]].Name, ready))
		}
	}
	for _, id := range c.lists.afterOf(&c.plan[g.Step]) {
		if end := c.span(id).End; run && end > g.Start {
			return wrong(GapReason, "missing room",
				fmt.Sprintf("waiting for %s, which ends at %v", c.name(c.span(id).Step), end))
		}
	}
	if g.Value != engine.NoValue {
		return wrong(GapReason, fmt.Sprintf("missing room and value %d", g.Value), "no value")
	}
	i, ok := slices.BinarySearchFunc(c.waits, g.Start,
		func(w waited, at time.Duration) int { return cmp.Compare(w.at, at) })
	if !ok || c.waits[i].step != g.Step {
		return wrong(GapReason, "missing room", "a moment at which there was none")
	}
	if w := c.waits[i]; g.Need > w.missing+w.slack || g.Need < w.missing-w.slack {
		return wrong(GapReason, count(g.Need)+" missing", count(w.missing))
	}
	if cause := c.span(g.Cause); cause.Kind != sim.SpanOffload && cause.Kind != sim.SpanNetwork ||
		!c.letsGo(g.Cause, g.End) {
		return wrong(GapCause, fmt.Sprintf("span %d", g.Cause), fmt.Sprintf("what makes room at %v", g.End))
	}
	return nil
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
