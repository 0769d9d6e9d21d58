package alloc

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

// Buffer is a piece of memory that is allocated once and released once.
type Buffer struct {
	Name       string // for people; may be empty
	Bytes      engine.Bytes
	Start, End int          // it lives over [Start, End) on the clock of its Requests
	High       bool         // the forward copy of an offloaded value, which the allocator high-end places on top
	Kind       sim.Category // for the pictures
}

// Event is a request for a buffer, or its release.
type Event struct {
	Buffer int // index into Requests.Buffers
	Free   bool
}

// Requests are buffers and the order in which they are allocated and released. The clock of the lives is the index
// into Events, except that FromLives keeps the clock of its buffers. Allocators do not change Requests.
type Requests struct {
	Buffers []Buffer
	Events  []Event
}

// Entry is one line of a list of events: a request of Bytes, or a release, of the buffer called Name.
type Entry struct {
	Name  string
	Free  bool
	Bytes engine.Bytes
	High  bool
}

// FromEvents reads a list of requests and releases in order. A buffer that is never released lives to the end. A
// name may be used again after its release.
func FromEvents(list []Entry) (*Requests, error) {
	r := &Requests{}
	live := map[string]int{}
	for i, e := range list {
		at, taken := live[e.Name]
		switch {
		case e.Free && !taken:
			return nil, fmt.Errorf("event %d releases %q, which is not allocated at that moment", i, e.Name)
		case !e.Free && taken:
			return nil, fmt.Errorf("event %d requests %q, which is still allocated; release it first", i, e.Name)
		case e.Free:
			r.Buffers[at].End = i
			delete(live, e.Name)
		case e.Bytes < 0:
			return nil, fmt.Errorf("event %d requests %d bytes for %q; expected 0 or more", i, e.Bytes, e.Name)
		default:
			at = len(r.Buffers)
			live[e.Name] = at
			r.Buffers = append(r.Buffers,
				Buffer{Name: e.Name, Bytes: e.Bytes, Start: i, End: len(list), High: e.High})
		}
		r.Events = append(r.Events, Event{at, e.Free})
	}
	return r, nil
}

// FromLives orders buffers by their lives [Start, End), on any clock. At equal times releases come first, then
// requests as they are listed.
func FromLives(buffers []Buffer) (*Requests, error) {
	for i, b := range buffers {
		if b.Bytes < 0 || b.End <= b.Start {
			return nil, fmt.Errorf("buffer %d (%q) has %d bytes over [%d, %d); expected 0 or more bytes and an end after the start", i, b.Name, b.Bytes, b.Start, b.End)
		}
	}
	r := &Requests{Buffers: slices.Clone(buffers)}
	r.order()
	return r, nil
}

// order makes Events from the lives of Buffers. A life without duration is released right after the requests of its
// moment.
func (r *Requests) order() {
	type moment struct {
		at, phase int
		Event
	}
	moments := make([]moment, 0, 2*len(r.Buffers))
	for i, b := range r.Buffers {
		release := moment{b.End, 0, Event{i, true}}
		if b.End <= b.Start {
			release.at, release.phase = b.Start, 2
		}
		moments = append(moments, moment{b.Start, 1, Event{i, false}}, release)
	}
	slices.SortFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.phase, b.phase), cmp.Compare(a.Buffer, b.Buffer))
	})
	r.Events = make([]Event, len(moments))
	for i, m := range moments {
		r.Events[i] = m.Event
	}
}

// AggregatePeak returns the largest sum of the sizes of buffers that live at the same time. No pool can be smaller.
func (r *Requests) AggregatePeak() (peak engine.Bytes) {
	var sum engine.Bytes
	for _, e := range r.Events {
		if b := r.Buffers[e.Buffer].Bytes; e.Free {
			sum -= b
		} else {
			sum += b
		}
		peak = max(peak, sum)
	}
	return peak
}
