package sim

import (
	"time"

	"memtide/engine"
)

// link is the connection to the host: two queues in full duplex, one in half duplex. If the graph has operations of
// the network or the CPU, their lanes are two more queues.
type link struct {
	queues   []laneQueue
	copies   int // the first copies queues are for transfers
	rates    [NumLanes]engine.Rate
	streamed bool
}

// laneQueue is first in, first out: active is under way, then come head and the transfers linked after it.
type laneQueue struct {
	active     *transfer
	head, tail *transfer
	last       SpanID // the transfer before active, or NoSpan
}

// transfer is an offload, a fetch or an operation of another lane, from its issue to its end.
type transfer struct {
	lane      Lane
	step      int
	value     engine.ValueID
	size      engine.Bytes
	notBefore time.Duration
	issuedAt  time.Duration
	issuedBy  SpanID
	why       Reason // why it waited last at the head of its lane
	next      *transfer

	streamed bool
	span     SpanID
	copy     *devCopy // source of an offload, destination of a fetch
	// Progress: done bytes had moved at since, the others move at rate. moved bytes are counted in memory; it is 0
	// for whole transfers.
	rate        engine.Rate
	since       time.Duration
	done, moved engine.Bytes

	*job                // of an operation of another lane; nil for offloads and fetches
	waiters []*transfer // operations of other lanes that wait for it
	over    bool
}

func newLink(p *engine.Problem, others bool) link {
	l := link{copies: 1, streamed: p.Transfers == engine.Streamed}
	if p.Device.Duplex == engine.FullDuplex {
		l.copies = 2
	}
	n := l.copies
	if others {
		n += int(NumLanes - Network)
	}
	l.queues = make([]laneQueue, n)
	for i := range l.queues {
		l.queues[i].last = NoSpan
	}
	l.rates[ToHost], l.rates[ToDev] = p.Device.ToHost, p.Device.ToDev
	return l
}

func (l *link) of(lane Lane) *laneQueue {
	if lane >= Network {
		return &l.queues[l.copies+int(lane-Network)]
	}
	return &l.queues[min(int(lane), l.copies)-1]
}

func (l *link) idle() bool {
	for i := range l.queues {
		if q := &l.queues[i]; q.active != nil || q.head != nil {
			return false
		}
	}
	return true
}

func (pl *player) queueOffload(st *engine.Instruction) error {
	at := &pl.places[st.Value]
	c := at.copy
	switch {
	case c == nil:
		return pl.fail("it is not on the device")
	case at.offloading != nil:
		return pl.fail("it is being offloaded already")
	case pl.link.rates[ToHost] == 0 && c.size > 0:
		return pl.fail("the device has no link to the host")
	}
	tr := pl.queue(ToHost, st)
	tr.copy, c.out = c, tr
	at.offloading = tr
	return nil
}

func (pl *player) stepFetch(st *engine.Instruction) (hold, error) {
	size := pl.g.Values[st.Value].Size
	at := &pl.places[st.Value]
	switch {
	case at.copy != nil:
		return hold{}, pl.fail("it is on the device already")
	case at.fetching != nil:
		return hold{}, pl.fail("it is being fetched already")
	case !at.onHost && at.offloading == nil:
		return hold{}, pl.fail("the host has no copy of it")
	case pl.link.rates[ToDev] == 0 && size > 0:
		return hold{}, pl.fail("the device has no link to the host")
	case st.Reserve && size > pl.room():
		return hold{reason: NeedsRoom, value: engine.NoValue, need: size}, nil
	}
	pl.closeGap()
	tr := pl.queue(ToDev, st)
	at.fetching = tr
	if st.Reserve {
		pl.reserve(tr)
	}
	return hold{}, nil
}

// reserve makes the destination of a fetch. A streamed fetch takes its room as bytes arrive, unless it has Reserve.
func (pl *player) reserve(tr *transfer) {
	tr.copy = pl.newCopy(tr.value, kindCategory(pl.g.Values[tr.value].Kind), NoSpan)
	if !tr.streamed {
		pl.charge(InTransfer, tr.size)
	}
	pl.sample()
}

func (pl *player) queue(lane Lane, st *engine.Instruction) *transfer {
	if len(pl.moves) == 0 {
		pl.moves = make([]transfer, 16)
	}
	tr := &pl.moves[0]
	pl.moves = pl.moves[1:]
	*tr = transfer{lane: lane, step: pl.pc, value: st.Value, notBefore: st.NotBefore,
		issuedAt: pl.now, issuedBy: pl.cause, streamed: pl.link.streamed && !st.Reserve, span: NoSpan}
	if st.Kind != engine.DoRun {
		tr.size = pl.g.Values[st.Value].Size
	}
	if q := pl.link.of(lane); q.head == nil {
		q.head, q.tail = tr, tr
	} else {
		q.tail.next, q.tail = tr, tr
	}
	return tr
}

// startHeads starts the transfers at the heads of the lanes that can start, in issue order. It reports whether any
// has started.
func (pl *player) startHeads() (any bool) {
	for last := -1; ; {
		var q *laneQueue
		for i := range pl.link.queues {
			c := &pl.link.queues[i]
			if c.active == nil && c.head != nil && c.head.step > last && (q == nil || c.head.step < q.head.step) {
				q = c
			}
		}
		if q == nil {
			return any
		}
		tr := q.head
		last = tr.step
		if why := pl.blocked(tr); why != None {
			tr.why = why
			continue
		}
		q.head = tr.next
		pl.startTransfer(q, tr)
		any = true
	}
}

// blocked returns why the head of a lane cannot start, or None if it can.
func (pl *player) blocked(tr *transfer) Reason {
	if pl.now < tr.notBefore {
		return Window
	}
	if tr.job != nil {
		return lanes.blocked(pl, tr)
	}
	if tr.lane == ToHost {
		return None
	}
	if at := &pl.places[tr.value]; !at.onHost || at.offloading != nil {
		return NeedsData
	}
	room := pl.room()
	if tr.copy != nil || tr.size <= room || tr.streamed && (room > 0 || pl.draining() != nil) {
		return None
	}
	return NeedsRoom
}

func (pl *player) startTransfer(q *laneQueue, tr *transfer) {
	sp := Span{Lane: tr.lane, Kind: SpanOffload, Step: tr.step, Op: engine.NoOp, Value: tr.value, Start: pl.now,
		End: pl.now}
	sp.Why, sp.Cause = pl.whyStarted(q, tr)
	if tr.job != nil {
		q.active = tr
		lanes.start(pl, sp, tr)
		return
	}
	if tr.lane == ToDev {
		sp.Kind = SpanFetch
	}
	tr.span = pl.addSpan(sp)
	tr.rate, tr.since = pl.link.rates[tr.lane], pl.now
	q.active = tr
	if tr.lane == ToHost {
		pl.places[tr.value].lastOffload = tr.span
		pl.pin(tr.value)
		return
	}
	pl.places[tr.value].lastFetch = tr.span
	if tr.copy == nil {
		pl.reserve(tr)
	}
	pl.t.Lives[tr.copy.life].From = tr.span
}

// whyStarted returns Span.Why and Span.Cause of a transfer that starts now.
func (pl *player) whyStarted(q *laneQueue, tr *transfer) (Reason, SpanID) {
	switch {
	case tr.why == Window:
		return Window, NoSpan
	case tr.why == NeedsRoom && pl.release != NoSpan:
		return NeedsRoom, pl.release
	case tr.why == NeedsData && tr.job != nil:
		return NeedsData, tr.letGo
	case tr.why == NeedsData:
		return NeedsData, pl.places[tr.value].lastOffload
	case q.last != NoSpan && pl.t.Spans[q.last].End == pl.now && tr.issuedAt < pl.now:
		return Dependency, q.last
	case tr.issuedBy != NoSpan:
		return Dependency, tr.issuedBy
	}
	return None, NoSpan
}

func (pl *player) endTransfer(q *laneQueue) {
	tr := q.active
	q.active, q.last = nil, tr.span
	pl.t.Spans[tr.span].End = pl.now
	if tr.job != nil {
		lanes.end(pl, tr)
		return
	}
	c, at := tr.copy, &pl.places[tr.value]
	if tr.lane == ToHost {
		at.offloading, at.onHost = nil, true
		pl.t.Lives[c.life].Offloaded = true
		c.out = nil
		switch {
		case !tr.streamed:
			pl.leave(c, tr.span)
		case c.freed: // its bytes have left one by one
			pl.release = tr.span
			pl.closeLife(c.life)
		}
		tr.tell()
	} else {
		at.fetching, at.copy = nil, c
		pl.charge(InTransfer, -c.size)
		pl.charge(c.cat, c.size)
		pl.bind(at, tr.span)
		pl.unpin(tr.value, tr.step)
	}
	pl.sample()
}

// end returns when an active transfer will be over at its present rate. ok is false if it stands still, or would
// end beyond the range of a time.Duration.
func (tr *transfer) end() (at time.Duration, ok bool) {
	if tr.job != nil {
		return after(tr.since, tr.op.Time)
	}
	if tr.done == tr.size {
		return tr.since, true
	}
	if tr.rate == 0 {
		return 0, false
	}
	return after(tr.since, tr.rate.Time(tr.size-tr.done))
}

// at returns how many bytes have moved by now.
func (tr *transfer) at(now time.Duration) engine.Bytes {
	if end, ok := tr.end(); ok && end <= now {
		return tr.size
	}
	return min(tr.done+tr.rate.Moved(now-tr.since), tr.size)
}

// account charges memory with the bytes that a streamed transfer has moved since the last call.
func (pl *player) account(tr *transfer) {
	if !tr.streamed {
		return
	}
	moved := tr.at(pl.now)
	d := moved - tr.moved
	tr.moved = moved
	switch {
	case d == 0:
	case tr.lane == ToDev:
		pl.charge(InTransfer, d)
	case tr.copy.freed:
		pl.charge(InTransfer, -d)
		pl.release = tr.span
	}
}

// never is later than all other times: 292 years.
const never = time.Duration(1<<63 - 1)

// after returns at + d, or never and false if the sum is beyond the range of a time.Duration.
func after(at, d time.Duration) (sum time.Duration, ok bool) {
	if d >= never-at {
		return never, false
	}
	return at + d, true
}

// sooner returns at if it exists, lies in the future and is before next, else next.
func (pl *player) sooner(next, at time.Duration, exists bool) time.Duration {
	if exists && at > pl.now && at < next {
		return at
	}
	return next
}

// endless returns the step of a run or transfer under way that would not end before never. ok is false if there is
// no such step.
func (pl *player) endless() (step int, ok bool) {
	if pl.run != nil {
		return pl.t.Spans[pl.run.span].Step, true
	}
	for i := range pl.link.queues {
		if tr := pl.link.queues[i].active; tr != nil && (tr.rate > 0 || tr.job != nil) {
			return tr.step, true
		}
	}
	return 0, false
}
