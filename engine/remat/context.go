package remat

// contexts bound from below what a schedule has paid, and will pay elsewhere,
// when it stands before stage s with m left and is to run the stages up to t.
//
// For t = n that is the frontier. A state (s,t) with t < n lies in the left
// part of a split before t+1 at some stage p <= s, which has paid U(p,t+1) and
// whose right part starts at t+1 with what was left at p. Rows are computed for
// descending s, so all rows that start at t+1 are known when those of t begin.
type contexts[T unit] struct {
	front *frontier[T]
	rest  [][]T // rest[j][cell]: least cost of all that is right of a split before j by someone with m in this cell
	of    []*frontier[T]
	slabs [][]T // the costs of each t
	tops  [][]T // scratch
}

// contextShare is the share of one forward pass from which on a limit leaves so
// much in the table that contexts are worth their time.
const contextShare = 12

const contextCells = 256

func newContexts[T unit](n int, room T) *contexts[T] {
	c := &contexts[T]{front: newFrontier[T](n, room, min(contextCells, n)), rest: make([][]T, n+2), of: make([]*frontier[T], n+1)}
	cells := len(c.front.cost[0])
	all := make([]T, (n+2)*cells)
	for j := range c.rest {
		c.rest[j], all = all[:cells], all[cells:]
	}
	c.tops = make([][]T, n+1)
	for s := range c.tops {
		c.tops[s] = make([]T, cells)
	}
	c.slabs = make([][]T, n)
	for t := 1; t < n; t++ {
		c.of[t] = &frontier[T]{shift: c.front.shift, cost: make([][]T, t+1), top: c.tops, most: make([]T, t+1)}
	}
	return c
}

// finish is called when all rows that start at j are known.
func (c *contexts[T]) finish(x *table[T], j int) error {
	rest := c.rest[j]
	inf := never[T]()
	for i := range rest {
		rest[i] = inf
	}
	for t := j; t <= x.n; t++ {
		if t < x.n && x.till[t+1]-x.until[j] > x.limit {
			t = x.n
		}
		w := x.row(j, t)
		if len(w) == 0 {
			continue
		}
		k := -1
		for i := range rest {
			m := (T(i)+1)<<c.front.shift - 1 - x.in[j]
			for k+1 < len(w) && w[k+1].m <= m {
				k++
			}
			if k < 0 {
				continue
			}
			v := w[k].v
			if t < x.n {
				r := c.rest[t+1][i]
				if r > x.limit {
					continue
				}
				v += x.till[t+1] - x.until[j] + r
			}
			rest[i] = min(rest[i], v)
		}
	}
	if j > 1 {
		return c.build(x, j-1)
	}
	return nil
}

// build finds the contexts of the states that end at t.
func (c *contexts[T]) build(x *table[T], t int) error {
	f := c.of[t]
	inf := never[T]()
	rest := c.rest[t+1]
	first := t
	for first > 1 && x.till[t+1]-x.until[first-1] <= x.limit {
		first--
	}
	for s := 1; s < first; s++ {
		f.most[s] = -1
	}
	cells := len(rest)
	if need := (t - first + 1) * cells; cap(c.slabs[t]) < need {
		c.slabs[t] = make([]T, need)
	}
	slab := c.slabs[t][:cap(c.slabs[t])]
	for s := first; s <= t; s++ {
		f.cost[s], slab = slab[:cells], slab[cells:]
		f.most[s] = -1
		for i := range f.cost[s] {
			f.cost[s][i], f.top[s][i] = inf, -1
		}
	}
	for s := first; s <= t; s++ {
		u := x.till[t+1] - x.until[s]
		if u <= x.limit {
			for i, m := range c.front.top[s] {
				if m >= 0 && rest[i] <= x.limit {
					if v := c.front.cost[s][i] + u + rest[i]; v <= x.limit {
						f.reach(s, m, v)
					}
				}
			}
		}
		f.settle(s)
		for i := len(f.cost[s]) - 1; i >= 0; i-- {
			if f.top[s][i] < 0 {
				continue
			}
			if err := x.poll.Err(); err != nil {
				return err
			}
			f.expand(x, s, t, f.top[s][i], f.cost[s][i])
		}
	}
	return nil
}
