package graphs

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// solver is the type of Strategy.Solver.
type solver func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error)

// sweepUp returns a Sweeper that goes from the smallest budget to the largest with a solver that begin returns. A
// solution for one budget is an answer for every other one that it fits into, so that no larger budget takes
// longer. The solver may add other solutions to found.
func sweepUp(begin func(*engine.Problem, engine.Parsed, *engine.Poll, *engine.Found) solver) func(*engine.Problem,
	engine.Parsed, []engine.Bytes, *engine.Poll, func(int, *engine.Solution, error)) {
	return func(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
		yield func(int, *engine.Solution, error)) {
		answers := engine.NewAnswers(budgets, yield)
		solve := begin(p, args, poll, &answers.Found)
		order := make([]int, len(budgets))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(budgets[a], budgets[b]) })
		for _, i := range order {
			poll.Next()
			var sol *engine.Solution
			err := poll.Err()
			if err == nil {
				sol, err = solve(p.WithBudget(budgets[i]), args, poll)
			}
			if err != nil && poll.Err() != nil {
				sol = nil
			} else if before := answers.Within(budgets[i]); err == nil && before != nil &&
				before.Makespan < sol.Makespan {
				sol = before.Beside(sol)
			}
			answers.Tell(i, sol, err)
		}
		answers.Settle()
	}
}

// sweptSearch returns graphsearch for budgets in rising order, which share the plans of blocks.
func sweptSearch(p *engine.Problem, args engine.Parsed, poll *engine.Poll, _ *engine.Found) solver {
	m, err := newModelOfWays(p.Graph)
	if err != nil || len(m.order) <= fewOps || poll.Err() != nil {
		return solveGraphSearch
	}
	s := newSearcher(m, args, poll)
	return func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		if sol := m.keepAll(p.Budget, within(args)); sol != nil {
			return sol, nil
		}
		return s.solve(p, within(args))
	}
}

// sequenceOf returns the sequence of a solution without transfers.
func (m *model) sequenceOf(sol *engine.Solution) (seq []kindID) {
	for _, st := range sol.Schedule {
		if st.Kind == engine.DoRun {
			seq = append(seq, m.kindOf(st))
		}
	}
	return seq
}
