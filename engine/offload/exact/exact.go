// Package exact registers the strategy offloadexact. Import it for that effect.
package exact

import (
	"memtide/engine"
	"memtide/engine/offload"
)

func init() { engine.Register(offloadExact) }

var offloadExact = &engine.Strategy{
	Name:   "offloadexact",
	Title:  "Best order of transfers",
	Mark:   4,
	Doc:    "Finds the fastest schedule of whole transfers on a small chain, in whatever order they come.",
	Class:  engine.MayOffload,
	Short:  "Best order, short chains",
	Cost:   engine.CostExact,
	Cites:  []engine.Cite{offload.Paper000("2 (Problem 1) and 3.2 (Lemma 3)")},
	Solver: solve,
}

// solve calls offload.SolveExact. The Solver has to be a function of this package, because the build
// looks at its package to find strategies that a program lacks.
func solve(p *engine.Problem, args engine.Parsed, poll *engine.Poll) (*engine.Solution, error) {
	return offload.SolveExact(p, args, poll)
}
