package remat

// contexts bound from below what a schedule pays elsewhere when it stands
// before stage s with m left and is to run the stages up to t: what it has paid
// to come here, and what it is going to pay for the stages after t.
//
// For t = n that is the frontier. A state (s,t) with t < n lies in the left
// part of a split before t+1 at some stage p <= s. That split has paid U(p,t+1),
// and its right part starts at t+1 with what was left at p. Rows are computed
// for descending s, so all rows that start at t+1 are known when those that end
// at t begin, and say what the right part costs at least.
type contexts struct {
	front *frontier // with as many cells as the contexts
	rest  [][]int64 // rest[j][cell]: least cost of what is right of a split before j by one who has m in this cell
	of    []outer   // by t
	work  []arrival // of the t that is being built, by stage and cell
}

// outer is the bound for one t and all stages from first on.
type outer struct {
	first int
	cost  []int64 // of first, first+1, ..., cell by cell
	most  []int64 // by stage less first: the largest m with which it is reached; -1: it is not
}

// contextCells bounds the number of cells, contextBytes what the costs of all t
// take, for they are kept until their last row is computed. contextShare is the
// share of one forward pass from which on a limit leaves so much in the table
// that contexts are worth their time.
const (
	contextCells = 128
	contextBytes = 64 << 20
	contextShare = 8
)

// newContexts prepares contexts of as many cells as contextBytes hold.
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

// begin forgets all contexts and builds the frontier they start from.
func (c *contexts) begin(x *table) error { return c.front.build(x) }

// finish is to be called when all rows that start at j are known, for
// descending j: it builds the contexts of the states that end before j.
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

// lower takes a right part (j,t) into account; if t < n, the split itself is in
// a left part, and the same holds for what is right of that.
func (c *contexts) lower(x *table, rest []int64, w []step, j, t int) {
	var after []int64
	var u int64
	if t < x.n {
		after, u = c.rest[t+1][:len(rest)], x.till[t+1]-x.until[j]
	}
	k := -1
	m := -x.in[j] - 1 // the most that a cell leaves for the right part
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
	if cap(c.work) < count*cells {
		c.work = make([]arrival, count*cells)
	}
	if cap(of.cost) < count*cells {
		of.cost = make([]int64, count*cells)
	}
	if cap(of.most) < count {
		of.most = make([]int64, count)
	}
	of.cost, of.most = of.cost[:count*cells], of.most[:count]
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
		if err := x.poll.Err(); err != nil {
			return err
		}
		c.dropDominated(x, of, t, of.first+k)
	}
	return nil
}

// dropDominated goes through the cells of stage s from the top, like frontier.dropDominated,
// and goes on from those that no cell above dominates.
func (c *contexts) dropDominated(x *table, of *outer, t, s int) {
	cells, shift := c.front.cells, c.front.shift
	k := s - of.first
	count := int(c.front.most[s]>>shift) + 1
	work, cost := c.work[k*cells:][:count], of.cost[k*cells:][:count]
	from := c.front.work[s*cells:][:count]
	rest := c.rest[t+1][:count]
	u := x.till[t+1] - x.until[s]
	best := inf
	for i := count - 1; i >= 0; i-- {
		at := work[i]
		if from[i].top >= 0 && rest[i] <= x.limit {
			if v := from[i].cost + u + rest[i]; v <= x.limit {
				at.cost, at.top = min(at.cost, v), max(at.top, from[i].top)
			}
		}
		if at.cost >= best {
			cost[i] = best
			continue
		}
		best = at.cost
		cost[i] = best
		if of.most[k] < 0 {
			of.most[k] = at.top
		}
		x.spread(c.work[k*cells:], cells, shift, s, t, at)
	}
}

// highest returns the largest m with which s is reached within the limit; -1: none.
func (of *outer) highest(s int) int64 {
	if s < of.first {
		return -1
	}
	return of.most[s-of.first]
}
