package remat

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/sim"
)

// The number of states of memory is the product of a factor for every stage: 4 if its output is unsaved, 3 otherwise.
// maxNonpersistentStages bounds the number of stages, and maxStateBytes the bytes of the states.
const (
	maxNonpersistentStages = 12
	maxStateBytes          = 200 << 20
)

func init() { engine.Register(nonpersistent) }

var nonpersistent = &engine.Strategy{
	Name:  "nonpersistent",
	Title: "Optimal recomputation, exhaustive",
	Doc:   "Finds the fastest recomputation of a short chain by trying everything.",
	Class: engine.MayRecompute,
	Cost:  engine.CostTable,
	Cites: []engine.Cite{Paper002("4.1 and Figure 2, with the operations of Table 1")},
	Params: []engine.Param{{
		Name: "drop", Title: "Drop anything at any time", Default: "no", Choices: []string{"no", "yes"},
		Doc: "Also lets an output or a saved set go without an operation that consumes it, which Table 1 does not offer.",
	}},
	Solver: solveNonpersistent,
}

func solveNonpersistent(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	c := p.Chain.Chain
	n := c.Len()
	if n > maxNonpersistentStages {
		return nil, fmt.Errorf("%w: the network has %s; all sequences are tried for %d stages at most, which takes %d MiB, and three times as much for each one more",
			engine.ErrUnsupported, c.Describe(), maxNonpersistentStages,
			bytesOfStates(&engine.Chain{Stages: make([]engine.Stage, maxNonpersistentStages)})>>20)
	}
	if need := bytesOfStates(c); need > maxStateBytes {
		return nil, fmt.Errorf("%w: to try all sequences would take %d MiB, because nobody saves the outputs of many of its %s; at most %d MiB are used",
			engine.ErrUnsupported, need>>20, c.Describe(), maxStateBytes>>20)
	}
	persistent, err := persistent(p, newTerms(c, p.Budget), poll)
	if _, infeasible := errors.AsType[*engine.InfeasibleError](err); err != nil && !infeasible {
		return nil, err
	}
	least := c.ForwardTime() + c.BackTime()
	s := &states{c: c, n: n, room: p.Budget - c.Resident.Total(), limit: unreached, drops: args.Is("drop", "yes"),
		poll: poll}
	if persistent != nil {
		s.limit = int64(persistent.Makespan - least)
	}
	sol, err := s.solution(p, persistent, least)
	if err == nil && sol == nil {
		return nil, s.smallest(p)
	}
	return sol, err
}

// within names the sequences that are searched.
func (s *states) within() string {
	if s.drops {
		return "all sequences of Table 1 with drops at any time"
	}
	return "sequences of Table 1 that run no stage forward while its saved set is there"
}

// solution searches for a schedule that is faster than the best persistent one, which may be nil.
// It returns nil without an error if nothing fits.
func (s *states) solution(p *engine.Problem, persistent *engine.Solution, least time.Duration) (*engine.Solution,
	error) {
	extra, path, faster, err := s.search()
	if persistent == nil && (err != nil || !faster) {
		return nil, err
	}
	sol := persistent
	switch {
	case err != nil:
		sol.Notes = []string{"Out of time: this is the best persistent schedule."}
	case !faster:
		sol.Notes = []string{"No sequence is faster than the best persistent one."}
	default:
		sol = s.play(p, path)
		if sol.Makespan != least+time.Duration(extra) {
			panic(fmt.Sprintf("remat: the moves take %v, the search says %v", sol.Makespan, least+time.Duration(extra)))
		}
		sol.Notes = []string{"No persistent schedule fits."}
		if persistent != nil {
			sol.Notes = []string{fmt.Sprintf("The best persistent schedule takes %v.", persistent.Makespan)}
		}
	}
	sol.OptimalAmong = p.Graph.FirstWays(s.within())
	sol.Optimal, sol.Bound, sol.Stopped = err == nil, sol.Makespan, false
	if err != nil {
		sol.Bound = least
	}
	return sol, err
}

// smallest returns the error with the smallest budget that suffices. It searches for the lowest peak.
func (s *states) smallest(p *engine.Problem) error {
	all := states{c: s.c, n: s.n, drops: s.drops, peaks: true, poll: s.poll}
	peak, path, ok, err := all.search()
	if err != nil {
		return err
	}
	if !ok {
		panic("remat: no sequence leads to the end, whatever the memory")
	}
	least := engine.Bytes(peak) + s.c.Resident.Total()
	return &engine.InfeasibleError{Budget: p.Budget, Smallest: least,
		Why: fmt.Sprintf("nothing needs less within %s: %s", p.Graph.FirstWays(s.within()),
			p.Chain.Needs(s.neediest(path), least))}
}

// neediest returns the operation that needs the peak of a path of moves.
func (s *states) neediest(path []move) engine.ChainOp {
	m := NewMemory(s.c)
	for _, by := range path {
		k := by.stage()
		switch by.kind() {
		case dropOutput:
			m.drop(k)
		case dropSaved:
			m.held -= s.c.Saved(k)
			m.saved[k] = false
		case allFresh, allMerging:
			m.Run(engine.ChainOp{Kind: engine.FAll, Stage: k})
		case keepIn:
			m.Run(engine.ChainOp{Kind: engine.FCk, Stage: k})
		case useIn:
			m.Run(engine.ChainOp{Kind: engine.FNone, Stage: k})
		default:
			m.Run(engine.ChainOp{Kind: engine.BStep, Stage: k})
		}
	}
	return m.most
}

// play converts moves into a schedule and measures it.
func (s *states) play(p *engine.Problem, path []move) *engine.Solution {
	g, c := p.Chain, s.c
	var steps engine.Schedule
	saved := make([]bool, s.n+1)
	grad := s.n // k of the one delta^k that is alive
	free := func(k int) { steps = append(steps, engine.Free(g.Act(k))) }
	for _, by := range path {
		k := by.stage()
		switch by.kind() {
		case dropOutput:
			free(k)
		case dropSaved:
			saved[k] = false
			steps = append(steps, engine.Free(g.Saved(k)))
		case allFresh, allMerging:
			steps = append(steps, engine.Run(g.Fwd(k)))
			if c.Unsaved(k - 1) {
				free(k - 1)
			}
			saved[k] = true
			if c.Unsaved(k) && (k == grad || saved[k+1]) {
				free(k)
			}
		case keepIn, useIn:
			steps = append(steps, engine.RunOutputOnly(g.Fwd(k)))
			if by.kind() == useIn {
				free(k - 1)
			}
		case backOutput, backSaved:
			steps = append(steps, engine.Run(g.Bwd(k)), engine.Free(g.Grad(k)), engine.Free(g.Saved(k)))
			grad, saved[k] = k-1, false
			if by.kind() == backOutput {
				free(k - 1)
			}
		}
	}
	sol, err := sim.Solution(p, steps)
	if err != nil {
		panic("remat: the moves that were found cannot be played: " + err.Error())
	}
	return sol
}
