package engine

import (
	"cmp"
	"slices"
	"strings"
)

// Names of strategies that have a meaning of their own: KeepAll is what slowdowns and
// budgets in per cent are measured against.
const KeepAll = "keepall"

// Rank is the place of a strategy among those that are offered before anybody asks, for
// networks that are a chain and for graphs of operations: 1 is first. Strategies with 0
// stand in complete lists only. Equal places are ordered by name.
type Rank struct{ Chain, Graph int }

// Of returns the place for graphs, or for chains.
func (r Rank) Of(graph bool) int {
	if graph {
		return r.Graph
	}
	return r.Chain
}

// DrawnRanks is how many places the trade-off curve draws before anybody asks.
const DrawnRanks = 4

// Cost is how much work one schedule costs on a network of usual size. Questions that
// need many schedules ask the cheapest strategies first.
type Cost uint8

// The costs, from the least: a pass or a few over the operations, a table over stages and
// bytes, a search that ends at its own limit, and an exact search, for small networks.
const (
	CostPasses Cost = iota
	CostTable
	CostSearch
	CostExact
)

// Label returns Short, or Title where there is no short name.
func (s *Strategy) Label() string { return cmp.Or(s.Short, s.Title) }

// PlanClass returns the class of plans that runs the strategy's schedules on an
// unmodified PyTorch model: the one it names, or the widest that its Class needs.
func (s *Strategy) PlanClass() string {
	switch {
	case s.Plans != "":
		return s.Plans
	case s.Class&MayOffload != 0:
		return "offload"
	}
	return "nested"
}

// ByRank orders strategies by their place, those without one last, then by name.
func ByRank(graph bool) func(a, b *Strategy) int {
	return func(a, b *Strategy) int {
		return cmp.Or(cmp.Compare(uint(a.Rank.Of(graph)-1), uint(b.Rank.Of(graph)-1)), strings.Compare(a.Name, b.Name))
	}
}

// Ranked returns the strategies that have a place, first to last.
func Ranked(graph bool) []*Strategy {
	list := slices.DeleteFunc(Strategies(), func(s *Strategy) bool { return s.Rank.Of(graph) == 0 })
	slices.SortFunc(list, ByRank(graph))
	return list
}

// Best returns the strategy of a class that is offered first, for chains or graphs; nil if
// no strategy of the class has a place.
func Best(c Class, graph bool) *Strategy {
	for _, s := range Ranked(graph) {
		if s.Class == c {
			return s
		}
	}
	return nil
}
