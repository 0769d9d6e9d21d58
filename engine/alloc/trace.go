package alloc

import (
	"slices"

	"memtide/engine"
	"memtide/engine/sim"
)

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
