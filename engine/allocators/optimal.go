package allocators

import (
	"cmp"
	"fmt"
	"slices"

	"memtide/engine"
	"memtide/engine/alloc"
)

// Larger problems are not searched exactly.
const (
	maxDeep    = 4000     // buffers: each needs a stack frame, of which browsers have about 8,000
	maxEntries = 24 << 20 // of geometry.entries: 100 MB
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:   "optimal",
		Title:  "Optimal placement",
		Doc:    "The smallest pool that holds all buffers, all lives being known from the start.",
		Placer: placeOptimal,
	})
}

func placeOptimal(r *alloc.Requests, pool engine.Bytes, _ engine.Parsed, poll *engine.Poll) (*alloc.Layout, error) {
	l := alloc.NewLayout(r)
	if l.Bound > pool {
		return nil, &engine.InfeasibleError{Budget: pool, Why: l.Bound.Text() + " are alive at one moment"}
	}
	g := newGeometry(r)
	o := &optimum{geometry: g, low: int64(l.Bound) / g.unit, high: 1 << 62, enough: int64(l.Bound) / g.unit}
	if len(g.buffers) == 0 {
		o.high, o.best = 0, make([]int64, len(g.size))
	}
	o.fixed = pool < engine.NoLimit
	if o.fixed {
		o.enough = int64(pool) / g.unit
	}
	err := o.run(r, poll)
	if err == nil && g.bytes(o.high) > pool {
		return nil, &engine.InfeasibleError{Budget: pool, Why: "no placement exists"}
	}
	for i := range l.Addr {
		l.Addr[i] = g.bytes(o.best[i])
	}
	l.Pool = g.bytes(o.high)
	l.Optimal = o.low == o.high
	l.Reserve(0, l.Pool)
	return l, err
}

// optimum is a search for the smallest pool. Sizes are in units.
type optimum struct {
	*geometry
	search    *exact
	low, high int64   // no pool is smaller than low; best needs a pool of high
	best      []int64 // by buffer: its address
	enough    int64   // a placement in a pool of this size ends the search
	fixed     bool    // enough is the given pool size, so smaller or larger ones are not tried
}

func (o *optimum) done() bool { return o.high <= o.enough }

// run tries the quick methods and then the exact ones. If the error is nil, best is within enough or the smallest.
func (o *optimum) run(r *alloc.Requests, poll *engine.Poll) error {
	if err := o.pile(poll); err != nil || o.done() {
		return err
	}
	if o.entries > maxEntries {
		return o.tooMany(r, poll)
	}
	o.search = newExact(o.geometry, poll)
	if err := o.greedy(poll); err != nil || o.done() {
		return err
	}
	if o.deepest() > maxDeep {
		return o.tooMany(r, poll)
	}
	if !o.fixed {
		return o.minimize(poll)
	}
	switch o.search.solve(o.enough, 1<<62) {
	case found:
		o.keepBest()
	case stopped:
		return poll.Err()
	}
	return nil
}

// tooMany tries best fit, and returns the error for problems that are too large for the exact search unless this
// was enough.
func (o *optimum) tooMany(r *alloc.Requests, poll *engine.Poll) error {
	best, err := inPool(r, engine.NoLimit, poll, lowest)
	if err != nil {
		return err
	}
	if high := int64(best.Pool) / o.unit; high < o.high {
		o.high = high
		for i, addr := range best.Addr {
			o.best[i] = int64(addr) / o.unit
		}
	}
	if o.done() {
		return nil
	}
	return fmt.Errorf("%w: %d buffers, of which too many depend on each other for the exact search (%d at most); the best quick placement needs %s, and no placement needs less than %s",
		engine.ErrUnsupported, len(o.buffers), maxDeep, o.bytes(o.high).Text(), o.bytes(o.low).Text())
}

// by returns the buffers by descending measure, then by descending size, then in the order of their requests.
func (o *optimum) by(measure func(b int32) int64) []int32 {
	order := slices.Clone(o.buffers)
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(measure(b), measure(a)), cmp.Compare(o.size[b], o.size[a]))
	})
	return order
}

// pile places each buffer on top of all placed buffers that it overlaps, in several orders, and keeps the best
// placement. Holes stay open, but the time is n log n. If lives nest, the order by length is optimal.
func (o *optimum) pile(poll *engine.Poll) error {
	for _, order := range [][]int32{
		o.by(func(b int32) int64 { return o.span[b] }),
		o.by(func(b int32) int64 { return o.size[b] }),
		o.by(func(b int32) int64 { return o.size[b] * o.span[b] }),
	} {
		if o.done() {
			return nil
		}
		edge := newSkyline(int(o.count))
		addr := make([]int64, len(o.size))
		for _, b := range order {
			addr[b] = edge.over(o.lo[b], o.hi[b])
			edge.raise(o.lo[b], o.hi[b], addr[b]+o.size[b])
		}
		o.keep(addr, edge.over(0, o.count))
		// The first order is always finished, so that there is a layout.
		if err := poll.Err(); err != nil {
			return err
		}
	}
	return nil
}

// keep makes a placement the best one if it is better.
func (o *optimum) keep(addr []int64, high int64) {
	if high < o.high {
		o.high, o.best = high, addr
	}
}

// greedy places buffers one by one, each in the lowest gap between placed buffers, in several orders, and keeps the
// best placement.
func (o *optimum) greedy(poll *engine.Poll) error {
	o.search.reset()
	orders := [][]int32{o.buffers, o.by(func(b int32) int64 { return o.size[b] })}
	for o.search.ranking = range rankings {
		var order []int32
		for _, c := range o.search.ranked(o.buffers) {
			order = append(order, c.buffer)
		}
		orders = append(orders, order)
	}
	for _, order := range orders {
		if err := poll.Err(); err != nil {
			return err
		}
		o.stack(order)
		if o.done() {
			return nil
		}
	}
	for o.search.ranking = range rankings {
		if err := o.dive(poll); err != nil || o.done() {
			return err
		}
	}
	return nil
}

// dive follows the first branch of the exact search: it always places the buffer that can get the lowest address.
// It needs no stack, so the number of buffers does not matter.
func (o *optimum) dive(poll *engine.Poll) error {
	s := o.search
	s.reset()
	next := engine.Heap[candidate](s.ranked(o.buffers)) // by rank, with addresses of 0
	addr := make([]int64, len(o.size))
	var high int64
	for len(next) > 0 {
		if err := poll.Err(); err != nil {
			return err
		}
		c := next.Pop()
		if now := s.lowest[c.buffer]; now > c.addr {
			c.addr = now
			next.Push(c)
			continue
		}
		s.place(c)
		s.undo = s.undo[:0]
		addr[c.buffer] = c.addr
		high = max(high, c.addr+o.size[c.buffer])
	}
	o.keep(addr, high)
	return nil
}

// stack places buffers in an order, each in the lowest gap, and keeps the placement if it is better.
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
	o.keep(addr, high)
}

// keepBest makes the placement that the exact search has found the best one.
func (o *optimum) keepBest() {
	o.high = 0
	for _, b := range o.buffers {
		o.best[b] = o.search.addr[b]
		o.high = max(o.high, o.best[b]+o.size[b])
	}
}

// minimize bisects for the smallest pool. It tries pools with few nodes first, because a larger pool may be easy to
// decide where one is hard.
func (o *optimum) minimize(poll *engine.Poll) error {
	limit := int64(64 * len(o.buffers))
	pool := o.low // is enough for most problems
	for o.low < o.high {
		switch o.search.solve(pool, limit) {
		case found:
			o.keepBest()
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

// skyline is the upper edge of the placed buffers over the sections. It is a tree of maxima, which raises a range
// of sections and returns its highest point in logarithmic time.
type skyline struct {
	leaves int32
	top    []int64 // by node: the highest point in its subtree
	all    []int64 // by node: a height that every section of its subtree has reached
}

func newSkyline(sections int) *skyline {
	leaves := int32(1)
	for int(leaves) < sections {
		leaves *= 2
	}
	return &skyline{leaves: leaves, top: make([]int64, 2*leaves), all: make([]int64, 2*leaves)}
}

// over returns the highest point of sections [lo, hi).
func (s *skyline) over(lo, hi int32) int64 { return s.ask(1, 0, s.leaves, lo, hi) }

func (s *skyline) ask(node, from, to, lo, hi int32) int64 {
	if lo <= from && to <= hi {
		return s.top[node]
	}
	high, mid := s.all[node], (from+to)/2
	if lo < mid {
		high = max(high, s.ask(2*node, from, mid, lo, hi))
	}
	if hi > mid {
		high = max(high, s.ask(2*node+1, mid, to, lo, hi))
	}
	return high
}

// raise lifts sections [lo, hi) to a height that none of them exceeds.
func (s *skyline) raise(lo, hi int32, height int64) { s.lift(1, 0, s.leaves, lo, hi, height) }

func (s *skyline) lift(node, from, to, lo, hi int32, height int64) {
	s.top[node] = max(s.top[node], height)
	if lo <= from && to <= hi {
		s.all[node] = height
		return
	}
	mid := (from + to) / 2
	if lo < mid {
		s.lift(2*node, from, mid, lo, hi, height)
	}
	if hi > mid {
		s.lift(2*node+1, mid, to, lo, hi, height)
	}
}
