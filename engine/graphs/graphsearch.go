package graphs

import (
	"errors"

	"memtide/engine"
)

func init() { engine.Register(graphSearch) }

var graphSearch = &engine.Strategy{
	Name:  "graphsearch",
	Title: "Recompute and reorder (search)",
	Mark:  9,
	Doc:   "Searches for the fastest way to recompute, and to reorder, on any graph.",
	Class: engine.MayRecompute, Graphs: true,
	Rank:   engine.Rank{Graph: 5},
	Cost:   engine.CostSearch,
	Cites:  []engine.Cite{moccasin, checkmate},
	Params: []engine.Param{orderParam, effortParam, seedParam},
	Solver: solveGraphSearch, Sweeper: sweepUp(sweptSearch),
}

var (
	effortParam = engine.Param{Name: "effort", Title: "Effort", Default: "1", Min: 1, Max: 5,
		Doc: "How many proposals are tried: about 3600 for each operation of a large graph, and four times as many with each step."}
	seedParam = engine.Param{Name: "seed", Title: "Seed", Default: "1", Min: 1, Max: 1000,
		Doc: "The start of the random numbers; another one finds other schedules."}
)

// Limits of the graphs that graphsearch leaves to the exact search.
const (
	fewOps    = 16
	fewStates = 100_000
)

// newFewSpace returns the exact search if it suits the graph, and nil otherwise.
func newFewSpace(m *model, kept bool, poll *engine.Poll) *space {
	if len(m.order) > fewOps {
		return nil
	}
	s, ok := newSpace(m, kept, poll)
	if !ok {
		return nil
	}
	s.limit = fewStates
	return s
}

func solveGraphSearch(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	m, err := newModelOfWays(p.Graph)
	if err != nil {
		return nil, err
	}
	if sol := m.keepAll(p.Budget, within(args)); sol != nil {
		return sol, nil
	}
	if s := newFewSpace(m, args.Is("order", "kept"), poll); s != nil {
		if sol, err := exact(s, p.Budget, within(args)); !errors.Is(err, engine.ErrUnsupported) {
			return sol, err
		}
	}
	s := newSearcher(m, args, poll)
	s.tell = func(seq []kindID, done int) {
		poll.Report(engine.Progress{Done: done, Total: s.total, Best: m.solution(seq)})
	}
	return s.solve(p, within(args))
}
