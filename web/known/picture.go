package known

import (
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/draw"
	"memtide/web/format"
)

// Picture is a schedule that was found, with the choice that it was requested for.
type Picture struct {
	ID      int // of the request
	Choice  choice.Choice
	Network *Network
	Solved  *proto.Solved
	Partial bool // the best schedule so far of a solver that still runs or was stopped

	model  *draw.Index              // cached by Index
	placed map[string]*proto.Placed // by Placeable.Method
}

// Problem returns the problem that the picture's schedule solves.
func (p *Picture) Problem() *engine.Problem {
	c := p.Choice
	q := &engine.Problem{
		Graph: p.Network.Graph, Chain: p.Network.Chain,
		Device:    engine.Device{Name: c.Device, ToHost: c.ToHost, ToDev: c.ToDev, Duplex: c.Duplex},
		Transfers: c.Transfers,
		Budget:    p.Solved.Budget,
	}
	if under := p.Solved.Chain; under != nil {
		q.Chain = engine.ExpandChain(under)
		q.Graph = &q.Chain.Graph
	}
	return q
}

// Index returns the picture's trace, arranged for drawing.
func (p *Picture) Index() *draw.Index {
	if p.model == nil {
		p.model = draw.NewIndex(p.Problem(), p.Solved.Trace)
	}
	return p.model
}

// Within returns before and the budget of the picture's schedule, or "" if it has none, as that of a policy. Of keeping
// everything it is the peak, since a budget for it may be rounded up.
func (p *Picture) Within(before string) string {
	budget := p.Solved.Budget
	if budget == engine.NoLimit {
		return ""
	}
	if p.KeepsAll() {
		budget = min(budget, p.Solved.KeepAll.Peak)
	}
	return before + format.Bytes(budget)
}

// KeepsAll reports whether the picture's schedule keeps everything, as a plan does for which everything fits.
func (p *Picture) KeepsAll() bool {
	t := p.Solved.Trace
	return p.Choice.Policy == nil && t.RecomputeTime == 0 && t.HostPeak == 0
}

// Gaps returns the picture's waits.
func (p *Picture) Gaps() []sim.Gap { return p.Solved.Trace.Gaps }

// Tally returns how many layers, without a loss, are computed again, at least in part, and how many are copied
// to the host.
func (p *Picture) Tally() (again, out int) {
	_, by := p.Index().Tally()
	return by[sim.Recompute] + by[sim.Recompute|sim.Offload], by[sim.Offload] + by[sim.Recompute|sim.Offload]
}

// again returns for how long results are computed again, also within the backwards of blocks under a policy.
func (p *Picture) again() time.Duration {
	d := p.Solved.Trace.RecomputeTime
	for i := range p.Solved.Trace.Spans {
		within, _ := p.Index().Own(&p.Solved.Trace.Spans[i])
		d += within
	}
	return d
}

// Delta is the difference of schedule B from schedule A. The changes of the parts add up exactly to
// that of the step time, because runs and waits cover the compute lane of a trace, see sim.Trace.
type Delta struct {
	Step  time.Duration
	Parts []DeltaPart // in a fixed order, including those that do not change
	Peak  engine.Bytes
}

// DeltaPart is a part of the step time in schedules A and B.
type DeltaPart struct {
	Name string // for people
	A, B time.Duration
}

// Change returns B - A.
func (p DeltaPart) Change() time.Duration { return p.B - p.A }

// waits are the reasons for waits of the compute lane, in the order of Delta.Parts.
var waits = []struct {
	reason sim.Reason
	name   string
}{{sim.NeedsData, "waiting for data"}, {sim.NeedsRoom, "waiting for memory"}, {sim.CopyOut, "waiting for copies out"},
	{sim.Drain, "waiting at the end"}, {sim.Window, "waiting for the window"}, {sim.Dependency, "waiting in order"},
	{sim.None, "waiting"}}

// DeltaOf returns the difference of schedule q from schedule p.
func DeltaOf(p, q *Picture) Delta {
	a, b, again := p.Solved.Trace, q.Solved.Trace, [2]time.Duration{p.again(), q.again()}
	d := Delta{Step: b.Makespan - a.Makespan, Peak: b.Peak - a.Peak}
	d.Parts = append(d.Parts, DeltaPart{"compute", a.ComputeTime + a.RecomputeTime - again[0],
		b.ComputeTime + b.RecomputeTime - again[1]}, DeltaPart{"recompute", again[0], again[1]})
	for _, w := range waits {
		if a.Waiting[w.reason] != 0 || b.Waiting[w.reason] != 0 {
			d.Parts = append(d.Parts, DeltaPart{w.name, a.Waiting[w.reason], b.Waiting[w.reason]})
		}
	}
	return d
}

// Rounded returns the changes of the step and of every part, all rounded to three digits of the largest, such that the
// rounded parts add up to the rounded step. The parts that lose most by rounding get the remainder.
func (d *Delta) Rounded() (step time.Duration, parts []time.Duration) {
	most := d.Step.Abs()
	for _, p := range d.Parts {
		most = max(most, p.Change().Abs())
	}
	unit := time.Duration(1)
	for most/unit >= 1000 {
		unit *= 10
	}
	step = floorTo(d.Step+unit/2, unit)
	rest := step
	parts = make([]time.Duration, len(d.Parts))
	for i, p := range d.Parts {
		parts[i] = floorTo(p.Change(), unit)
		rest -= parts[i]
	}
	for ; rest > 0; rest -= unit { // parts are rounded down, so that rest is never negative
		best := 0
		for i, p := range d.Parts {
			if p.Change()-parts[i] > d.Parts[best].Change()-parts[best] {
				best = i
			}
		}
		parts[best] += unit
	}
	return step, parts
}

// floorTo returns the largest multiple of unit that is at most t.
func floorTo(t, unit time.Duration) time.Duration {
	q := t / unit
	if t%unit < 0 {
		q--
	}
	return q * unit
}
