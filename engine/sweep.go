package engine

import "errors"

// Found are solutions for one problem within whatever budgets.
type Found []*Solution

// Add keeps a solution; nil is none.
func (f *Found) Add(s *Solution) {
	if s != nil {
		*f = append(*f, s)
	}
}

// Within is the fastest that fits into a budget, of equally fast ones the first; nil if none does.
func (f Found) Within(budget Bytes) (best *Solution) {
	for _, s := range f {
		if s.Peak <= budget && (best == nil || s.Makespan < best.Makespan) {
			best = s
		}
	}
	return best
}

// Answers passes on what a sweep says of every budget. At its end it says again
// which budgets have a faster schedule among those that were found for others: with
// less room, or with more of which it leaves enough.
type Answers struct {
	Found   // what counts for every budget; a sweep may add what it has found on the way
	budgets []Bytes
	yield   func(i int, s *Solution, err error)
	given   []*Solution
	closed  []bool // budgets with an error that another schedule does not mend
}

// NewAnswers are those of a sweep that calls yield.
func NewAnswers(budgets []Bytes, yield func(i int, s *Solution, err error)) *Answers {
	return &Answers{budgets: budgets, yield: yield, given: make([]*Solution, len(budgets)), closed: make([]bool, len(budgets))}
}

// Tell passes on the answer for a budget.
func (a *Answers) Tell(i int, s *Solution, err error) {
	var infeasible *InfeasibleError
	a.closed[i] = err != nil && !errors.As(err, &infeasible)
	if err == nil {
		a.given[i] = s
		a.Add(s)
	}
	a.yield(i, s, err)
}

// Settle passes on again what is faster than what was told.
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
