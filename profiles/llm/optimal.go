package llm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
)

// Curve is what a strategy for chains finds for a step, over what a card has to have.
type Curve struct {
	Method string // name of the strategy
	Class  engine.Class
	Title  string // what it chooses
	Spots  []Spot // from the least memory up
}

// Spot is a step that takes so long on a card that reserves so much.
type Spot struct {
	Reserved engine.Bytes
	Time     time.Duration
}

// optima are the classes whose first strategy (engine.Best) stands beside the policies of
// frameworks: it chooses for each block what to keep, to compute again and to move.
var optima = []struct {
	class engine.Class
	title string
}{
	{engine.MayRecompute, "the optimum of recomputing whole blocks"},
	{engine.MayRecompute | engine.MayOffload, "recomputing and moving whole blocks together"},
}

// spots is at how many budgets a curve is looked at, besides those of the policies.
const spots = 12

// optima solves the chain of the step, see Profile, for what the card has, and for a curve.
// The allocator is given what it takes of the step as it is, own; what the chain takes
// above the program where both keep everything is taken off; the optimizer and the
// collectives take the time that they take of a policy. A pipeline has no chain, and
// of more than mostChain blocks none is looked for.
func (a Ask) optima(own *Answer, policies []Change, poll *engine.Poll) (rows []Change, curves []Curve, err error) {
	if err := poll.Now(); err != nil {
		return nil, nil, err
	}
	profile, err := a.Profile()
	if err != nil || a.Setup.Model.Layers > mostChain {
		return nil, nil, poll.Now()
	}
	s := a.Setup.keeping().normal() // as the profile's
	s.Workspace = a.Card.Workspace
	m := &onChain{a: a, own: own, program: newProgram(&s, s.end(true, true))}
	m.grow(profile.Chain)
	m.more = profile.Chain.KeepAllPeak() - runStage(&s, s.end(true, true), probed).Allocated
	m.problem = engine.NewChainProblem(profile.Chain, *profile.Device, engine.Whole, engine.NoLimit)
	fits := m.budget(engine.Bytes(engine.Int64(float64(own.Capacity) / (1 + uncertain))))
	for _, o := range optima {
		strategy := engine.Best(o.class, false)
		if strategy == nil {
			continue
		}
		sol, _ := strategy.Solve(m.problem.WithBudget(max(fits, 0)), nil, poll)
		if poll.Now() != nil {
			return rows, curves, poll.Now()
		}
		if sol != nil {
			rows = append(rows, Change{Names: []string{o.title}, Words: fmt.Sprintf("%s (%s), on the chain of the step", strategy.Title, strategy.Name), Method: strategy.Name, Answer: m.answer(sol), GPUs: a.GPUs})
		}
		var small *engine.InfeasibleError
		least := fits
		if _, err := strategy.Solve(m.problem.WithBudget(0), nil, poll); errors.As(err, &small) && small.Smallest > 0 {
			least = small.Smallest
		} else if sol == nil {
			continue
		}
		curves = append(curves, Curve{strategy.Name, o.class, o.title, m.curve(strategy, least, policies, poll)})
		if err := poll.Now(); err != nil {
			return rows, curves, err
		}
	}
	return rows, curves, nil
}

// onChain translates between a step and its chain.
type onChain struct {
	a       Ask
	own     *Answer
	program *program     // that keeps everything
	more    engine.Bytes // that the chain takes above it
	problem *engine.Problem
}

// grow has gradients appear block by block, as they do where no buffer holds them: beside
// the backward of a stage are those of the stages behind it.
func (m *onChain) grow(c *engine.Chain) {
	p := m.program
	if p.accumulated() {
		return
	}
	made := func(u *unit, counts func(weight) bool) (n engine.Bytes) {
		for _, w := range u.weights {
			if w.trained && counts(w) {
				n += p.s.at(w, 2, p.s.storedBytes(w, p.s.Grad))
			}
		}
		return n
	}
	c.Resident.Grads = 0
	n := len(c.Stages)
	sum := made(p.root, func(w weight) bool { return w.name != "embedding" })
	c.Stages[n-1].BwdTemp += sum
	for i := len(p.units) - 1; i >= 0; i-- {
		sum += made(p.units[i], func(weight) bool { return true })
		c.Stages[i+1].BwdTemp += sum
	}
	c.Stages[0].BwdTemp += sum + made(p.root, func(w weight) bool { return w.name == "embedding" })
}

// budget is what of a card's memory is left for the chain.
func (m *onChain) budget(reserved engine.Bytes) engine.Bytes {
	return reserved - (m.own.High - m.own.Allocated) + m.more
}

// curve solves the chain from the least memory to that of keeping everything, and within
// what each policy takes.
func (m *onChain) curve(strategy *engine.Strategy, least engine.Bytes, policies []Change, poll *engine.Poll) (out []Spot) {
	most := m.problem.Chain.Chain.KeepAllPeak()
	var budgets []engine.Bytes
	for i := range engine.Bytes(spots) {
		budgets = append(budgets, least+(most-least)*i/(spots-1))
	}
	for _, c := range policies {
		if b := m.budget(c.Answer.High); least < b && b < most {
			budgets = append(budgets, b)
		}
	}
	slices.Sort(budgets)
	budgets = slices.Compact(budgets)
	found := make([]*engine.Solution, len(budgets))
	strategy.Sweep(m.problem, nil, budgets, poll, func(i int, sol *engine.Solution, err error) {
		if err == nil {
			found[i] = sol
		}
	})
	for _, sol := range found {
		if sol != nil {
			a := m.answer(sol)
			out = append(out, Spot{a.High, a.Time})
		}
	}
	return out
}

// answer is what a schedule of the chain comes to.
func (m *onChain) answer(sol *engine.Solution) *Answer {
	r := *m.own.Result
	r.Allocated, r.Parts, r.replayed = sol.Peak-m.more, nil, true
	over := r.Allocated - m.own.Allocated
	r.Reserved += over
	r.Expandable += over
	r.Pools += over
	out := &Answer{Result: &r, Low: m.own.Low + over, High: m.own.High + over, States: m.own.States, Capacity: m.own.Capacity, Time: m.time(sol.Makespan)}
	out.judge()
	return out
}

// time is that of a step whose passes take so long.
func (m *onChain) time(passes time.Duration) time.Duration {
	p, c := m.program, m.a.Card
	var all float64
	for _, u := range p.all() {
		for _, w := range u.weights {
			all += float64(w.n)
		}
	}
	passes -= m.problem.Chain.Ops[m.problem.Chain.Fwd(1)].Time + m.problem.Chain.Ops[m.problem.Chain.Bwd(1)].Time // the embedding's, which answers leave out
	one := max(passes.Seconds(), p.gatherSeconds(c, all)+p.tensorSeconds(c))
	return seconds(one*float64(p.s.Accumulate) + p.stepSeconds(c))
}
