package llm

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/card"
)

// optima are the classes whose first strategy (engine.Best) is compared with the policies of frameworks. The
// strategy chooses for each block what to keep, to compute again and to move.
var optima = []struct {
	class engine.Class
	title string
}{
	{engine.MayRecompute, "the optimum of recomputing whole blocks"},
	{engine.MayRecompute | engine.MayOffload, "recomputing and moving whole blocks together"},
}

// callsOfRow is the number of calls of its poll after which a strategy is stopped, which is the same place on every
// machine. What it has found before counts.
const callsOfRow = 1_500_000

// optima solves the chain of the step (see Profile) for the card's memory. Each solution is played as the step is
// (follower), with the optimizer. Collectives take the same time as in policies. optima returns nil for a
// pipeline, which has no chain, and for more than mostChain blocks. The first rows are of plans that fit with
// PyTorch's default allocator, the others of faster ones that rely on expandable segments, as the page's plans do.
func (a Ask) optima(own *Estimate) (rows []Change) {
	var segmented []Change
	a.goOn()
	profile, err := a.Profile()
	if err != nil || a.Setup.Model.Layers > mostChain {
		a.goOn()
		return nil
	}
	s := a.Setup.keeping().normal() // the setup of the profile
	s.Workspace = a.Card.Workspace
	m := &onChain{a: a, own: own, s: &s, program: newProgram(&s, s.end(true, true)),
		problem: engine.NewChainProblem(profile.Chain, *profile.Device, engine.Whole, engine.NoLimit)}
	for _, o := range optima {
		strategy := engine.Best(o.class, false)
		if strategy == nil {
			continue
		}
		least := m.budget(m.a.sure())
		var small *engine.InfeasibleError
		_, err := strategy.Solve(m.problem.WithBudget(0), nil, s.poll)
		if errors.As(err, &small) && small.Smallest > 0 {
			least = small.Smallest
		}
		answer := m.fitting(strategy, least)
		row := func(title string, e *Estimate) Change {
			return Change{Names: []string{title}, Method: strategy.Name, Estimate: e, GPUs: a.GPUs,
				Words: fmt.Sprintf("%s (%s), on the chain of the step", strategy.Title, strategy.Name)}
		}
		if loose := m.loose(strategy); loose != nil && (answer == nil || loose.Time < answer.Time) {
			segmented = append(segmented, row(o.title+", expandable segments", loose))
		}
		if n := len(rows); n > 0 &&
			(answer == nil || !answer.better(rows[n-1].Estimate)) { // the plan before also counts for this class
			answer = rows[n-1].Estimate
		}
		if answer != nil {
			rows = append(rows, row(o.title, answer))
		}
	}
	return append(rows, segmented...)
}

// better reports whether a plan is preferred to another one: a plan that fits to one that does not, then the
// faster one.
func (a *Estimate) better(than *Estimate) bool {
	if a.Verdict != than.Verdict && (a.Verdict == Fits || than.Verdict == Fits) {
		return a.Verdict == Fits
	}
	return a.Time < than.Time
}

// onChain looks for plans of a step on its chain.
type onChain struct {
	a       Ask
	own     *Estimate
	s       *Setup
	program *program // of the step that keeps everything
	problem *engine.Problem
}

// budget returns the part of reserved memory that is left for the chain if the allocator adds as much as to the step as
// it is, or the same share, whichever is less.
func (m *onChain) budget(reserved engine.Bytes) engine.Bytes {
	share := float64(m.own.Allocated) / float64(m.own.High)
	return max(reserved-(m.own.High-m.own.Allocated), engine.Bytes(engine.Int64(float64(reserved)*share)))
}

// tries is how often a strategy is asked again, with less memory, because its plan did not fit with the
// allocator's overhead.
const tries = 6

// fitting returns the answer for a plan of a strategy that fits with as much memory as possible. If no plan of
// its tries fits, it returns the answer for the last one, or nil without a plan. least is the least memory for
// which the strategy has a plan.
func (m *onChain) fitting(strategy *engine.Strategy, least engine.Bytes) (last *Estimate) {
	most := m.budget(m.a.sure())
	if most < least {
		return nil
	}
	for i := range engine.Bytes(tries) {
		sol, _ := strategy.Solve(m.problem.WithBudget(most-(most-least)*i/(tries-1)), nil, m.s.poll.Limited(callsOfRow))
		if m.a.goOn(); sol == nil {
			break
		}
		last = m.a.reserves(m.played(sol, m.own.Capacity, m.a.enough()), m.time(sol.Makespan))
		if last.Verdict == Fits || most == least {
			break
		}
	}
	return last
}

// loose returns the answer for the plan that strategy finds with card.Usable as its budget, which is replayed with as
// much memory as the page says that it needs. It returns nil if strategy finds none, or if the plan does not run on the
// card even with expandable segments.
func (m *onChain) loose(strategy *engine.Strategy) *Estimate {
	sol, _ := strategy.Solve(m.problem.WithBudget(card.Usable(m.own.Capacity)), nil, m.s.poll.Limited(callsOfRow))
	if m.a.goOn(); sol == nil {
		return nil
	}
	r := m.played(sol, card.Reserved(sol.Peak), engine.NoLimit)
	if r.Reserved = r.Expandable; r.Reserved > m.own.Capacity {
		return nil
	}
	return m.a.reserves(r, m.time(sol.Makespan))
}

// played plays a schedule of the chain on the program, on a card that leaves it room bytes. It replays
// the allocator if the schedule needs no more than limit.
func (m *onChain) played(sol *engine.Solution, room, limit engine.Bytes) *Result {
	t, err := sim.Play(m.problem.WithBudget(sol.Peak), sol.Schedule) // copies wait for room, as in the plan
	profiles.End(err)
	m.s.room = room
	p := newProgram(m.s, m.s.end(true, true))
	return p.result(p.follow(m.problem.Chain, t).step, limit)
}

// time returns the time of a step whose chain takes the given time.
func (m *onChain) time(chain time.Duration) time.Duration {
	p, c, ops := m.program, m.a.Card, m.problem.Chain.Ops
	of := m.problem.Chain
	// without the embedding, which times of answers leave out
	passes := chain - ops[of.Bwd(1)].Time - ops[of.Fwd(2)].Time - ops[of.Bwd(2)].Time
	one := max(passes.Seconds(), p.gatherSeconds(c)+p.tensorSeconds(c))
	return seconds(one*float64(p.s.Accumulate) + p.stepSeconds(c))
}
