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

// Order says which of two requests at the same time comes first (paper 003, section IV-B): the value that a fetch
// brings back, or the gradient that a backward operation makes.
type Order uint8

// The orders.
const (
	AsPlayed        Order = iota // in the order of the simulator
	PrefetchFirst                // fetched values, then gradients
	DerivativeFirst              // gradients, then fetched values
)

// OrderParam is the name of the parameter that selects an Order. It has an effect only on requests from a schedule.
const OrderParam = "order"

// ParamOrder is the parameter. Its Choices are the names of the orders, indexed by Order.
var ParamOrder = engine.Param{
	Name: OrderParam, Title: "Requests of one moment",
	Doc:     "What is asked for first where a fetched value and a gradient are due at once: as the schedule is played, fetched values, or gradients.",
	Default: "as-played", Choices: []string{"as-played", "prefetch-first", "derivative-first"},
}

// Order returns the order in args, for FromTrace. It is AsPlayed if args have none.
func (a *Allocator) Order(args engine.Args) Order {
	return Order(max(slices.Index(ParamOrder.Choices, args[OrderParam]), 0))
}

// FromTrace returns the requests of a trace. Buffer i is trace.Lives[i], in its full size even if a streamed
// transfer fills it gradually. Copies that a run made and that were offloaded are High; copies that a fetch brought
// back are not. Memory that is resident throughout, such as weights, is not among the lives.
func FromTrace(t *sim.Trace, order Order) *Requests {
	r := &Requests{Buffers: make([]Buffer, len(t.Lives))}
	for i, l := range t.Lives {
		r.Buffers[i] = Buffer{
			Bytes: l.Bytes, Start: l.StartSeq, End: l.EndSeq, Kind: l.Category,
			High: l.Offloaded && !fetched(t, i),
		}
	}
	r.order()
	if order != AsPlayed {
		r.swap(t, order)
	}
	for i, e := range r.Events { // the lives become indices into Events
		if e.Free {
			r.Buffers[e.Buffer].End = i
		} else {
			r.Buffers[e.Buffer].Start = i
		}
	}
	return r
}

func fetched(t *sim.Trace, i int) bool {
	from := t.Lives[i].From
	return from != sim.NoSpan && t.Spans[from].Kind == sim.SpanFetch
}

// swap reorders fetched values and gradients among requests that follow each other at the same time without a
// release between them. All other requests keep their position.
func (r *Requests) swap(t *sim.Trace, order Order) {
	for from := 0; from < len(r.Events); {
		to := from + 1
		for to < len(r.Events) && !r.Events[from].Free && !r.Events[to].Free &&
			t.Lives[r.Events[to].Buffer].Start == t.Lives[r.Events[from].Buffer].Start {
			to++
		}
		var places []int
		var first, second []Event
		for i := from; i < to; i++ {
			e := r.Events[i]
			isFetch := fetched(t, e.Buffer)
			switch {
			case !isFetch && t.Lives[e.Buffer].Category != sim.Gradient:
				continue
			case isFetch == (order == PrefetchFirst):
				first = append(first, e)
			default:
				second = append(second, e)
			}
			places = append(places, i)
		}
		for i, e := range slices.Concat(first, second) {
			r.Events[places[i]] = e
		}
		from = to
	}
}
