// Package all registers every strategy and every allocator in the program that imports it. Its tests are the
// contract of all strategies. The contract of allocators is in engine/allocators.
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
