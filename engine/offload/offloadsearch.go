package offload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"memtide/engine"
)

func init() { engine.Register(offloadSearch) }

var offloadSearch = &engine.Strategy{
	Name:  "offloadsearch",
	Title: "Best set for real transfers",
	Doc: `Looks for the set of activations whose schedule is the fastest one with the transfers that the device has.

Paper 000 chooses the set with transfers in mind that give and take room byte by
byte. Frameworks copy whole tensors. This method evaluates the schedules that
follow: from the greedy set it changes one activation, or exchanges two, as long
as that helps, then starts again from a disturbed best set. A search through all
sets, which leaves out what cannot be the best, proves the result where it
finishes; otherwise the set is the best one found, and the bound says how much
faster another one could be. It is ours; no paper has it.`,
	Class: engine.MayOffload,
	Cites: []engine.Cite{paper000("3.2 and 4: the schedule of a set")},
	Params: []engine.Param{
		{Name: "seed", Title: "Seed", Doc: "Start of the random numbers. The same seed gives the same result.", Default: "1", Min: 0, Max: 1_000_000},
		{Name: "evaluations", Title: "Evaluations", Doc: "How many schedules the local search may evaluate. More can find a faster one and takes longer.",
			Default: "200000", Min: 0, Max: 100_000_000},
	},
	Solve: solveOffloadSearch,
}

// How many comparisons the proof may make: before the local search, which then
// need not run, and after it.
const (
	workBefore = 10_000_000
	workAfter  = 20_000_000
	maxProof   = 1000 // stages: the tables of the proof grow with the square
)

func solveOffloadSearch(p *engine.Problem, args engine.Args, poll *engine.Poll) (*engine.Solution, error) {
	s, args, err := begin("offloadsearch", p, args, poll)
	if err != nil {
		return nil, err
	}
	found := bestSet(s, uint64(args.Int("seed")), args.Int("evaluations"), poll)
	sol := s.mustPlan(found.set).solution()
	if sol.ordered(found.least); !found.proven {
		sol.Notes = append(sol.Notes, fmt.Sprintf("Best found: %d evaluations from seed %s. It is not proven that no other set is faster.", found.evaluations, args["seed"]))
	}
	return sol.Solution, poll.Err()
}

// bestFound is the result of a search among sets.
type bestFound struct {
	set         []bool
	proven      bool          // no set is faster
	least       time.Duration // no ordered schedule is faster
	evaluations int           // of the local search
}

// bestSet looks for the set with the fastest ordered schedule.
func bestSet(s *step, seed uint64, evaluations int, poll *engine.Poll) bestFound {
	set := firstValues(s.size, s.peak()-s.p.Budget)
	if s.peak() <= s.p.Budget {
		return bestFound{set: set, proven: true}
	}
	m, ideal := newModel(s, s.rule()), newModel(s, fluid)
	if m.rule == whole {
		ideal.coarsen()
		m.overF, m.overB, m.excess = ideal.overF, ideal.overB, ideal.excess
	}
	least := int64(ideal.nanoseconds(ideal.relax()))
	sr := newSearch(m, set, least, evaluations, poll)
	sr.steepest()
	prove := func(work int) bool {
		if s.n > maxProof {
			return false
		}
		f := newFrontier(m, ideal, sr.best, sr.value, work, poll)
		done := f.run()
		sr.best, sr.value = f.best, f.value
		least = max(least, min(f.least, f.value))
		return done
	}
	proven := sr.value <= least || prove(workBefore)
	if !proven {
		sr.iterate(rand.New(rand.NewPCG(seed, 0)))
		proven = sr.value <= least || prove(workAfter)
	}
	return bestFound{set: sr.best, proven: proven, least: time.Duration(least), evaluations: evaluations - max(0, sr.left)}
}
