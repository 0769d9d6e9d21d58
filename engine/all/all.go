// Package all registers every strategy and every allocator: import it for that effect. Its tests
// are the contract that every strategy keeps; that of allocators is in engine/allocators.
package all

import (
	_ "memtide/engine/allocators"
	_ "memtide/engine/combined"
	_ "memtide/engine/graphs"
	_ "memtide/engine/lanes"
	_ "memtide/engine/offload"
	_ "memtide/engine/offload/exact"
	_ "memtide/engine/remat"
	_ "memtide/engine/window"
)
