package remat

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
)

// maxRotorStages bounds the tables of rotor, whose size is the square of the
// length of the chain.
const maxRotorStages = 1000

func init() { engine.Register(Rotor) }

// Rotor is the strategy "rotor", for those that build on it.
var Rotor = &engine.Strategy{
	Name:  "rotor",
	Title: "Optimal recomputation",
	Mark:  2,
	Doc: `Finds the fastest way to drop activations and compute them again.

It decides for every stage whether to keep all that its backward needs, only its
input, or nothing, and what to compute again from where. No persistent schedule
is faster: once such a schedule has kept something, it stays where it is until the
backward that needs it. Sizes are counted in exact bytes; the paper rounds them up to
1/500 of the memory, which costs a few percent of the step on long chains; with
500 slots the notes say what it costs here.

The feasibility rule is the paper's Theorem 1 with the gradient that a backward
writes counted while it runs. As printed, the theorem leaves it out and accepts
schedules that do not fit: of one stage whose sizes are all 1 it says that 3 are
enough, and 4 are needed.

The paper knows no outputs that no backward reads. Where a chain has them, F_all
lets go of such an input, a checkpoint of one is still a checkpoint, and the
optimum ranges over sequences that run no stage while the saved set of a later one
is there.`,
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

// exactRotor is rotor without slots.
var exactRotor = inBytes(rotorTerms, finishRotor)

func rotorTerms(c *engine.Chain, budget engine.Bytes) *terms {
	return newTerms(c, budget, outputCounted)
}

// finishRotor names what a solution in exact bytes is optimal in.
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
		note, err := printedNote(c, p.Budget, poll)
		if errors.Is(err, engine.ErrUnsupported) {
			note, err = "What Theorem 1 gives as printed would need too much memory to find.", nil
		}
		if err != nil {
			return sol, err
		}
		sol.Notes = append(sol.Notes, note)
	}
	return sol, nil
}

// The sequences of Theorem 1 go segment by segment: a stage runs forward only where
// no output and no saved activations are held of it or of a later stage. Let F^k of a
// persistent sequence run although something of a later one is held. Then an a^{j-1},
// k < j, stays until B^j, beside a delta^i, i >= j. Where delta^{j-1} takes no more
// than both, F^k, and what it is computed from since the last checkpoint, may as well
// run after B^j: no more is held then. (F^k where its own result is held is needless.)
// So no persistent sequence is faster. Where delta^{j-1} is larger, or a^{j-1} is read
// by no backward, one can be, and can fit where none of the theorem does; the paper
// does not say so.
const (
	withinPersistent = "persistent recomputation"
	withinSegments   = "persistent recomputation, segment by segment"
)

// persistentSet names the sequences that the theorem's program is optimal among.
func persistentSet(c *engine.Chain) string {
	least := c.HeldGrad(c.Len()) // of delta^j, ..., delta^n
	for j := c.Len(); j >= 2; j-- {
		least = min(least, c.HeldGrad(j))
		if c.Unsaved(j-1) || c.Grad(j-1) > c.Act(j-1)+least {
			return withinSegments
		}
	}
	return withinPersistent
}

// solvable says why a chain is too much for the table.
func solvable(c *engine.Chain) error {
	if c.Len() > maxRotorStages {
		return fmt.Errorf("%w: the network has %s; the table is made for %d stages at most", engine.ErrUnsupported,
			c.Describe(), maxRotorStages)
	}
	return nil
}

func printedNote(c *engine.Chain, budget engine.Bytes, poll *engine.Poll) (string, error) {
	d, _, err := PrintedMakespan(c, budget, poll)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("As printed, without that gradient, Theorem 1 gives a step time of %v, whether or not it fits.", d), nil
}

// PrintedMakespan returns the step time that Theorem 1 gives as printed, without the
// gradient that a backward writes. Schedules with that time may need more than
// the budget, so no strategy claims it. ok is false if even the printed theorem
// says that nothing fits; the error is the context's.
func PrintedMakespan(c *engine.Chain, budget engine.Bytes, poll *engine.Poll) (d time.Duration, ok bool, err error) {
	if err := solvable(c); err != nil {
		return 0, false, err
	}
	t := newTerms(c, budget, printed)
	o, err := solve(t, allTricks, nil, poll)
	if errors.Is(err, errNoRoom) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return c.ForwardTime() + c.BackTime() + time.Duration(o.extra), true, nil
}
