package offload

import "memtide/engine"

// offloadExact stands for the strategy of package exact, which imports this one.
var offloadExact = &engine.Strategy{Name: "offloadexact", Title: "Best order of transfers", Class: engine.MayOffload,
	Solver: SolveExact}

func init() { engine.Register(offloadExact) }
