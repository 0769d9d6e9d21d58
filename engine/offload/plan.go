package offload

import (
	"sort"
	"time"

	"memtide/engine"
)

// Plan is the best ordered schedule that offloads a given set of the x_i: all
// offloads in increasing order of i, as early as possible, then all fetches in
// decreasing order, as late as possible. That is what ordered means here.
//
// Duplex makes no difference to it. The first fetch is that of the value that
// was offloaded last, and it needs a complete host copy, so in an ordered
// schedule the two directions never work at the same time.
type Plan struct {
	Set      []bool        // Set[i]: x_i is offloaded, i = 0..n-1; values of no bytes stay
	Makespan time.Duration // step time of the schedule
	Peak     engine.Bytes  // its peak, resident memory included

	// Fluid is the best time of the set in the paper's model. It is less than
	// Makespan only if transfers are streamed and parts of a value would have
	// to be on their way back while an operation still uses it, which no
	// schedule can say.
	Fluid time.Duration

	// Transfers, one for each x_i that is offloaded, in increasing order of i.
	Transfers []Transfer

	step  *step
	moved engine.Bytes // by all transfers, in one direction
	runs  []interval   // of the operations, F_0..F_{n-1}, B_{n-1}..B_0
}

// Transfer is the offload and the fetch of one value.
type Transfer struct {
	Item       int // i of x_i
	Bytes      engine.Bytes
	OffloadAt  time.Duration
	OffloadEnd time.Duration
	Gone       time.Duration // [R_i] when it has left: after the copy and after F_i
	FetchAt    time.Duration
	FetchEnd   time.Duration

	before engine.Bytes // what moves before it
}

type interval struct{ start, end time.Duration }

// NewPlan finds the best ordered schedule for a set of the x_i, i = 0..n-1, with
// whole or streamed transfers as the problem says. ok is false if no ordered
// schedule of that set fits into the budget. The problem must be a chain with a
// link (see usable).
func NewPlan(p *engine.Problem, set []bool) (plan *Plan, ok bool) {
	s := newStep(p)
	return s.plan(set)
}

// step is a chain in the letters of paper 000.
type step struct {
	p            *engine.Problem
	n            int
	size         []engine.Bytes  // [|x_i|], i = 0..n-1
	needF, needB []engine.Bytes  // [m_F, m_B] memory while F_i, B_i runs if nothing is offloaded, i = 0..n-1
	timeF, timeB []time.Duration // [u_F, u_B]
	streamed     bool
}

func newStep(p *engine.Problem) *step {
	c := p.Chain.Chain
	n := c.Len()
	s := &step{p: p, n: n, streamed: p.Transfers == engine.Streamed}
	x, held := c.Input, p.Graph.Fixed+c.Input
	for i := range n {
		st := &c.Stages[i]
		s.size = append(s.size, x)
		x = st.Saved
		held += x
		s.needF = append(s.needF, held+st.FwdTemp+c.Beside(i)+c.Beside(i+1)+c.HeldGrad(n))
		s.needB = append(s.needB, held+st.BwdTemp+c.Grad(i)+c.Grad(i+1))
		s.timeF = append(s.timeF, st.Forward)
		s.timeB = append(s.timeB, st.Back)
	}
	return s
}

// peak is the memory that is needed if nothing is offloaded [Mpeak].
func (s *step) peak() (peak engine.Bytes) {
	for i := range s.n {
		peak = max(peak, s.needF[i], s.needB[i])
	}
	return peak
}

// smallest is the least budget that any set fits into: while F_i and B_i run,
// everything before x_i can be away, and nothing else.
func (s *step) smallest() (least engine.Bytes) {
	var before engine.Bytes
	for i := range s.n {
		least = max(least, s.needF[i]-before, s.needB[i]-before)
		before += s.size[i]
	}
	return least
}

// pass is what one traversal of the chain costs: the forward pass, or the
// backward pass seen from the end of the step, where fetches look like offloads
// that begin at the reversed end of their operation.
type pass struct {
	rate     engine.Rate
	backward bool
	streamed bool
	ends     []time.Duration // [e_i, r_i]
	moves    []move          // in increasing order of the item
}

// move is one transfer of a pass.
type move struct {
	item       int
	start, end time.Duration
	gone       time.Duration // [R_i] when all of it has left
	before     engine.Bytes  // what moves before it
	size       engine.Bytes
}

// run traverses the chain as early as possible: an operation waits until enough
// of the earlier values has left. ok is false if that never happens.
func (s *step) run(set []bool, backward bool) (ps pass, ok bool) {
	ps = pass{rate: s.p.Device.ToHost, streamed: s.streamed, backward: backward}
	need, times := s.needF, s.timeF
	if backward {
		need, times, ps.rate = s.needB, s.timeB, s.p.Device.ToDev
	}
	ps.ends = make([]time.Duration, s.n)
	var at, link time.Duration
	var before engine.Bytes
	for i := range s.n {
		there := at // x_i is on the device from here, and F_i may still wait
		off, ok := ps.off(need[i] - s.p.Budget)
		if !ok {
			return ps, false
		}
		at = max(at, off) + times[i]
		ps.ends[i] = at
		if !set[i] || s.size[i] == 0 {
			continue
		}
		if backward {
			there = at
		}
		m := move{item: i, start: max(link, there), before: before, size: s.size[i]}
		m.end = m.start + ps.rate.Time(m.size)
		m.gone = max(m.end, at)
		if backward {
			m.gone = m.end
		}
		link, before = m.end, before+m.size
		ps.moves = append(ps.moves, m)
	}
	return ps, true
}

// off is the first moment at which v bytes are away; ok is false if there is none.
func (ps *pass) off(v engine.Bytes) (at time.Duration, ok bool) {
	if v <= 0 {
		return 0, true
	}
	k := sort.Search(len(ps.moves), func(k int) bool { return ps.moves[k].before+ps.moves[k].size >= v })
	if k == len(ps.moves) {
		return 0, false
	}
	m := &ps.moves[k]
	switch v -= m.before; {
	case !ps.streamed:
		return m.gone, true
	case ps.backward:
		// In real time this is when a fetch has used up the room of the other
		// size-v bytes: it may not go on to the next byte, and on a slow link it
		// would stand still in between.
		return m.end - min(ps.rate.Time(m.size-v), ps.rate.Time(m.size-v+1)-1), true
	}
	return m.start + ps.rate.Time(v), true
}

// last returns when the last transfer ends, and when the last value is gone.
func (ps *pass) last() (end, gone time.Duration) {
	if len(ps.moves) == 0 {
		return 0, 0
	}
	m := &ps.moves[len(ps.moves)-1]
	return m.end, m.gone
}

// plan joins the two passes. Any ordered schedule of the set is no faster, and this
// one exists: compare Proposition 1 of the paper, which is right for fetches only
// in reversed time. Other orders can be faster, even if all offloads come before
// all fetches.
func (s *step) plan(set []bool) (*Plan, bool) {
	fwd, ok := s.run(set, false)
	if !ok {
		return nil, false
	}
	bwd, ok := s.run(set, true)
	if !ok {
		return nil, false
	}
	total := s.join(&fwd, &bwd)
	offloads, gone := fwd.last()
	fetches, _ := bwd.last()
	p := &Plan{Set: make([]bool, s.n), Fluid: max(total, offloads+fetches), step: s}
	total = max(total, gone+fetches)
	if !s.streamed {
		p.Fluid = total
	}
	for k, m := range fwd.moves {
		b := bwd.moves[k]
		p.Set[m.item] = true
		p.Transfers = append(p.Transfers, Transfer{Item: m.item, Bytes: m.size, OffloadAt: m.start, OffloadEnd: m.end,
			Gone: m.gone, FetchAt: total - b.end, FetchEnd: total - b.start, before: m.before})
		p.moved += m.size
	}
	p.Makespan = s.replay(p, &fwd)
	p.Peak = s.measure(p)
	return p, true
}

// join is how long the step is but for the order of the transfers: the longest
// of all operations in a row; F_i, and then the fetches that must not have begun
// before it ends; the offloads that must have ended before B_i starts, and then
// the rest of the backward pass. What moves is enough for each, or the pass of
// that operation would have failed.
func (s *step) join(fwd, bwd *pass) time.Duration {
	total := fwd.ends[s.n-1] + bwd.ends[s.n-1]
	for i := range s.n {
		back, _ := bwd.off(s.needF[i] - s.p.Budget)
		out, _ := fwd.off(s.needB[i] - s.p.Budget)
		total = max(total, fwd.ends[i]+back, bwd.ends[i]+out)
	}
	return total
}

// replay finds when the operations really run. The plan lets B_i start as late
// as it can; a schedule starts it as early as it can, which is possible because
// a fetch that has begun is in the plan's memory for every later operation.
func (s *step) replay(p *Plan, fwd *pass) time.Duration {
	var at time.Duration
	for i := range s.n {
		at = fwd.ends[i]
		p.runs = append(p.runs, interval{at - s.timeF[i], at})
	}
	next := len(p.Transfers) - 1
	for i := s.n - 1; i >= 0; i-- {
		off, _ := fwd.off(s.needB[i] - s.p.Budget)
		at = max(at, off)
		if next >= 0 && p.Transfers[next].Item == i {
			at = max(at, p.Transfers[next].FetchEnd)
			next--
		}
		p.runs = append(p.runs, interval{at, at + s.timeB[i]})
		at += s.timeB[i]
	}
	return at
}

// measure is the peak of the schedule. Between two operations there is never
// more than during one of them, and all offloads are over before the first
// fetch begins, so the peak of an operation is at its start or at its end. (What
// F_i uses has not left at its start: the copy of x_i begins no earlier.)
func (s *step) measure(p *Plan) (peak engine.Bytes) {
	c := cursor{p: p, back: len(p.Transfers)}
	for k, r := range p.runs {
		held := s.needF[min(k, s.n-1)]
		if k >= s.n {
			held = s.needB[2*s.n-1-k]
		}
		peak = max(peak, held-min(c.away(r.start), c.away(r.end)))
	}
	return peak
}

// cursor goes through the transfers of a plan as time goes by.
type cursor struct {
	p    *Plan
	left int // so many offloads have ended
	back int // the fetches from this one on have begun or, if streamed, have ended
}

// away is how much is not on the device at a moment, just before fetches start.
// Moments must not fall.
func (c *cursor) away(at time.Duration) (sum engine.Bytes) {
	ts, dev := c.p.Transfers, &c.p.step.p.Device
	if !c.p.step.streamed {
		for c.left < len(ts) && ts[c.left].Gone <= at {
			c.left++
		}
		for c.back > 0 && ts[c.back-1].FetchAt < at {
			c.back--
		}
		return c.p.before(c.left) + c.p.before(c.back) - c.p.moved
	}
	for c.left < len(ts) && ts[c.left].OffloadEnd <= at {
		c.left++
	}
	for c.back > 0 && ts[c.back-1].FetchEnd <= at {
		c.back--
	}
	sum = c.p.before(c.left) + c.p.before(c.back) - c.p.moved
	if c.left < len(ts) {
		sum += dev.ToHost.Moved(at - ts[c.left].OffloadAt)
	}
	if c.back > 0 {
		sum -= min(ts[c.back-1].Bytes, dev.ToDev.Moved(at-ts[c.back-1].FetchAt))
	}
	return sum
}

// before is how much the first k transfers move.
func (p *Plan) before(k int) engine.Bytes {
	if k == len(p.Transfers) {
		return p.moved
	}
	return p.Transfers[k].before
}
