package alloc

import (
	"fmt"
	"slices"

	"memtide/engine"
)

// NoAddr is the address of a buffer that was not placed, because its request failed or came after one that did.
const NoAddr engine.Bytes = -1

// Layout says where buffers lie. Addresses start at 0.
type Layout struct {
	Addr []engine.Bytes // by buffer
	// Took is the number of bytes that a buffer occupies from its address on, at least its size. It is nil if every
	// buffer occupies its size. The difference is internal fragmentation.
	Took []engine.Bytes
	// Pool is the end of the address space: no buffer reaches beyond it.
	Pool engine.Bytes
	// Reserved is the memory taken from the device over time. It changes only for allocators that take memory piece
	// by piece.
	Reserved []Level
	Failed   *Failure     // the request that was not served; nil if all were
	Runs     int          // one plus the number of restarts with a larger pool
	Bound    engine.Bytes // no pool can be smaller
	Optimal  bool         // no pool smaller than this one holds the buffers

	// Chunk is the size of a physical chunk, and Chunks are the chunks of each buffer. Both are zero except with
	// virtual addressing. Then addresses are virtual, and used once.
	Chunk  engine.Bytes
	Chunks [][]int32
	Group  int // buffers of more chunks than Group take a multiple of Group; 0 is like 1
}

// Level is an amount from an event on, until the next level.
type Level struct {
	Event int
	Bytes engine.Bytes
}

// Failure is a request that found no room, with the holes at that time.
type Failure struct {
	Event, Buffer int
	Bytes         engine.Bytes // the size of the request, as the allocator rounds it
	Largest       engine.Bytes // the largest hole
	Free          engine.Bytes // all holes together
	// Unreserved is the memory that the allocator could still take from the device, which is less than this request
	// would need. It is 0 for allocators that use one pool.
	Unreserved engine.Bytes
}

func (f *Failure) Error() string {
	msg := fmt.Sprintf("event %d: no room for %s: %s is free, the largest hole has %s", f.Event, f.Bytes.Text(),
		f.Free.Text(), f.Largest.Text())
	if f.Unreserved > 0 {
		msg += "; the device has " + f.Unreserved.Text() + " more, not enough for a segment"
	}
	return msg
}

// PeakReserved returns the most memory that is taken from the device at one time.
func (l *Layout) PeakReserved() (peak engine.Bytes) {
	for _, v := range l.Reserved {
		peak = max(peak, v.Bytes)
	}
	return peak
}

// PeakChunks returns the largest number of chunks in use at one time, or 0 without virtual addressing.
func (l *Layout) PeakChunks() int {
	if l.Chunk == 0 {
		return 0
	}
	return int(l.PeakReserved() / l.Chunk)
}

// PeakWaste returns the largest sum of internal fragmentation at one time.
func (l *Layout) PeakWaste(r *Requests) (peak engine.Bytes) {
	if l.Took == nil {
		return 0
	}
	var sum engine.Bytes
	for _, e := range r.Events {
		if l.Addr[e.Buffer] == NoAddr {
			continue
		}
		d := l.Took[e.Buffer] - r.Buffers[e.Buffer].Bytes
		if e.Free {
			d = -d
		}
		sum += d
		peak = max(peak, sum)
	}
	return peak
}

// NewLayout returns a layout in which no buffer is placed.
func NewLayout(r *Requests) *Layout {
	return &Layout{Addr: slices.Repeat([]engine.Bytes{NoAddr}, len(r.Buffers)), Bound: r.AggregatePeak(), Runs: 1}
}

// Reserve records that b bytes are taken from the device from an event on.
func (l *Layout) Reserve(event int, b engine.Bytes) {
	if n := len(l.Reserved); n == 0 || l.Reserved[n-1].Bytes != b {
		l.Reserved = append(l.Reserved, Level{event, b})
	}
}
