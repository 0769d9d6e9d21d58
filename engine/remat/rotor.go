package remat

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
)

// maxRotorStages bounds the length of the chain, because the tables of rotor grow with its square.
const maxRotorStages = 1000

func init() { engine.Register(Rotor) }

// Rotor is the strategy rotor, for packages that build on it.
var Rotor = &engine.Strategy{
	Name:  "rotor",
	Title: "Optimal recomputation",
	Mark:  2,
	Doc:   "Finds the fastest way to drop activations and compute them again.",
	Class: engine.MayRecompute,
	Short: "Recompute",
	Rank:  engine.Rank{Chain: 2},
	Cost:  engine.CostTable,
	Cites: []engine.Cite{Paper002("4.2, Theorem 1 and Algorithms 1 and 2")},
	Params: []engine.Param{{
		Name: "slots", Title: "Memory slots", Default: "0", Min: 0, Max: maxSlots,
		Doc: "Counts memory in this many slots, rounding every size up; 500 as published. 0 counts exact bytes.",
	}, {
		Name: "printed", Title: "Compare with the theorem as printed", Default: "no", Choices: []string{"no", "yes"},
		Doc: "Also says which step time Theorem 1 gives as printed. The schedule is the one that fits.",
	}},
	Solver: solveRotor,
}

// exactRotor solves without slots.
var exactRotor = inBytes(newTerms, finishRotor)

// finishRotor sets OptimalAmong and the note of a solution in exact bytes.
func finishRotor(p *engine.Problem, sol *engine.Solution, err error) {
	sol.OptimalAmong = p.Graph.FirstWays(persistentSet(p.Chain.Chain))
	if err == nil && sol.Optimal {
		sol.Notes = []string{"Feasibility rule: Theorem 1, with the gradient that a backward writes counted while it runs. Sizes are exact bytes."}
	}
}

func solveRotor(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	if err := solvable(c); err != nil {
		return nil, err
	}
	var sol *engine.Solution
	var err error
	if slots := args.Int("slots"); slots > 0 {
		sol, err = solveSlots(p, slots, poll)
	} else {
		sol, err = exactRotor(p, args, poll)
	}
	if err != nil {
		return sol, err
	}
	if args.Is("printed", "yes") {
		d, _, err := PrintedMakespan(c, p.Budget, poll)
		note := fmt.Sprintf("As printed, without that gradient, Theorem 1 gives a step time of %v, whether or not it fits.", d)
		if errors.Is(err, engine.ErrUnsupported) {
			note = "What Theorem 1 gives as printed would need too much memory to find."
		} else if err != nil {
			return sol, err
		}
		sol.Notes = append(sol.Notes, note)
	}
	return sol, nil
}

// The sequences of Theorem 1 go segment by segment: a stage runs forward only while no output and no saved activations
// of that stage or a later one are held. Suppose F^k of a persistent sequence runs while something of a later stage is
// held. Then some a^{j-1}, k < j, stays until B^j, beside some delta^i, i >= j. If delta^{j-1} takes no more than the
// two together, F^k and the forwards since the last checkpoint that lead to it can also run after B^j, and no more
// memory is held then. (F^k is needless if its own result is held.) So no persistent sequence is faster. If delta^{j-1}
// is larger, or no backward reads a^{j-1}, a persistent sequence can be faster than all of the theorem, and can fit
// into a budget that none of them fits into. The paper does not say so.
const (
	withinPersistent = "persistent recomputation"
	withinSegments   = "persistent recomputation, segment by segment"
)

// persistentSet names the sequences that the optimum of the theorem is optimal among.
func persistentSet(c *engine.Chain) string {
	least := c.HeldGrad(c.Len()) // least size of delta^j, ..., delta^n
	for j := c.Len(); j >= 2; j-- {
		least = min(least, c.HeldGrad(j))
		if c.Unsaved(j-1) || c.Grad(j-1) > c.Act(j-1)+least {
			return withinSegments
		}
	}
	return withinPersistent
}

// solvable returns an error if the chain is too long for the table.
func solvable(c *engine.Chain) error {
	if c.Len() > maxRotorStages {
		return fmt.Errorf("%w: the network has %s; the table is made for %d stages at most", engine.ErrUnsupported,
			c.Describe(), maxRotorStages)
	}
	return nil
}

// PrintedMakespan returns the step time that Theorem 1 gives as printed, without the gradient that
// a backward writes. Schedules of that time may need more than the budget, so no strategy claims
// it. ok is false if nothing fits even by the printed theorem. The error is that of a strategy.
func PrintedMakespan(c *engine.Chain, budget engine.Bytes, poll *engine.Poll) (d time.Duration, ok bool, err error) {
	if err := solvable(c); err != nil {
		return 0, false, err
	}
	o, err := solve(printedTerms(c, budget), allTricks, nil, poll)
	if errors.Is(err, errNoRoom) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return c.ForwardTime() + c.BackTime() + time.Duration(o.extra), true, nil
}
