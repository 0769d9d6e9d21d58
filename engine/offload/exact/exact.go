// Package exact registers the strategy offloadexact: import it for that effect.
package exact

import (
	"memtide/engine"
	"memtide/engine/offload"
)

func init() { engine.Register(offload.Exact()) }
