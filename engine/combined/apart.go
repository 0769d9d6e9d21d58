package combined

import "memtide/engine"

// apart takes every output as saved, beside what its stage saves anyway. The plan's
// schedule runs with the two apart: the output goes once its last reader in the plan has
// run, and is copied only where a forward after the fetch reads it. It suits networks
// whose layers save much more than their outputs, such as the blocks of a transformer.
type apart struct {
	g       *engine.ChainGraph
	from    engine.Schedule
	to      engine.Schedule
	here    []bool // by k: a^k is on the device
	sent    []bool // a^k is on the host
	forward []int  // of each operation, its stage if it is a forward, else 0
	back    []int  // the same of backwards
}

func newApart(p *engine.Problem) recast {
	d := *p.Chain.Chain
	d.Stages = append([]engine.Stage(nil), d.Stages...)
	for i := range d.Stages {
		st := &d.Stages[i]
		if st.Unsaved {
			st.Saved, st.Unsaved = st.Saved+st.Out, false
		}
	}
	return recast{q: engine.NewChainProblem(&d, p.Device, p.Transfers, p.Budget),
		schedule: func(s engine.Schedule) engine.Schedule { return newParting(p.Chain, s).schedule() },
		note:     "the plan takes them as saved, and lets go of them once nothing reads them"}
}

func newParting(g *engine.ChainGraph, s engine.Schedule) *apart {
	n := g.Chain.Len()
	a := &apart{g: g, from: s, here: make([]bool, n+1), sent: make([]bool, n+1), forward: make([]int, len(g.Ops)), back: make([]int, len(g.Ops))}
	for k := 1; k <= n; k++ {
		a.forward[g.Fwd(k)], a.back[g.Bwd(k)] = k, k
	}
	return a
}

// schedule is the plan's schedule with outputs apart from what is saved.
func (a *apart) schedule() engine.Schedule {
	unsaved := map[engine.ValueID]int{} // what is saved, and outputs, of stages whose outputs are unsaved
	for k := 1; k <= a.g.Chain.Len(); k++ {
		if a.g.Chain.Unsaved(k) {
			unsaved[a.g.Saved(k)], unsaved[a.g.Act(k)] = k, k
		}
	}
	for i, st := range a.from {
		switch k := unsaved[st.Value]; {
		case st.Kind == engine.StepRun:
			a.run(i, st)
		case k == 0:
			a.to = append(a.to, st)
		default:
			a.move(i, k, st)
		}
	}
	return a.to
}

// move adds step i, which moves or frees what stage k saves or its output.
func (a *apart) move(i, k int, st engine.Step) {
	if st.Kind == engine.StepFetch && a.sent[k] { // before what is saved: it is read first
		a.to = append(a.to, engine.Fetch(a.g.Act(k), st.NotBefore))
		a.here[k] = true
	}
	if st.Value == a.g.Saved(k) {
		a.to = append(a.to, st)
	}
	switch st.Kind {
	case engine.StepFree:
		a.free(k)
	case engine.StepOffload:
		a.sent[k] = a.read(k, a.freed(i))
		if a.sent[k] {
			a.to = append(a.to, engine.Offload(a.g.Act(k)))
		}
	}
}

// run adds the run of step i, and frees the outputs that nothing reads after it.
func (a *apart) run(i int, st engine.Step) {
	a.to = append(a.to, st)
	k := a.forward[st.Op]
	if k == 0 {
		return
	}
	a.here[k] = a.g.Chain.Unsaved(k)
	for _, x := range [...]int{k - 1, k} {
		if !a.read(x, i) {
			a.free(x)
		}
	}
}

// free drops a^k if it is on the device by itself.
func (a *apart) free(k int) {
	if a.here[k] {
		a.to = append(a.to, engine.Free(a.g.Act(k)))
		a.here[k] = false
	}
}

// read says whether a^k, as it is after step i, is read by a forward of the plan.
func (a *apart) read(k, i int) bool {
	for _, st := range a.from[i+1:] {
		if st.Kind != engine.StepRun {
			continue
		}
		switch {
		case a.forward[st.Op] == k+1:
			return true
		case a.forward[st.Op] == k && k > 0, a.back[st.Op] == k && k > 0:
			return false
		}
	}
	return false
}

// freed is the step that frees what step i offloads.
func (a *apart) freed(i int) int {
	for x := i + 1; x < len(a.from); x++ {
		if st := a.from[x]; st.Kind == engine.StepFree && st.Value == a.from[i].Value {
			return x
		}
	}
	return len(a.from) - 1
}
