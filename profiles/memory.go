package profiles

import (
	"cmp"
	"slices"

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

	// Emptied are the events before which the program gave back what was wholly free, as
	// torch.cuda.empty_cache does; what the allocator gives back for want of room is not.
	Emptied []int
	// Pressed says that the allocator gave back segments for want of room: no more could
	// be reserved, within one segment, than ever was.
	Pressed bool

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

// smallRequest is the largest request of PyTorch's pool of small blocks, whose segments
// have 2 MiB.
const smallRequest = engine.MiB

// PoolAt returns the segments at an event that a request for bytes could have used, by
// address: those of its pool, without those that contradict others. The size of a segment
// tells its pool, and of expandable ones, whose pieces are joined, the buffers that ever
// lay there. Segments have to be in order, and layout is where the buffers lie.
func (m *Memory) PoolAt(layout *alloc.Layout, h *History, at int, bytes engine.Bytes) (list []Segment) {
	small := bytes <= smallRequest
	for _, s := range m.Segments {
		if s.From > at || at >= s.To {
			continue
		}
		n := len(list)
		_, apart := slices.BinarySearch(h.Starts, s.Addr)
		switch {
		case h.Expandable && n > 0 && !apart && s.Addr <= list[n-1].Addr+list[n-1].Size:
			list[n-1].Size = max(list[n-1].Size, s.Addr+s.Size-list[n-1].Addr)
		case n > 0 && s.Addr < list[n-1].Addr+list[n-1].Size: // they contradict each other
		case h.Expandable || small == (s.Size == 2*engine.MiB):
			list = append(list, s)
		}
	}
	if !h.Expandable {
		return list
	}
	ours, others := make([]bool, len(list)), make([]bool, len(list))
	for i, b := range m.Requests.Buffers {
		k, exact := slices.BinarySearchFunc(list, layout.Addr[i], func(s Segment, at engine.Bytes) int { return cmp.Compare(s.Addr, at) })
		if !exact {
			k--
		}
		if k >= 0 && layout.Addr[i] < list[k].Addr+list[k].Size {
			mine := (b.Bytes <= smallRequest) == small
			ours[k], others[k] = ours[k] || mine, others[k] || !mine
		}
	}
	kept := list[:0]
	for k, s := range list {
		if ours[k] || !others[k] {
			kept = append(kept, s)
		}
	}
	return kept
}

// Unmapped returns the addresses that segments have at some moment and not at an event.
func (m *Memory) Unmapped(at int) (bytes engine.Bytes) {
	var all, now engine.Bytes // up to there
	for _, s := range m.Segments {
		end := s.Addr + s.Size
		bytes += max(0, end-max(s.Addr, all))
		all = max(all, end)
		if s.From <= at && at < s.To {
			bytes -= max(0, end-max(s.Addr, now))
			now = max(now, end)
		}
	}
	return bytes
}
