package offload

import (
	"math/rand/v2"
	"time"

	"memtide/engine"
)

func init() { engine.Register(Search) }

// Search is the strategy offloadsearch, for packages that build on it.
var Search = &engine.Strategy{
	Name:  "offloadsearch",
	Title: "Best set for real transfers",
	Mark:  5,
	Doc:   "Looks for the set of activations whose schedule is the fastest one with the transfers that the device has.",
	Class: engine.MayOffload,
	Short: "Best set found",
	Rank:  engine.Rank{Chain: 7},
	Cost:  engine.CostSearch,
	Cites: []engine.Cite{Paper000("3.2 and 4: the schedule of a set")},
	Params: []engine.Param{
		{Name: "seed", Title: "Seed", Doc: "Start of the random numbers. The same seed gives the same result.",
			Default: "1", Min: 0, Max: 1_000_000},
		{Name: "evaluations", Title: "Evaluations",
			Doc:     "How many schedules the local search may evaluate. More can find a faster one and takes longer.",
			Default: "200000", Min: 0, Max: 100_000_000},
	},
	Solver: solveOffloadSearch,
}

// The proof decides about all sets together (frontier). If there are more partial decisions than
// the width, it continues with the narrow number of them, and finds a good set. The first attempt
// costs little; the second one starts from the set that the local search has found.
const (
	firstWidth, firstNarrow   = 200, 200
	secondWidth, secondNarrow = 1500, 200

	searchWork = 20_000_000 // comparisons per attempt
	maxProof   = 1000       // stages; the tables of the proof grow with the square of their number
)

func solveOffloadSearch(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	s, err := begin(p)
	if err != nil {
		return nil, err
	}
	found := bestSet(s, uint64(args.Int("seed")), args.Int("evaluations"), poll)
	sol := s.mustPlan(found.set).solution()
	sol.ordered(found.least)
	if !found.proven {
		sol.Note("Best found: %d evaluations from seed %d. It is not proven that no other set is faster.",
			found.evaluations, args.Int("seed"))
	}
	return sol.Solution, poll.Err()
}

// bestFound is the result of a search among sets.
type bestFound struct {
	set         []bool
	proven      bool          // no set is faster
	least       time.Duration // no ordered schedule is faster
	evaluations int           // evaluations of the local search
}

// bestSet looks for the set with the fastest ordered schedule.
func bestSet(s *step, seed uint64, evaluations int, poll *engine.Poll) bestFound {
	set := firstValues(s.size, s.peak()-s.p.Budget)
	if s.peak() <= s.p.Budget {
		return bestFound{set: set, proven: true}
	}
	m, ideal := newModel(s, s.rule()), newModel(s, fluid)
	least := int64(ideal.nanoseconds(ideal.relax()))
	sr := newSearch(m, set, least, evaluations, poll)
	proven := false
	decide := func(wide, narrow int) {
		if s.n > maxProof || proven {
			return
		}
		f := newFrontier(m, ideal, sr.best, sr.value, searchWork, poll)
		proven = f.run(wide, narrow)
		sr.best, sr.value = f.best, f.value
		least = max(least, min(f.least, f.value))
		proven = proven || sr.value <= least
	}
	r := rand.New(rand.NewPCG(seed, 0))
	search := func(evaluations int) {
		if !proven {
			sr.iterate(r, evaluations)
			proven = sr.value <= least
		}
	}
	sr.play = func(set []bool) *engine.Solution { return s.mustPlan(set).solution().Solution }
	sr.steepest()
	proven = sr.value <= least
	decide(firstWidth, firstNarrow)
	search(sr.left / 2)
	decide(secondWidth, secondNarrow)
	search(sr.left)
	return bestFound{set: sr.best, proven: proven, least: time.Duration(least),
		evaluations: evaluations - max(0, sr.left)}
}
