package offload

import "memtide/engine"

// offloadExact is registered here for the tests of this package alone.
var offloadExact = Exact()

func init() { engine.Register(offloadExact) }
