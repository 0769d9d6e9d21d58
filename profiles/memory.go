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

// History is where in a program, when and on which stream the buffers of a Memory were
// asked for.
type History struct {
	Device   int            // whose memory this is
	Devices  []DeviceMemory // all that the file covers, by number
	Stacks   Stacks
	Stack    []int32 // of each buffer, a place in Stacks.Calls
	Streams  []int16 // of each buffer, numbered in the order in which they come
	Times    []int64 // of each event, in microseconds since the first one; nil if not recorded
	Settings string  // PYTORCH_CUDA_ALLOC_CONF of the run; empty if it was not recorded

	// Expandable says that segments grew by pages: those that touch are one, unless the
	// second begins at one of Starts, where addresses were not next to each other.
	Expandable bool
	Starts     []engine.Bytes
}

// DeviceMemory says what a recording holds of a device.
type DeviceMemory struct {
	Device   int
	Events   int
	Reserved engine.Bytes // at the end
	InUse    engine.Bytes // at the end
	Failed   bool         // a request found no room
}

// Stacks are call stacks, as a tree: stacks that begin alike share that part.
type Stacks struct {
	Frames []Frame // 0 is none
	Calls  []Call  // 0 is the empty stack
}

// Call is a stack: a frame, called by the stack Parent, whose place is lower.
type Call struct{ Parent, Frame int32 }

// Frame is a place in a program. Line is 0 if it is not known; the file is the end of a
// path, with slashes.
type Frame struct {
	File, Name string
	Line       int
}

// Segment is a stretch of addresses that was reserved from event From on, until
// event To; number of events if it never was given back.
type Segment struct {
	Addr, Size engine.Bytes
	From, To   int
}
