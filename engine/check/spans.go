package check

import (
	"cmp"
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

// checkLives compares the lives with the copies of the replay. Lives of no bytes may be left out.
func (c *checker) checkLives() {
	want, got := c.expectedLives(), make([]*sim.Life, 0, len(c.t.Lives))
	for i := range c.t.Lives {
		if l := &c.t.Lives[i]; l.Bytes != 0 {
			got = append(got, l)
		}
	}
	inOrder(want)
	inOrder(got)
	for k := range max(len(want), len(got)) {
		if k >= len(want) {
			c.life(got[k], c.showLife(got[k]), "no such life")
		}
		if k >= len(got) {
			c.life(want[k], "no such life", c.showLife(want[k]))
		}
		w, g := want[k], got[k]
		w.StartSeq, w.EndSeq = g.StartSeq, g.EndSeq // checkSequence checks these
		if *g != *w {
			c.life(g, c.showLife(g), c.showLife(w))
		}
	}
	c.checkSequence(got)
}

// expectedLives returns the lives of the copies that have bytes.
func (c *checker) expectedLives() []*sim.Life {
	lives := make([]sim.Life, len(c.copies))
	want := make([]*sim.Life, 0, len(c.copies))
	for i := range c.copies {
		cp, l := &c.copies[i], &lives[i]
		if cp.size <= 0 {
			continue
		}
		*l = sim.Life{Value: cp.value, Op: cp.op, Category: cp.cat, Bytes: cp.size, Start: cp.start, End: cp.end,
			From: cp.from, Offloaded: cp.offload != sim.NoSpan}
		if !cp.gone {
			l.End = c.t.Makespan
		}
		want = append(want, l)
	}
	return want
}

// inOrder sorts lives by span, operation, value and start. Most are in that order already.
func inOrder(lives []*sim.Life) {
	slices.SortStableFunc(lives, func(a, b *sim.Life) int {
		if a.From != b.From {
			return cmp.Compare(a.From, b.From)
		}
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Start, b.Start))
	})
}

func (c *checker) life(l *sim.Life, found, want string) {
	c.refute(WrongLives, -1, l.From, l.Start, found, want)
}

func (c *checker) showLife(l *sim.Life) string {
	what := "temporaries"
	switch {
	case l.Value >= 0 && int(l.Value) < len(c.g.Values):
		what = c.g.Values[l.Value].Name
	case l.Op >= 0 && int(l.Op) < len(c.g.Ops):
		what += " of " + c.g.Ops[l.Op].Name
	}
	return fmt.Sprintf("%s of %s (%v, from span %d, offloaded %v) from %v to %v", what, count(l.Bytes), l.Category,
		l.From, l.Offloaded, l.Start, l.End)
}

// checkSequence adds the lives up in the order of their sequence numbers. The times must ascend in this order, and
// the largest sum must be the peak of the trace. For streamed transfers the sum is not compared, because lives fill
// gradually.
func (c *checker) checkSequence(lives []*sim.Life) {
	for _, l := range lives {
		if l.EndSeq <= l.StartSeq {
			c.life(l, fmt.Sprintf("events %d to %d", l.StartSeq, l.EndSeq), "an end after its start")
		}
	}
	var last time.Duration
	sum, most := c.g.Fixed, c.g.Fixed
	for _, e := range eventsOf(lives) {
		at := e.life.Start
		if e.bytes < 0 {
			at = e.life.End
		}
		if at < last {
			c.life(e.life, fmt.Sprintf("event %d at %v after one at %v", e.seq, at, last),
				"events in the order of time")
		}
		last = at
		sum += e.bytes
		most = max(most, sum)
	}
	if !c.streamed() && most != c.t.Peak {
		c.atTime(WrongLives, c.t.PeakAt, "lives of at most "+count(most)+" at once", count(c.t.Peak))
	}
}

// event is the start or the end of a life.
type event struct {
	seq   int
	bytes engine.Bytes // added to the memory in use
	life  *sim.Life
}

// eventsOf returns the starts and ends of lives by their sequence number, ends first.
func eventsOf(lives []*sim.Life) []event {
	events := make([]event, 0, 2*len(lives))
	for _, l := range lives {
		events = append(events, event{l.StartSeq, l.Bytes, l}, event{l.EndSeq, -l.Bytes, l})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.bytes, b.bytes))
	})
	return events
}
