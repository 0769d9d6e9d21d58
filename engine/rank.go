package engine

import (
	"cmp"
	"slices"
	"strings"
)

// KeepAll is the name of the strategy that keeps everything. Slowdowns, and budgets in per cent, are measured
// against it.
const KeepAll = "keepall"

// Rank is the position of a strategy among those that are offered by default, for chains and for graphs: 1 is
// first. Strategies with 0 appear in complete lists only. Ties are ordered by name.
type Rank struct{ Chain, Graph int }

// Of returns the rank for graphs if graph is set, else the rank for chains.
func (r Rank) Of(graph bool) int {
	if graph {
		return r.Graph
	}
	return r.Chain
}

// DrawnRanks is the number of ranks that the trade-off curve draws by default.
const DrawnRanks = 4

// Cost says how expensive it is to find one schedule for a network of usual size. Questions that need many
// schedules ask the cheapest strategies first.
type Cost uint8

// The costs, cheapest first: a few passes over the operations, a table over stages and bytes, a search that stops
// at its own limit, and an exact search, for small networks.
const (
	CostPasses Cost = iota
	CostTable
	CostSearch
	CostExact
)

// Label returns Short, or Title where there is no short name.
func (s *Strategy) Label() string { return cmp.Or(s.Short, s.Title) }

// PlanClass returns the class of plans that runs the strategy's schedules on an unmodified PyTorch model: Plans if
// it is set, else the widest that its Class needs.
func (s *Strategy) PlanClass() string {
	switch {
	case s.Plans != "":
		return s.Plans
	case s.Class&MayOffload != 0:
		return "offload"
	}
	return "nested"
}

// ByRank returns a comparison that orders strategies by rank, those without one last, then by name.
func ByRank(graph bool) func(a, b *Strategy) int {
	return func(a, b *Strategy) int {
		return cmp.Or(cmp.Compare(uint(a.Rank.Of(graph)-1), uint(b.Rank.Of(graph)-1)), strings.Compare(a.Name, b.Name))
	}
}

// Ranked returns the strategies that have a rank, first to last.
func Ranked(graph bool) []*Strategy {
	list := slices.DeleteFunc(Strategies(), func(s *Strategy) bool { return s.Rank.Of(graph) == 0 })
	slices.SortFunc(list, ByRank(graph))
	return list
}

// Best returns the strategy of class c with the first rank, for chains or graphs, or nil if no strategy of the
// class has a rank.
func Best(c Class, graph bool) (best *Strategy) {
	for _, s := range Strategies() {
		if s.Class == c && s.Rank.Of(graph) > 0 && (best == nil || s.Rank.Of(graph) < best.Rank.Of(graph)) {
			best = s
		}
	}
	return best
}
