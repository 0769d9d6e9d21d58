package engine

import "errors"

// Found holds solutions for one problem, found for any budgets.
type Found []*Solution

// Add appends s unless it is nil.
func (f *Found) Add(s *Solution) {
	if s != nil {
		*f = append(*f, s)
	}
}

// Within returns the fastest solution that fits into budget, the first one of equally fast ones, or nil if none
// fits.
func (f Found) Within(budget Bytes) (best *Solution) {
	for _, s := range f {
		if s.Peak <= budget && (best == nil || s.Makespan < best.Makespan) {
			best = s
		}
	}
	return best
}

// Answers passes on the results of a sweep as they come. At the end, Settle yields again for each budget that has a
// faster schedule among those found for other budgets. A schedule found with a smaller budget always fits; one
// found with a larger budget may fit too.
type Answers struct {
	Found   // solutions for any budget; a sweep may add what it has found on the way
	budgets []Bytes
	yield   func(i int, s *Solution, err error)
	given   []*Solution
	closed  []bool // budgets with an error that another schedule does not remove
}

// NewAnswers returns the Answers of a sweep over budgets that calls yield.
func NewAnswers(budgets []Bytes, yield func(i int, s *Solution, err error)) *Answers {
	return &Answers{budgets: budgets, yield: yield, given: make([]*Solution, len(budgets)), closed: make([]bool, len(budgets))}
}

// Tell passes on the result for budget i and remembers it.
func (a *Answers) Tell(i int, s *Solution, err error) {
	var infeasible *InfeasibleError
	a.closed[i] = err != nil && !errors.As(err, &infeasible)
	if err == nil {
		a.given[i] = s
		a.Add(s)
	}
	a.yield(i, s, err)
}

// Settle yields every budget again for which Found has a faster solution than Tell gave.
func (a *Answers) Settle() {
	for i, b := range a.budgets {
		if a.closed[i] {
			continue
		}
		if best := a.Within(b); best != nil && (a.given[i] == nil || best.Makespan < a.given[i].Makespan) {
			a.yield(i, best.Beside(a.given[i]), nil)
		}
	}
}

// Beside returns the solution with what is proven of another within the same budget, which is
// slower, if both make claims about the same set; otherwise nothing is proven. other may be nil.
func (s *Solution) Beside(other *Solution) *Solution {
	better := *s
	better.Bound, better.Optimal, better.OptimalAmong = 0, false, ""
	if other != nil && other.OptimalAmong == s.OptimalAmong {
		better.Bound, better.OptimalAmong = min(other.Bound, s.Makespan), other.OptimalAmong
		better.Optimal = other.Bound > 0 && s.Makespan <= other.Bound
	}
	return &better
}
