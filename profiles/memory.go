package profiles

import (
	"memtide/engine"
	"memtide/engine/alloc"
)

// Memory is what a file says about addresses instead of about a network: a
// memory snapshot, or buffers that have to be placed. A profile that holds one
// has neither chain nor graph. The native format keeps all of it.
type Memory struct {
	Requests *alloc.Requests
	Recorded *alloc.Layout // where the file says the buffers lie; nil if it does not
	Capacity engine.Bytes  // the pool that the file asks for; 0 if it names none

	// Before is how many events at the beginning of Requests only bring back what
	// was in use when the recording began, in the order of addresses.
	Before int
	// Segments are the stretches of addresses of Recorded that were taken from the
	// device, by address and then by time: holes are only within them. Nil if the
	// file does not tell.
	Segments []Segment
}

// Segment is a stretch of addresses that was reserved from event From on, until
// event To; number of events if it never was given back.
type Segment struct {
	Addr, Size engine.Bytes
	From, To   int
}
