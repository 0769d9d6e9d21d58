package remat

// builder computes the rows of one s, for ascending t.
type builder struct {
	*table
	s, t  int
	mids  int64   // largest mid of s+1..t-1
	none  int64   // m_none(s,t)
	paid  []int64 // frontier of s, by cell
	wide  []int64 // contexts of (s,t), by cell; nil if there are no contexts
	shift uint    // the cell of wide for m is m >> shift
	lift  int64   // slack - limit; added to the costs of contexts, which include what is already subtracted in slack
	top   int64   // the largest m of interest
	slack int64   // values above slack - costOutside(m) are of no interest
	w     []step  // the row so far
	spare []step  // scratch of merge
	err   error
}

// start begins stage s with its row (s,s), whose only value is 0.
func (b *builder) start(s int) {
	b.s, b.mids = s, 0
	b.paid = b.front.at(s)
	b.limitRow(s)
	if m := b.single[s]; b.slack >= 0 && m <= b.top {
		b.w = append(b.w[:0], step{m, 0})
		b.keep(s, b.w)
	}
}

// limitRow sets slack, top and wide for the row of (s,t): the limit on the cost of its states,
// given what every schedule with such a state pays before and after it.
func (b *builder) limitRow(t int) {
	b.slack, b.wide = b.limit, nil
	b.top = b.front.most[b.s]
	if t == b.n || !b.use.limit {
		return
	}
	b.slack -= b.till[t+1] - b.until[b.s]
	if b.slack < 0 {
		return
	}
	b.top = b.front.highest(b.s, b.slack)
	if b.around != nil {
		of := &b.around.of[t]
		b.top = min(b.top, of.highest(b.s))
		if b.top < 0 {
			return
		}
		cells := b.around.front.cells
		b.wide = of.cost[(b.s-of.first)*cells:][:cells]
		b.shift = b.around.front.shift
		b.lift = b.slack - b.limit
	}
}

// costOutside returns a lower bound on what schedules with the state (s,t,m) pay outside of it, without the part that
// is already subtracted in slack. A state that costs more than slack-costOutside(m) can be dropped.
func (b *builder) costOutside(m int64) int64 {
	c := b.paid[m>>b.front.shift]
	if b.wide != nil {
		c = max(c, b.wide[m>>b.shift]+b.lift)
	}
	return c
}

// build computes the row of (s,t).
func (b *builder) build(t int) {
	s := b.s
	b.t = t
	if t > s+1 {
		b.mids = max(b.mids, b.mid[t-1])
	}
	b.limitRow(t)
	if b.slack < 0 || b.top < 0 {
		return
	}
	b.none = b.held[t] + max(b.first[s], b.mids)
	b.w = b.w[:0]
	if !b.outputOnly {
		b.startAll()
	}
	b.splits()
	b.keep(t, b.useful())
}

// startAll fills the row with the branch that runs F_all^s.
func (b *builder) startAll() {
	rest := b.store.get(b.cols[b.t*(b.n+1)+b.s+1].rowRef)
	if len(rest) == 0 {
		return
	}
	saved := b.saved[b.s]
	m := max(b.all(b.s, b.t), rest[0].m+saved)
	if m > b.top {
		return
	}
	i := find(rest, m-saved)
	b.w = append(b.w, step{m, rest[i].v})
	for _, r := range rest[i+1:] {
		if r.m+saved > b.top {
			break
		}
		b.w = append(b.w, step{r.m + saved, r.v})
	}
}

// splits lowers the row by the branches that run F_ck^s.
func (b *builder) splits() {
	most := b.slack - b.costOutside(0)
	for j := b.s + 1; j <= b.t; j++ {
		u := b.till[j] - b.until[b.s]
		if u > most || len(b.w) > 0 && b.w[0].v <= u && b.w[0].m <= b.none {
			return // this split and the later ones cost too much everywhere
		}
		b.try(j)
	}
}

// useful returns the row without the steps at both ends that no schedule within the limit uses.
func (b *builder) useful() []step {
	w := b.w
	for len(w) > 0 && w[0].v+b.costOutside(w[0].m) > b.slack {
		w = w[1:]
	}
	for len(w) > 0 && w[len(w)-1].v+b.costOutside(w[len(w)-1].m) > b.slack {
		w = w[:len(w)-1]
	}
	return w
}

// keep stores w as the row of (s,t). An empty row is not stored.
func (b *builder) keep(t int, w []step) {
	if len(w) > 0 {
		if b.err == nil && b.store.full() {
			b.err = errTableFull
		}
		r := b.store.put(w)
		b.rows[b.s*(b.n+1)+t] = r
		b.cols[t*(b.n+1)+b.s] = ended{r, w[0].m, w[len(w)-1].v}
	}
}

// candidate is a split before some j: its value at m is u, plus the row of (j,t) at m - a^{j-1},
// plus the row of (s,j-1) at m. It is compared with the row by ascending m.
type candidate struct {
	u     int64
	least int64  // lower bound on its values
	right []step // row of (j,t)
	shift int64  // a^{j-1}
	left  []step // row of (s,j-1)
	m     int64  // position, and the indices of the steps that apply there:
	r, l  int
	w     int // -1 if the row has no value there
}

// try lowers the row by the split before j.
func (b *builder) try(j int) {
	right := &b.cols[b.t*(b.n+1)+j]
	left := b.row(b.s, j-1)
	if right.count == 0 || len(left) == 0 {
		return
	}
	c := candidate{u: b.till[j] - b.until[b.s], shift: b.in[j], left: left}
	c.m = max(b.none, right.from+c.shift, left[0].m)
	if c.m > b.top {
		return
	}
	// The cost outside never falls as m grows, so a split that exceeds the limit here exceeds it at every larger m.
	most := b.slack - b.costOutside(c.m)
	c.least = c.u + right.least + left[len(left)-1].v
	c.w = find(b.w, c.m)
	if c.least > most || c.w >= 0 && c.least >= b.w[c.w].v {
		return
	}
	if b.err == nil {
		b.err = b.poll.Err()
	}
	if b.err != nil {
		return
	}
	c.right = b.store.get(right.rowRef)
	c.r, c.l = find(c.right, c.m-c.shift), find(c.left, c.m)
	if b.seek(&c, most) {
		b.merge(&c)
	}
}

// seek moves the candidate to the first m at which it is below the row and at most most. It returns false if there is
// no such m. The steps before index pr of right and before pl of left form a block: if the candidate is not below the
// row with the last values of the block, it is not below it anywhere in the block.
func (b *builder) seek(c *candidate, most int64) bool {
	right, left, w := c.right, c.left, b.w
	m, r, l, iw := c.m, c.r, c.l, c.w
	goal := most // the candidate is below the row if it is at most goal
	if iw >= 0 {
		goal = min(goal, w[iw].v-1)
	}
	jump := 1
	for {
		pr, pl := min(r+jump, len(right)), min(l+jump, len(left))
		if c.u+right[pr-1].v+left[pl-1].v <= goal {
			if jump == 1 {
				c.m, c.r, c.l, c.w = m, r, l, iw
				return true
			}
			jump >>= 1
			continue
		}
		mr, ml := inf, inf
		if pr < len(right) {
			mr = right[pr].m + c.shift
		}
		if pl < len(left) {
			ml = left[pl].m
		}
		m = min(mr, ml)
		if m > b.top {
			return false
		}
		if mr == m {
			r = pr
		} else {
			r += find(right[r:pr], m-c.shift)
		}
		if ml == m {
			l = pl
		} else {
			l += find(left[l:pl], m)
		}
		for iw+1 < len(w) && w[iw+1].m <= m {
			iw++
			goal = min(goal, w[iw].v-1)
		}
		if goal < c.least {
			return false
		}
		if b.use.gallop {
			jump <<= 1
		}
	}
}

// merge replaces the row, from the candidate's position on, by the minimum of the row and the candidate.
func (b *builder) merge(c *candidate) {
	right, left, w := c.right, c.left, b.w
	m, r, l := c.m, c.r, c.l
	out := append(b.spare[:0], w[:c.w+1]...)
	now := inf // value of the row
	if c.w >= 0 {
		now = w[c.w].v
		if w[c.w].m == m {
			out = out[:c.w]
		}
	}
	last, next := now, c.w+1
	for {
		if v := min(now, c.u+right[r].v+left[l].v); v < last {
			out = append(out, step{m, v})
			last = v
		}
		if now <= c.least {
			break // the candidate cannot win any more
		}
		m = inf
		if r+1 < len(right) {
			m = right[r+1].m + c.shift
		}
		if l+1 < len(left) {
			m = min(m, left[l+1].m)
		}
		if next < len(w) {
			m = min(m, w[next].m)
		}
		if m > b.top {
			break
		}
		if r+1 < len(right) && right[r+1].m+c.shift == m {
			r++
		}
		if l+1 < len(left) && left[l+1].m == m {
			l++
		}
		if next < len(w) && w[next].m == m {
			now = w[next].v
			next++
		}
	}
	for ; next < len(w); next++ {
		if w[next].v < last {
			out = append(out, w[next])
			last = w[next].v
		}
	}
	b.w, b.spare = out, w
}
