package sim

import (
	"fmt"
	"time"

	"memtide/engine"
)

// Play runs a schedule and returns what happens. The error is a *StepError or a
// *StuckError; the budget of the problem is obeyed, the claims of a strategy
// are not looked at. The cost is linear in the steps, times the largest number
// of operands of an operation.
func Play(p *engine.Problem, s engine.Schedule) (*Trace, error) {
	pl := newPlayer(p, s)
	if free := pl.room(); free < 0 {
		return nil, &StuckError{Step: 0, What: "start", Reason: NeedsRoom, Need: pl.total(), Free: p.Budget}
	}
	for {
		if err := pl.settle(); err != nil {
			return nil, err
		}
		if pl.over() {
			break
		}
		next, ok := pl.nextEvent()
		if !ok {
			return nil, pl.stuck()
		}
		pl.advance(next)
	}
	if err := pl.incomplete(); err != nil {
		return nil, err
	}
	pl.finish()
	return pl.t, nil
}

// player is the state of a run of Play at one moment, now.
type player struct {
	p   *engine.Problem
	g   *engine.Graph
	s   engine.Schedule
	t   *Trace
	now time.Duration
	seq int // number of the next event: acquisitions and releases

	pc    int      // the step at which the counter stands
	run   *running // on the compute lane, nil if it stands still
	hold  hold     // why the counter stands, if it does
	gap   Gap      // the open gap; Reason None if there is none
	cause SpanID   // what let the counter come here: the last run, or the transfer of a Wait

	runs   []int // how often each operation ran
	made   []bool
	copies []*devCopy         // the usable device copy of each value, nil if there is none
	inner  [][]engine.ValueID // the values that are within a value

	used    [NumCategories]engine.Bytes
	release SpanID // the span that made room last

	link link
	host host
}

// running is the operation on the compute lane.
type running struct {
	span  SpanID
	outs  []*devCopy
	work  engine.Bytes // size of the temporaries
	temp  int          // index of their life, -1 if there are none
	until time.Duration
}

// hold says why the counter cannot go on.
type hold struct {
	reason Reason
	value  engine.ValueID
	need   engine.Bytes
}

func newPlayer(p *engine.Problem, s engine.Schedule) *player {
	n := len(p.Graph.Values)
	pl := &player{p: p, g: p.Graph, s: s, t: &Trace{}, cause: NoSpan, release: NoSpan,
		runs: make([]int, len(p.Graph.Ops)), made: make([]bool, n),
		copies: make([]*devCopy, n), inner: make([][]engine.ValueID, n)}
	pl.link = newLink(p, n)
	pl.host = newHost(p.Graph, s)
	pl.used[Fixed] = p.Graph.Fixed
	for i := range p.Graph.Values {
		v := &p.Graph.Values[i]
		if v.Within != engine.NoValue {
			pl.inner[v.Within] = append(pl.inner[v.Within], engine.ValueID(i))
		}
		if v.Initial&engine.OnDevice != 0 {
			c := pl.newCopy(engine.ValueID(i), kindCategory(v.Kind), NoSpan)
			pl.used[c.cat] += c.size
			c.whole = true
			pl.copies[i] = c
		}
	}
	pl.sample()
	return pl
}

// settle does everything that happens at this instant.
func (pl *player) settle() error {
	for changed := true; changed; {
		changed = pl.endDue()
		moved, err := pl.stepCounter()
		if err != nil {
			return err
		}
		changed = pl.startHeads() || moved || changed
	}
	pl.setRates()
	pl.noteGap()
	return nil
}

// over tells whether the schedule has been played to its end.
func (pl *player) over() bool { return pl.pc == len(pl.s) && pl.run == nil && pl.link.idle() }

// nextEvent is the next moment at which anything can change.
func (pl *player) nextEvent() (next time.Duration, ok bool) {
	consider := func(at time.Duration, exists bool) {
		if exists && at > pl.now && (!ok || at < next) {
			next, ok = at, true
		}
	}
	if pl.run != nil {
		consider(pl.run.until, true)
	}
	for _, q := range pl.link.lanes() {
		if q.active != nil {
			consider(q.active.end())
		} else if len(q.queue) > 0 {
			consider(q.queue[0].notBefore, true)
		}
	}
	consider(pl.wall())
	if pl.run == nil && pl.hold.reason == NeedsRoom {
		consider(pl.roomAt(pl.hold.need))
	}
	return next, ok
}

// advance moves time on; streamed bytes move with it.
func (pl *player) advance(to time.Duration) {
	pl.now = to
	for _, q := range pl.link.lanes() {
		if tr := q.active; tr != nil {
			pl.account(tr)
		}
	}
	pl.sample()
}

// stepCounter lets the counter go as far as it can.
func (pl *player) stepCounter() (moved bool, err error) {
	for pl.run == nil && pl.pc < len(pl.s) {
		h, err := pl.step(&pl.s[pl.pc])
		if err != nil {
			return moved, err
		}
		pl.hold = h
		if h.reason != None {
			return moved, nil
		}
		pl.pc++
		moved = true
	}
	return moved, nil
}

// step carries out the step at the counter, or says why it has to wait.
func (pl *player) step(st *engine.Step) (hold, error) {
	if err := pl.checkIDs(st); err != nil {
		return hold{}, err
	}
	switch st.Kind {
	case engine.StepRun:
		return pl.stepRun(st)
	case engine.StepWait:
		return pl.stepWait(st)
	case engine.StepFree:
		c := pl.copies[st.Value]
		if c == nil {
			return hold{}, pl.fail("it is not on the device")
		}
		pl.release = pl.cause
		pl.forget(c)
		pl.sample()
		return hold{}, nil
	case engine.StepOffload:
		return hold{}, pl.queueOffload(st)
	default:
		return pl.stepFetch(st)
	}
}

func (pl *player) checkIDs(st *engine.Step) error {
	switch {
	case st.Kind > engine.StepWait:
		return pl.fail("there is no such step")
	case st.Kind == engine.StepRun && (st.Op < 0 || int(st.Op) >= len(pl.g.Ops)):
		return pl.fail("the graph has no such operation")
	case st.Kind != engine.StepRun && (st.Value < 0 || int(st.Value) >= len(pl.g.Values)):
		return pl.fail("the graph has no such value")
	case st.NotBefore < 0:
		return pl.fail("its earliest start is negative")
	}
	return nil
}

func (pl *player) stepWait(st *engine.Step) (hold, error) {
	switch {
	case pl.link.fetching[st.Value] != nil:
		return hold{reason: NeedsData, value: st.Value}, nil
	case pl.link.offloading[st.Value] != nil:
		return hold{reason: CopyOut, value: st.Value}, nil
	}
	pl.closeGap()
	return hold{}, nil
}

func (pl *player) stepRun(st *engine.Step) (hold, error) {
	op := &pl.g.Ops[st.Op]
	outs := op.Out
	if st.Lean {
		if outs = op.Lean; outs == nil {
			return hold{}, pl.fail("the operation cannot run lean")
		}
	}
	d, work := op.Time, op.Temp
	if st.Alt {
		if op.Alt == nil {
			return hold{}, pl.fail("the operation has no second way to run")
		}
		d, work = op.Alt.Time, op.Alt.Temp
	}
	for _, v := range op.In {
		switch ready, coming := pl.served(v); {
		case ready:
		case coming != engine.NoValue:
			return hold{reason: NeedsData, value: coming}, nil
		default:
			return hold{}, pl.fail("its input " + pl.g.Values[v].Name + " is not on the device")
		}
	}
	need := work
	for _, v := range outs {
		if pl.link.fetching[v] != nil {
			return hold{}, pl.fail("its output " + pl.g.Values[v].Name + " is being fetched")
		}
		need += pl.g.Values[v].Size
	}
	if need > pl.room() {
		return hold{reason: NeedsRoom, value: engine.NoValue, need: need}, nil
	}
	pl.startRun(st, outs, d, work)
	return hold{}, nil
}

// served tells whether a copy of v, or of a value that v is within, can be
// read; if not, coming is such a value that is being fetched.
func (pl *player) served(v engine.ValueID) (ready bool, coming engine.ValueID) {
	coming = engine.NoValue
	for ; v != engine.NoValue; v = pl.g.Values[v].Within {
		if c := pl.copies[v]; c != nil {
			return true, engine.NoValue
		}
		if pl.link.fetching[v] != nil && coming == engine.NoValue {
			coming = v
		}
	}
	return false, coming
}

// startRun puts an operation on the compute lane for d, with work bytes of
// temporaries.
func (pl *player) startRun(st *engine.Step, outs []engine.ValueID, d time.Duration, work engine.Bytes) {
	pl.closeGap()
	op := &pl.g.Ops[st.Op]
	sp := Span{Lane: Compute, Kind: SpanForward, Lean: st.Lean, Alt: st.Alt, Step: pl.pc, Op: st.Op, Value: engine.NoValue,
		Start: pl.now, End: pl.now + d, Why: None, Cause: pl.cause}
	if pl.cause != NoSpan {
		sp.Why = Dependency
	}
	if n := len(pl.t.Gaps); n > 0 && pl.t.Gaps[n-1].End == pl.now && pl.t.Gaps[n-1].Cause == pl.cause {
		sp.Why = pl.t.Gaps[n-1].Reason
	}
	again := pl.runs[st.Op] > 0
	if op.Pass == engine.Backward {
		sp.Kind = SpanBackward
	} else if again {
		sp.Kind = SpanRecompute
	}
	id := pl.addSpan(sp)
	r := &running{span: id, work: work, until: sp.End, temp: -1}
	for _, v := range outs {
		cat := kindCategory(pl.g.Values[v].Kind)
		if cat == Activation && sp.Kind == SpanRecompute {
			cat = Recomputed
		}
		c := pl.newCopy(v, cat, id)
		pl.used[cat] += c.size
		r.outs = append(r.outs, c)
	}
	if work > 0 {
		r.temp = pl.openLife(Life{Value: engine.NoValue, Op: st.Op, Category: Workspace, Bytes: work, From: id})
		pl.used[Workspace] += work
	}
	pl.sample()
	pl.run = r
}

func (pl *player) endRun() {
	r := pl.run
	pl.run = nil
	pl.runs[pl.t.Spans[r.span].Op]++
	pl.cause, pl.release = r.span, r.span
	if r.temp >= 0 {
		pl.used[Workspace] -= r.work
		pl.closeLife(r.temp)
	}
	for _, c := range r.outs {
		if old := pl.copies[c.value]; old != nil {
			pl.forget(old)
		}
		for _, v := range pl.inner[c.value] {
			if part := pl.copies[v]; part != nil {
				pl.forget(part) // merged: a^k is part of the new abar^k
			}
		}
		c.whole = true
		pl.copies[c.value] = c
		pl.made[c.value] = true
	}
	pl.sample()
}

// endDue ends what is over by now.
func (pl *player) endDue() (any bool) {
	if pl.run != nil && pl.run.until == pl.now {
		pl.endRun()
		any = true
	}
	for _, q := range pl.link.lanes() {
		if q.active == nil {
			continue
		}
		if end, ok := q.active.end(); ok && end <= pl.now {
			pl.endTransfer(q)
			any = true
		}
	}
	return any
}

func (pl *player) addSpan(s Span) SpanID {
	pl.t.Spans = append(pl.t.Spans, s)
	return SpanID(len(pl.t.Spans) - 1)
}

func (pl *player) fail(why string) error {
	return &StepError{Step: pl.pc, What: pl.s[pl.pc].Describe(pl.g), Why: why}
}

// incomplete says what the schedule has left undone, nil if nothing.
func (pl *player) incomplete() error {
	end := func(why string) error { return &StepError{Step: len(pl.s), What: "end of the schedule", Why: why} }
	if d := pl.g.Done; d != engine.NoValue {
		if !pl.made[d] {
			return end("the step is not complete: " + pl.g.Values[d].Name + " was never computed")
		}
		return nil
	}
	for i, n := range pl.runs {
		if n == 0 {
			return end("the step is not complete: " + pl.g.Ops[i].Name + " never ran")
		}
	}
	return nil
}

func (pl *player) stuck() error {
	e := &StuckError{Step: pl.pc, What: "end of the schedule", At: pl.now, Reason: pl.hold.reason, Need: pl.hold.need, Free: pl.room()}
	if pl.pc < len(pl.s) {
		e.What = pl.s[pl.pc].Describe(pl.g)
	} else {
		e.Reason = Drain
	}
	for _, q := range pl.link.lanes() {
		if tr := q.active; tr != nil {
			e.Heads = append(e.Heads, fmt.Sprintf("%s stands still for want of room", pl.s[tr.step].Describe(pl.g)))
		} else if len(q.queue) > 0 {
			e.Heads = append(e.Heads, fmt.Sprintf("%s %s", pl.s[q.queue[0].step].Describe(pl.g), q.queue[0].why))
		}
	}
	return e
}
