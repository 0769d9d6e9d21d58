package alloc

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
)

// maxExact bounds the buffers of the exact search: its memory grows with the
// square of them.
const maxExact = 4000

func init() {
	Register(&Allocator{
		Name:  "optimal",
		Title: "Optimal placement",
		Doc: `The smallest pool that holds all buffers, all lives being known from the start.

Greedy orders give a first placement. If it needs more than the largest sum of what lives at a moment, an exact search
over canonical placements looks for smaller ones, until one is proven smallest or time is up; then the best so far
stands. With a pool size, the search stops at the first placement within it.`,
		Cites: []engine.Cite{miniMal},
		Place: placeOptimal,
	})
}

func placeOptimal(r *Requests, pool engine.Bytes, _ engine.Args, poll *engine.Poll) (*Layout, error) {
	l := newLayout(r)
	if l.Bound > pool {
		return nil, &engine.InfeasibleError{Budget: pool, Why: fmt.Sprintf("%d bytes live at one moment", l.Bound)}
	}
	if len(r.Buffers) > maxExact {
		return nil, fmt.Errorf("%w: %d buffers; the search for the optimal placement takes up to %d", engine.ErrUnsupported, len(r.Buffers), maxExact)
	}
	g := newGeometry(r)
	if g.unit == 0 { // nothing has a size
		g.unit = 1
	}
	o := &optimum{geometry: g, search: newExact(g, poll), low: int64(l.Bound) / g.unit}
	err := o.greedy(poll)
	fixed := pool < engine.NoLimit
	if err == nil && !(fixed && o.high <= int64(pool)/g.unit) {
		if fixed {
			err = o.within(int64(pool)/g.unit, poll)
		} else {
			err = o.minimize(poll)
		}
	}
	if err == nil && fixed && g.bytes(o.high) > pool {
		return nil, &engine.InfeasibleError{Budget: pool, Why: "no placement exists"}
	}
	for i := range l.Addr {
		l.Addr[i] = g.bytes(o.best[i])
	}
	l.Pool = g.bytes(o.high)
	l.Optimal = o.low == o.high
	l.reserve(0, l.Pool)
	return l, err
}

// optimum narrows down the smallest pool, in units.
type optimum struct {
	*geometry
	search    *exact
	low, high int64 // no pool below low exists; best has the height high
	best      []int64
}

// greedy places buffers one by one, each in the lowest gap between those that
// are placed, in several orders, and keeps the best.
func (o *optimum) greedy(poll *engine.Poll) error {
	o.search.reset()
	o.best = make([]int64, len(o.size))
	o.high = 1 << 62
	if len(o.buffers) == 0 {
		o.high = 0
	}
	orders := [][]int32{slices.Clone(o.buffers)}
	bySize := slices.Clone(o.buffers)
	slices.SortStableFunc(bySize, func(a, b int32) int { return cmp.Compare(o.size[b], o.size[a]) })
	orders = append(orders, bySize)
	for o.search.ranking = range rankings {
		var order []int32
		for _, c := range o.search.ranked(o.buffers) {
			order = append(order, c.buffer)
		}
		orders = append(orders, order)
	}
	var err error
	for i, order := range orders {
		// The first order is always finished: there is a layout whatever happens.
		if i > 0 && err == nil {
			err = poll.Err()
		}
		if err != nil || o.high == o.low {
			break
		}
		o.stack(order)
	}
	return err
}

// stack is one greedy order.
func (o *optimum) stack(order []int32) {
	addr := make([]int64, len(o.size))
	placed := make([]bool, len(o.size))
	var high int64
	var below []int32
	for _, b := range order {
		below = below[:0]
		for _, j := range o.overlaps[b] {
			if placed[j] {
				below = append(below, j)
			}
		}
		slices.SortFunc(below, func(a, b int32) int { return cmp.Compare(addr[a], addr[b]) })
		var at int64
		for _, j := range below {
			if addr[j] >= at+o.size[b] {
				break
			}
			at = max(at, addr[j]+o.size[j])
		}
		addr[b], placed[b] = at, true
		high = max(high, at+o.size[b])
	}
	if high < o.high {
		o.high, o.best = high, addr
	}
}

// within looks for a placement in a pool, for as long as the poll allows.
func (o *optimum) within(pool int64, poll *engine.Poll) error {
	switch o.search.solve(pool, 1<<62) {
	case found:
		o.take()
	case stopped:
		return poll.Err()
	}
	return nil
}

// take makes the placement that was just found the best one.
func (o *optimum) take() {
	o.high = 0
	for _, b := range o.buffers {
		o.best[b] = o.search.addr[b]
		o.high = max(o.high, o.best[b]+o.size[b])
	}
}

// minimize closes in on the smallest pool. Pools between low and high are tried
// with few nodes first: where one is hard to decide, a larger one may be easy.
func (o *optimum) minimize(poll *engine.Poll) error {
	limit := int64(64 * len(o.buffers))
	pool := o.low // mostly enough
	for o.low < o.high {
		switch o.search.solve(pool, limit) {
		case found:
			o.take()
		case none:
			o.low = pool + 1
		case stopped:
			return poll.Err()
		case exhausted:
			if pool+1 < o.high {
				pool = (pool + o.high) / 2
				continue
			}
			limit *= 4
		}
		pool = (o.low + o.high) / 2
	}
	return nil
}
