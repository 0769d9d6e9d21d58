package profiles

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/engine/alloc"
)

// Memory is the content of a file about addresses: a memory snapshot, or buffers that have to be placed. A profile with
// a Memory has neither a chain nor a graph. The native format keeps all of it.
type Memory struct {
	Requests *alloc.Requests
	Recorded *alloc.Layout // where the file places the buffers; nil if it does not
	Capacity engine.Bytes  // size of the pool that the file names; 0 if it names none

	// Before is the number of leading events in Requests that only restore the buffers that
	// existed when the recording began, in the order of addresses.
	Before int
	// Segments are the address ranges of Recorded that the allocator had reserved from the device, sorted by address
	// and then by time. Free memory is only within them. It is nil if the file does not record them.
	Segments []Segment
}

// History says where in the program, when and on which stream the buffers of a Memory were requested.
type History struct {
	Device   int            // number of the device whose memory this is
	Devices  []DeviceMemory // all devices in the file, by number
	Stacks   Stacks
	Stack    []int32 // index into Stacks.Calls, for each buffer
	Streams  []int16 // stream of each buffer, numbered in the order of appearance
	Times    []int64 // microseconds since the first event, for each event; nil if not recorded
	Settings string  // PYTORCH_CUDA_ALLOC_CONF of the run; empty if it was not recorded

	// Emptied lists the events before which the program released all free segments, as torch.cuda.empty_cache does.
	// Segments that the allocator released because it ran out of memory are not in it.
	Emptied []int
	// Pressed reports whether the allocator released segments because it ran out of memory. Then the device could not
	// have reserved more than the largest total of the recording, within one segment.
	Pressed bool

	// Expandable reports whether segments grew by pages. Segments that touch are then one segment, unless the second
	// begins at an address in Starts, where the real addresses are not adjacent.
	Expandable bool
	Starts     []engine.Bytes
}

// DeviceMemory summarizes what a recording has about one device.
type DeviceMemory struct {
	Device   int          `json:"device"`
	Events   int          `json:"events"`
	Reserved engine.Bytes `json:"reserved_bytes"` // at the end
	InUse    engine.Bytes `json:"in_use_bytes"`   // at the end
	Failed   bool         `json:"failed"`         // a request could not be satisfied
}

// Stacks holds call stacks as a tree: stacks with the same outer frames share them.
type Stacks struct {
	Frames []Frame // 0 is the unknown frame
	Calls  []Call  // 0 is the empty stack
}

// Call is a stack: Frame, called from the stack Parent, whose index is lower.
type Call struct{ Parent, Frame int32 }

// Frame is a place in a program. Line is 0 if unknown. File is the last part of a path, with slashes.
type Frame struct {
	File, Name string
	Line       int
}

// Text returns the frame for people: "net.py:42 forward".
func (f *Frame) Text() string {
	text := f.File[strings.LastIndexByte(f.File, '/')+1:]
	if f.Line > 0 {
		text += ":" + strconv.Itoa(f.Line)
	}
	return strings.TrimSpace(text + " " + f.Name)
}

// Segment is an address range that was reserved from event From until event To, which is the
// number of events if it was never released.
type Segment struct {
	Addr engine.Bytes `json:"addr"`
	Size engine.Bytes `json:"size"`
	From int          `json:"from"`
	To   int          `json:"to"`
}

// smallRequest is the largest request that PyTorch serves from its pool of small blocks, whose segments are 2 MiB.
const smallRequest = engine.MiB

// poolAt returns the segments that could have served a request for bytes at event at, by
// address: those of the pool for that size, without those that overlap an earlier one. The pool
// of a segment follows from its size. For expandable segments, whose touching parts are joined,
// it follows from the buffers that are ever placed there. m.Segments has to be sorted.
func (m *Memory) poolAt(h *History, at int, bytes engine.Bytes) (list []Segment) {
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
		case n > 0 && s.Addr < list[n-1].Addr+list[n-1].Size: // they overlap: the recording contradicts itself
		case h.Expandable || small == (s.Size == 2*engine.MiB):
			list = append(list, s)
		}
	}
	if !h.Expandable {
		return list
	}
	ours, others := make([]bool, len(list)), make([]bool, len(list))
	for i, b := range m.Requests.Buffers {
		k, exact := slices.BinarySearchFunc(list, m.Recorded.Addr[i],
			func(s Segment, at engine.Bytes) int { return cmp.Compare(s.Addr, at) })
		if !exact {
			k--
		}
		if k >= 0 && m.Recorded.Addr[i] < list[k].Addr+list[k].Size {
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

// Unmapped returns the number of bytes in addresses that are reserved at some event but not at event at.
func (m *Memory) Unmapped(at int) (bytes engine.Bytes) {
	var all, now engine.Bytes // addresses below are counted
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

// Lives reports whether a buffer has a place that is in use after an event.
func (m *Memory) Lives(buffer, at int) bool {
	b := &m.Requests.Buffers[buffer]
	return b.Start <= at && at < b.End && m.Recorded.Addr[buffer] != alloc.NoAddr
}

// Took returns what a buffer occupies in Recorded.
func (m *Memory) Took(buffer int) engine.Bytes {
	if m.Recorded.Took == nil {
		return m.Requests.Buffers[buffer].Bytes
	}
	return m.Recorded.Took[buffer]
}

// Hole is free memory in a segment, between the buffers Below and Above; they are -1 where the segment ends.
type Hole struct {
	Addr, Bytes  engine.Bytes
	Below, Above int
}

// Holes returns the free memory that there was for a request for bytes at event at, by address,
// in the segments of its pool.
func (m *Memory) Holes(h *History, at int, bytes engine.Bytes) (list []Hole) {
	addr := m.Recorded.Addr
	var used []int
	for i := range m.Requests.Buffers {
		if m.Lives(i, at) {
			used = append(used, i)
		}
	}
	slices.SortFunc(used, func(a, b int) int { return cmp.Compare(addr[a], addr[b]) })
	for _, s := range m.poolAt(h, at, bytes) {
		from, below := s.Addr, -1
		hole := func(to engine.Bytes, above int) {
			if to > from {
				list = append(list, Hole{from, to - from, below, above})
			}
		}
		k, _ := slices.BinarySearchFunc(used, s.Addr,
			func(i int, at engine.Bytes) int { return cmp.Compare(addr[i], at) })
		for ; k < len(used) && addr[used[k]] < s.Addr+s.Size; k++ {
			hole(addr[used[k]], used[k])
			from, below = max(from, addr[used[k]]+m.Took(used[k])), used[k]
		}
		hole(s.Addr+s.Size, -1)
	}
	return list
}
