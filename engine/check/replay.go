package check

import (
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// level is the memory in use after one event, by category.
type level [sim.NumCategories]engine.Bytes

func (l *level) total() (sum engine.Bytes) {
	for k := range l {
		sum += l[k]
	}
	return sum
}

// instant is a time at which something happened. levels[lo] was in use before it and levels[hi-1] after it; between
// them there is one level for every event.
type instant struct {
	at     time.Duration
	lo, hi int
	slack  engine.Bytes // how far the bytes in transfer may be off
}

// waited is a run, or a fetch with Reserve, that found no room.
type waited struct {
	at      time.Duration
	step    int
	missing engine.Bytes
	slack   engine.Bytes
}

// replayer follows the trace from instant to instant. It does not decide when something starts, but compares
// whether it could have started with whether it did.
type replayer struct {
	*checker
	now    time.Duration
	pc     int
	queues [][]int // the link's lanes, then network and CPU: steps in the order of the schedule
	head   []int   // by queue: index of the transfer that is next or under way
	moving []bool  // by queue
	run    bool    // the step at pc is running
	begun  []bool  // by span
	over   []bool  // by span
	nBegun int
	used   level
	seq    int
	arrive arrival
	taken  map[sim.SpanID]time.Duration // streamed only: when each fetch with Reserve took its room in the trace
}

// replay proves that everything starts when the rules say, and records the memory in use.
func (c *checker) replay() {
	r := &replayer{checker: c, begun: make([]bool, len(c.t.Spans)), over: make([]bool, len(c.t.Spans))}
	r.start()
	moments := r.moments()
	c.instants = make([]instant, 0, len(moments))
	c.levels = make([]level, 0, len(moments)+len(c.s)+len(c.t.Spans))
	for _, at := range moments {
		r.advance(at)
		lo, slack := len(c.levels), r.arrive.slack
		c.levels = append(c.levels, r.used)
		r.replayInstant()
		c.instants = append(c.instants, instant{at, lo, len(c.levels), slack})
		r.closeInstant()
	}
	if r.pc < len(c.s) {
		c.atStep(MissingStep, r.pc, r.now, "the end of the trace before "+c.name(r.pc), "all steps")
	}
}

// start sets up the queues, and the memory in use when the step begins.
func (r *replayer) start() {
	half := r.p.Device.Duplex == engine.HalfDuplex
	r.queues = make([][]int, 4)
	for i := range r.s {
		if kind := r.s[i].Kind; kind == engine.DoFetch && !half {
			r.queues[1] = append(r.queues[1], i)
		} else if kind == engine.DoFetch || kind == engine.DoOffload {
			r.queues[0] = append(r.queues[0], i)
		} else if kind == engine.DoRun && !r.computes(i) {
			lane := 2 + r.g.Ops[r.s[i].Op].Lane - engine.LaneNetwork
			r.queues[lane] = append(r.queues[lane], i)
		}
	}
	r.head, r.moving = make([]int, len(r.queues)), make([]bool, len(r.queues))
	r.used[sim.Fixed] = r.g.Fixed
	for i := range r.copies {
		if cp := &r.copies[i]; cp.from == sim.NoSpan {
			cp.whole, cp.bytes = true, cp.size
			r.used[cp.cat] += cp.size
		}
	}
	if !r.streamed() {
		return
	}
	r.taken = map[sim.SpanID]time.Duration{}
	for i := range r.t.Lives {
		l := &r.t.Lives[i]
		if id := l.From; id >= 0 && int(id) < len(r.t.Spans) && r.s[r.span(id).Step].Reserve &&
			l.Start <= r.t.Makespan {
			r.taken[id] = l.Start
		}
	}
}

// moments returns the times at which anything may change, in ascending order.
func (r *replayer) moments() []time.Duration {
	ts := make([]time.Duration, 1, 1+2*len(r.t.Spans))
	add := func(at time.Duration) {
		if at > 0 && at != ts[len(ts)-1] { // a run often starts when the run before it ends
			ts = append(ts, at)
		}
	}
	for i := range r.t.Spans {
		sp := &r.t.Spans[i]
		add(sp.Start)
		add(sp.End)
		if nb := r.s[sp.Step].NotBefore; nb <= r.t.Makespan {
			add(nb)
		}
		if r.streamed() && sp.Lane == sim.Compute && sp.Start > r.reach[sp.Step] {
			add(sp.Start - 1) // room grows steadily, so one nanosecond earlier there was not enough
		}
	}
	if r.streamed() {
		for _, at := range r.taken {
			add(at - 1)
		}
		for i := range r.t.Memory {
			if at := r.t.Memory[i].At; at <= r.t.Makespan {
				add(at)
			}
		}
	}
	slices.Sort(ts)
	return slices.Compact(ts)
}

// replayInstant replays one instant: ends, then the counter, then the lanes, until nothing changes.
func (r *replayer) replayInstant() {
	for {
		before := r.seq
		pc := r.pc
		r.ends()
		r.count()
		for q := r.nextHead(-1); q >= 0; {
			step := r.queues[q][r.head[q]]
			r.startHead(q)
			q = r.nextHead(step)
		}
		if r.seq == before && r.pc == pc {
			return
		}
	}
}

// event records the memory in use after a change.
func (r *replayer) event() {
	r.seq++
	r.levels = append(r.levels, r.used)
}

func (r *replayer) ends() {
	if r.run && r.at(r.pc).End == r.now {
		r.run, r.over[r.spanOf[r.pc]] = false, true
		plan := &r.plan[r.pc]
		for id := plan.makes.from; id < plan.makes.to; id++ {
			r.copies[id].whole = true
		}
		for _, id := range r.lists.dropsOf(plan) {
			if !r.copies[id].whole {
				r.endMoves() // an older copy may arrive at the time at which it leaves
			}
			if cp := &r.copies[id]; !cp.whole {
				r.atStep(FreeAbsent, r.pc, r.now,
					"a new "+r.g.Values[cp.value].Name+" while an older copy is still arriving",
					"copies that have arrived")
			}
			r.giveUp(id)
		}
		r.event()
		r.goOn()
	}
	r.endMoves()
}

// endMoves ends the transfers that end now.
func (r *replayer) endMoves() {
	for q, steps := range r.queues {
		if !r.moving[q] || r.at(steps[r.head[q]]).End != r.now {
			continue
		}
		i := steps[r.head[q]]
		r.moving[q], r.over[r.spanOf[i]] = false, true
		r.head[q]++
		if r.s[i].Kind == engine.DoRun {
			lanes.end(r, i)
		} else if r.s[i].Kind == engine.DoFetch {
			r.arrived(copyID(r.plan[i].makes.from))
		} else if cp := &r.copies[r.plan[i].source]; cp.freed {
			r.shrink(r.plan[i].source)
		}
		r.event()
	}
}

// count moves the counter as far as it can go.
func (r *replayer) count() {
	for r.pc < len(r.s) && !r.run {
		i := r.pc
		plan := &r.plan[i]
		switch r.s[i].Kind {
		case engine.DoRun:
			if !r.computes(i) {
				break // it is queued
			}
			if !r.tryRun(i) {
				return
			}
			continue
		case engine.DoWait:
			if r.pending(r.lists.afterOf(plan)) {
				return
			}
		case engine.DoFree:
			id := r.lists.dropsOf(plan)[0]
			if !r.copies[id].whole {
				r.atStep(FreeAbsent, i, r.now, r.name(i)+" while it is still arriving",
					"a value that is on the device")
			}
			r.giveUp(id)
			r.event()
		case engine.DoFetch:
			// A fetch with Reserve takes its room here, and holds the counter until there is room.
			if r.s[i].Reserve {
				size := r.g.Values[r.s[i].Value].Size
				missing := r.missing(size)
				if missing > r.arrive.slack || r.tooClose(missing, r.taken[r.spanOf[i]]) {
					return
				}
				r.appear(copyID(plan.makes.from), size)
				r.event()
			}
		case engine.DoOffload:
			if !r.copies[plan.source].whole {
				r.atStep(OffloadAbsent, i, r.now, r.name(i)+" while it is still arriving",
					"a value that is on the device")
			}
		}
		r.goOn()
	}
}

// goOn moves the counter to the next step, and records when. checkTimes could not know how long fetches with
// Reserve hold the counter.
func (r *replayer) goOn() {
	r.pc++
	r.reach[r.pc] = r.now
}

// lacks reports whether the step at the counter waits for room, and how much room it needs.
func (r *replayer) lacks() (need engine.Bytes, waits bool) {
	switch {
	case r.pc == len(r.s) || r.run:
	case r.computes(r.pc):
		return r.plan[r.pc].need, r.inputsWhole(r.pc)
	case r.s[r.pc].Reserve:
		return r.g.Values[r.s[r.pc].Value].Size, true
	}
	return 0, false
}

// inputsWhole reports whether the run of step i can read all its inputs now, and the operations that it comes after
// are over.
func (r *replayer) inputsWhole(i int) bool {
	whole := func(id copyID) bool { return r.copies[id].whole }
	for _, ids := range r.lists.inputsOf(&r.plan[i]) {
		if !slices.ContainsFunc(r.lists.serving(ids), whole) {
			return false
		}
	}
	return !r.pending(r.lists.afterOf(&r.plan[i]))
}

// pending reports whether any of the spans is not over.
func (r *replayer) pending(ids []sim.SpanID) bool {
	return slices.ContainsFunc(ids, func(id sim.SpanID) bool { return !r.over[id] })
}

// missing returns how many bytes are missing for need more bytes. It is not positive if there is room.
func (r *replayer) missing(need engine.Bytes) engine.Bytes { return r.used.total() + need - r.p.Budget }

// tryRun starts the run of step i and returns true, or returns false if the run cannot start yet.
func (r *replayer) tryRun(i int) bool {
	if !r.inputsWhole(i) {
		return false
	}
	sp, missing := r.at(i), r.missing(r.plan[i].need)
	if missing > r.arrive.slack {
		return false
	}
	if sp.Start > r.now {
		if r.tooClose(missing, sp.Start) {
			return false
		}
		r.atStep(RunLate, i, r.now, fmt.Sprintf("%s at %v", r.name(i), sp.Start),
			fmt.Sprintf("a start at %v: data and room are there", r.now))
	}
	for id, end := copyID(r.plan[i].makes.from), copyID(r.plan[i].makes.to); id < end; id++ {
		r.appear(id, r.copies[id].size)
	}
	r.begin(i)
	r.run = true
	return true
}

// tooClose reports whether rounding may hide that there is no room yet for a step that the trace starts later,
// although missing says that there is.
func (r *replayer) tooClose(missing engine.Bytes, starts time.Duration) bool {
	near := r.nearly()
	return starts > r.now && near > 0 && missing > -near
}

// nearly returns how far the free room may be off by the rounding of bytes under way: two more bytes when they move
// in both directions.
func (r *replayer) nearly() engine.Bytes {
	if r.streamed() && r.moving[0] && r.moving[1] {
		return r.arrive.slack + 2
	}
	return r.arrive.slack
}

func (r *replayer) startHead(q int) {
	if r.moving[q] || r.head[q] >= len(r.queues[q]) {
		return
	}
	i := r.queues[q][r.head[q]]
	if i >= r.pc || r.s[i].NotBefore > r.now {
		return
	}
	if r.s[i].Kind == engine.DoRun {
		lanes.start(r, q, i)
		return
	}
	if r.pending(r.lists.afterOf(&r.plan[i])) {
		return
	}
	sp := r.at(i)
	size := r.g.Values[r.s[i].Value].Size
	needsRoom := r.s[i].Kind == engine.DoFetch && !r.s[i].Reserve
	if needsRoom && !r.streamed() && r.missing(size) > 0 {
		return
	}
	if sp.Start > r.now {
		if needsRoom && r.streamed() && r.missing(min(size, 1)) > 0 {
			return // a fetch that stands still at its start is like one that has not started
		}
		r.atStep(TransferLate, i, r.now, fmt.Sprintf("%s at %v", r.name(i), sp.Start),
			fmt.Sprintf("a start at %v: lane, data and room are there", r.now))
	}
	if needsRoom {
		r.depart(copyID(r.plan[i].makes.from))
	}
	r.begin(i)
	r.moving[q] = true
}

func (r *replayer) begin(i int) {
	r.begun[r.spanOf[i]] = true
	r.nBegun++
	r.event()
}

// closeInstant proves that all spans that start now in the trace have started in the replay.
func (r *replayer) closeInstant() {
	due := r.nBegun
	for due < len(r.t.Spans) && r.t.Spans[due].Start <= r.now {
		due++
	}
	for id := 0; due > r.nBegun && id < due; id++ {
		if r.begun[id] {
			continue
		}
		i := r.t.Spans[id].Step
		need := r.plan[i].need
		if r.s[i].Kind == engine.DoFetch {
			need = r.g.Values[r.s[i].Value].Size
		}
		if missing := r.missing(need); missing > 0 && i <= r.pc {
			r.atStep(OverBudget, i, r.now, fmt.Sprintf("%s with %s too few", r.name(i), count(missing)),
				fmt.Sprintf("room for %s", count(need)))
		}
		r.atStep(StepOrder, i, r.now, r.name(i), "a start after "+r.name(r.pc))
	}
	if need, waits := r.lacks(); waits {
		r.waits = append(r.waits, waited{r.now, r.pc, r.missing(need), r.arrive.slack})
	}
}
