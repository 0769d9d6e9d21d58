package remat

import "memtide/engine"

func init() { engine.Register(revolve) }

var revolve = &engine.Strategy{
	Name:  "revolve",
	Title: "Optimal checkpoints of outputs only",
	Mark:  1,
	Doc: `Finds the fastest way to keep some outputs and compute everything else again.

This is the optimum of automatic differentiation: between operations only
outputs are kept, and the saved set of a stage is built right before its
backward. So every stage but the last runs at least twice, however much memory
there is. Revolve has a closed form for chains whose stages are all the same;
here sizes and times differ, and the optimum comes from Theorem 1 of the second
paper without the branch that keeps saved sets. Sizes are exact bytes.

No persistent schedule of this kind is faster: once such a schedule
has kept something, it stays where it is until the backward that needs it.`,
	Class: engine.MayRecompute,
	Cost:  engine.CostTable,
	Cites: []engine.Cite{
		{
			Text:    "Griewank, Walther: Algorithm 799: Revolve: An Implementation of Checkpointing for the Reverse or Adjoint Mode of Computational Differentiation",
			ID:      "10.1145/347837.347846",
			Section: "2, the chain of equal stages",
		},
		Paper002("5.3, the strategy \"revolve\", with the terms of 4.2"),
	},
	Solver: inBytes(outputOnlyTerms, finishRevolve),
}

func finishRevolve(p *engine.Problem, sol *engine.Solution, err error) {
	sol.OptimalAmong = p.Graph.FirstWays("persistent recomputation that keeps outputs only")
	if err == nil && sol.Optimal {
		sol.Notes = []string{"Every stage but the last runs at least twice: only outputs are kept."}
	}
}
