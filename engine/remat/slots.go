package remat

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"memtide/engine"
)

// Slots: the published method divides the memory into S slots of equal size and rounds every size up to whole slots
// (arXiv:1911.13214, section 5.2). The paper says that sizes are overestimated by a factor of at most 1+1/S. That holds
// only for sizes near the whole memory: every stored tensor may lose almost a slot. For example, 600 outputs of 1 need
// 600 of a memory of 1000. Counted in 500 slots of 2 they need 1200, so keeping everything is refused.

// maxSlots bounds the parameter slots. More slots give almost the results of exact bytes.
const maxSlots = 100_000

// slotTerms returns the terms of a chain with sizes counted in slots. A schedule that fits in slots
// fits in bytes, because all sizes are rounded up.
func slotTerms(c *engine.Chain, budget engine.Bytes, slots int) *terms {
	memory := budget - c.Resident.Total()
	if memory <= 0 {
		t := byStage(c)
		t.room = -1
		return t
	}
	up := func(b engine.Bytes) engine.Bytes { // bounded, so that sums stay in range
		return engine.Bytes(min(engine.MulDivUp(int64(b), int64(slots), int64(memory)), math.MaxInt32))
	}
	d := *c
	d.Input, d.InputGrad, d.Resident = up(c.Input), up(c.InputGrad), engine.Resident{}
	d.Stages = make([]engine.Stage, c.Len())
	for i, st := range c.Stages {
		st.Out, st.Saved, st.Grad = up(st.Out), up(st.Saved), up(st.Grad)
		st.FwdTemp, st.BwdTemp = up(st.FwdTemp), up(st.BwdTemp)
		d.Stages[i] = st
	}
	t := byStage(&d)
	t.room = int64(slots) - int64(d.Input)
	return t
}

// solveSlots solves in slots, and then in exact bytes to report what the slots cost.
func solveSlots(p *engine.Problem, slots int, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	sol, err := persistent(p, slotTerms(c, p.Budget, slots), poll)
	if small, ok := errors.AsType[*engine.InfeasibleError](err); ok {
		least, err := smallestInSlots(c, slots, poll)
		if err != nil {
			return nil, err
		}
		what, _, _ := strings.Cut(small.Why, ":") // without the sizes after the colon, which count slots
		return nil, &engine.InfeasibleError{Budget: p.Budget, Smallest: least,
			Why: fmt.Sprintf("counted in %d slots: %s", slots, what)}
	}
	if sol == nil {
		return nil, err
	}
	proven := sol.Optimal
	sol.OptimalAmong, sol.Optimal, sol.Bound = p.Graph.FirstWays(persistentSet(c)), false, c.ForwardTime()+c.BackTime()
	if err != nil || !proven {
		return sol, err
	}
	note := fmt.Sprintf("Feasibility rule: Theorem 1, with the gradient that a backward writes counted while it runs. Sizes are rounded up to 1/%d of the memory, as published.", slots)
	sol.Notes = []string{note}
	exact, err := persistent(p, newTerms(c, p.Budget), poll)
	if err != nil {
		return sol, err
	}
	if !exact.Optimal {
		sol.Note("What the slots cost would need too much memory to find.")
		return sol, nil
	}
	sol.Bound, sol.Optimal = exact.Makespan, exact.Makespan == sol.Makespan
	cost := 0.0
	if exact.Makespan > 0 {
		cost = 100 * float64(sol.Makespan-exact.Makespan) / float64(exact.Makespan)
	}
	sol.Note("The slots cost %.1f %% of the step: in exact bytes it takes %v.", cost, exact.Makespan)
	return sol, nil
}

// smallestInSlots returns the smallest budget that suffices if sizes are counted in slots. It
// searches by bisection, because needs in slots never rise with the budget.
func smallestInSlots(c *engine.Chain, slots int, poll *engine.Poll) (engine.Bytes, error) {
	var failed error
	fits := func(budget engine.Bytes) bool {
		if failed != nil {
			return false
		}
		t := slotTerms(c, budget, slots)
		var f *floors
		f, failed = newFloors(t, poll)
		return failed == nil && f.root() <= t.room
	}
	exact, err := newFloors(byStage(c), poll)
	if err != nil {
		return 0, err
	}
	// In exact bytes, least is the smallest budget. No size takes more than one slot in enough.
	least, enough := engine.Bytes(exact.root())+c.Input+c.Resident.Total(), budgetOfSingleSlots(c, slots)
	if !fits(enough) {
		return 0, cmp.Or(failed, fmt.Errorf("%w: %d slots are too few for this network, whatever the memory",
			engine.ErrUnsupported, slots))
	}
	least += engine.Bytes(sort.Search(int(enough-least), func(k int) bool { return fits(least + engine.Bytes(k)) }))
	return least, failed
}

// budgetOfSingleSlots returns the budget from which on no size takes more than one slot. More memory changes nothing.
func budgetOfSingleSlots(c *engine.Chain, slots int) engine.Bytes {
	largest := max(c.Input, c.InputGrad, 1)
	for i := range c.Stages {
		st := &c.Stages[i]
		largest = max(largest, st.Out, st.Saved, st.Grad, st.FwdTemp, st.BwdTemp)
	}
	resident := c.Resident.Total()
	if largest > (engine.NoLimit-resident)/engine.Bytes(slots) {
		return engine.NoLimit
	}
	return resident + largest*engine.Bytes(slots)
}
