package combined

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/ordered"
	"memtide/engine/remat"
)

// segment is a part of the first forward sweep and its backward part.
type segment struct {
	first, last int
	saved       bool             // one stage with F_all; otherwise the segment keeps nothing
	afterSaved  bool             // its input is abar^{first-1}, not a^{first-1}
	offload     bool             // its input is offloaded
	backward    []engine.ChainOp // operations of the backward part; the last one is B^first
}

// input returns the value that is Z_i of the segment.
func (s *segment) input(g *engine.ChainGraph) engine.ValueID {
	if s.afterSaved && s.first > 1 {
		return g.Saved(s.first - 1)
	}
	return g.Act(s.first - 1)
}

// plan returns the segments of the plan that ends with label last before the loss stage. It follows
// the links back, and computes the states on the way again.
func (s *sweep) plan(last int32) []segment {
	var path []link
	for id := last; id >= 0; id = s.links[id].from {
		path = append(path, s.links[id])
	}
	slices.Reverse(path)
	var l label
	var segs []segment
	for x := 1; x < len(path); x++ {
		to := path[x]
		i, j := int(to.segment), int(to.stage)-1
		seg := segment{first: i, last: j, saved: to.saved, afterSaved: path[x-1].saved, offload: to.offload}
		z := s.input(i, seg.afterSaved)
		var costF, costB int64
		if to.saved {
			seg.backward = []engine.ChainOp{{Kind: engine.BStep, Stage: i}}
			costF, costB, _ = s.keeping(&l, i, z)
		} else {
			for k := i; k <= j; k++ {
				costF = s.stall(costF, &l, i, k, z)
			}
			costF += s.until[j] - s.until[i-1]
			var which int
			costB, which = s.f.cost(i, j, l.held+z, l.in)
			seg.backward = s.f.unfold(nil, i, j, s.f.at(i, j)[which])
		}
		n := label{offload: to.offload}
		s.move(&n, &l, z, costF, costB)
		l = n
		segs = append(segs, seg)
	}
	return append(segs, segment{first: s.n, last: s.n, saved: true, afterSaved: path[len(path)-1].saved,
		backward: []engine.ChainOp{{Kind: engine.BStep, Stage: s.n}}})
}

// unfold appends the operations of triple c of (i,j). It looks for the branch that attains the triple.
func (f *fronts) unfold(seq []engine.ChainOp, i, j int, c triple) []engine.ChainOp {
	all, back := engine.ChainOp{Kind: engine.FAll, Stage: i}, engine.ChainOp{Kind: engine.BStep, Stage: i}
	if i == j {
		return append(seq, all, back)
	}
	for _, r := range f.at(i+1, j) {
		if f.keeping(i, j, r) == c {
			return append(f.unfold(append(seq, all), i+1, j, r), back)
		}
	}
	var none, wanting int64
	for k := i; k < j; k++ {
		need := f.none(i, j, k)
		none, wanting = max(none, need), max(wanting-f.fwd[k], need*f.in)
		for _, l := range f.at(i, k) {
			for _, r := range f.at(k+1, j) {
				if f.splitting(i, k, none, wanting, l, r) != c {
					continue
				}
				seq = remat.KeepInput(seq, i, k)
				return f.unfold(f.unfold(seq, k+1, j, r), i, k, l)
			}
		}
	}
	panic("combined: no branch attains a triple")
}

// sequence returns the operations of a plan, in order.
func sequence(segs []segment) (seq []engine.ChainOp) {
	for x := range segs {
		seq = append(seq, segs[x].forward()...)
	}
	for _, s := range slices.Backward(segs) {
		seq = append(seq, s.backward...)
	}
	return seq
}

// forward returns the operations of the segment in the first sweep.
func (s *segment) forward() []engine.ChainOp {
	if s.saved {
		return []engine.ChainOp{{Kind: engine.FAll, Stage: s.first}}
	}
	return remat.KeepInput(nil, s.first, s.last)
}

// timeline holds the times of all operations and transfers of a plan. Its items are the inputs of segments.
type timeline struct {
	*ordered.Timeline
	p    *engine.Problem
	segs []segment
}

// newTimeline computes the times of a plan, which equal those of the simulator. With overlap,
// transfers may run into the other pass.
func newTimeline(p *engine.Problem, segs []segment, overlap bool) (*timeline, error) {
	t := &timeline{p: p, segs: segs}
	runs, turn := t.list()
	t.Timeline = ordered.New(p, runs, turn, func(x int) bool { return segs[x].offload })
	if !t.Play(overlap, math.MaxInt64) {
		return nil, fmt.Errorf("combined: a plan does not fit into %d bytes", p.Budget)
	}
	t.Measure()
	return t, nil
}

// list returns the operations with their needs, and the index of the first one of the backward pass.
func (t *timeline) list() (runs []ordered.Run, turn int) {
	c := t.p.Chain.Chain
	m := remat.NewMemory(c)
	add := func(op engine.ChainOp, segment int, entry bool) {
		st := &c.Stages[op.Stage-1]
		r := ordered.Run{Lasts: st.Forward, Need: m.Run(op), Item: segment}
		if op.Kind == engine.BStep {
			r.Lasts = st.Back
		}
		if entry {
			r.Moves = t.p.Graph.Values[t.segs[segment].input(t.p.Chain)].Size
		}
		runs = append(runs, r)
	}
	for x := range t.segs {
		for y, op := range t.segs[x].forward() {
			add(op, x, y == 0)
		}
	}
	turn = len(runs)
	for x := len(t.segs) - 1; x >= 0; x-- {
		for y, op := range t.segs[x].backward {
			add(op, x, y == 0)
		}
	}
	return runs, turn
}

// schedule returns the timeline as a schedule. The counter reaches an offload when its segment
// begins, and a fetch while an operation is still running at the fetch's planned start.
func (t *timeline) schedule() (engine.Schedule, error) {
	g := t.p.Chain
	steps, owner, err := g.CompileSequence(sequence(t.segs))
	if err != nil {
		return nil, fmt.Errorf("combined: the plan is not valid: %w", err)
	}
	sched := make(engine.Schedule, 0, len(steps)+3*len(t.Transfers))
	fetch := len(t.Transfers) - 1
	for x := range steps {
		r := &t.Runs[owner[x]]
		if steps[x].Kind != engine.DoRun {
			sched = append(sched, steps[x])
			continue
		}
		for ; fetch >= 0 && t.Transfers[fetch].FetchAt < r.End; fetch-- {
			m := &t.Transfers[fetch]
			sched = append(sched, engine.Fetch(t.segs[m.Item].input(g), m.FetchAt))
		}
		if !t.Sends(r) || owner[x] >= t.Turn {
			sched = append(sched, steps[x])
			continue
		}
		z := t.segs[r.Item].input(g)
		sched = append(sched, engine.Offload(z), steps[x], engine.Free(z))
	}
	return sched, nil
}

// In the model bytes leave one by one; a whole transfer frees its memory only at its end, later than planned. So the
// best plan of the model need not be the fastest schedule. The candidates are the plans for less and less room, which
// have slack for the later times. For each of them, inputs of segments are switched between offloaded and kept, one or
// two at a time, as long as that makes the schedule faster. The result is a good schedule, without a proof.

// shares are the parts of the room, in percent, for which plans are made.
var shares = []int64{99, 98, 97, 96, 95, 94, 92, 90, 88, 86, 83, 80, 76, 72, 68}

// wholeWidths are the widths of the searches for those plans.
var wholeWidths = []int{12, 30, 120}

// tries is the number of plans that are improved for each part of the room.
const tries = 8

// wholePlans replaces the plans of o by better ones for whole transfers, and adds plans for less
// room. Whole transfers are never faster than the model, so plans for less room are of use only if
// the model's time beats the best schedule so far.
func wholePlans(p *engine.Problem, t *terms, o *optimum, overlap bool, poll *engine.Poll) error {
	limit := o.ceiling
	plans, err := wholeBest(p, t, o.plans, &limit, overlap, poll)
	o.plans = plans
	if err != nil {
		return err
	}
	for _, share := range shares {
		if t.effort.left < 0 {
			break
		}
		less := *t
		less.found = nil
		less.room = t.room / 100 * share
		more, err := solve(&less, limit, wholeWidths, poll)
		if err != nil {
			return err
		}
		if len(more.plans) == 0 && more.bound >= limit {
			break // no plan for less room is faster
		}
		plans, err := wholeBest(p, t, more.plans, &limit, overlap, poll)
		o.plans = append(o.plans, plans...)
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeBest improves the fastest tries of some plans, without repetitions, and lowers limit to the
// ticks of the fastest one.
func wholeBest(p *engine.Problem, t *terms, plans [][]segment, limit *int64, overlap bool,
	poll *engine.Poll) ([][]segment, error) {
	var lines []*timeline
	for _, segs := range plans {
		line, err := newTimeline(p, segs, overlap)
		if err != nil {
			return plans, err
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b *timeline) int { return cmp.Compare(a.Makespan, b.Makespan) })
	same := func(a, b *timeline) bool { return a.Makespan == b.Makespan && a.Peak == b.Peak }
	lines = slices.CompactFunc(lines, same)
	var better [][]segment
	for _, line := range lines[:min(len(lines), tries)] {
		better = append(better, line.segs)
		makespan, err := line.improve(overlap, t.effort, poll)
		*limit = min(*limit, int64(makespan)*t.q)
		if err != nil {
			return better, err
		}
	}
	return better, nil
}

// improve changes the set of offloaded inputs as long as that helps, and returns the best step time.
func (t *timeline) improve(overlap bool, e *effort, poll *engine.Poll) (best time.Duration, err error) {
	best, peak := t.Makespan, t.Peak
	// better reports whether a change makes the step faster, or as fast with a lower peak.
	better := func() bool {
		if !t.Play(overlap, best) || t.Makespan > best {
			return false
		}
		t.Measure()
		if t.Makespan == best && t.Peak >= peak {
			return false
		}
		best, peak = t.Makespan, t.Peak
		return true
	}
	flip := func(x, y int) { // the inputs of segments x and y, which may be the same
		t.segs[x].offload = !t.segs[x].offload
		if y > x {
			t.segs[y].offload = !t.segs[y].offload
		}
	}
	last := len(t.segs) - 1 // the loss needs its input at once
	near := 2000/len(t.segs) + 2
	for improved := true; improved; {
		improved = false
		for x := range last {
			for y := x; y < min(last, x+near); y++ {
				if err := poll.Err(); err != nil {
					return best, err
				}
				if y > x && t.segs[x].offload == t.segs[y].offload {
					continue // two inputs only change places
				}
				if !e.spend(int64(perRun * len(t.Runs))) {
					return best, nil
				}
				flip(x, y)
				if better() {
					improved = true
				} else {
					flip(x, y)
				}
			}
		}
	}
	return best, nil
}
