package combined

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// The paper's model knows no outputs that no backward reads (engine.Stage.Unsaved).
// Where a chain has some, plans are made for another one: every such stage is taken
// together with those after it, up to the first whose output is saved, as one. What
// such stages save for their backward stays on the device from the beginning to the
// end of the step; what the last of them saves, or their input, is what a plan keeps,
// offloads or computes again. The other chain never needs less memory than what is
// run in its place, so its plans fit; they may run a little faster than planned, and
// what is claimed is what the simulator measures. Nothing is claimed to be the best.
type joined struct {
	p     *engine.Problem
	q     *engine.Problem // of the other chain
	first []int           // of each of its stages, the first stage that it stands for
	last  []int
}

func newJoined(p *engine.Problem) *joined {
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
	return j
}

// merged is the stage that stands for stages a..b. The saved activations of a..b-1 are not
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

// value is what stands for a value of the other chain.
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

// schedule is a schedule of the other chain in terms of this one.
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
				sched = append(sched, engine.Step{Kind: engine.StepRun, Op: g.Fwd(k), Value: engine.NoValue, OutputOnly: st.OutputOnly})
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

// solution is a solution for the other chain as one for this one.
func (j *joined) solution(sol *engine.Solution) (*engine.Solution, error) {
	own := &engine.Solution{Schedule: j.schedule(sol.Schedule)}
	trace, err := sim.Play(j.p, own.Schedule)
	if err != nil {
		return nil, fmt.Errorf("combined: a plan of joined stages cannot be played: %w", err)
	}
	own.Makespan, own.Peak = trace.Makespan, trace.Peak
	own.Notes = []string{fmt.Sprintf("No backward reads the outputs of %d stages: the plan takes each together with the stage after it, %d stages in all, and leaves what it saves on the device.",
		j.p.Chain.Chain.CountUnsaved(), len(j.first))}
	if len(sol.Notes) > 0 {
		own.Notes = append(own.Notes, sol.Notes[0])
	}
	return own, nil
}

// solve plans for the other chain. rematOnly and rematOnlyErr are what recomputation alone
// takes on this one, and rotor and err on the other.
func (j *joined) solve(args engine.Parsed, rematOnly *engine.Solution, rematOnlyErr error, rotor *engine.Solution, err error, common *shared, poll *engine.Poll) (*engine.Solution, error) {
	common.shown = func(sol *engine.Solution) *engine.Solution {
		own, err := j.solution(sol)
		if err != nil || rematOnly != nil && rematOnly.Makespan <= own.Makespan {
			return nil // it was told before, or its groups were
		}
		return j.claimed(own)
	}
	sol, err := solveFrom(j.q, args, rotor, err, common, poll)
	var none, neither *engine.InfeasibleError
	if sol != nil {
		own, problem := j.solution(sol)
		if problem != nil {
			return nil, problem
		}
		sol = own
	}
	if rematOnly != nil && (sol == nil || rematOnly.Makespan <= sol.Makespan) {
		if errors.As(err, &none) {
			err = nil
		}
		sol = &engine.Solution{Schedule: rematOnly.Schedule, Makespan: rematOnly.Makespan, Peak: rematOnly.Peak,
			Notes: []string{"Nothing is offloaded: no schedule that offloads was found to be faster than recomputation alone."}}
	}
	if sol == nil && errors.As(err, &none) && errors.As(rematOnlyErr, &neither) && neither.Smallest < none.Smallest {
		return nil, neither
	}
	if sol == nil {
		return nil, err
	}
	return j.claimed(sol), err
}

// claimed says what is proven of any schedule.
func (j *joined) claimed(sol *engine.Solution) *engine.Solution {
	c := j.p.Chain.Chain
	sol.OptimalAmong, sol.Bound = "all schedules", c.ForwardTime()+c.BackTime()
	sol.Optimal = sol.Makespan == sol.Bound
	return sol
}

func solveJoined(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	j := newJoined(p)
	rematOnly, rematOnlyErr := remat.Rotor.Solve(p, nil, poll)
	var rotor *engine.Solution
	var err error
	poll.Aside(func() { rotor, err = remat.Rotor.Solve(j.q, nil, poll) })
	return j.solve(args, rematOnly, rematOnlyErr, rotor, err, &shared{}, poll)
}

// sweepJoined is sweepPofo with joined stages.
func sweepJoined(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll, yield func(int, *engine.Solution, error)) {
	for i, b := range budgets {
		poll.Next()
		if err := poll.Err(); err != nil {
			yield(i, nil, err)
			continue
		}
		sol, err := solveJoined(p.WithBudget(b), args, poll)
		yield(i, sol, err)
	}
}
