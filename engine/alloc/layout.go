package alloc

import (
	"fmt"

	"memtide/engine"
)

// NoAddr is the address of a buffer that has none: it came after the request
// that failed.
const NoAddr engine.Bytes = -1

// Layout says where buffers lie. Addresses start at 0.
type Layout struct {
	Addr []engine.Bytes // by buffer
	// Took is what a buffer occupies from its address on, at least its size; nil
	// if that is its size. The difference is internal fragmentation.
	Took []engine.Bytes
	// Pool is the end of the address space: no buffer reaches beyond it.
	Pool engine.Bytes
	// Reserved is what is taken from the device, which changes only for allocators
	// that ask for memory piece by piece.
	Reserved []Level
	Failed   *Failure // the request that was not served, nil if all were
	Runs     int      // how often the allocator started again with a larger pool, plus one
	Bound    engine.Bytes
	Optimal  bool // no pool smaller than this one holds the buffers

	// Virtual addressing only: the size of a chunk and the physical chunks of
	// each buffer. Addresses are virtual there and used once.
	Chunk  engine.Bytes
	Chunks [][]int32
	Group  int // buffers of more chunks than this take a multiple of it; 0: of 1
}

// Level is an amount from an event on, until the next level.
type Level struct {
	Event int
	Bytes engine.Bytes
}

// Failure is a request that found no room, and the holes there were.
type Failure struct {
	Event, Buffer int
	Bytes         engine.Bytes // asked for, as the allocator rounds it
	Largest       engine.Bytes // the largest hole
	Free          engine.Bytes // all holes together
	// Unreserved is what the allocator could still take from the device, and less
	// than it would have to take for this request; 0 for those in one pool.
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

// PeakReserved returns the most memory that is taken from the device at a moment.
func (l *Layout) PeakReserved() (peak engine.Bytes) {
	for _, v := range l.Reserved {
		peak = max(peak, v.Bytes)
	}
	return peak
}

// PeakChunks returns the largest number of chunks in use at a moment, of a layout by
// virtual addressing.
func (l *Layout) PeakChunks() int {
	if l.Chunk == 0 {
		return 0
	}
	return int(l.PeakReserved() / l.Chunk)
}

// PeakWaste returns the largest sum of internal fragmentation at a moment.
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

// NewLayout has no buffer placed.
func NewLayout(r *Requests) *Layout {
	l := &Layout{Addr: make([]engine.Bytes, len(r.Buffers)), Bound: r.AggregatePeak(), Runs: 1}
	for i := range l.Addr {
		l.Addr[i] = NoAddr
	}
	return l
}

// Reserve notes what is taken from the device after an event.
func (l *Layout) Reserve(event int, b engine.Bytes) {
	if n := len(l.Reserved); n == 0 || l.Reserved[n-1].Bytes != b {
		l.Reserved = append(l.Reserved, Level{event, b})
	}
}
