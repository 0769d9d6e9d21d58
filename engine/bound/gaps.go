package bound

import (
	"cmp"
	"math"
	"slices"
	"time"

	"memtide/engine"
)

// AnyOrder names the set of schedules that Recompute bounds if kept is false. On a chain the data alone determines
// the order of the first runs, so there it also names the set for kept.
const AnyOrder = "schedules that recompute in any order and do not offload"

// Recomputed is a bound on all schedules that do not move values and may run whole operations again.
type Recomputed struct {
	Time time.Duration // no such schedule within the budget takes less
	Fits bool          // false: it is proven that no such schedule fits
	// At is the operation whose first run proves that no schedule fits. It is NoOp if the step begins with too
	// much, or if Fits is true.
	At   engine.OpID
	Need engine.Bytes // the memory that is needed at At, or when the step begins; 0 if Fits is true
}

// Recompute bounds the schedules of a graph that may run operations again and do not move values. kept restricts
// them to schedules whose first runs come in the order of Graph.Ops. For graphs with output-only runs, or with
// values that several operations make, the bound is the sum that Of returns. If poll ends the work early, the
// result is weaker but true.
//
// Write x < y if the first run of x comes before the first run of y in every schedule: because y needs the outputs
// of x, or because the order is kept. Take a value that was made before the first run of x, and a chain of its
// readers that are ordered by <. If the next reader of the chain comes after x, the value is on the device during
// the first run of x, or it is made again between two readers of the chain. These gaps between the readers of a
// chain are disjoint in time. So the bytes above the budget at x must be covered by gaps whose values are made
// again. The price of a gap is the time of the value's operation by its fastest algorithm, divided by the number of
// its outputs. Workspaces are those of the algorithm that needs the least. The bound is the linear relaxation of
// this covering problem, by ascent on its dual.
func Recompute(p *engine.Problem, kept bool, poll *engine.Poll) Recomputed {
	trivial := Recomputed{Time: compute(p.Graph), Fits: true, At: engine.NoOp}
	c, ok := newCover(p, kept)
	if !ok {
		return trivial
	}
	if bad := c.footprint(); bad != nil {
		return *bad
	}
	if !c.collect(poll) {
		return trivial
	}
	if bad := c.impossible(); bad != nil {
		return *bad
	}
	trivial.Time += time.Duration(engine.Int64(math.Ceil(c.ascend(poll))))
	return trivial
}

// maxCover bounds the number of pairs of operations and values, and maxAscent the number of terms that the ascent
// adds up.
const (
	maxCover  = 50_000_000
	maxAscent = 200_000_000
)

// cover is the covering problem: the memory that the first run of every operation needs, and the values that can be
// absent then at a price.
type cover struct {
	p     *engine.Problem
	kept  bool
	ops   []int32        // the operations that have to run
	in    [][]int32      // by operation: its inputs, each once
	maker []int32        // by value: the operation that makes it, or -1
	users [][]int32      // by value: the operations of ops that read it
	ahead [][]uint64     // by operation: the set of operations that come before it whatever the order
	need  []engine.Bytes // by operation: the memory that its first run needs, with the values that can be absent
	gaps  []float64      // prices in nanoseconds
	at    [][]absent     // by operation: the values that can be absent at its first run
	over  []row
}

// absent is a value that can be absent at a first run for the price of a gap.
type absent struct {
	gap  int32
	size engine.Bytes
}

// row holds the values that can be absent at a first run that exceeds the budget.
type row []share

type share struct {
	gap  int32
	part float64 // the fraction of the bytes above the budget that the value covers
}

// newCover returns the covering problem of p without need, gaps and at. ok is false for graphs with output-only
// runs or with values that several operations make.
func newCover(p *engine.Problem, kept bool) (c *cover, ok bool) {
	g := p.Graph
	c = &cover{p: p, kept: kept, in: make([][]int32, len(g.Ops)), maker: make([]int32, len(g.Values)),
		users: make([][]int32, len(g.Values)),
		need:  make([]engine.Bytes, len(g.Ops)), at: make([][]absent, len(g.Ops))}
	for v := range g.Values {
		c.maker[v] = -1
		if g.Values[v].Initial == engine.OnHost || g.Values[v].PartOf != engine.NoValue {
			return nil, false
		}
	}
	for i := range g.Ops {
		op := &g.Ops[i]
		if op.OutputOnly != nil {
			return nil, false
		}
		for _, v := range op.In {
			if c.maker[v] < 0 && g.Values[v].Initial == 0 {
				return nil, false
			}
			if !slices.Contains(c.in[i], int32(v)) {
				c.in[i] = append(c.in[i], int32(v))
			}
		}
		for _, v := range op.Out {
			if c.maker[v] >= 0 || g.Values[v].Initial != 0 || slices.Contains(op.In, v) {
				return nil, false
			}
			c.maker[v] = int32(i)
		}
	}
	needed := make([]bool, len(g.Ops))
	for i := range needed {
		needed[i] = g.Done == engine.NoValue
	}
	if g.Done != engine.NoValue && c.maker[g.Done] >= 0 {
		needed[c.maker[g.Done]] = true
	}
	for i := len(g.Ops) - 1; i >= 0; i-- {
		for _, v := range c.in[i] {
			if needed[i] && c.maker[v] >= 0 {
				needed[c.maker[v]] = true
			}
		}
	}
	for i := range g.Ops {
		if needed[i] {
			c.ops = append(c.ops, int32(i))
			for _, v := range c.in[i] {
				c.users[v] = append(c.users[v], int32(i))
			}
		}
	}
	return c, true
}

// footprint sets need to the memory of each operation alone. It returns the largest if that exceeds the budget, or nil.
func (c *cover) footprint() *Recomputed {
	g := c.p.Graph
	start := g.Fixed
	for v := range g.Values {
		if g.Values[v].Initial != 0 {
			start += g.Values[v].Size
		}
	}
	bad := &Recomputed{Time: compute(g), At: engine.NoOp, Need: start}
	for _, i := range c.ops {
		c.need[i] = g.Fixed + g.Ops[i].Temp
		if alt := g.Ops[i].Alt; alt != nil {
			c.need[i] = g.Fixed + min(g.Ops[i].Temp, alt.Temp)
		}
		for _, v := range c.in[i] {
			c.need[i] += g.Values[v].Size
		}
		for _, v := range g.Ops[i].Out {
			c.need[i] += g.Values[v].Size
		}
		if c.need[i] > bad.Need {
			bad.At, bad.Need = engine.OpID(i), c.need[i]
		}
	}
	if bad.Need > c.p.Budget {
		return bad
	}
	return nil
}

// before reports whether the first run of a comes before the first run of b in every schedule.
func (c *cover) before(a, b int32) bool {
	if c.kept {
		return a < b
	}
	return c.ahead[b][a>>6]>>(uint(a)&63)&1 == 1
}

// collect completes need, gaps and at. It returns false if poll ended it, or if the problem is larger than maxCover.
func (c *cover) collect(poll *engine.Poll) bool {
	g := c.p.Graph
	if int64(len(c.ops))*int64(len(g.Values)) > maxCover {
		return false
	}
	c.ahead = make([][]uint64, len(g.Ops))
	for _, i := range c.ops {
		c.ahead[i] = make([]uint64, (len(g.Ops)+63)/64)
		for _, v := range c.in[i] {
			if m := c.maker[v]; m >= 0 {
				for k, w := range c.ahead[m] {
					c.ahead[i][k] |= w
				}
				c.ahead[i][m>>6] |= 1 << (uint(m) & 63)
			}
		}
	}
	touches := make([]int32, len(g.Ops)) // by operation: 1 + the last value so far that it makes or reads
	for v := range g.Values {
		if poll.Err() != nil {
			return false
		}
		m := c.maker[v]
		if m >= 0 && c.ahead[m] == nil {
			continue // no operation has to make it
		}
		for _, u := range c.users[v] {
			touches[u] = int32(v) + 1
		}
		if m >= 0 {
			touches[m] = int32(v) + 1
		}
		c.value(int32(v), touches)
	}
	return true
}

// value adds the value v to the first runs at which it must be on the device, or be absent at a price. touches[x]
// is v+1 for the operations x that make or read v.
func (c *cover) value(v int32, touches []int32) {
	g, m := c.p.Graph, c.maker[v]
	chain := c.chain(v)
	gaps := slices.Repeat([]int32{-1}, len(chain)+1)
	fixed := m < 0 || g.Ops[m].Once || g.Ops[m].Pass == engine.Backward
	stays := fixed && g.Values[v].Kind == engine.KindWeight // needed to the end of the step
	for _, x := range c.ops {
		if touches[x] == v+1 || m >= 0 && !c.before(m, x) || g.Values[v].Size == 0 {
			continue
		}
		k := 0
		for k < len(chain) && c.before(chain[k], x) {
			k++
		}
		if !stays && (k == len(chain) || !c.before(x, chain[k])) {
			continue // it can be absent for free
		}
		c.need[x] += g.Values[v].Size
		if fixed {
			continue
		}
		if gaps[k] < 0 {
			gaps[k] = int32(len(c.gaps))
			c.gaps = append(c.gaps, float64(leastTime(&g.Ops[m]))/float64(len(g.Ops[m].Out)))
		}
		c.at[x] = append(c.at[x], absent{gaps[k], g.Values[v].Size})
	}
}

// chain returns a longest chain of readers of a value in which each comes before the next one in every schedule.
func (c *cover) chain(v int32) (list []int32) {
	users := c.users[v]
	long, from := make([]int, len(users)), make([]int, len(users))
	end := -1
	for a := range users {
		long[a], from[a] = 1, -1
		for b := range users[:a] {
			if long[b]+1 > long[a] && c.before(users[b], users[a]) {
				long[a], from[a] = long[b]+1, b
			}
		}
		if end < 0 || long[a] > long[end] {
			end = a
		}
	}
	for a := end; a >= 0; a = from[a] {
		list = append(list, users[a])
	}
	slices.Reverse(list)
	return list
}

// impossible returns a first run that does not fit even without all values that can be absent. If there is no such
// run, it fills over and returns nil.
func (c *cover) impossible() *Recomputed {
	for _, x := range c.ops {
		over, can := c.need[x]-c.p.Budget, engine.Bytes(0)
		if over <= 0 {
			continue
		}
		var r row
		for _, a := range c.at[x] {
			can += a.size
			r = append(r, share{a.gap, float64(min(a.size, over)) / float64(over)})
		}
		if can < over {
			return &Recomputed{Time: compute(c.p.Graph), At: engine.OpID(x), Need: c.need[x] - can}
		}
		c.over = append(c.over, r)
	}
	return nil
}

// margin is more than what rounding can add to a sum of numbers of this magnitude.
const margin = 1e-9

// ascend returns the bound of all rows together, in nanoseconds: the value of the best multipliers that subgradient
// ascent finds. All multipliers that are not negative give a bound.
func (c *cover) ascend(poll *engine.Poll) (best float64) {
	const patience = 30
	items := 1
	for _, r := range c.over {
		items += len(r)
	}
	steps := min(max(maxAscent/items, 20), 1500)
	by, load, slope := make([]float64, len(c.over)), make([]float64, len(c.gaps)), make([]float64, len(c.over))
	theta, since, top := 1.0, 0, 0.0
	least := float64(1e-4*float64(compute(c.p.Graph))) + 1
	for range steps {
		poll.Report(engine.Progress{})
		clear(load)
		sum := 0.0
		for t, r := range c.over {
			if poll.Err() != nil {
				return best
			}
			sum += by[t]
			if by[t] > 0 {
				for _, s := range r {
					load[s.gap] += float64(by[t] * s.part)
				}
			}
		}
		value := sum
		for k, l := range load {
			value -= max(0, l-c.gaps[k])
		}
		best = max(best, value-float64(margin*sum))
		if value > top {
			top, since = value, 0
		} else if since++; since > patience {
			theta, since = theta*0.7, 0
		}
		norm := 0.0
		for t, r := range c.over {
			covered := 0.0
			for _, s := range r {
				if load[s.gap] > c.gaps[s.gap] {
					covered += s.part
				}
			}
			slope[t] = 1 - covered
			if by[t] > 0 || slope[t] > 0 {
				norm += float64(slope[t] * slope[t])
			}
		}
		if norm == 0 {
			break
		}
		target := max(float64(top*1.05), least)
		step := float64(theta*(target-value)) / norm
		for t := range by {
			by[t] = max(0, by[t]+float64(step*slope[t]))
		}
	}
	return best
}

// Joint returns a lower bound on the step time of schedules of a graph that may run operations again and move
// values. For graphs that Recompute cannot bound, it is the sum of all times. kept and poll are as for Recompute.
//
// Let the first run of x need D bytes more than the budget (see Recompute). Then at least D bytes are absent
// throughout this run. Some of them are made again after the run and before their next readers, at their prices.
// The other V bytes are fetched. They crossed the link to the host before the run began, since a later copy would
// have been made again, and they cross back after the run is over. The values that are absent when the run begins
// and when it ends may differ. The values made again are counted for both, which makes V no larger for either. Let
// P be the sum of the prices. Then the step takes at least the sum of all times and P. It also takes at least the
// sum of three parts: before x, the longer of the operations that have to run before x and of V bytes to the host;
// x itself; and after x, the longer of the operations that have to run after x with P and of V bytes back. The
// bound for x is the larger of these two, for the division of the D bytes that makes it least. Allowing fractions
// of values makes it no larger, so the cheapest values are made again first.
func Joint(p *engine.Problem, kept bool, poll *engine.Poll) time.Duration {
	all := compute(p.Graph)
	if p.Device.ToHost <= 0 || p.Device.ToDev <= 0 {
		return all
	}
	c, ok := newCover(p, kept)
	if !ok || c.footprint() != nil || !c.collect(poll) {
		return all
	}
	l := link{all: float64(all), out: 1e9 / float64(p.Device.ToHost), back: 1e9 / float64(p.Device.ToDev)}
	if slices.ContainsFunc(p.Graph.Values, func(v engine.Value) bool { return v.Initial&engine.OnHost != 0 }) {
		l.out = 0 // values that the host has already need not cross
	}
	best := 0.0
	for _, x := range c.ops {
		if poll.Err() != nil {
			break
		}
		best = max(best, c.divided(x, l))
	}
	return max(all, time.Duration(engine.Int64(math.Ceil(best-float64(best*margin)))))
}

// link holds the sum of all times, and the time of a byte in each direction, in nanoseconds.
type link struct{ all, out, back float64 }

// divided returns the bound of the first run of x, in nanoseconds.
func (c *cover) divided(x int32, l link) float64 {
	g := c.p.Graph
	left := float64(c.need[x] - c.p.Budget)
	if c.p.Transfers == engine.Streamed {
		left-- // the last byte of a streamed transfer may be on the device
	}
	if left <= 0 {
		return l.all
	}
	before, own, after := 0.0, float64(leastTime(&g.Ops[x])), 0.0
	for _, y := range c.ops {
		if c.before(y, x) {
			before += float64(leastTime(&g.Ops[y]))
		} else if c.before(x, y) {
			after += float64(leastTime(&g.Ops[y]))
		}
	}
	list := slices.Clone(c.at[x])
	slices.SortStableFunc(list, func(a, b absent) int {
		return cmp.Compare(float64(c.gaps[a.gap]*float64(b.size)), float64(c.gaps[b.gap]*float64(a.size)))
	})
	price := 0.0
	// lines returns the bound as the maximum of lines over the share of a value that is made again.
	lines := func(size, more float64) [5]line {
		out, outLess := float64(left*l.out), float64(size*l.out)
		back, backLess := float64(left*l.back), float64(size*l.back)
		return [5]line{{l.all + price, more}, {before + own + after + price, more}, {before + own + back, -backLess},
			{out + own + after + price, more - outLess}, {out + own + back, -outLess - backLess}}
	}
	least := highest(lines(0, 0), 0)
	for _, a := range list {
		if left <= 0 {
			break
		}
		part := min(1, left/float64(a.size))
		least = min(least, lowest(lines(float64(a.size), c.gaps[a.gap]), part))
		price += float64(part * c.gaps[a.gap])
		left -= float64(part * float64(a.size))
	}
	return least
}

// line is a line with its value at 0 and its slope.
type line struct{ at, slope float64 }

// highest returns the value of the highest line at the abscissa at, or 0 if all are lower.
func highest(lines [5]line, at float64) float64 {
	most := 0.0
	for _, l := range lines {
		most = max(most, l.at+float64(l.slope*at))
	}
	return most
}

// lowest returns the least value of the highest line between 0 and end. It is at an end or where two lines meet.
func lowest(lines [5]line, end float64) float64 {
	least := min(highest(lines, 0), highest(lines, end))
	for k, a := range lines {
		for _, b := range lines[:k] {
			if at := (b.at - a.at) / (a.slope - b.slope); at > 0 && at < end {
				least = min(least, highest(lines, at))
			}
		}
	}
	return least
}
