package offload

import "memtide/engine"

// offloadExact replaces the strategy of package exact, which tests of this package cannot import because it
// imports this package.
var offloadExact = &engine.Strategy{Name: "offloadexact", Title: "Best order of transfers", Class: engine.MayOffload,
	Solver: SolveExact}

func init() { engine.Register(offloadExact) }
