package combined

import (
	"fmt"
	"math"

	"memtide/engine"
	"memtide/engine/ordered"
	"memtide/engine/remat"
)

// timeline holds the times of all operations and transfers of a plan. Its items are the inputs of
// segments.
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

// list returns the operations with their needs, and the index of the first one of the backward
// pass.
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
