package sim

import (
	"slices"
	"time"

	"memtide/engine"
)

// link is the connection to the host: two queues in full duplex, one in half.
type link struct {
	queues     []laneQueue
	rates      [NumLanes]engine.Rate
	streamed   bool
	fetching   []*transfer // by value: queued or under way
	offloading []*transfer
	// The latest transfers of each value, for the causes of waits.
	lastFetch, lastOffload []SpanID
}

// laneQueue is first in, first out: active is under way, then queue follows.
type laneQueue struct {
	active *transfer
	queue  []*transfer
	last   SpanID // the transfer before, which kept the lane busy
}

// transfer is an offload or a fetch from its issue to its end.
type transfer struct {
	lane      Lane
	step      int
	value     engine.ValueID
	size      engine.Bytes
	notBefore time.Duration
	issuedAt  time.Duration
	issuedBy  SpanID
	why       Reason // what it waited for last as the head of its lane

	streamed bool
	span     SpanID
	copy     *devCopy // source of an offload, destination of a fetch
	// Progress: done bytes by since, then rate. moved is what memory knows of.
	rate        engine.Rate
	since       time.Duration
	done, moved engine.Bytes
}

func newLink(p *engine.Problem, values int) link {
	l := link{queues: make([]laneQueue, 1), streamed: p.Transfers == engine.Streamed,
		fetching: make([]*transfer, values), offloading: make([]*transfer, values)}
	if p.Device.Duplex == engine.FullDuplex {
		l.queues = make([]laneQueue, 2)
	}
	for i := range l.queues {
		l.queues[i].last = NoSpan
	}
	l.lastFetch = slices.Repeat([]SpanID{NoSpan}, values)
	l.lastOffload = slices.Repeat([]SpanID{NoSpan}, values)
	l.rates[ToHost], l.rates[ToDev] = p.Device.ToHost, p.Device.ToDev
	return l
}

// lanes lists the queues; pointers, so that they can be changed.
func (l *link) lanes() []*laneQueue {
	if len(l.queues) == 1 {
		return []*laneQueue{&l.queues[0]}
	}
	return []*laneQueue{&l.queues[0], &l.queues[1]}
}

func (l *link) of(lane Lane) *laneQueue { return &l.queues[min(int(lane)-1, len(l.queues)-1)] }

func (l *link) idle() bool {
	for i := range l.queues {
		if q := &l.queues[i]; q.active != nil || len(q.queue) > 0 {
			return false
		}
	}
	return true
}

func (pl *player) queueOffload(st *engine.Step) error {
	c := pl.copies[st.Value]
	switch {
	case c == nil:
		return pl.fail("it is not on the device")
	case pl.link.offloading[st.Value] != nil:
		return pl.fail("it is being offloaded already")
	case pl.link.rates[ToHost] == 0 && c.size > 0:
		return pl.fail("the device has no link to the host")
	}
	tr := pl.queue(ToHost, st)
	tr.copy, c.out = c, tr
	pl.link.offloading[st.Value] = tr
	return nil
}

func (pl *player) stepFetch(st *engine.Step) (hold, error) {
	size := pl.g.Values[st.Value].Size
	switch {
	case pl.copies[st.Value] != nil:
		return hold{}, pl.fail("it is on the device already")
	case pl.link.fetching[st.Value] != nil:
		return hold{}, pl.fail("it is being fetched already")
	case !pl.host.has[st.Value] && pl.link.offloading[st.Value] == nil:
		return hold{}, pl.fail("the host has no copy of it")
	case pl.link.rates[ToDev] == 0 && size > 0:
		return hold{}, pl.fail("the device has no link to the host")
	case st.Reserve && size > pl.room():
		return hold{reason: NeedsRoom, value: engine.NoValue, need: size}, nil
	}
	pl.closeGap()
	tr := pl.queue(ToDev, st)
	pl.link.fetching[st.Value] = tr
	if st.Reserve {
		pl.reserve(tr)
	}
	return hold{}, nil
}

// reserve makes the destination of a fetch. Streamed bytes take their room as
// they arrive, unless the step has reserved it.
func (pl *player) reserve(tr *transfer) {
	tr.copy = pl.newCopy(tr.value, kindCategory(pl.g.Values[tr.value].Kind), NoSpan)
	if !tr.streamed {
		pl.used[InTransfer] += tr.size
	}
	pl.sample()
}

func (pl *player) queue(lane Lane, st *engine.Step) *transfer {
	tr := &transfer{lane: lane, step: pl.pc, value: st.Value, size: pl.g.Values[st.Value].Size, notBefore: st.NotBefore,
		issuedAt: pl.now, issuedBy: pl.cause, streamed: pl.link.streamed && !st.Reserve, span: NoSpan}
	q := pl.link.of(lane)
	q.queue = append(q.queue, tr)
	return tr
}

// startHeads starts the transfers that can start, in issue order.
func (pl *player) startHeads() (any bool) {
	lanes := pl.link.lanes()
	if len(lanes) == 2 && len(lanes[0].queue) > 0 && len(lanes[1].queue) > 0 && lanes[1].queue[0].step < lanes[0].queue[0].step {
		lanes[0], lanes[1] = lanes[1], lanes[0]
	}
	for _, q := range lanes {
		if q.active != nil || len(q.queue) == 0 {
			continue
		}
		tr := q.queue[0]
		if why := pl.blocked(tr); why != None {
			tr.why = why
			continue
		}
		q.queue = q.queue[1:]
		pl.startTransfer(q, tr)
		any = true
	}
	return any
}

// blocked says why the head of a lane cannot start, None if it can.
func (pl *player) blocked(tr *transfer) Reason {
	if pl.now < tr.notBefore {
		return Window
	}
	if tr.lane == ToHost {
		return None
	}
	if !pl.host.has[tr.value] || pl.link.offloading[tr.value] != nil {
		return NeedsData
	}
	room := pl.room()
	if tr.copy != nil || tr.size <= room || tr.streamed && (room > 0 || pl.draining() != nil) {
		return None
	}
	return NeedsRoom
}

func (pl *player) startTransfer(q *laneQueue, tr *transfer) {
	sp := Span{Lane: tr.lane, Kind: SpanOffload, Step: tr.step, Op: engine.NoOp, Value: tr.value, Start: pl.now, End: pl.now}
	sp.Why, sp.Cause = pl.whyStarted(q, tr)
	if tr.lane == ToDev {
		sp.Kind = SpanFetch
	}
	tr.span = pl.addSpan(sp)
	tr.rate, tr.since = pl.link.rates[tr.lane], pl.now
	q.active = tr
	if tr.lane == ToHost {
		pl.link.lastOffload[tr.value] = tr.span
		pl.pin(tr.value)
		return
	}
	pl.link.lastFetch[tr.value] = tr.span
	if tr.copy == nil {
		pl.reserve(tr)
	}
	pl.t.Lives[tr.copy.life].From = tr.span
}

// whyStarted explains the start of a transfer: see Span.Why.
func (pl *player) whyStarted(q *laneQueue, tr *transfer) (Reason, SpanID) {
	switch {
	case tr.why == Window:
		return Window, NoSpan
	case tr.why == NeedsRoom:
		return NeedsRoom, pl.release
	case tr.why == NeedsData:
		return NeedsData, pl.link.lastOffload[tr.value]
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
	c := tr.copy
	if tr.lane == ToHost {
		pl.link.offloading[tr.value] = nil
		pl.host.has[tr.value] = true
		pl.t.Lives[c.life].Offloaded = true
		c.out = nil
		if c.freed {
			if !tr.streamed {
				pl.used[InTransfer] -= c.size
			}
			pl.release = tr.span
			pl.closeLife(c.life)
		}
	} else {
		pl.link.fetching[tr.value] = nil
		pl.used[InTransfer] -= c.size
		pl.used[c.cat] += c.size
		c.whole = true
		pl.copies[tr.value] = c
		pl.unpin(tr.value, tr.step)
	}
	pl.sample()
}

// end is when an active transfer will be over at its present rate.
func (tr *transfer) end() (time.Duration, bool) {
	if tr.done == tr.size {
		return tr.since, true
	}
	if tr.rate == 0 {
		return 0, false
	}
	return tr.since + tr.rate.Time(tr.size-tr.done), true
}

// at is how many bytes have moved by now.
func (tr *transfer) at(now time.Duration) engine.Bytes {
	if end, ok := tr.end(); ok && end <= now {
		return tr.size
	}
	return min(tr.done+tr.rate.Moved(now-tr.since), tr.size)
}

// left is how many bytes of the source of an offload have left with it.
func (tr *transfer) left() engine.Bytes {
	if !tr.streamed {
		return 0
	}
	return tr.moved
}

// account lets memory know of what a streamed transfer has moved by now.
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
		pl.used[InTransfer] += d
	case tr.copy.freed:
		pl.used[InTransfer] -= d
		pl.release = tr.span
	}
}
