package graphs

import (
	"cmp"
	"slices"

	"memtide/engine"
)

// solver is what Strategy.Solver is.
type solver func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error)

// rising returns the indices of budgets from the smallest to the largest.
func rising(budgets []engine.Bytes) []int {
	order := make([]int, len(budgets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(budgets[a], budgets[b]) })
	return order
}

// sweepUp goes from the smallest budget to the largest with what begin makes for a sweep: what is
// found for one is an answer for the next, and for every other that it fits into, so that no larger budget
// takes longer. begin's solver may add to found what else it finds.
func sweepUp(begin func(*engine.Problem, engine.Parsed, []engine.Bytes, *engine.Poll,
	*engine.Found) solver) func(*engine.Problem, engine.Parsed, []engine.Bytes, *engine.Poll,
	func(int, *engine.Solution, error)) {
	return func(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
		yield func(int, *engine.Solution, error)) {
		answers := engine.NewAnswers(budgets, yield)
		solve := begin(p, args, budgets, poll, &answers.Found)
		for _, i := range rising(budgets) {
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

// Of the proposals for one budget, what a sweep spends besides on a sequence that was found for
// a larger one, and on the best of all.
const (
	downShare = 16
	upShare   = 8
)

// sweptSearch is graphsearch for budgets in rising order. It shares the plans of blocks and, both ways, what is
// found. First it goes down: the sequence of a budget is annealed a little within the next smaller one. The
// fastest sequence of all so far that fits is annealed a little more after the search of each budget.
func sweptSearch(p *engine.Problem, args engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
	_ *engine.Found) solver {
	m, err := newModelOfWays(p.Graph)
	if err != nil || len(m.order) <= fewOps || poll.Err() != nil {
		return solveGraphSearch
	}
	s := newSearcher(m, args, poll)
	s.found = s.down(budgets)
	if in := s.inOrder; in != nil {
		in.total = s.total / 2
		in.found = in.down(budgets)
	}
	return func(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
		if sol := m.keepAll(p.Budget, within(args)); sol != nil {
			return sol, nil
		}
		return s.solve(p, within(args))
	}
}

// down makes sequences from the largest budget to the smallest, from that which keeps everything.
func (s *searcher) down(budgets []engine.Bytes) *plans {
	found := &plans{m: s.m}
	seq := s.m.given()
	found.add(seq, "")
	order := rising(budgets)
	slices.Reverse(order)
	peak := found.list[0].peak
	for k, i := range order {
		if s.poll.Err() != nil {
			break
		}
		if budgets[i] >= peak {
			continue
		}
		a := s.annealer(budgets[i], seq, 1<<40+uint64(k), peak)
		a.anneal(narrow, s.total/downShare, 1, s.m.base)
		seq = a.sequence()
		if a.best != nil {
			seq = a.best
			found.add(seq, "")
		}
	}
	return found
}

// warm returns a solution, or a faster one from what was found for other budgets.
func (s *searcher) warm(p *engine.Problem, sol *engine.Solution, found *plans) *engine.Solution {
	best := s.sequenceOf(sol)
	if other := found.fastest(p.Budget); other != nil && other.took < sol.Makespan {
		best = other.seq
	}
	a := s.annealer(p.Budget, best, 1<<41, found.list[0].peak)
	a.anneal(narrow, s.total/upShare, 1, sol.Bound)
	if a.best != nil {
		best = a.best
	}
	found.add(best, "")
	if better := s.solution(best, sol.OptimalAmong, sol.Bound); better.Makespan < sol.Makespan {
		return better
	}
	return sol
}

// sequenceOf returns the sequence of a solution of the search.
func (s *searcher) sequenceOf(sol *engine.Solution) (seq []kindID) {
	for _, st := range sol.Schedule {
		if st.Kind != engine.DoRun {
			continue
		}
		seq = append(seq, s.m.of(st))
	}
	return seq
}
