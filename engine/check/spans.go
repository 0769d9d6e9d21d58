package check

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// checkSpans finds the span of every step and compares the two.
func (c *checker) checkSpans() {
	c.spanOf = slices.Repeat([]sim.SpanID{sim.NoSpan}, len(c.s))
	for i := range c.t.Spans {
		sp, id := &c.t.Spans[i], sim.SpanID(i)
		if sp.Step < 0 || sp.Step >= len(c.s) || !hasSpan(c.s[sp.Step].Kind) {
			c.refute(BadSpan, -1, id, sp.Start, fmt.Sprintf("a span of step %d", sp.Step),
				"a run, an offload or a fetch of the schedule")
		}
		if other := c.spanOf[sp.Step]; other != sim.NoSpan {
			c.refute(RepeatedStep, sp.Step, id, sp.Start,
				fmt.Sprintf("spans %d and %d for %s", other, i, c.name(sp.Step)), "one span")
		}
		c.spanOf[sp.Step] = id
		if sp.Start < 0 || sp.End < sp.Start {
			c.refute(BadSpan, sp.Step, id, sp.Start, fmt.Sprintf("a span from %v to %v", sp.Start, sp.End),
				"a start from 0 on and an end after it")
		}
		if i > 0 && c.t.Spans[i-1].Start > sp.Start {
			c.refute(SpanOrder, sp.Step, id, sp.Start,
				fmt.Sprintf("a start after that of the span before it, at %v", c.t.Spans[i-1].Start),
				"spans in the order of their start")
		}
	}
	ran := make([]bool, len(c.g.Ops))
	for i := range c.s {
		if !hasSpan(c.s[i].Kind) {
			continue
		}
		if c.spanOf[i] == sim.NoSpan {
			c.refute(MissingStep, i, sim.NoSpan, 0, "no span for "+c.name(i), "one span")
		}
		c.checkIdentity(i, ran)
		c.checkDuration(i)
	}
}

// checkIdentity compares the lane, the kind and the operation or value of a span with its step. ran says which
// operations ran before, and is updated.
func (c *checker) checkIdentity(i int, ran []bool) {
	st, sp := &c.s[i], c.at(i)
	want := identity{op: engine.NoOp, value: st.Value}
	switch st.Kind {
	case engine.DoOffload:
		want.lane, want.kind = sim.ToHost, sim.SpanOffload
	case engine.DoFetch:
		want.lane, want.kind = sim.ToDev, sim.SpanFetch
	default:
		want = identity{lane: sim.Compute, op: st.Op, value: engine.NoValue, lean: st.OutputOnly, alt: st.Alt}
		switch lane := c.g.Ops[st.Op].Lane; {
		case lane == engine.LaneNetwork:
			want.lane, want.kind = sim.Network, sim.SpanNetwork
		case lane == engine.LaneCPU:
			want.lane, want.kind = sim.CPU, sim.SpanCPU
		case c.g.Ops[st.Op].Pass == engine.Backward:
			want.kind = sim.SpanBackward
		case ran[st.Op]:
			want.kind = sim.SpanRecompute
		}
		ran[st.Op] = true
	}
	if got := (identity{sp.Lane, sp.Kind, sp.OutputOnly, sp.Alt, sp.Op, sp.Value}); got != want {
		c.atStep(BadSpan, i, sp.Start, got.String(), want.String()+" for "+c.name(i))
	}
}

// identity is the part of a span that its step determines.
type identity struct {
	lane      sim.Lane
	kind      sim.SpanKind
	lean, alt bool
	op        engine.OpID
	value     engine.ValueID
}

func (d identity) String() string {
	text := fmt.Sprintf("lane %d, kind %d, operation %d, value %d, output only %v", d.lane, d.kind, d.op, d.value,
		d.lean)
	if d.alt {
		text += ", by the second algorithm"
	}
	return text
}

// workOf returns how long a run or transfer takes when nothing holds it up.
func (c *checker) workOf(i int) time.Duration {
	switch st := &c.s[i]; st.Kind {
	case engine.DoRun:
		if st.Alt {
			return c.g.Ops[st.Op].Alt.Time
		}
		return c.g.Ops[st.Op].Time
	default:
		return c.rateOf(i).Time(c.g.Values[st.Value].Size)
	}
}

// checkDuration compares a span's length with its work. Only a streamed fetch without Reserve may be longer; the
// replay proves whether it had to be.
func (c *checker) checkDuration(i int) {
	sp, work := c.at(i), c.workOf(i)
	if st := &c.s[i]; st.Kind != engine.DoRun && c.g.Values[st.Value].Size > 0 && c.rateOf(i) <= 0 {
		c.atStep(NoLink, i, sp.Start, c.name(i),
			"no transfer: the device has no link to the host in that direction")
	}
	long := sp.End - sp.Start
	if long == work || long > work && c.streamed() && c.s[i].Kind == engine.DoFetch && !c.s[i].Reserve && work > 0 {
		return
	}
	c.atStep(WrongDuration, i, sp.Start, fmt.Sprintf("%v for %s", long, c.name(i)), fmt.Sprint(work))
}

func (c *checker) rateOf(i int) engine.Rate {
	if c.s[i].Kind == engine.DoOffload {
		return c.p.Device.ToHost
	}
	return c.p.Device.ToDev
}

// checkComplete proves that the schedule is a whole training step.
func (c *checker) checkComplete() {
	runs := make([]int, len(c.g.Ops))
	done := c.g.Done == engine.NoValue
	for i := range c.s {
		st := &c.s[i]
		if st.Kind != engine.DoRun {
			continue
		}
		op := &c.g.Ops[st.Op]
		runs[st.Op]++
		if op.Pass == engine.Backward && runs[st.Op] > 1 {
			c.atStep(BackwardTwice, i, c.at(i).Start, op.Name+" again", "every backward operation once")
		}
		if op.Once && runs[st.Op] > 1 {
			c.atStep(OnceTwice, i, c.at(i).Start, op.Name+" again", "an operation that must not run again once")
		}
		for _, v := range written(op, st.OutputOnly) {
			done = done || v == c.g.Done
		}
	}
	if !done {
		c.refute(Incomplete, len(c.s), sim.NoSpan, 0, "no run that writes "+c.g.Values[c.g.Done].Name,
			"a complete step")
	}
	for i, n := range runs {
		if op := &c.g.Ops[i]; n == 0 && c.g.Done == engine.NoValue {
			c.refute(Incomplete, len(c.s), sim.NoSpan, 0, "no run of "+op.Name, "a complete step")
		}
	}
}

func written(op *engine.Op, outputOnly bool) []engine.ValueID {
	if outputOnly {
		return op.OutputOnly
	}
	return op.Out
}

// checkMakespan compares the step time with the last end.
func (c *checker) checkMakespan() {
	var last time.Duration
	for i := range c.t.Spans {
		last = max(last, c.t.Spans[i].End)
	}
	if c.t.Makespan != last {
		c.atTime(WrongMakespan, c.t.Makespan, fmt.Sprint(c.t.Makespan), fmt.Sprint(last))
	}
}
