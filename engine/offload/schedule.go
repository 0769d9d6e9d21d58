package offload

import (
	"memtide/engine"
	"memtide/engine/ordered"
)

// Schedule writes the plan down. The counter reaches an offload of x_i when
// F_{i-1} has ended, and its release when F_i has; it reaches a fetch at the end
// of an operation that is over by the fetch's planned start, with the next one
// still running then. So transfers start exactly when they are planned to.
func (p *Ordered) Schedule() engine.Schedule {
	return p.write(func(k int, t *ordered.Transfer) bool { return t.FetchAt < p.Runs[k].End })
}

// write writes the plan down; due says whether the fetch that comes next is queued before
// operation k.
func (p *Ordered) write(due func(k int, t *ordered.Transfer) bool) engine.Schedule {
	g, n := p.step.p.Chain, p.step.n
	sched := make(engine.Schedule, 0, 5*n+3*len(p.Transfers))
	fetch := len(p.Transfers) - 1
	queue := func(k int) {
		for ; fetch >= 0 && due(k, &p.Transfers[fetch]); fetch-- {
			t := &p.Transfers[fetch]
			sched = append(sched, engine.Fetch(item(g, t.Item), t.FetchAt))
		}
	}
	for i := range n {
		if p.Set[i] {
			sched = append(sched, engine.Offload(item(g, i)))
		}
		queue(i)
		sched = append(sched, engine.Run(g.Fwd(i+1)))
		if p.Set[i] {
			sched = append(sched, engine.Free(item(g, i)))
		}
		sched = letGo(sched, g, i)
	}
	for k := n; k >= 1; k-- {
		queue(2*n - k)
		if p.Set[k-1] {
			sched = holdFor(sched, g, k-1)
		}
		sched = append(sched, engine.Run(g.Bwd(k)), engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
	}
	return append(sched, engine.Free(g.Act(0)))
}

// letGo frees a^i after F^{i+1} if no backward reads it.
func letGo(sched engine.Schedule, g *engine.ChainGraph, i int) engine.Schedule {
	if g.Chain.Unsaved(i) {
		return append(sched, engine.Free(g.Act(i)))
	}
	return sched
}

// holdFor lets B^{i+1} wait for x_i. It reads x_i, unless no backward reads a^i: then
// x_i could still be on its way, and the model does not know that.
func holdFor(sched engine.Schedule, g *engine.ChainGraph, i int) engine.Schedule {
	if g.Chain.Unsaved(i) {
		return append(sched, engine.Wait(item(g, i)))
	}
	return sched
}

// item is the value that is x_i.
func item(g *engine.ChainGraph, i int) engine.ValueID {
	if i == 0 {
		return g.Act(0)
	}
	return g.Saved(i)
}
