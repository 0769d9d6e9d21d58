package sim

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Play runs the schedule s within the budget of p and returns the trace, which belongs to the caller. p has to be
// valid; Play changes neither p nor s. On failure the trace is nil and the error is a *StepError or a *StuckError.
// The cost is linear in the number of steps, times the largest number of operands of an operation.
func Play(p *engine.Problem, s engine.Schedule) (*Trace, error) {
	pl := newPlayer(p, s)
	if free := pl.room(); free < 0 {
		return nil, &StuckError{Step: 0, What: "start", Reason: NeedsRoom, Need: pl.inUse, Free: p.Budget}
	}
	for {
		if err := pl.playInstant(); err != nil {
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

// player is the state of a run of Play at the time now.
type player struct {
	p   *engine.Problem
	g   *engine.Graph
	s   engine.Schedule
	t   *Trace
	now time.Duration
	seq int // number of the next event: acquisitions and releases

	pc    int      // the counter: the index of the next step
	run   *running // the operation on the compute lane, nil if the lane stands still
	hold  hold     // why the counter does not go on; the zero hold if it does
	gap   Gap      // the open gap; the zero Gap if no gap is open
	cause SpanID   // the span that let the counter get to pc: the last run, or the transfer of a Wait

	runs   []int   // how often each operation ran
	places []place // of each value

	used    [NumCategories]engine.Bytes
	inUse   engine.Bytes // the sum of used
	release SpanID       // the span that made room last

	link link
	jobs []*transfer  // by operation: its last run in another lane; nil if the graph has no other lanes
	host engine.Bytes // pinned host memory in use

	// Allocations dominate the cost of playing. So run always points to lane, and copies and transfers are
	// allocated in blocks: copies and moves are what remains of the present blocks.
	lane   running
	copies []devCopy
	moves  []transfer
}

// place is the state of a value.
type place struct {
	copy *devCopy // the usable device copy, or nil
	made bool     // a run has written the value

	// inner is the first value that is a part of this one. next is the next part of the value that contains this one.
	inner, next engine.ValueID

	// fetching and offloading bring a copy to the device or to the host, and are queued or under way: transfers, or
	// operations of another lane that make the copy. lastFetch and lastOffload are the latest of these to start,
	// for the causes of waits.
	fetching, offloading   *transfer
	lastFetch, lastOffload SpanID
	claims                 []*transfer // operations of other lanes that will read the copy when it has arrived

	onHost    bool // the host has a complete copy
	pinned    bool // pinned host memory is in use for the copy
	lastOfAll int  // the last step that fetches the value, -1 without fetches
}

// running is the operation on the compute lane.
type running struct {
	span  SpanID
	outs  []*devCopy
	work  engine.Bytes // size of the temporaries
	temp  int          // index of the temporaries' life, -1 without temporaries
	until time.Duration
}

// hold says why the counter cannot go on: value is the value that it waits for, and need the room.
type hold struct {
	reason Reason
	value  engine.ValueID
	need   engine.Bytes
}

func newPlayer(p *engine.Problem, s engine.Schedule) *player {
	pl := &player{p: p, g: p.Graph, s: s, t: &Trace{}, cause: NoSpan, release: NoSpan,
		runs: make([]int, len(p.Graph.Ops)), places: newPlaces(p.Graph)}
	others := p.Graph.HasLanes()
	pl.link = newLink(p, others)
	if others {
		pl.jobs = make([]*transfer, len(p.Graph.Ops))
	}
	pl.expect()
	pl.charge(Fixed, p.Graph.Fixed)
	for i := range p.Graph.Values {
		if v := &p.Graph.Values[i]; v.Initial&engine.OnDevice != 0 {
			c := pl.newCopy(engine.ValueID(i), kindCategory(v.Kind), NoSpan)
			pl.charge(c.cat, c.size)
			pl.places[i].copy = c
		}
	}
	pl.sample()
	return pl
}

func newPlaces(g *engine.Graph) []place {
	ps := slices.Repeat([]place{{inner: engine.NoValue, next: engine.NoValue, lastFetch: NoSpan, lastOffload: NoSpan,
		lastOfAll: -1}}, len(g.Values))
	for i := len(ps) - 1; i >= 0; i-- { // downwards, so that the parts of a value are linked in ascending order
		v, q := &g.Values[i], &ps[i]
		q.onHost = v.Initial&engine.OnHost != 0
		if v.PartOf != engine.NoValue {
			q.next, ps[v.PartOf].inner = ps[v.PartOf].inner, engine.ValueID(i)
		}
	}
	return ps
}

// expect reads the schedule once, to allocate the lists of the trace in their final size, and to find the last
// fetch of every value.
func (pl *player) expect() {
	spans, lives, frees := 0, len(pl.g.Values), 0
	for i := range pl.s {
		switch st := &pl.s[i]; {
		case st.Kind == engine.DoRun:
			spans++
			lives += 2 // an output and temporaries; a few have more
		case st.Kind == engine.DoOffload:
			spans++
		case st.Kind == engine.DoFetch:
			spans++
			lives++
			if st.Value >= 0 && int(st.Value) < len(pl.places) {
				pl.places[st.Value].lastOfAll = i
			}
		default:
			frees++
		}
	}
	if pl.jobs != nil && lanes.keep != nil {
		lanes.keep(pl)
	}
	pl.t.Spans = make([]Span, 0, spans)
	pl.t.Lives = make([]Life, 0, lives)
	pl.t.Memory = make([]Sample, 0, 2+3*spans+frees)
}

// playInstant plays everything that happens at the time now.
func (pl *player) playInstant() error {
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

// over reports whether the schedule has been played to its end.
func (pl *player) over() bool { return pl.pc == len(pl.s) && pl.run == nil && pl.link.idle() }

// nextEvent returns the next time at which anything can change. ok is false if nothing will.
func (pl *player) nextEvent() (next time.Duration, ok bool) {
	next = never
	if pl.run != nil {
		next = pl.sooner(next, pl.run.until, true)
	}
	for i := range pl.link.queues {
		if q := &pl.link.queues[i]; q.active != nil {
			end, ok := q.active.end()
			next = pl.sooner(next, end, ok)
		} else if q.head != nil {
			next = pl.sooner(next, q.head.notBefore, true)
		}
	}
	if pl.link.streamed {
		at, ok := pl.wall()
		next = pl.sooner(next, at, ok)
		if pl.run == nil && pl.hold.reason == NeedsRoom {
			at, ok = pl.roomAt(pl.hold.need)
			next = pl.sooner(next, at, ok)
		}
	}
	return next, next != never
}

// advance moves the time on, and the bytes of streamed transfers with it.
func (pl *player) advance(to time.Duration) {
	pl.now = to
	for i := range pl.link.queues {
		if tr := pl.link.queues[i].active; tr != nil {
			pl.account(tr)
		}
	}
	pl.sample()
}

// stepCounter moves the counter as far as it can go. It reports whether the counter has moved.
func (pl *player) stepCounter() (moved bool, err error) {
	for pl.run == nil && pl.pc < len(pl.s) {
		pl.hold, err = pl.step(&pl.s[pl.pc])
		if err != nil || pl.hold.reason != None {
			return moved, err
		}
		pl.pc++
		moved = true
	}
	return moved, nil
}

// step carries out the step at the counter, or returns why the step has to wait.
func (pl *player) step(st *engine.Instruction) (hold, error) {
	if err := pl.checkIDs(st); err != nil {
		return hold{}, err
	}
	switch st.Kind {
	case engine.DoRun:
		return pl.stepRun(st)
	case engine.DoWait:
		return pl.stepWait(st)
	case engine.DoFree:
		c := pl.places[st.Value].copy
		if c == nil {
			return hold{}, pl.fail("it is not on the device")
		}
		pl.release = pl.cause
		pl.forget(c)
		pl.sample()
		return hold{}, nil
	case engine.DoOffload:
		return hold{}, pl.queueOffload(st)
	default:
		return pl.stepFetch(st)
	}
}

func (pl *player) checkIDs(st *engine.Instruction) error {
	switch {
	case st.Kind > engine.DoWait:
		return pl.fail("there is no such step")
	case st.Kind == engine.DoRun && (st.Op < 0 || int(st.Op) >= len(pl.g.Ops)):
		return pl.fail("the graph has no such operation")
	case st.Kind != engine.DoRun && (st.Value < 0 || int(st.Value) >= len(pl.g.Values)):
		return pl.fail("the graph has no such value")
	case st.NotBefore < 0:
		return pl.fail("its earliest start is negative")
	}
	return nil
}

func (pl *player) stepWait(st *engine.Instruction) (hold, error) {
	switch at := &pl.places[st.Value]; {
	case at.fetching != nil:
		return hold{reason: NeedsData, value: st.Value}, nil
	case at.offloading != nil:
		return hold{reason: CopyOut, value: st.Value}, nil
	}
	pl.closeGap()
	return hold{}, nil
}

func (pl *player) stepRun(st *engine.Instruction) (hold, error) {
	op := &pl.g.Ops[st.Op]
	outs := op.Out
	if st.OutputOnly {
		outs = op.OutputOnly
		if outs == nil {
			return hold{}, pl.fail("the operation cannot keep only its output")
		}
	}
	d, work := op.Time, op.Temp
	if st.Alt {
		if op.Alt == nil {
			return hold{}, pl.fail("the operation has no second algorithm")
		}
		d, work = op.Alt.Time, op.Alt.Temp
	}
	if op.Lane != engine.LaneCompute {
		if lanes.queue == nil {
			return hold{}, pl.fail("this program does not play operations of other lanes")
		}
		return hold{}, lanes.queue(pl, st, op)
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
	if op.After != nil && lanes.after != nil {
		if wait, err := lanes.after(pl, op, nil); wait || err != nil {
			return hold{reason: NeedsData, value: engine.NoValue}, err
		}
	}
	need := work
	for _, v := range outs {
		if pl.places[v].fetching != nil {
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

// served reports whether a copy of v, or of a value that contains v, can be read. If not, coming is such a value
// that is being fetched, or NoValue.
func (pl *player) served(v engine.ValueID) (ready bool, coming engine.ValueID) {
	coming = engine.NoValue
	for ; v != engine.NoValue; v = pl.g.Values[v].PartOf {
		if pl.places[v].copy != nil {
			return true, engine.NoValue
		}
		if pl.places[v].fetching != nil && coming == engine.NoValue {
			coming = v
		}
	}
	return false, coming
}

// startRun starts the operation of st on the compute lane. It writes outs, takes d and needs work bytes of temporaries.
func (pl *player) startRun(st *engine.Instruction, outs []engine.ValueID, d time.Duration, work engine.Bytes) {
	pl.closeGap()
	op := &pl.g.Ops[st.Op]
	sp := Span{Lane: Compute, Kind: SpanForward, OutputOnly: st.OutputOnly, Alt: st.Alt, Step: pl.pc, Op: st.Op,
		Value: engine.NoValue, Start: pl.now, Why: None, Cause: pl.cause}
	sp.End, _ = after(pl.now, d)
	if pl.cause != NoSpan {
		sp.Why = Dependency
	}
	if n := len(pl.t.Gaps); n > 0 && pl.t.Gaps[n-1].End == pl.now && pl.t.Gaps[n-1].Cause == pl.cause {
		sp.Why = pl.t.Gaps[n-1].Reason
	}
	if op.Pass == engine.Backward {
		sp.Kind = SpanBackward
	} else if pl.runs[st.Op] > 0 {
		sp.Kind = SpanRecompute
	}
	id := pl.addSpan(sp)
	r := &pl.lane
	*r = running{span: id, outs: r.outs[:0], work: work, until: sp.End, temp: -1}
	for _, v := range outs {
		cat := kindCategory(pl.g.Values[v].Kind)
		if cat == Activation && sp.Kind == SpanRecompute {
			cat = Recomputed
		}
		c := pl.newCopy(v, cat, id)
		pl.charge(cat, c.size)
		r.outs = append(r.outs, c)
	}
	if work > 0 {
		r.temp = pl.openLife(Life{Value: engine.NoValue, Op: st.Op, Category: Workspace, Bytes: work, From: id})
		pl.charge(Workspace, work)
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
		pl.charge(Workspace, -r.work)
		pl.closeLife(r.temp)
	}
	for _, c := range r.outs {
		at := &pl.places[c.value]
		if at.copy != nil {
			pl.forget(at.copy)
		}
		for v := at.inner; v != engine.NoValue; v = pl.places[v].next {
			if part := pl.places[v].copy; part != nil {
				pl.forget(part) // merged: a^k is part of the new abar^k
			}
		}
		at.copy, at.made = c, true
	}
	pl.sample()
}

// endDue ends the runs and transfers that end now. It reports whether there were any.
func (pl *player) endDue() (any bool) {
	if pl.run != nil && pl.run.until == pl.now {
		pl.endRun()
		any = true
	}
	for i := range pl.link.queues {
		q := &pl.link.queues[i]
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

// incomplete returns an error if the schedule has ended before the training step was complete.
func (pl *player) incomplete() error {
	end := func(why string) error { return &StepError{Step: len(pl.s), What: "end of the schedule", Why: why} }
	if d := pl.g.Done; d != engine.NoValue {
		if !pl.places[d].made {
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

// stuck returns the error for a schedule that is not over while nothing can go on.
func (pl *player) stuck() error {
	if step, ok := pl.endless(); ok {
		return &StepError{Step: step, What: pl.s[step].Describe(pl.g),
			Why: "it would end more than 292 years after the step began, which is beyond what can be counted"}
	}
	e := &StuckError{Step: pl.pc, What: "end of the schedule", Reason: pl.hold.reason, Need: pl.hold.need,
		Free: pl.room()}
	if pl.pc < len(pl.s) {
		e.What = pl.s[pl.pc].Describe(pl.g)
	} else {
		e.Reason = Drain
	}
	for i := range pl.link.queues {
		q := &pl.link.queues[i]
		if tr := q.active; tr != nil {
			e.Heads = append(e.Heads, fmt.Sprintf("%s stands still for want of room", pl.s[tr.step].Describe(pl.g)))
		} else if q.head != nil {
			e.Heads = append(e.Heads, fmt.Sprintf("%s %s", pl.s[q.head.step].Describe(pl.g), q.head.why))
		}
	}
	return e
}
