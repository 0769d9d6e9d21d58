package profiles

import (
	"memtide/engine"
	"memtide/engine/alloc"
)

// Memory is what a file says about addresses instead of about a network: a
// memory snapshot, or buffers that have to be placed. A profile that holds one
// has neither chain nor graph.
type Memory struct {
	Requests *alloc.Requests
	Recorded *alloc.Layout // where the file says the buffers lie; nil if it does not
	Capacity engine.Bytes  // the pool that the file asks for; 0 if it names none
}
