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
	Event int          `json:"event"`
	Bytes engine.Bytes `json:"bytes"`
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

// Reason says what is wrong with a layout.
type Reason uint8

// The reasons.
const (
	BadShape    Reason = iota // not one address per buffer, or not one size
	BadMissing                // a buffer has no address although its request was served
	BadAddress                // an address below 0
	BadSize                   // less room than the buffer has bytes
	BadPool                   // a buffer reaches beyond the pool
	BadOverlap                // two buffers that live at the same time share bytes
	BadChunks                 // too few or too many chunks, or one that does not exist
	BadSharing                // two buffers that live at the same time share a chunk
	BadReserved               // more bytes are in use than are reserved
	NumReasons
)

// String returns the reason for people.
func (r Reason) String() string {
	return [...]string{"wrong shape", "no address", "negative address", "too little room", "beyond the pool",
		"overlap", "wrong chunks", "shared chunk", "more in use than reserved"}[r]
}

// Violation is a rule that a layout breaks.
type Violation struct {
	Reason Reason
	A, B   int // the buffers concerned; -1 for those that there are not
	Detail string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: buffers %d and %d: %s", v.Reason, v.A, v.B, v.Detail)
}

// Check returns all violations in a layout, buffer by buffer, or nil for a valid one. It compares every buffer with
// every other, in O(n^2), and shares no code with the allocators.
func Check(r *Requests, l *Layout) (bad []Violation) {
	if len(l.Addr) != len(r.Buffers) || l.Took != nil && len(l.Took) != len(r.Buffers) || l.Chunk > 0 &&
		len(l.Chunks) != len(r.Buffers) {
		return []Violation{{BadShape, -1, -1,
			fmt.Sprintf("%d addresses, %d sizes, %d lists of chunks for %d buffers", len(l.Addr), len(l.Took),
				len(l.Chunks), len(r.Buffers))}}
	}
	for i := range r.Buffers {
		bad = append(bad, l.alone(r, i)...)
		for j := range i {
			bad = append(bad, l.pair(r, j, i)...)
		}
	}
	return append(bad, l.levels(r)...)
}

// alone checks one buffer.
func (l *Layout) alone(r *Requests, i int) (bad []Violation) {
	add := func(reason Reason, format string, args ...any) {
		bad = append(bad, Violation{reason, i, -1, fmt.Sprintf(format, args...)})
	}
	b := r.Buffers[i]
	if l.Addr[i] == NoAddr {
		if l.Failed == nil || !slices.Contains(r.Events[l.Failed.Event:], Event{Buffer: i}) {
			add(BadMissing, "of %d bytes", b.Bytes)
		}
		return bad
	}
	if l.Addr[i] < 0 {
		add(BadAddress, "%d", l.Addr[i])
	}
	if l.extent(r, i) < b.Bytes {
		add(BadSize, "%d bytes for %d", l.extent(r, i), b.Bytes)
	}
	if l.Addr[i]+l.extent(r, i) > l.Pool {
		add(BadPool, "ends at %d, the pool at %d", l.Addr[i]+l.extent(r, i), l.Pool)
	}
	if l.Chunk > 0 {
		bytes, step := b.Bytes, l.Chunk
		if group := engine.Bytes(l.Group) * l.Chunk; bytes > group && group > 0 {
			step = group
		}
		if took := engine.Bytes(len(l.Chunks[i])) * l.Chunk; took < bytes || took%step != 0 || took-step >= bytes &&
			took > 0 {
			add(BadChunks, "%d chunks of %d bytes for %d bytes", len(l.Chunks[i]), l.Chunk, bytes)
		}
		for _, c := range l.Chunks[i] {
			if c < 0 || int(c) >= l.PeakChunks() {
				add(BadChunks, "chunk %d of %d", c, l.PeakChunks())
			}
		}
	}
	return bad
}

func (l *Layout) extent(r *Requests, i int) engine.Bytes {
	if l.Took != nil {
		return l.Took[i]
	}
	return r.Buffers[i].Bytes
}

// pair checks two buffers.
func (l *Layout) pair(r *Requests, i, j int) (bad []Violation) {
	a, b := r.Buffers[i], r.Buffers[j]
	if a.End <= b.Start || b.End <= a.Start || l.Addr[i] == NoAddr || l.Addr[j] == NoAddr {
		return nil
	}
	from, to := max(l.Addr[i], l.Addr[j]), min(l.Addr[i]+l.extent(r, i), l.Addr[j]+l.extent(r, j))
	if from < to {
		bad = append(bad, Violation{BadOverlap, i, j, fmt.Sprintf("[%d, %d)", from, to)})
	}
	if l.Chunk == 0 {
		return bad
	}
	for _, c := range l.Chunks[i] {
		if slices.Contains(l.Chunks[j], c) {
			bad = append(bad, Violation{BadSharing, i, j, fmt.Sprintf("chunk %d", c)})
		}
	}
	return bad
}

// levels compares the bytes in use after every event with the bytes reserved.
func (l *Layout) levels(r *Requests) []Violation {
	var used, reserved engine.Bytes
	next := 0
	for i, e := range r.Events {
		if l.Failed != nil && i >= l.Failed.Event {
			break
		}
		for next < len(l.Reserved) && l.Reserved[next].Event <= i {
			reserved = l.Reserved[next].Bytes
			next++
		}
		if e.Free {
			used -= l.extent(r, e.Buffer)
		} else {
			used += l.extent(r, e.Buffer)
		}
		if used > reserved {
			return []Violation{{BadReserved, e.Buffer, -1,
				fmt.Sprintf("after event %d %d bytes are in use, %d reserved", i, used, reserved)}}
		}
	}
	return nil
}
