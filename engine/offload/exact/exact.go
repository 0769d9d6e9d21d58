// Package exact registers the strategy offloadexact. Import it for that effect.
package exact

import (
	"memtide/engine"
	"memtide/engine/offload"
)

func init() { engine.Register(offloadExact) }

var offloadExact = &engine.Strategy{
	Name:  "offloadexact",
	Title: "Best order of transfers",
	Mark:  4,
	Doc: `Finds the fastest schedule of whole transfers on a small chain, in whatever order they come.

Paper 000 looks only at ordered schedules, which offload in the order of the layers
and then fetch in reverse, because of its Lemma 3: that every schedule can be put
into that order without loss. The lemma is false. On a chain of five operations (uF = 3, 1, 3, 10, 0, no
backward times, x = 3, 0, 0, 10, 0, 0, extra memory of 13 in F_1 and 10 in F_4,
budget 13, one byte per unit of time) the best ordered schedule takes 30; 27 are
possible if x_0 is fetched before x_3 is offloaded.

This method tries every schedule that does not recompute: a best-first search over
what has run, where each value is, and what is under way. Gradients may travel too:
that of the loss during the forward pass and, in full duplex, any value between
two operations, to make room for a fetch until an offload has made it. It starts
from the best ordered schedule and looks only at what can still be faster. Other
methods are there for chains of realistic length.`,
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
