package graphs

import (
	"fmt"
	"slices"

	"memtide/engine"
)

func init() { engine.Register(reorder) }

var reorder = &engine.Strategy{
	Name:   "reorder",
	Title:  "Reorder only (search)",
	Cost:   engine.CostSearch,
	Mark:   2,
	Doc:    "Searches for an order of the operations that needs less memory; nothing runs again.",
	Graphs: true,
	Cites: []engine.Cite{moccasin,
		{Text: "Steiner, Elhoushi, Kahn and Hegarty: OLLA: Optimizing the Lifetime and Location of Arrays to Reduce the Memory Usage of Neural Networks", ID: "arXiv:2210.12924", Section: "3 (lifetimes)"}},
	Params: []engine.Param{{Name: "goal", Title: "Goal", Default: "fit", Choices: []string{"fit", "least"},
		Doc: "With fit, the first order within the budget will do; with least, the one of the smallest peak that is found."}, seedParam},
	Solver: solveReorder,
}

func solveReorder(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	m, err := newModel(p.Graph)
	if err != nil {
		return nil, err
	}
	s := &searcher{m: m, seed: uint64(args.Int("seed")), poll: poll}
	aim := p.Budget
	if args.Is("goal", "least") {
		aim = 0
	}
	first := m.leaner(poll)
	seq := s.leanest(aim, first, first, false)
	sol, all := m.solution(seq), false
	if sol.Peak > aim && poll.Err() == nil {
		if seq := m.leastOrder(poll); seq != nil {
			sol, all = m.solution(seq), true
		}
	}
	floor, _ := m.footprint()
	if err := poll.Err(); err != nil {
		if sol.Peak > p.Budget {
			sol = nil
		}
		return sol, err
	}
	if sol.Peak > p.Budget {
		refused := &engine.InfeasibleError{Budget: p.Budget, Smallest: sol.Peak,
			Why: "of the orders that a search found; another may need less"}
		if sol.Peak == floor {
			refused.Why = m.whyLeast(floor)
		} else if all {
			refused.Why = "all orders need as much"
		}
		return nil, refused
	}
	given, _, _ := m.cost(m.given())
	sol.Bound, sol.Notes = 0, []string{fmt.Sprintf("The given order needs %s.", given.Text())}
	switch {
	case sol.Peak == floor:
		sol.Note("No order needs less: it is what the largest operation needs by itself.")
	case all:
		sol.Note("No order needs less: all were tried.")
	}
	return sol, nil
}

// leastOrder returns the order of full runs with the smallest peak, by trying all. It returns nil if there are too
// many operations or states.
func (m *model) leastOrder(poll *engine.Poll) []kindID {
	w := *m.whole()
	w.once = slices.Repeat([]bool{true}, len(w.once))
	s := newFewSpace(&w, false, poll)
	if s == nil {
		return nil
	}
	_, seq, err := s.smallest()
	if err != nil {
		return nil
	}
	return seq
}

// leaner returns the order with the smaller peak, the given one or that of lpmf.
func (m *model) leaner(poll *engine.Poll) []kindID {
	given, greedy := m.given(), m.leastMemoryFirst(poll)
	if greedy != nil {
		a, _, _ := m.cost(given)
		if b, _, _ := m.cost(greedy); b < a {
			return greedy
		}
	}
	return given
}

// movable reports whether any run can move to another place.
func (s *state) movable() bool {
	for p := int32(1); p < int32(len(s.order))-1; p++ {
		if low, high := s.free(p); low < high {
			return true
		}
	}
	return false
}
