package combined

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// The paper's model knows no outputs that no backward reads (engine.Stage.Unsaved).
// Where a chain has some, plans are made for other chains that it knows (joined, apart),
// and the best of their plans is taken. Such a chain never needs less memory than what is
// run in its place, so its plans fit; they may run a little faster than planned, and
// what is claimed is what the simulator measures. Nothing is claimed to be the best.
type recast struct {
	q        *engine.Problem                       // of the other chain
	schedule func(engine.Schedule) engine.Schedule // of q's schedule, one of the chain's own
	note     string                                // what is done with outputs that no backward reads
}

// solveRecast is Plans for a chain with unsaved outputs. It makes at most tries further
// plans for more memory than the budget; see roomier.
func solveRecast(p *engine.Problem, args engine.Parsed, tries int, poll *engine.Poll) (*engine.Solution, error) {
	best, err := remat.Rotor.Solve(p, nil, poll)
	var none *engine.InfeasibleError
	if err != nil && !errors.As(err, &none) {
		return claimed(p, best), err
	}
	if best != nil {
		best = &engine.Solution{Schedule: best.Schedule, Makespan: best.Makespan, Peak: best.Peak,
			Notes: []string{"Nothing is offloaded: no schedule that offloads was found to be faster than recomputation alone."}}
	}
	for _, r := range []recast{newApart(p), newJoined(p)} {
		sol, err := r.solve(p, args, best, poll)
		if err == nil && sol != nil {
			sol = r.roomier(p, args, sol, tries, poll)
		}
		if sol != nil && (best == nil || sol.Makespan < best.Makespan) {
			best = sol
		}
		var other *engine.InfeasibleError
		switch {
		case errors.As(err, &other):
			if none != nil && other.Smallest < none.Smallest {
				none = other
			}
		case err != nil:
			return claimed(p, best), err
		}
	}
	if best == nil {
		return nil, none
	}
	return claimed(p, best), nil
}

// solve plans for the other chain. Plans that are no faster than best are not told.
func (r *recast) solve(p *engine.Problem, args engine.Parsed, best *engine.Solution,
	poll *engine.Poll) (*engine.Solution, error) {
	var rotor *engine.Solution
	var err error
	poll.Aside(func() { rotor, err = remat.Rotor.Solve(r.q, nil, poll) })
	common := &shared{shown: func(sol *engine.Solution) *engine.Solution {
		own, err := r.solution(p, sol)
		if err != nil || best != nil && best.Makespan <= own.Makespan {
			return nil // it was told before, or its groups were
		}
		return claimed(p, own)
	}}
	sol, err := solveFrom(r.q, args, rotor, err, common, poll)
	if sol == nil {
		return nil, err
	}
	own, problem := r.solution(p, sol)
	if problem != nil {
		return nil, problem
	}
	return own, err
}

// triesFor returns how many plans for more memory than the budget are made for a chain of n
// stages. It is 0 for long chains, whose plans take seconds each.
func triesFor(n int) int {
	if n > 64 {
		return 0
	}
	return 2
}

// roomier returns the fastest of sol and of plans for more memory than the budget. The
// other chain needs more memory than this one, so a plan for it leaves part of the budget
// unused, and a plan for that much more may still fit. A try that does not fit, or is no
// faster, halves what the next one adds.
func (r *recast) roomier(p *engine.Problem, args engine.Parsed, sol *engine.Solution, tries int,
	poll *engine.Poll) *engine.Solution {
	within := r.q
	defer func() { r.q = within }()
	more := p.Budget - sol.Peak
	for try := 0; try < tries && more > 0 && poll.Err() == nil; try++ {
		r.q = r.q.WithBudget(r.q.Budget + more)
		var faster *engine.Solution
		poll.Aside(func() { faster, _ = r.solve(p, args, sol, poll) })
		if faster == nil || faster.Makespan >= sol.Makespan {
			r.q = r.q.WithBudget(r.q.Budget - more)
			more /= 2
			continue
		}
		sol, more = faster, min(more, p.Budget-faster.Peak)
	}
	return sol
}

// solution returns a solution for the other chain as one for this one.
func (r *recast) solution(p *engine.Problem, sol *engine.Solution) (*engine.Solution, error) {
	own, err := sim.Solution(p, r.schedule(sol.Schedule))
	if err != nil {
		return nil, fmt.Errorf("combined: a plan of another chain cannot be played: %w", err)
	}
	own.Notes = []string{fmt.Sprintf("No backward reads the outputs of %d stages: %s.", p.Chain.Chain.CountUnsaved(),
		r.note)}
	return own, nil
}

// claimed says what is proven of any schedule.
func claimed(p *engine.Problem, sol *engine.Solution) *engine.Solution {
	if sol == nil {
		return nil
	}
	c := p.Chain.Chain
	sol.OptimalAmong, sol.Bound = p.Graph.FirstWays("all schedules"), c.ForwardTime()+c.BackTime()
	sol.Optimal = sol.Makespan == sol.Bound
	return sol
}

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
	a := &apart{g: g, from: s, here: make([]bool, n+1), sent: make([]bool, n+1), forward: make([]int, len(g.Ops)),
		back: make([]int, len(g.Ops))}
	for k := 1; k <= n; k++ {
		a.forward[g.Fwd(k)], a.back[g.Bwd(k)] = k, k
	}
	return a
}

// schedule returns the plan's schedule with outputs apart from what is saved.
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

// read reports whether a^k, as it is after step i, is read by a forward of the plan.
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

// freed returns the step that frees what step i offloads.
func (a *apart) freed(i int) int {
	for x := i + 1; x < len(a.from); x++ {
		if st := a.from[x]; st.Kind == engine.StepFree && st.Value == a.from[i].Value {
			return x
		}
	}
	return len(a.from) - 1
}

// joined takes every stage whose output is unsaved together with those after it, up to
// the first whose output is saved, as one. What such stages save for their backward stays
// on the device from the beginning to the end of the step; what the last of them saves, or
// their input, is what a plan keeps, offloads or computes again. It suits networks whose
// layers save no more than their outputs.
type joined struct {
	p     *engine.Problem
	q     *engine.Problem
	first []int // of each stage of q, the first stage that it stands for
	last  []int
}

func newJoined(p *engine.Problem) recast {
	c := p.Chain.Chain
	j := &joined{p: p}
	d := *c
	d.Stages = nil
	for k := 1; k <= c.Len(); k++ {
		first := k
		for c.Unsaved(k) {
			d.Resident.Pinned += c.Saved(k)
			k++
		}
		j.first, j.last = append(j.first, first), append(j.last, k)
		d.Stages = append(d.Stages, merged(c, first, k))
	}
	j.q = engine.NewChainProblem(&d, p.Device, p.Transfers, p.Budget)
	return recast{q: j.q, schedule: j.schedule,
		note: fmt.Sprintf("the plan takes each together with the stage after it, %d stages in all, and leaves what it saves on the device", len(j.first))}
}

// merged returns the stage that stands for stages a..b. The saved activations of a..b-1 are not
// in it.
func merged(c *engine.Chain, a, b int) engine.Stage {
	st := c.Stages[b-1]
	if a == b {
		return st
	}
	st.Name, st.Fast = fmt.Sprintf("%s to %s", c.Stages[a-1].Name, st.Name), nil
	st.Forward, st.Back, st.FwdTemp, st.BwdTemp = 0, 0, 0, 0
	held := c.Grad(a - 1) // of what the backward of the whole makes
	for k := a; k <= b; k++ {
		one := &c.Stages[k-1]
		st.Forward += one.Forward
		st.Back += one.Back
		var in engine.Bytes // a^{k-1}, if it is made in here
		if k > a {
			in = c.Act(k - 1)
		}
		full, back := in+one.Out+one.FwdTemp-st.Saved, c.Grad(k-1)+one.BwdTemp-held
		if k == b {
			full = in + one.FwdTemp
		} else { // abar^b and delta^b are gone
			back += one.Grad - st.Saved - st.Grad
		}
		st.FwdTemp = max(st.FwdTemp, full, in+one.Out+one.FwdTemp-st.Out)
		st.BwdTemp = max(st.BwdTemp, back)
	}
	return st
}

// value returns what stands for a value of the other chain.
func (j *joined) value(v engine.ValueID) engine.ValueID {
	g, h := j.p.Chain, j.q.Chain
	at := func(k int) int {
		if k == 0 {
			return 0
		}
		return j.last[k-1]
	}
	n := h.Chain.Len()
	switch {
	case v >= h.Grad(0):
		return g.Grad(at(int(v - h.Grad(0))))
	case v > h.Act(n):
		return g.Saved(at(int(v - h.Act(n))))
	}
	return g.Act(at(int(v)))
}

// schedule returns a schedule of the other chain in terms of this one.
func (j *joined) schedule(s engine.Schedule) (sched engine.Schedule) {
	g := j.p.Chain
	gone := map[engine.ValueID]bool{} // freed within a backward, and to be freed after it
	for _, st := range s {
		if st.Kind != engine.StepRun {
			st.Value = j.value(st.Value)
			if st.Kind == engine.StepFree && gone[st.Value] {
				delete(gone, st.Value)
				continue
			}
			sched = append(sched, st)
			continue
		}
		op := &j.q.Graph.Ops[st.Op]
		a, b := j.first[op.Stage-1], j.last[op.Stage-1]
		if op.Pass == engine.Forward {
			for k := a; k <= b; k++ {
				sched = append(sched, engine.Step{Kind: engine.StepRun, Op: g.Fwd(k), Value: engine.NoValue,
					OutputOnly: st.OutputOnly})
				if k > a {
					sched = append(sched, engine.Free(g.Act(k-1)))
				}
			}
			continue
		}
		for k := b; k >= a; k-- {
			sched = append(sched, engine.Run(g.Bwd(k)))
			if a < b {
				sched = append(sched, engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
			}
		}
		if a < b {
			gone[g.Grad(b)], gone[g.Saved(b)] = true, true
		}
	}
	return sched
}
