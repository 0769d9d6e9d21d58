package remat

import "slices"

// contexts bounds from below what a schedule pays outside of a state: it stands before stage s with
// m left and is about to run the stages up to t. The bound covers what the schedule has paid to
// come here, and what it is going to pay for the stages after t.
//
// For t = n that is the frontier. A state (s,t) with t < n lies in the left part of a split before
// t+1 at some stage p <= s. That split has paid U(p,t+1), and its right part starts at t+1 with the
// memory that was left at p. Rows are computed for descending s, so all rows that start at t+1 are
// known before the first row that ends at t. They bound the cost of the right part.
type contexts struct {
	front *frontier // has the same number of cells
	rest  [][]int64 // rest[j][cell]: least cost to the right of a split before j made with m in this cell
	of    []outer   // bounds, by t
	work  []arrival // scratch of build, by stage and cell
}

// outer holds the bounds for one t and all stages from first on.
type outer struct {
	first int
	cost  []int64 // cells of stage first, then of first+1, ...
	most  []int64 // by stage - first: the largest m with which the stage is reached; -1 if it is not
}

// contextCells is the largest number of cells. contextBytes bounds the bytes of the costs of all t,
// which are kept until their last row is computed. Contexts are worth their time if the limit is
// more than the time of one forward pass divided by contextShare.
const (
	contextCells = 128
	contextBytes = 64 << 20
	contextShare = 8
)

// newContexts returns contexts with at most as many cells as contextBytes can hold.
func newContexts(n int, room int64) *contexts {
	most := max(1, min(contextCells, n, contextBytes/8/(n*n/2+1)))
	c := &contexts{front: newFrontier(n, room, most), rest: make([][]int64, n+1), of: make([]outer, n)}
	cells := c.front.cells
	all := make([]int64, (n+1)*cells)
	for j := range c.rest {
		c.rest[j], all = all[:cells], all[cells:]
	}
	return c
}

// finish builds the contexts of the states that end before j. Call it for descending j, when all
// rows that start at j are known.
func (c *contexts) finish(x *table, j int) error {
	rest := c.rest[j]
	for i := range rest {
		rest[i] = inf
	}
	for t := j; t <= x.n; t++ {
		if t < x.n && x.till[t+1]-x.until[j] > x.limit {
			t = x.n
		}
		if w := x.row(j, t); len(w) > 0 {
			c.lower(x, rest, w, j, t)
		}
	}
	return c.build(x, j-1)
}

// lower lowers rest by a right part (j,t) with row w. If t < n, the split itself is in a left part,
// whose split before t+1 has a right part that costs something too.
func (c *contexts) lower(x *table, rest []int64, w []step, j, t int) {
	var after []int64
	var u int64
	if t < x.n {
		after, u = c.rest[t+1][:len(rest)], x.till[t+1]-x.until[j]
	}
	k := -1
	m := -x.in[j] - 1 // the most memory that the cell leaves for the right part
	for i := range rest {
		m += 1 << c.front.shift
		for k+1 < len(w) && w[k+1].m <= m {
			k++
		}
		if k < 0 {
			continue
		}
		v := w[k].v
		if after != nil {
			if after[i] > x.limit {
				continue
			}
			v += u + after[i]
		}
		rest[i] = min(rest[i], v)
	}
}

// build finds the contexts of the states that end at t.
func (c *contexts) build(x *table, t int) error {
	of, cells, shift := &c.of[t], c.front.cells, c.front.shift
	of.first = t
	for of.first > 1 && x.till[t+1]-x.until[of.first-1] <= x.limit {
		of.first--
	}
	count := t - of.first + 1
	c.work = slices.Grow(c.work[:0], count*cells)[:count*cells]
	of.cost = slices.Grow(of.cost[:0], count*cells)[:count*cells]
	of.most = slices.Grow(of.most[:0], count)[:count]
	for k := range count {
		if top := c.front.most[of.first+k]; top >= 0 {
			fill(c.work[k*cells:][:top>>shift+1], arrival{inf, -1})
		}
	}
	for k := range count {
		of.most[k] = -1
		if c.front.most[of.first+k] < 0 {
			continue
		}
		if err := x.poll.Now(); err != nil {
			return err
		}
		count := c.enter(x, of, t, of.first+k)
		of.most[k] = x.dropDominated(c.work[k*cells:], of.cost[k*cells:][:count], cells, shift, of.first+k, t)
	}
	return nil
}

// enter lowers the cells of stage s by the splits before t+1 that are made at s, and returns the
// number of cells that the frontier reaches.
func (c *contexts) enter(x *table, of *outer, t, s int) int {
	count := int(c.front.most[s]>>c.front.shift) + 1
	work := c.work[(s-of.first)*c.front.cells:][:count]
	from := c.front.work[s*c.front.cells:][:count]
	rest := c.rest[t+1][:count]
	u := x.till[t+1] - x.until[s]
	for i := range work {
		if from[i].top >= 0 && rest[i] <= x.limit {
			if v := from[i].cost + u + rest[i]; v <= x.limit {
				work[i].cost, work[i].top = min(work[i].cost, v), max(work[i].top, from[i].top)
			}
		}
	}
	return count
}

// highest returns the largest m with which stage s is reached within the limit, or -1 if it is not.
func (of *outer) highest(s int) int64 {
	if s < of.first {
		return -1
	}
	return of.most[s-of.first]
}
