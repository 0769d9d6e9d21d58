package combined

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// The paper's model knows no outputs that no backward reads (engine.Stage.Unsaved).
// Where a chain has some, plans are made for another chain, which saves them beside what
// their stages save anyway. A plan's schedule runs with the two apart: the output goes once
// its last reader in the plan has run, and is copied only where a forward after the fetch
// reads it. The other chain never needs less memory than what is run in its place, so its
// plans fit; they may run a little faster than planned, and what is claimed is what the
// simulator measures. Nothing is claimed to be the best.

// solveRecast is Plans for a chain with unsaved outputs. It makes at most tries further
// plans for more memory than the budget; see roomier.
func solveRecast(p *engine.Problem, args engine.Parsed, tries int, poll *engine.Poll) (*engine.Solution, error) {
	best, err := remat.Rotor.Solve(p, nil, poll)
	var none, other *engine.InfeasibleError
	if err != nil && !errors.As(err, &none) {
		return claimed(p, best), err
	}
	if best != nil {
		best = &engine.Solution{Schedule: best.Schedule, Makespan: best.Makespan, Peak: best.Peak,
			Notes: []string{"Nothing is offloaded: no schedule that offloads was found to be faster than recomputation alone."}}
	}
	q := savedChain(p)
	sol, err := recast(p, q, args, best, poll)
	if err == nil && sol != nil {
		sol = roomier(p, q, args, sol, tries, poll)
	}
	if sol != nil && (best == nil || sol.Makespan < best.Makespan) {
		best = sol
	}
	switch {
	case err != nil && !errors.As(err, &other):
		return claimed(p, best), err
	case best != nil:
		return claimed(p, best), nil
	case other.Smallest < none.Smallest:
		none = other
	}
	return nil, none
}

// savedChain returns the problem of the chain that saves all outputs.
func savedChain(p *engine.Problem) *engine.Problem {
	d := *p.Chain.Chain
	d.Stages = append([]engine.Stage(nil), d.Stages...)
	for i := range d.Stages {
		st := &d.Stages[i]
		if st.Unsaved {
			st.Saved, st.Unsaved = st.Saved+st.Out, false
		}
	}
	return engine.NewChainProblem(&d, p.Device, p.Transfers, p.Budget)
}

// recast plans for the other chain, q. Plans that are no faster than best are not told.
func recast(p, q *engine.Problem, args engine.Parsed, best *engine.Solution,
	poll *engine.Poll) (*engine.Solution, error) {
	var rotor *engine.Solution
	var err error
	poll.Aside(func() { rotor, err = remat.Rotor.Solve(q, nil, poll) })
	common := &shared{shown: func(sol *engine.Solution) *engine.Solution {
		own, err := parted(p, sol)
		if err != nil || best != nil && best.Makespan <= own.Makespan {
			return nil // it was told before, or its groups were
		}
		return claimed(p, own)
	}}
	sol, err := solveFrom(q, args, rotor, err, common, poll)
	if sol == nil {
		return nil, err
	}
	own, problem := parted(p, sol)
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
func roomier(p, q *engine.Problem, args engine.Parsed, sol *engine.Solution, tries int,
	poll *engine.Poll) *engine.Solution {
	more := p.Budget - sol.Peak
	for try := 0; try < tries && more > 0 && poll.Err() == nil; try++ {
		larger := q.WithBudget(q.Budget + more)
		var faster *engine.Solution
		poll.Aside(func() { faster, _ = recast(p, larger, args, sol, poll) })
		if faster == nil || faster.Makespan >= sol.Makespan {
			more /= 2
			continue
		}
		q, sol, more = larger, faster, min(more, p.Budget-faster.Peak)
	}
	return sol
}

// parted returns a solution for the other chain as one for this one.
func parted(p *engine.Problem, sol *engine.Solution) (*engine.Solution, error) {
	own, err := sim.Solution(p, newApart(p.Chain, sol.Schedule).schedule())
	if err != nil {
		return nil, fmt.Errorf("combined: a plan of another chain cannot be played: %w", err)
	}
	own.Notes = []string{fmt.Sprintf("No backward reads the outputs of %d stages: the plan takes them as saved, and lets go of them once nothing reads them.",
		p.Chain.Chain.CountUnsaved())}
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

// apart runs a plan's schedule with outputs apart from what is saved. It suits networks
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

func newApart(g *engine.ChainGraph, s engine.Schedule) *apart {
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
		case st.Kind == engine.DoRun:
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
func (a *apart) move(i, k int, st engine.Instruction) {
	if st.Kind == engine.DoFetch && a.sent[k] { // before what is saved: it is read first
		a.to = append(a.to, engine.Fetch(a.g.Act(k), st.NotBefore))
		a.here[k] = true
	}
	if st.Value == a.g.Saved(k) {
		a.to = append(a.to, st)
	}
	switch st.Kind {
	case engine.DoFree:
		a.free(k)
	case engine.DoOffload:
		a.sent[k] = a.read(k, a.freed(i))
		if a.sent[k] {
			a.to = append(a.to, engine.Offload(a.g.Act(k)))
		}
	}
}

// run adds the run of step i, and frees the outputs that nothing reads after it.
func (a *apart) run(i int, st engine.Instruction) {
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
		if st.Kind != engine.DoRun {
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
		if st := a.from[x]; st.Kind == engine.DoFree && st.Value == a.from[i].Value {
			return x
		}
	}
	return len(a.from) - 1
}
