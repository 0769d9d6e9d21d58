package combined

import (
	"fmt"
	"math"
	"time"

	"memtide/engine"
)

// timeline is when everything of a plan happens: offloads as early as possible,
// fetches as late as possible, with all offloads before all fetches. Duplex makes
// no difference to it.
type timeline struct {
	p        *engine.Problem
	segs     []segment
	runs     []run         // in order: forwards of the first sweep, then the backward pass
	turn     int           // index of the first run of the backward pass
	least    time.Duration // of the backward pass, without waiting
	passes   [2]pass       // room for the first sweep and for the backward pass
	moves    []transfer
	makespan time.Duration
	peak     engine.Bytes
}

// run is an operation of a plan.
type run struct {
	op         engine.ChainOp
	last       time.Duration
	need       engine.Bytes // memory while it runs, if nothing is offloaded
	segment    int
	entry      engine.Bytes // of the input of the segment, if that is copied out from the start of this run, or has to be back for it; otherwise 0
	start, end time.Duration
}

// transfer is the offload and the fetch of the input of one segment.
type transfer struct {
	segment                                        int
	size                                           engine.Bytes
	before                                         engine.Bytes // what moves before it
	offloadAt, offloadEnd, gone, fetchAt, fetchEnd time.Duration
}

// newTimeline plays a plan on paper, with whole or streamed transfers as the
// problem says. The result is what the simulator measures. With overlap,
// transfers may run into the other pass.
func newTimeline(p *engine.Problem, segs []segment, overlap bool) (*timeline, error) {
	t := &timeline{p: p, segs: segs}
	t.list()
	if !t.play(overlap, math.MaxInt64) {
		return nil, fmt.Errorf("combined: a plan does not fit into %d bytes", p.Budget)
	}
	t.measure()
	return t, nil
}

// play finds when everything happens; false if the plan does not fit, or takes
// longer than longest for sure.
func (t *timeline) play(overlap bool, longest time.Duration) bool {
	fwd, bwd := &t.passes[0], &t.passes[1]
	if !t.pass(fwd, t.runs[:t.turn], false) || fwd.ends[t.turn-1] > longest-t.least {
		return false
	}
	if !t.pass(bwd, t.runs[t.turn:], true) {
		return false
	}
	total := t.join(fwd, bwd, overlap)
	t.moves = t.moves[:0]
	for k, m := range fwd.moves {
		b := bwd.moves[k]
		t.moves = append(t.moves, transfer{segment: m.segment, size: m.size, before: m.before, offloadAt: m.start,
			offloadEnd: m.end, gone: m.gone, fetchAt: total - b.end, fetchEnd: total - b.start})
	}
	t.replay(fwd)
	return true
}

// list fills runs with the operations and what they need.
func (t *timeline) list() {
	c := t.p.Chain.Chain
	n := c.Len()
	fixed := t.p.Graph.Fixed
	stored := fixed // and the inputs of the segments so far
	count := n
	for x := range t.segs {
		count += len(t.segs[x].backward)
	}
	t.runs = make([]run, 0, count)
	add := func(op engine.ChainOp, need engine.Bytes, segment int, entry bool) {
		st := &c.Stages[op.Stage-1]
		last := st.Forward
		if op.Kind == engine.BStep {
			last = st.Back
		}
		if t.turn > 0 {
			t.least += last
		}
		r := run{op: op, last: last, need: need, segment: segment}
		if entry {
			r.entry = t.size(&t.segs[segment])
		}
		t.runs = append(t.runs, r)
	}
	for x := range t.segs {
		seg := &t.segs[x]
		stored += t.size(seg)
		for _, op := range seg.forward() {
			st := &c.Stages[op.Stage-1]
			need := stored + c.HeldGrad(n) + st.FwdTemp
			switch op.Kind {
			case engine.FAll:
				need += st.Saved
			case engine.FNone:
				need += c.Act(op.Stage - 1)
				fallthrough
			default:
				need += st.Out
			}
			add(op, need, x, op.Stage == seg.first)
		}
	}
	t.turn = len(t.runs)
	beside := make([]bool, n+1)
	for x := len(t.segs) - 1; x >= 0; x-- {
		seg := &t.segs[x]
		inside := newInside(c, seg, beside)
		for y, op := range seg.backward {
			add(op, stored+inside.need(op), x, y == 0)
		}
		stored -= t.size(seg)
	}
}

// size is the size of the input of a segment.
func (t *timeline) size(s *segment) engine.Bytes {
	return t.p.Graph.Values[s.input(t.p.Chain)].Size
}

// transfers says whether a run goes with a transfer. Values of no bytes stay.
func (t *timeline) transfers(r *run) bool { return r.entry > 0 && t.segs[r.segment].offload }

// inside is the memory of the backward part of a segment, without inputs of segments.
type inside struct {
	c      *engine.Chain
	first  int
	held   engine.Bytes
	beside []bool // by k: a^k lies beside, not within, abar^k
}

// newInside uses beside as room for its own.
func newInside(c *engine.Chain, s *segment, beside []bool) *inside {
	in := &inside{c: c, first: s.first, held: c.HeldGrad(s.last), beside: beside}
	clear(beside)
	if s.saved {
		in.held += c.Saved(s.first)
	}
	return in
}

// drop frees a^k if it lies by itself.
func (in *inside) drop(k int) {
	if in.beside[k] {
		in.held -= in.c.Act(k)
		in.beside[k] = false
	}
}

// need is what an operation needs; the memory is then as after it.
func (in *inside) need(op engine.ChainOp) (need engine.Bytes) {
	c, k := in.c, op.Stage
	st := &c.Stages[k-1]
	switch op.Kind {
	case engine.FAll:
		need = in.held + st.Saved + st.FwdTemp
		in.held += st.Saved
		in.drop(k)
	case engine.BStep:
		in.held += c.Grad(k) - c.HeldGrad(k)
		need = in.held + c.Grad(k-1) + st.BwdTemp
		in.held += c.Grad(k-1) - c.Grad(k) - st.Saved
		in.drop(k - 1)
	default:
		need = in.held + st.Out + st.FwdTemp
		in.held += st.Out
		in.beside[k] = true
		if op.Kind == engine.FNone {
			in.drop(k - 1)
		}
	}
	return need
}

// pass is one pass of the plan: the first forward sweep, or the backward pass
// seen from the end of the step, where fetches look like offloads.
type pass struct {
	rate     engine.Rate
	backward bool
	streamed bool
	ends     []time.Duration // of the runs, in the order of the pass
	moves    []move
}

// move is a transfer of a pass.
type move struct {
	segment          int
	start, end, gone time.Duration
	before, size     engine.Bytes
}

// pass runs through operations as early as possible: each waits until enough of
// the inputs of earlier segments has left.
func (t *timeline) pass(ps *pass, runs []run, backward bool) bool {
	d := &t.p.Device
	*ps = pass{rate: d.ToHost, backward: backward, streamed: t.p.Transfers == engine.Streamed, ends: ps.ends[:0], moves: ps.moves[:0]}
	if backward {
		ps.rate = d.ToDev
	}
	var at, link time.Duration
	var before engine.Bytes
	for x := range runs {
		r := &runs[x]
		if backward {
			r = &runs[len(runs)-1-x]
		}
		there := at
		off, ok := ps.off(r.need - t.p.Budget)
		if !ok {
			return false
		}
		at = max(at, off) + r.last
		ps.ends = append(ps.ends, at)
		if !t.transfers(r) {
			continue
		}
		if backward {
			there = at
		}
		m := move{segment: r.segment, start: max(link, there), before: before, size: r.entry}
		m.end = m.start + ps.rate.Time(m.size)
		m.gone = m.end
		if !backward {
			m.gone = max(m.end, at)
		}
		link, before = m.end, before+m.size
		ps.moves = append(ps.moves, m)
	}
	return true
}

// off is the first moment at which v bytes are away.
func (ps *pass) off(v engine.Bytes) (at time.Duration, ok bool) {
	if v <= 0 {
		return 0, true
	}
	k, hi := 0, len(ps.moves) // the first with which v bytes are away
	for k < hi {
		if mid := (k + hi) / 2; ps.moves[mid].before+ps.moves[mid].size >= v {
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
		return m.gone, true
	case ps.backward:
		// In real time this is when a fetch has used up the room of the other
		// size-v bytes: it may not go on to the next byte.
		return m.end - min(ps.rate.Time(m.size-v), ps.rate.Time(m.size-v+1)-1), true
	}
	return m.start + ps.rate.Time(v), true
}

// join is how long the step takes. Without overlap the passes follow each other.
// With it, the step is the longest of: all operations in a row; all transfers in a
// row; an operation of the first sweep, and then the fetches that must not have
// begun before it ends; the offloads that must have ended before an operation of
// the backward pass starts, and then the rest of that pass.
func (t *timeline) join(fwd, bwd *pass, overlap bool) time.Duration {
	endF, endB := fwd.ends[len(fwd.ends)-1], bwd.ends[len(bwd.ends)-1]
	if len(fwd.moves) == 0 {
		return endF + endB
	}
	gone, fetched := fwd.moves[len(fwd.moves)-1].gone, bwd.moves[len(bwd.moves)-1].end
	if !overlap {
		return max(endF, gone) + max(endB, fetched)
	}
	total := max(endF+endB, gone+fetched)
	for x := range fwd.ends {
		off, _ := bwd.off(t.runs[x].need - t.p.Budget)
		total = max(total, fwd.ends[x]+off)
	}
	for x := range bwd.ends {
		off, _ := fwd.off(t.runs[len(t.runs)-1-x].need - t.p.Budget)
		total = max(total, bwd.ends[x]+off)
	}
	return total
}

// replay finds when the operations really run: as early as they can. A fetch
// that has begun is in the plan's memory for every later operation, so nothing
// is later than planned.
func (t *timeline) replay(fwd *pass) {
	var at time.Duration
	for x := range t.runs[:t.turn] {
		r := &t.runs[x]
		at = fwd.ends[x]
		r.start, r.end = at-r.last, at
	}
	next := len(t.moves) - 1
	for x := t.turn; x < len(t.runs); x++ {
		r := &t.runs[x]
		off, _ := fwd.off(r.need - t.p.Budget)
		at = max(at, off)
		if t.transfers(r) {
			at = max(at, t.moves[next].fetchEnd)
			next--
		}
		r.start, r.end = at, at+r.last
		at = r.end
	}
	t.makespan = at
}

// measure is the peak. Between operations there is never more than during one,
// and what is away while one runs is least at its start or at its end.
func (t *timeline) measure() {
	t.peak = 0
	a := away{timeline: t, back: len(t.moves), all: t.before(len(t.moves))}
	for x := range t.runs {
		r := &t.runs[x]
		t.peak = max(t.peak, r.need-min(a.at(r.start), a.at(r.end)))
	}
}

// before is what moves before the k-th transfer.
func (t *timeline) before(k int) engine.Bytes {
	if k < len(t.moves) {
		return t.moves[k].before
	}
	if k == 0 {
		return 0
	}
	return t.moves[k-1].before + t.moves[k-1].size
}

// away finds how much is not on the device at one moment after another.
type away struct {
	*timeline
	left int          // offloads that are over
	back int          // the first transfer whose fetch has begun, or with streamed ones, is over
	all  engine.Bytes // of all transfers
}

// at is how much is away just before the fetches of a moment start. Moments come in order.
func (a *away) at(at time.Duration) (sum engine.Bytes) {
	ts := a.moves
	if a.p.Transfers != engine.Streamed {
		for a.left < len(ts) && ts[a.left].gone <= at {
			a.left++
		}
		for a.back > 0 && ts[a.back-1].fetchAt < at {
			a.back--
		}
		return a.before(a.left) + a.before(a.back) - a.all
	}
	for a.left < len(ts) && ts[a.left].offloadEnd <= at {
		a.left++
	}
	for a.back > 0 && ts[a.back-1].fetchEnd <= at {
		a.back--
	}
	sum = a.before(a.left) + a.before(a.back) - a.all
	d := &a.p.Device
	if a.left < len(ts) && at > ts[a.left].offloadAt {
		sum += d.ToHost.Moved(at - ts[a.left].offloadAt)
	}
	if a.back > 0 && at > ts[a.back-1].fetchAt {
		sum -= min(ts[a.back-1].size, d.ToDev.Moved(at-ts[a.back-1].fetchAt))
	}
	return sum
}

// schedule writes the timeline down. The counter reaches an offload when its
// segment begins, and a fetch while an operation still runs at the fetch's
// planned start.
func (t *timeline) schedule() (engine.Schedule, error) {
	g := t.p.Chain
	steps, owner, err := g.CompileSequence(sequence(t.segs))
	if err != nil {
		return nil, fmt.Errorf("combined: the plan is not valid: %w", err)
	}
	sched := make(engine.Schedule, 0, len(steps)+3*len(t.moves))
	fetch := len(t.moves) - 1
	for x := range steps {
		r := &t.runs[owner[x]]
		if steps[x].Kind != engine.StepRun {
			sched = append(sched, steps[x])
			continue
		}
		for ; fetch >= 0 && t.moves[fetch].fetchAt < r.end; fetch-- {
			m := &t.moves[fetch]
			sched = append(sched, engine.Fetch(t.segs[m.segment].input(g), m.fetchAt))
		}
		if !t.transfers(r) || owner[x] >= t.turn {
			sched = append(sched, steps[x])
			continue
		}
		z := t.segs[r.segment].input(g)
		sched = append(sched, engine.Offload(z), steps[x], engine.Free(z))
	}
	return sched, nil
}
