// Package check proves or refutes traces of pipelines. It is the second opinion on the results of pipeline.Play: it
// implements the meaning of an order, see package pipeline, but shares no code with the player, only the types of a
// Trace.
//
// Trace takes starts and ends from the trace and derives everything else from the definition. It proves that every
// pass and copy of the order runs once, in its lane and in order, for its time; that the results that it waits for
// had arrived; that no rank ever holds more than its limit; and that nothing started later than it could: at every
// instant before its start it was not its turn, its data had not arrived, or its bytes did not fit. It also proves
// the step time, the peaks and the busy times.
//
// Without an order it proves less: that a trace breaks no rule. That is for traces that may start passes later than
// they could.
package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// key identifies a pass, without Joined.
type key struct {
	kind         pipeline.Kind
	micro, stage int
}

// taken is a number of bytes that a rank allocates at an instant; it is negative if they are freed.
type taken struct {
	at    time.Duration
	bytes engine.Bytes
	turn  int // order within the instant: 0 freed by a copy, 1 by or for a pass, 2 for a copy out, 3 for a copy back
}

// proof holds what is derived from a trace.
type proof struct {
	p     *pipeline.Problem
	t     *pipeline.Trace
	spans map[key][]pipeline.Span
	uses  [][]taken // by rank, in order of time
}

// Trace proves that a trace is how an order runs. Without an order it proves that the trace breaks no rule.
func Trace(p *pipeline.Problem, order [][]pipeline.Pass, t *pipeline.Trace) error {
	c, err := valid(p, t)
	if err != nil || order == nil {
		return err
	}
	if err := c.follows(order); err != nil {
		return err
	}
	for r := range order {
		if err := cmp.Or(c.early(r), c.lanes(r, order[r])); err != nil {
			return err
		}
	}
	return nil
}

// valid proves that a trace is a step that breaks no rule.
func valid(p *pipeline.Problem, t *pipeline.Trace) (*proof, error) {
	c := &proof{p: p, t: t, spans: map[key][]pipeline.Span{}, uses: make([][]taken, p.Ranks)}
	if err := c.read(); err != nil {
		return nil, err
	}
	for s := range p.Stages {
		for m := range p.Micro[p.Stages[s].Path] {
			if err := c.micro(s, m); err != nil {
				return nil, err
			}
		}
	}
	return c, c.memory()
}

// read collects the spans. It proves their lengths, that a rank runs one pass at a time, and the sums.
func (c *proof) read() error {
	var end time.Duration
	for r := range c.p.Ranks {
		var busy, until time.Duration
		spans := c.t.Ranks[r]
		for i := 0; i < len(spans); i++ {
			x := spans[i]
			want := c.length(x.Pass)
			parts := spans[i : i+1]
			if x.Joined {
				parts = spans[i : i+2]
				want += c.length(parts[1].Pass)
				if c.p.Pair != nil {
					want = c.p.Pair(x.Pass, parts[1].Pass)
				}
				i++
			}
			receives := time.Duration(0)
			for _, y := range parts {
				if c.p.Stages[y.Stage].Rank != r || y.Start != x.Start || y.End-y.Start != want {
					return fmt.Errorf("%v runs on rank %d from %d to %d; want rank %d and a length of %d", y.Pass, r,
						y.Start, y.End, c.p.Stages[y.Stage].Rank, want)
				}
				receives = max(receives, c.blocking(c.from(y.Pass)))
			}
			if x.Start-receives < until {
				return fmt.Errorf("%v starts at %d, while rank %d is busy until %d", x.Pass, x.Start, r, until)
			}
			until, busy, end = x.End, busy+want, max(end, x.End)
			for _, y := range parts {
				until = max(until, x.End+c.blocking(c.to(y.Pass)))
				k := key{y.Kind, y.Micro, y.Stage}
				c.spans[k] = append(c.spans[k], y)
				c.use(r, y, receives)
			}
		}
		for _, x := range c.t.Copies[r] {
			if c.p.Stages[x.Stage].Rank != r || x.End-x.Start != c.length(x.Pass) {
				return fmt.Errorf("%v runs on rank %d from %d to %d", x.Pass, r, x.Start, x.End)
			}
			end = max(end, x.End)
			k := key{x.Kind, x.Micro, x.Stage}
			c.spans[k] = append(c.spans[k], x)
			c.use(r, x, 0)
		}
		if busy != c.t.Busy[r] {
			return fmt.Errorf("rank %d is busy for %d; want %d", r, c.t.Busy[r], busy)
		}
	}
	if end != c.t.Makespan {
		return fmt.Errorf("the step takes %d; its last pass or copy ends at %d", c.t.Makespan, end)
	}
	return nil
}

// length returns the time of a pass by itself, or of a copy.
func (c *proof) length(x pipeline.Pass) time.Duration {
	st := &c.p.Stages[x.Stage]
	if x.Kind == pipeline.Out || x.Kind == pipeline.In {
		return map[pipeline.Kind]time.Duration{pipeline.Out: st.Out, pipeline.In: st.In}[x.Kind]
	}
	if c.p.Cost != nil {
		return c.p.Cost(x)
	}
	switch x.Kind {
	case pipeline.Inputs:
		return st.Inputs
	case pipeline.Weights:
		return st.Weights
	case pipeline.Backward:
		return cmp.Or(st.Whole, st.Inputs+st.Weights)
	}
	return st.Forward
}

// from and to return the message that a pass waits for and the one that it sends: the stage whose Comm is the time of
// the message, or -1 if there is no message.
func (c *proof) from(x pipeline.Pass) int { return c.message(x, false) }
func (c *proof) to(x pipeline.Pass) int   { return c.message(x, true) }

func (c *proof) message(x pipeline.Pass, out bool) int {
	forward := x.Kind == pipeline.Forward || x.Kind == pipeline.Dropped
	if !forward && x.Kind != pipeline.Backward && x.Kind != pipeline.Inputs {
		return -1
	}
	at := x.Stage // the message between this stage and the one before
	if forward == out {
		at++
	}
	if at == 0 || at == len(c.p.Stages) || c.p.Stages[at-1].Path != c.p.Stages[at].Path {
		return -1
	}
	return at
}

// blocking returns how long a message keeps its ranks busy.
func (c *proof) blocking(at int) time.Duration {
	if at < 0 || c.p.Messages != pipeline.Blocking {
		return 0
	}
	return c.p.Stages[at].Comm
}

// use records the bytes that a span allocates and frees.
func (c *proof) use(r int, x pipeline.Span, receives time.Duration) {
	st := &c.p.Stages[x.Stage]
	take, give, turn := engine.Bytes(0), engine.Bytes(0), 1
	switch x.Kind {
	case pipeline.Forward:
		take, give = st.Act+st.FwdTemp, st.FwdTemp
	case pipeline.Dropped:
		take, give = st.Input+st.FwdTemp, st.FwdTemp
	case pipeline.Again:
		take, give = st.Act-st.Input+st.FwdTemp, st.FwdTemp
	case pipeline.Backward:
		take, give = st.InputsTemp, st.InputsTemp+st.Act
	case pipeline.Inputs: // Act becomes Rest
		take, give = st.InputsTemp, st.InputsTemp+st.Act-st.Rest
		if st.Rest > st.Act {
			take, give = st.InputsTemp+st.Rest-st.Act, st.InputsTemp
		}
	case pipeline.Weights:
		take, give = st.WeightsTemp, st.WeightsTemp+st.Rest
	case pipeline.Out:
		give, turn = st.Off, 2
	case pipeline.In:
		take, turn = st.Off, 3
	}
	gives := taken{x.End, -give, 0}
	if turn == 1 { // passes of no time allocate and free in their order
		gives.turn = 1
	}
	c.uses[r] = append(c.uses[r], taken{x.Start - receives, take, turn}, gives)
}

// once returns the span of a pass, and false if there is none or more than one.
func (c *proof) once(k pipeline.Kind, m, s int) (pipeline.Span, bool) {
	list := c.spans[key{k, m, s}]
	if len(list) != 1 {
		return pipeline.Span{}, false
	}
	return list[0], true
}

// micro proves that a micro batch runs through a stage by the rules.
func (c *proof) micro(s, m int) error {
	fail := func(what string) error { return fmt.Errorf("micro batch %d at stage %d: %s", m, s, what) }
	f, ok := c.forward(s, m)
	_, wholes := c.once(pipeline.Backward, m, s)
	b, ok2 := c.backward(s, m)
	w, late := c.once(pipeline.Weights, m, s)
	if !ok || !ok2 || wholes == late || len(c.spans[key{pipeline.Weights, m, s}]) > 1 {
		return fail("not one forward, and one backward or one of inputs with one of weights")
	}
	again := c.spans[key{pipeline.Again, m, s}]
	complete := f.End
	if f.Kind == pipeline.Dropped {
		if len(again) != 1 || again[0].Start < f.End {
			return fail("a dropped forward runs again once, after it")
		}
		complete = again[0].End
	} else if len(again) > 0 {
		return fail("a forward that was kept runs again")
	}
	outs, ins := c.spans[key{pipeline.Out, m, s}], c.spans[key{pipeline.In, m, s}]
	if len(outs) != len(ins) {
		return fail("not every copy to the host comes back")
	}
	for i := range outs {
		if outs[i].Start < complete || ins[i].Start < outs[i].End {
			return fail("a copy starts before its data is there")
		}
		complete = ins[i].End
	}
	if b.Start < complete || late && w.Start < b.End {
		return fail("a backward starts before what it needs has ended")
	}
	if at, known := c.arrived(f.Pass); !known || f.Start-c.blocking(c.from(f.Pass)) < at {
		return fail("the forward starts before its input has arrived")
	}
	if at, known := c.arrived(b.Pass); !known || b.Start-c.blocking(c.from(b.Pass)) < at {
		return fail("the backward starts before its gradient has arrived")
	}
	return nil
}

// forward returns the F or D of a micro batch.
func (c *proof) forward(s, m int) (pipeline.Span, bool) {
	return c.oneOf(pipeline.Forward, pipeline.Dropped, m, s)
}

// backward returns the A or B of a micro batch.
func (c *proof) backward(s, m int) (pipeline.Span, bool) {
	return c.oneOf(pipeline.Backward, pipeline.Inputs, m, s)
}

// oneOf returns the span of micro batch m at stage s that is of kind a or of kind b. It reports false if there is no
// such span, or one of each kind.
func (c *proof) oneOf(a, b pipeline.Kind, m, s int) (pipeline.Span, bool) {
	x, first := c.once(a, m, s)
	y, second := c.once(b, m, s)
	if second {
		x = y
	}
	return x, first != second
}

// arrived returns when the message that a pass waits for arrives, and false if it was not sent.
func (c *proof) arrived(x pipeline.Pass) (time.Duration, bool) {
	at := c.from(x)
	if at < 0 {
		return 0, true
	}
	var sender pipeline.Span
	var ok bool
	if x.Kind == pipeline.Forward || x.Kind == pipeline.Dropped {
		sender, ok = c.forward(x.Stage-1, x.Micro)
	} else {
		sender, ok = c.backward(x.Stage+1, x.Micro)
	}
	switch c.p.Messages {
	case pipeline.Latency:
		return sender.End + c.p.Stages[at].Comm, ok
	case pipeline.Queued:
		return c.queued(sender, c.p.Stages[x.Stage].Rank), ok
	}
	return sender.End, ok
}

// queued returns when the message of x to rank to arrives, after those that its rank has sent to the same rank before.
func (c *proof) queued(x pipeline.Span, to int) (free time.Duration) {
	for _, y := range c.t.Ranks[c.p.Stages[x.Stage].Rank] {
		at := c.to(y.Pass)
		if at < 0 {
			continue
		}
		receiver := at
		if at == y.Stage {
			receiver = at - 1
		}
		if c.p.Stages[receiver].Rank == to {
			free = max(free, y.End) + c.p.Stages[at].Comm
		}
		if y.Pass == x.Pass {
			return free
		}
	}
	return free
}

// memory proves that no rank holds more than its limit at any instant, and the peaks.
func (c *proof) memory() error {
	for r, uses := range c.uses {
		slices.SortStableFunc(uses, func(a, b taken) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.turn, b.turn))
		})
		fixed := c.fixed(r)
		now, peak := fixed, fixed
		for _, u := range uses {
			now += u.bytes
			peak = max(peak, now)
			if u.bytes > 0 && now > c.limit(r) {
				return fmt.Errorf("rank %d holds %d bytes at %d; its limit is %d", r, now, u.at, c.limit(r))
			}
		}
		if now != fixed {
			return fmt.Errorf("rank %d holds %d bytes at the end; want %d", r, now, fixed)
		}
		if peak != c.t.Peak[r] {
			return fmt.Errorf("rank %d is said to hold %d bytes at most; it holds %d", r, c.t.Peak[r], peak)
		}
	}
	return nil
}

func (c *proof) fixed(r int) engine.Bytes {
	if c.p.Fixed == nil {
		return 0
	}
	return c.p.Fixed[r]
}

func (c *proof) limit(r int) engine.Bytes {
	if c.p.Limit == nil {
		return engine.NoLimit
	}
	return c.p.Limit[r]
}
