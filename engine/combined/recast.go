package combined

import (
	"errors"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// The paper's model has no outputs that no backward reads (engine.Stage.Unsaved). For a chain with such outputs, plans
// are made for another chain, in which they belong to the saved sets of their stages. The schedule then treats the
// output and the saved set as two values: it frees the output once its last reader in the plan has run, and copies it
// only if a forward after the fetch reads it. The other chain never needs less memory than the schedule, so its plans
// fit. They may run a little faster than planned, and the claims are what the simulator measures. No schedule is
// claimed to be the best plan.

// solveRecast is Plans for a chain with unsaved outputs. It makes at most tries further plans for
// more memory than the budget; see roomier.
func solveRecast(p *engine.Problem, args engine.Parsed, tries int, common *shared,
	poll *engine.Poll) (*engine.Solution, error) {
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
	sol, err := recast(p, q, args, best, common, poll)
	if sol != nil && (best == nil || sol.Makespan < best.Makespan) {
		best = sol
	}
	if err == nil && best != nil {
		best = roomier(p, q, args, best, tries, common, poll)
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

// savedChain returns the problem of the chain whose saved sets include the unsaved outputs.
func savedChain(p *engine.Problem) *engine.Problem {
	d := *p.Chain.Chain
	d.Stages = slices.Clone(d.Stages)
	for i := range d.Stages {
		st := &d.Stages[i]
		if st.Unsaved {
			st.Saved, st.Unsaved = st.Saved+st.Out, false
		}
	}
	return engine.NewChainProblem(&d, p.Device, p.Transfers, p.Budget)
}

// recast plans for the other chain, q, and returns the solution for p. It looks only for plans that
// are faster than best, and reports only those that are faster than what it has reported.
func recast(p, q *engine.Problem, args engine.Parsed, best *engine.Solution, common *shared,
	poll *engine.Poll) (*engine.Solution, error) {
	var rotor *engine.Solution
	var err error
	poll.Aside(func() { rotor, err = remat.Rotor.Solve(q, nil, poll) })
	common.limit = 0
	if best != nil {
		common.limit = best.Makespan
	}
	common.shown = func(sol *engine.Solution) *engine.Solution {
		own, err := parted(p, sol)
		if err != nil || best != nil && best.Makespan <= own.Makespan {
			return nil // the same plan or a coarser one was reported before
		}
		best = own
		return claimed(p, own)
	}
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

// roomier returns the fastest of sol and of plans for more memory than the budget. The other chain
// needs more memory than this one, so a plan for it leaves part of the budget unused, and a plan
// for that much more may still fit. A try that does not fit, or is no faster, halves the increase.
func roomier(p, q *engine.Problem, args engine.Parsed, sol *engine.Solution, tries int, common *shared,
	poll *engine.Poll) *engine.Solution {
	more, least := p.Budget-sol.Peak, p.Chain.Chain.ForwardTime()+p.Chain.Chain.BackTime()
	for try := 0; try < tries && more > 0 && sol.Makespan > least && poll.Err() == nil; try++ {
		larger := q.WithBudget(q.Budget + more)
		var faster *engine.Solution
		poll.Aside(func() { faster, _ = recast(p, larger, args, sol, common, poll) })
		if faster == nil || faster.Makespan >= sol.Makespan {
			more /= 2
			continue
		}
		q, sol, more = larger, faster, min(more, p.Budget-faster.Peak)
	}
	return sol
}

// parted returns a solution for the other chain as a solution for p, with outputs apart from saved sets.
func parted(p *engine.Problem, sol *engine.Solution) (*engine.Solution, error) {
	steps := rewritten(p.Chain, sol.Schedule)
	own, err := sim.Solution(p, steps)
	for percent := engine.Bytes(1); err != nil && percent < 5; percent++ {
		if trace, stuck := sim.Play(p.WithBudget(p.Budget-p.Budget/100*percent), steps); stuck == nil {
			own, err = sim.Solution(p, pinned(steps, trace))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("combined: a plan of another chain cannot be played: %w", err)
	}
	own.Notes = []string{"Some outputs are read by no backward: the plan takes them as saved, and lets go of them once nothing reads them."}
	return own, nil
}

// pinned returns a schedule whose fetches begin no earlier than in its trace within a smaller budget. Where there
// is more room, a fetch that begins as soon as it can may leave none for an operation that has to run before.
func pinned(steps engine.Schedule, t *sim.Trace) engine.Schedule {
	out := slices.Clone(steps)
	for i := range t.Spans {
		if sp := &t.Spans[i]; sp.Kind == sim.SpanFetch {
			out[sp.Step].NotBefore = max(out[sp.Step].NotBefore, sp.Start)
		}
	}
	return out
}

// claimed sets the claims that hold for any schedule. sol may be nil.
func claimed(p *engine.Problem, sol *engine.Solution) *engine.Solution {
	if sol == nil {
		return nil
	}
	c := p.Chain.Chain
	sol.OptimalAmong, sol.Bound = p.Graph.FirstWays("all schedules"), c.ForwardTime()+c.BackTime()
	sol.Optimal = sol.Makespan == sol.Bound
	return sol
}

// apart rewrites the schedule of a plan so that outputs are apart from saved sets. It suits
// networks whose layers save much more than their outputs, such as the blocks of a transformer.
type apart struct {
	g       *engine.ChainGraph
	from    engine.Schedule
	to      engine.Schedule
	alone   []bool // by k: a^k is on the device as a value of its own
	sent    []bool // a^k is on the host
	forward []int  // by operation: its stage if it is a forward, otherwise 0
	back    []int  // the same for backwards
}

// rewritten returns the schedule of a plan with outputs apart from saved sets.
func rewritten(g *engine.ChainGraph, from engine.Schedule) engine.Schedule {
	n := g.Chain.Len()
	a := &apart{g: g, from: from, alone: make([]bool, n+1), sent: make([]bool, n+1), forward: make([]int, len(g.Ops)),
		back: make([]int, len(g.Ops))}
	unsaved := map[engine.ValueID]int{} // stages with unsaved outputs, by saved set and by output
	for k := 1; k <= n; k++ {
		a.forward[g.Fwd(k)], a.back[g.Bwd(k)] = k, k
		if g.Chain.Unsaved(k) {
			unsaved[g.Saved(k)], unsaved[g.Act(k)] = k, k
		}
	}
	for i, st := range from {
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

// move adds instruction i, which moves or frees the saved set or the output of stage k.
func (a *apart) move(i, k int, st engine.Instruction) {
	if st.Kind == engine.DoFetch && a.sent[k] { // before the saved set, because it is read first
		a.to = append(a.to, engine.Fetch(a.g.Act(k), st.NotBefore))
		a.alone[k] = true
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

// run adds the run of instruction i, and frees the outputs that have no reader after it.
func (a *apart) run(i int, st engine.Instruction) {
	a.to = append(a.to, st)
	k := a.forward[st.Op]
	if k == 0 {
		return
	}
	a.alone[k] = a.g.Chain.Unsaved(k)
	for _, x := range [...]int{k - 1, k} {
		if !a.read(x, i) {
			a.free(x)
		}
	}
}

// free frees a^k if it is on the device as a value of its own.
func (a *apart) free(k int) {
	if a.alone[k] {
		a.to = append(a.to, engine.Free(a.g.Act(k)))
		a.alone[k] = false
	}
}

// read reports whether a forward of the plan reads a^k after instruction i, before another run of stage k replaces it.
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

// freed returns the index of the instruction that frees the value that instruction i offloads.
func (a *apart) freed(i int) int {
	for x := i + 1; x < len(a.from); x++ {
		if st := a.from[x]; st.Kind == engine.DoFree && st.Value == a.from[i].Value {
			return x
		}
	}
	return len(a.from) - 1
}
