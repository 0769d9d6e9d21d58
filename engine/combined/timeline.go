package combined

import (
	"fmt"
	"math"

	"memtide/engine"
	"memtide/engine/ordered"
)

// timeline is when everything of a plan happens: its items are segments, of which the
// input moves.
type timeline struct {
	*ordered.Step
	p    *engine.Problem
	segs []segment
}

// newTimeline plays a plan on paper. The result is what the simulator measures. With
// overlap, transfers may run into the other pass.
func newTimeline(p *engine.Problem, segs []segment, overlap bool) (*timeline, error) {
	t := &timeline{p: p, segs: segs}
	runs, turn := t.list()
	t.Step = ordered.New(p, runs, turn, func(x int) bool { return segs[x].offload })
	if !t.Play(overlap, math.MaxInt64) {
		return nil, fmt.Errorf("combined: a plan does not fit into %d bytes", p.Budget)
	}
	t.Measure()
	return t, nil
}

// list is the operations and what they need, and which is the first of the backward
// pass.
func (t *timeline) list() (runs []ordered.Run, turn int) {
	c := t.p.Chain.Chain
	n := c.Len()
	stored := t.p.Graph.Fixed // and the inputs of the segments so far
	count := n
	for x := range t.segs {
		count += len(t.segs[x].backward)
	}
	runs = make([]ordered.Run, 0, count)
	add := func(op engine.ChainOp, need engine.Bytes, segment int, entry bool) {
		st := &c.Stages[op.Stage-1]
		r := ordered.Run{Lasts: st.Forward, Need: need, Item: segment}
		if op.Kind == engine.BStep {
			r.Lasts = st.Back
		}
		if entry {
			r.Moves = t.size(&t.segs[segment])
		}
		runs = append(runs, r)
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
	turn = len(runs)
	beside := make([]bool, n+1)
	for x := len(t.segs) - 1; x >= 0; x-- {
		seg := &t.segs[x]
		inside := newInside(c, seg, beside)
		for y, op := range seg.backward {
			add(op, stored+inside.need(op), x, y == 0)
		}
		stored -= t.size(seg)
	}
	return runs, turn
}

// size is the size of the input of a segment.
func (t *timeline) size(s *segment) engine.Bytes {
	return t.p.Graph.Values[s.input(t.p.Chain)].Size
}

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

// schedule writes the timeline down. The counter reaches an offload when its
// segment begins, and a fetch while an operation still runs at the fetch's
// planned start.
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
		if steps[x].Kind != engine.StepRun {
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
