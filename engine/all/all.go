// Package all registers every strategy: import it for that effect. Its tests
// are the contract that every strategy keeps.
package all

import (
	_ "memtide/engine/combined"
	_ "memtide/engine/graphs"
	_ "memtide/engine/offload"
	_ "memtide/engine/remat"
	_ "memtide/engine/window"
)
