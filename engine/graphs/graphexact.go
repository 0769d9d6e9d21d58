package graphs

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/bound"
)

func init() { engine.Register(graphExact) }

var graphExact = &engine.Strategy{
	Name:  "graphexact",
	Title: "Best recomputation of a small graph",
	Mark:  8,
	Doc:   "Finds the fastest way to recompute on a small graph, by trying everything that could be faster.",
	Class: engine.MayRecompute, Graphs: true,
	Cost:   engine.CostExact,
	Cites:  []engine.Cite{checkmate, moccasin},
	Params: []engine.Param{orderParam},
	Solver: solveGraphExact,
}

var (
	checkmate = engine.Cite{Text: "Jain, Jain, Nrusimha, Gholami, Abbeel, Keutzer, Stoica and Gonzalez: Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization. MLSys 2020", ID: "arXiv:1910.02653", Section: "4 (the problem)"}
	moccasin  = engine.Cite{Text: "Bartan, Li, Teague, Lott and Dilkina: Moccasin: Efficient Tensor Rematerialization for Neural Networks. ICML 2023", ID: "arXiv:2304.14463", Section: "2 (the problem, with the order kept)"}
)

var orderParam = engine.Param{
	Name: "order", Title: "Order of operations", Default: "any", Choices: []string{"any", "kept"},
	Doc: "Kept: the first runs come in the order in which they stand, so the plan fits a program that cannot be reordered. Any: only data decides; what is put off until it is read takes no memory before, so less memory will do, or less time.",
}

// within returns the set that optima and bounds range over.
func within(args engine.Parsed) string {
	if args.Is("order", "kept") {
		return "schedules that recompute with the order kept and do not offload"
	}
	return bound.AnyOrder
}

func solveGraphExact(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	m, err := newModelOfWays(p.Graph)
	if err != nil {
		return nil, err
	}
	if sol := m.keepAll(p.Budget, within(args)); sol != nil {
		return sol, nil
	}
	s, ok := newSpace(m, args.Is("order", "kept"), poll)
	if !ok {
		return nil, unsupported("the graph has %d operations and %d values, of %d at most that are tried in every way; graphsearch takes larger ones", m.ops, len(m.size), maxSpace)
	}
	return exact(s, p.Budget, within(args))
}

// keepAll returns the solution that runs every operation once by its fastest kind, in the order of the graph, which
// no other solution beats. It returns nil if it does not fit.
func (m *model) keepAll(budget engine.Bytes, among string) *engine.Solution {
	sol := m.solution(m.quickest())
	if sol.Peak > budget {
		return nil
	}
	sol.Optimal, sol.OptimalAmong = true, among
	sol.Notes = []string{"Everything fits: nothing runs again."}
	return sol
}

// exact returns the best solution, or an error that says why no schedule was found.
func exact(s *space, budget engine.Bytes, among string) (*engine.Solution, error) {
	seq, err := s.find(budget, false)
	if err == nil && seq != nil {
		sol := s.m.solution(seq)
		sol.Optimal, sol.OptimalAmong, sol.Bound = true, among, sol.Makespan
		sol.Notes = []string{s.m.describe(seq)}
		return sol, nil
	}
	if err == nil {
		var least engine.Bytes
		least, _, err = s.smallest()
		if err == nil {
			return nil, &engine.InfeasibleError{Budget: budget, Smallest: least, Why: s.m.whyLeast(least)}
		}
	}
	if errors.Is(err, errStates) {
		return nil, unsupported("the graph has more than %d states; graphsearch takes it", s.limit)
	}
	return nil, err
}

// describe returns, in words, what runs again.
func (m *model) describe(seq []kindID) string {
	runs, took := m.reruns(seq)
	return fmt.Sprintf("%d of %d runs are repetitions, which take %v.", runs, len(seq), took)
}

// whyLeast returns, in words, what needs the smallest budget, if that is a single operation.
func (m *model) whyLeast(least engine.Bytes) string {
	most, at := m.footprint()
	switch {
	case most != least:
		return ""
	case at == engine.NoOp:
		return "the step begins with it"
	}
	return m.g.Ops[at].Name + " needs it by itself"
}
