// Package ordered computes the times and the peak of training steps in which all offloads come before all fetches:
// offloads in the order of the operations and as early as possible, fetches in the reverse order and as late as
// possible. The results equal those of the simulator.
//
// Duplex makes no difference. The first fetch is of the value that was offloaded last, and it needs a complete copy
// on the host, so the two directions never work at the same time.
package ordered

import (
	"time"

	"memtide/engine"
)

// Run is an operation.
type Run struct {
	Lasts      time.Duration
	Need       engine.Bytes // memory while it runs, if nothing is offloaded
	Item       int          // the value that moves with it, for Timeline.Leaves
	Moves      engine.Bytes // the item's size, 0 if there is no item. It leaves from the start on, or must be back then
	Start, End time.Duration
}

// Transfer is the offload and the fetch of one item.
type Transfer struct {
	Item       int
	Bytes      engine.Bytes
	Before     engine.Bytes // the bytes of all offloads before it
	OffloadAt  time.Duration
	OffloadEnd time.Duration
	Gone       time.Duration // when it has left the device: after the copy and after the operation that uses it
	FetchAt    time.Duration
	FetchEnd   time.Duration
}

// Timeline holds the operations of a training step, and the times of these and of the transfers, which Play finds.
type Timeline struct {
	Runs      []Run               // in order: the forward pass, then the backward pass
	Turn      int                 // index of the first run of the backward pass
	Leaves    func(item int) bool // may change from Play to Play
	Transfers []Transfer          // in the order of the offloads

	Makespan time.Duration // step time
	Peak     engine.Bytes  // set by Measure
	// Fluid is the best step time if any fraction of an item could move, as in the model of paper 000. It is less
	// than Makespan only if transfers are streamed and parts of a value would have to be on their way back while an
	// operation still uses the value, which no schedule can express.
	Fluid time.Duration

	device            *engine.Device
	budget            engine.Bytes
	streamed          bool
	least             time.Duration // of the backward pass, without waiting
	forward, backward pass
}

// New returns the timeline of a problem, with whole or streamed transfers as p says. It keeps runs, whose times
// Play sets.
func New(p *engine.Problem, runs []Run, turn int, leaves func(item int) bool) *Timeline {
	s := &Timeline{Runs: runs, Turn: turn, Leaves: leaves, device: &p.Device, budget: p.Budget,
		streamed: p.Transfers == engine.Streamed}
	for i := range runs[turn:] {
		s.least += runs[turn+i].Lasts
	}
	return s
}

// Play finds the times of all runs and transfers. It returns false if the step does not fit into the budget, or if
// it certainly takes longer than longest. With overlap, transfers may run into the other pass. No ordered step with
// these items is faster; compare Proposition 1 of paper 000, which for fetches is right only in reversed time.
func (s *Timeline) Play(overlap bool, longest time.Duration) bool {
	fwd, bwd := &s.forward, &s.backward
	if !s.walk(fwd, s.Runs[:s.Turn], s.device.ToHost, false) || fwd.ends[s.Turn-1] > longest-s.least {
		return false
	}
	if !s.walk(bwd, s.Runs[s.Turn:], s.device.ToDev, true) {
		return false
	}
	total := s.join(fwd, bwd, overlap)
	s.Transfers = s.Transfers[:0]
	for k, m := range fwd.moves {
		b := &bwd.moves[k]
		s.Transfers = append(s.Transfers, Transfer{Item: m.Item, Bytes: m.Size, Before: m.before, OffloadAt: m.Start,
			OffloadEnd: m.End, Gone: m.Gone, FetchAt: total - b.End, FetchEnd: total - b.Start})
	}
	s.replay(fwd)
	return true
}

// join returns the step time and sets Fluid. Without overlap the passes follow each other. With overlap the step
// time is the longest of these:
//
//   - all operations in a row
//   - all transfers in a row
//   - the forward pass up to an operation, and then the fetches that must not begin before the operation ends
//   - the offloads that must end before an operation of the backward pass starts, and then the rest of that pass
//
// The items are enough for every operation, or walk would have returned false.
func (s *Timeline) join(fwd, bwd *pass, overlap bool) time.Duration {
	endF, endB := fwd.ends[len(fwd.ends)-1], bwd.ends[len(bwd.ends)-1]
	offloads, gone := fwd.last()
	fetches, _ := bwd.last()
	if !overlap {
		return max(endF, gone) + max(endB, fetches)
	}
	total := endF + endB
	if len(fwd.moves) > 0 {
		for x := range fwd.ends {
			off, _ := bwd.off(s.Runs[x].Need - s.budget)
			total = max(total, fwd.ends[x]+off)
		}
		for x := range bwd.ends {
			off, _ := fwd.off(s.Runs[len(s.Runs)-1-x].Need - s.budget)
			total = max(total, bwd.ends[x]+off)
		}
	}
	s.Fluid = max(total, offloads+fetches)
	total = max(total, gone+fetches)
	if !s.streamed {
		s.Fluid = total
	}
	return total
}

// replay sets the times of the runs. The plan starts the operations of the backward pass as late as possible. They
// can start as early as possible, because a fetch that has begun is in the plan's memory for every later operation.
func (s *Timeline) replay(fwd *pass) {
	var at time.Duration
	for x := range s.Runs[:s.Turn] {
		r := &s.Runs[x]
		at = fwd.ends[x]
		r.Start, r.End = at-r.Lasts, at
	}
	next := len(s.Transfers) - 1
	for x := s.Turn; x < len(s.Runs); x++ {
		r := &s.Runs[x]
		off, _ := fwd.off(r.Need - s.budget)
		at = max(at, off)
		if s.Sends(r) {
			at = max(at, s.Transfers[next].FetchEnd)
			next--
		}
		r.Start, r.End = at, at+r.Lasts
		at = r.End
	}
	s.Makespan = at
}

// Sends reports whether the item of a run is moved. Items of no bytes stay.
func (s *Timeline) Sends(r *Run) bool { return r.Moves > 0 && s.Leaves(r.Item) }

// Before returns the sum of the bytes of the first k transfers.
func (s *Timeline) Before(k int) engine.Bytes {
	if k < len(s.Transfers) {
		return s.Transfers[k].Before
	}
	if k == 0 {
		return 0
	}
	return s.Transfers[k-1].Before + s.Transfers[k-1].Bytes
}

// Measure sets Peak for the present runs and transfers. Memory between two operations is never more than during one
// of them. While an operation runs, the number of bytes away from the device is least at its start or at its end.
func (s *Timeline) Measure() {
	s.Peak = 0
	c := cursor{Timeline: s, back: len(s.Transfers), all: s.Before(len(s.Transfers))}
	for x := range s.Runs {
		r := &s.Runs[x]
		s.Peak = max(s.Peak, r.Need-min(c.away(r.Start), c.away(r.End)))
	}
}

// cursor is a position in time among the transfers.
type cursor struct {
	*Timeline
	left int          // the number of offloads that are over
	back int          // the first transfer whose fetch has begun, or whose streamed fetch is over
	all  engine.Bytes // of all transfers
}

// away returns how many bytes are not on the device just before the fetches at a time start. The times of
// successive calls must not decrease.
func (c *cursor) away(at time.Duration) (sum engine.Bytes) {
	ts := c.Transfers
	if !c.streamed {
		for c.left < len(ts) && ts[c.left].Gone <= at {
			c.left++
		}
		for c.back > 0 && ts[c.back-1].FetchAt < at {
			c.back--
		}
		return c.Before(c.left) + c.Before(c.back) - c.all
	}
	for c.left < len(ts) && ts[c.left].OffloadEnd <= at {
		c.left++
	}
	for c.back > 0 && ts[c.back-1].FetchEnd <= at {
		c.back--
	}
	sum = c.Before(c.left) + c.Before(c.back) - c.all
	if c.left < len(ts) {
		sum += c.device.ToHost.Moved(at - ts[c.left].OffloadAt)
	}
	if c.back > 0 {
		sum -= min(ts[c.back-1].Bytes, c.device.ToDev.Moved(at-ts[c.back-1].FetchAt))
	}
	return sum
}

// pass is the forward pass of a step, or the backward pass in reversed time, where fetches look like offloads that
// begin at the reversed end of their operation.
type pass struct {
	rate     engine.Rate
	ends     []time.Duration // of the runs, in the order of the pass
	moves    []move
	backward bool
	streamed bool
}

// move is one transfer of a pass.
type move struct {
	Item             int
	Start, End, Gone time.Duration // Gone as Transfer.Gone
	Size             engine.Bytes
	before           engine.Bytes
}

// walk runs the operations of a pass as early as possible. Each waits until enough of the items before it have
// left. walk returns false if that never happens.
func (s *Timeline) walk(ps *pass, runs []Run, rate engine.Rate, backward bool) bool {
	*ps = pass{rate: rate, backward: backward, streamed: s.streamed, ends: ps.ends[:0], moves: ps.moves[:0]}
	var at, link time.Duration
	var before engine.Bytes
	for x := range runs {
		r := &runs[x]
		if backward {
			r = &runs[len(runs)-1-x]
		}
		there := at // the item is on the device from here on, while the run may still wait
		off, ok := ps.off(r.Need - s.budget)
		if !ok {
			return false
		}
		at = max(at, off) + r.Lasts
		ps.ends = append(ps.ends, at)
		if !s.Sends(r) {
			continue
		}
		if backward {
			there = at
		}
		m := move{Item: r.Item, Start: max(link, there), before: before, Size: r.Moves}
		m.End = m.Start + rate.Time(m.Size)
		m.Gone = m.End
		if !backward {
			m.Gone = max(m.End, at)
		}
		link, before = m.End, before+m.Size
		ps.moves = append(ps.moves, m)
	}
	return true
}

// off returns the first time at which v bytes are away. ok is false if there is no such time.
func (ps *pass) off(v engine.Bytes) (at time.Duration, ok bool) {
	if v <= 0 {
		return 0, true
	}
	k, hi := 0, len(ps.moves) // bisection for the first transfer with which v bytes are away
	for k < hi {
		if mid := (k + hi) / 2; ps.moves[mid].before+ps.moves[mid].Size >= v {
			hi = mid
		} else {
			k = mid + 1
		}
	}
	if k == len(ps.moves) {
		return 0, false
	}
	m := &ps.moves[k]
	switch v -= m.before; {
	case !ps.streamed:
		return m.Gone, true
	case ps.backward:
		// In real time this is when a fetch has used up the room of the other size-v bytes. It must not go on to
		// the next byte, and on a slow link it would stand still in between.
		return m.End - min(ps.rate.Time(m.Size-v), ps.rate.Time(m.Size-v+1)-1), true
	}
	return m.Start + ps.rate.Time(v), true
}

// last returns when the last transfer ends, and when the last item is gone.
func (ps *pass) last() (end, gone time.Duration) {
	if len(ps.moves) == 0 {
		return 0, 0
	}
	m := &ps.moves[len(ps.moves)-1]
	return m.End, m.Gone
}
