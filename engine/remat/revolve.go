package remat

import "memtide/engine"

func init() { engine.Register(revolve) }

var revolve = &engine.Strategy{
	Name:  "revolve",
	Title: "Optimal checkpoints of outputs only",
	Mark:  1,
	Doc:   "Finds the fastest way to keep some outputs and compute everything else again.",
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
