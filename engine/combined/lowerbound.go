package combined

import (
	"math"
	"slices"

	"memtide/engine"
)

// lowerBound bounds from below what a plan still costs when it stands before stage i.
//
// Look at a stage k >= i. Were stages i..k-1 to keep their saved activations, and nothing
// more to leave, some bytes would be too many while F^k or B^k runs. A part r of
// them is avoided by segments that keep nothing, which costs at least rematCost(r)
// ticks of recomputation in the backward pass. The others have to be away: copied
// to the host before F^k starts, or before the forward pass ends if it is B^k; and
// fetched after B^k ends, or after the backward pass starts if it is F^k. The best
// r bounds every plan.
//
// rematCost is convex: it is the Lagrangian bound of the choice of segments, each of
// which avoids its saved activations but for its output. (If k itself is in a segment
// that starts before k, a^{k-1} is there nevertheless while F^k or B^k runs.)
type lowerBound struct {
	*terms
	fwdLeft, bwdLeft []float64      // times of stages i..n
	bottlenecks      [][]bottleneck // by i
	probes           []int          // by i: labels that were held against all bottlenecks
	needs            [][2]need      // see terms.needs
	later            [][]float64    // by i and cell of held bytes: see ahead
	rematOnly        []rematOnly    // by i: recomputation alone; nil if it is not known
	slack            int64          // of rematOnly
	deep             bool           // bottlenecks are held against labels even if rematOnly is known
	cell             int64
}

// bottleneck is a stage k at which memory may be short, seen from stage i.
type bottleneck struct {
	need     float64 // bytes at the stage, less the room, without what was held before i and Z_i
	fwd, bwd float64 // ticks of the passes that come too late for the transfers
	hull     []breakpoint
	wins     int
}

// breakpoint is a point of a convex function that is linear in between.
type breakpoint struct{ r, cost float64 }

func newLowerBound(t *terms, poll *engine.Poll) (*lowerBound, error) {
	r := &lowerBound{terms: t, slack: unreachable, fwdLeft: make([]float64, t.n+2), bwdLeft: make([]float64, t.n+2),
		bottlenecks: make([][]bottleneck, t.n+1), probes: make([]int, t.n+1)}
	for i := t.n; i >= 1; i-- {
		r.fwdLeft[i] = r.fwdLeft[i+1] + float64(t.fwd[i])
		r.bwdLeft[i] = r.bwdLeft[i+1] + float64(t.bwd[i])
	}
	needs, err := t.needs(poll)
	r.needs = needs
	return r, err
}

// sharpen makes the bounds better for a search of plans below a limit. The costs
// of sequences are looked for again, below a closer limit, as long as their table is too
// large; later says that this is not the time for it. They alone bound narrow searches
// almost as well as with bottlenecks, in much less time.
func (r *lowerBound) sharpen(limit int64, width int, later bool, poll *engine.Poll) error {
	if slack := limit - r.base[r.n]; !later && r.rematOnly == nil && slack < r.slack-r.slack/8 {
		r.slack = slack
		if err := r.addSequences(slack, poll); err != nil {
			return err
		}
	}
	if r.rematOnly != nil && width > 0 && width < deepWidth {
		r.deep = false
		return nil
	}
	return r.addBottlenecks(poll)
}

// deepWidth is the width from which on searches have enough labels for bottlenecks to save time.
const deepWidth = 3000

// addBottlenecks finds the bottlenecks, which labels are then held against.
func (r *lowerBound) addBottlenecks(poll *engine.Poll) error {
	t := r.terms
	r.deep = true
	if r.later != nil {
		return nil
	}
	r.cell = max(t.room, 0)/aheadCells + 1
	r.later = make([][]float64, t.n+2)
	prices := r.prices()
	mostF, mostB := make([]float64, t.n+1), make([]float64, t.n+1) // by i
	for i := range mostF {
		mostF[i], mostB[i] = math.Inf(-1), math.Inf(-1)
	}
	for k := 1; k <= t.n; k++ {
		if err := poll.Err(); err != nil {
			return err
		}
		hulls := r.hulls(k, prices)
		between := int64(0) // saved activations of stages i..k-1
		for i := k; i >= 1; i-- {
			if i < k {
				between += t.saved[i]
			}
			needF := float64(t.held[t.n] + t.act[k] + t.fwdT[k] + between - t.room)
			needB := float64(t.back(k) + between - t.room)
			// An earlier stage with the same need leaves less time.
			if needF > mostF[i] {
				mostF[i] = needF
				r.bottlenecks[i] = append(r.bottlenecks[i], bottleneck{need: needF, fwd: r.fwdLeft[k], hull: hulls[i]})
			}
			if needB > mostB[i] {
				mostB[i] = needB
				r.bottlenecks[i] = append(r.bottlenecks[i], bottleneck{need: needB, bwd: r.bwdLeft[k], hull: hulls[i]})
			}
		}
	}
	return nil
}

// hulls returns the functions rematCost of stages i..k-1, by i.
func (r *lowerBound) hulls(k int, prices []float64) [][]breakpoint {
	gains := make([]float64, (k+1)*len(prices))
	for x, price := range prices {
		// best of stages i..k-1, when i-1 is in a segment, and when it is not
		open, closed := -price*float64(r.act[k-1]), 0.0
		for i := k - 1; i >= 1; i-- {
			in := price*float64(r.saved[i]) - float64(r.fwd[i]) + open
			end := -price * float64(r.act[i-1])
			closed = max(closed, in)
			open = max(in, end+closed)
			gains[i*len(prices)+x] = closed
		}
	}
	hs := make([][]breakpoint, k+1)
	lines := make([]line, 0, len(prices)+1)
	for i := 1; i <= k; i++ {
		hs[i] = hull(prices, gains[i*len(prices):(i+1)*len(prices)], lines)
	}
	return hs
}

// prices are slopes, in ticks per byte, at which rematCost is held against its gains.
func (r *lowerBound) prices() []float64 {
	var v []float64
	for k := 1; k <= r.n; k++ {
		if r.saved[k] > 0 {
			v = append(v, float64(r.fwd[k])/float64(r.saved[k]))
			if r.saved[k] > r.act[k] {
				v = append(v, float64(r.fwd[k])/float64(r.saved[k]-r.act[k]))
			}
		}
	}
	slices.Sort(v)
	v = slices.Compact(v)
	for len(v) > max(2, min(96, 2_000_000/(r.n*r.n))) {
		w := v[:0]
		for x := 0; x < len(v); x += 2 {
			w = append(w, v[x])
		}
		v = w
	}
	return v
}

// line is slope*r-gain.
type line struct{ slope, gain float64 }

// hull returns the largest of the lines price*r-gain and 0, as breakpoints from r = 0. It
// uses room for as many lines as there are prices, and one.
func hull(prices, gains []float64, lines []line) []breakpoint {
	lines = append(lines[:0], line{0, 0})
	cross := func(a, b line) float64 { return (b.gain - a.gain) / (b.slope - a.slope) }
	for x, p := range prices {
		l := line{p, gains[x]}
		if p <= lines[len(lines)-1].slope {
			continue
		}
		for len(lines) > 1 && cross(lines[len(lines)-1], l) <= cross(lines[len(lines)-2], lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
		lines = append(lines, l)
	}
	cs := append(make([]breakpoint, 0, len(lines)+1), breakpoint{0, 0})
	for x := 1; x < len(lines); x++ {
		at := cross(lines[x-1], lines[x])
		cs = append(cs, breakpoint{at, lines[x].slope*at - lines[x].gain})
	}
	last := lines[len(lines)-1]
	end := cs[len(cs)-1]
	const far = 1e18
	return append(cs, breakpoint{end.r + far, end.cost + last.slope*far})
}

// rematCost evaluates a convex function.
func rematCost(h []breakpoint, r float64) float64 {
	lo, hi := 0, len(h)-1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if h[mid].r <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	a, b := h[lo], h[hi]
	if b.r == a.r {
		return b.cost
	}
	return a.cost + (b.cost-a.cost)*((r-a.r)/(b.r-a.r))
}

// ahead bounds what plans cost from stage i on beyond the sum of all times, when
// as much is held as the cell has at least: the largest of the bounds of labels
// without debts at the stages from i on, whose own inputs are away. What comes
// before such a stage is over by then, so its bound is one of the whole.
func (r *lowerBound) ahead(i int, cell int64) float64 {
	if i > r.n {
		return 0
	}
	row := r.later[i]
	if row == nil {
		row = make([]float64, aheadCells+1)
		for x := range row {
			row[x] = -1
		}
		r.later[i] = row
	}
	if row[cell] >= 0 {
		return row[cell]
	}
	best := 0.0
	held := float64(cell * r.cell)
	for x := range r.bottlenecks[i] {
		s := &r.bottlenecks[i][x]
		if excess := held + s.need; excess > 0 {
			best = max(best, r.split(s, &demand{excess: excess, fwd: r.fwdLeft[i], bwd: r.bwdLeft[i]}))
		}
	}
	row[cell] = max(r.ahead(i+1, cell), best-r.fwdLeft[i]-r.bwdLeft[i], 0)
	return row[cell]
}

const aheadCells = 256

// A label is held against a few bottlenecks of its stage: those that bound the first
// labels best.
const (
	probes          = 64
	bottlenecksKept = 5
)

// least bounds the cost of all plans that go on from a label before stage i.
func (r *lowerBound) least(i int, l *label, limit int64) int64 {
	x := 0
	if l.saved {
		x = 1
	}
	if l.held+r.needs[i][x].room > r.room {
		return unreachable
	}
	exact := int64(0)
	if r.rematOnly != nil {
		exact = l.cost + r.rematOnly[i].least(r, i, l)
		if exact >= limit {
			return exact
		}
	}
	if !r.deep {
		return max(exact, l.cost+r.base[r.n]-r.base[i-1])
	}
	enough := float64(limit-l.cost+16) * (1 + 1e-10)
	best := r.fwdLeft[i] + r.bwdLeft[i] + r.ahead(i+1, min(l.held/r.cell, aheadCells))
	if best > enough {
		return unreachable
	}
	bottlenecks := r.bottlenecks[i]
	r.probes[i]++
	if r.probes[i] > probes {
		bottlenecks = bottlenecks[:min(len(bottlenecks), bottlenecksKept)]
	} else if r.probes[i] == probes {
		slices.SortStableFunc(bottlenecks, func(a, b bottleneck) int { return b.wins - a.wins })
	}
	r.effort.left -= int64(perBottleneck * len(bottlenecks))
	most := -1
	d := demand{out: float64(l.out), in: float64(l.in), fwd: r.fwdLeft[i], bwd: r.bwdLeft[i]}
	held := float64(l.held + r.input(i, l.saved))
	for x := range bottlenecks {
		s := &bottlenecks[x]
		if excess := held + s.need; excess > 0 {
			d.excess = excess
			if v := r.split(s, &d); v > best {
				best, most = v, x
				if v > enough {
					break
				}
			}
		}
	}
	if most >= 0 {
		bottlenecks[most].wins++
	}
	if best >= float64(unreachable) {
		return unreachable // no plan costs as much: the label leads nowhere
	}
	// Rounding of floating point must not make it a bound that is not one.
	return max(exact, l.cost+engine.Int64(best*(1-1e-11))-8)
}

// demand is what a label asks of a bottleneck: bytes that are too many there, and the
// debts that it brings along.
type demand struct {
	excess   float64
	out, in  float64 // ticks of debts
	fwd, bwd float64 // times of the passes from the stage of the label on
}

// split returns the least cost at a bottleneck, by the part x of the excess that is avoided.
// The rest, b, has to be copied together with the debts before the bottleneck. If more
// is avoided than has to be, debts may still be pending there, but not at the end.
func (r *lowerBound) split(s *bottleneck, d *demand) float64 {
	out, in := float64(r.out), float64(r.in)
	late := s.fwd > 0 || s.bwd > 0
	f := func(x float64) float64 {
		b := d.excess - x
		due := max(b, 0)
		fwd, bwd := max(d.fwd, d.out+out*due), max(d.bwd+rematCost(s.hull, x), d.in+in*due)
		if s.fwd > 0 {
			fwd = max(fwd, s.fwd+d.out+out*b)
		}
		if s.bwd > 0 {
			bwd = max(bwd, s.bwd+d.in+in*b)
		}
		return fwd + bwd
	}
	// f is convex and made of straight pieces: its minimum is at a breakpoint.
	top := d.excess
	if late {
		top += max(ratio(d.out, out), ratio(d.in, in))
	}
	best := min(f(0), f(top), f(d.excess))
	try := func(x float64) {
		if x > 0 && x < top {
			best = min(best, f(x))
		}
	}
	try(d.excess - ratio(d.fwd-d.out, out))
	try(meet(s.hull, d.in+in*d.excess-d.bwd, in))
	if late {
		try(meet(s.hull, d.in-d.bwd, 0))
	}
	if s.fwd > 0 {
		try(d.excess - ratio(d.fwd-d.out-s.fwd, out))
		try(d.excess + ratio(s.fwd, out))
	}
	if s.bwd > 0 {
		try(meet(s.hull, s.bwd+d.in+in*d.excess-d.bwd, in))
		try(d.excess + ratio(s.bwd, in))
	}
	a, b := 0, len(s.hull)-1
	for b > 0 && s.hull[b].r > top {
		b--
	}
	for b-a > 2 {
		m := (a + b) / 2
		if f(s.hull[m].r) <= f(s.hull[m+1].r) {
			b = m + 1
		} else {
			a = m
		}
	}
	for ; a <= b; a++ {
		best = min(best, f(s.hull[a].r))
	}
	return best
}

// ratio returns how many bytes move in ticks, or 0 if bytes take no time.
func ratio(ticks, each float64) float64 {
	if each == 0 {
		return 0
	}
	return ticks / each
}

// meet returns the x at which a rising function is level-slope*x, or -1 if it starts above.
func meet(h []breakpoint, level, slope float64) float64 {
	if h[0].cost > level {
		return -1
	}
	a, b := 0, len(h)-1
	for b-a > 1 {
		mid := (a + b) / 2
		if h[mid].cost <= level-slope*h[mid].r {
			a = mid
		} else {
			b = mid
		}
	}
	p, q := h[a], h[b]
	rise := 0.0
	if q.r > p.r {
		rise = (q.cost - p.cost) / (q.r - p.r)
	}
	if slope+rise <= 0 {
		return q.r
	}
	return (level - p.cost + rise*p.r) / (slope + rise)
}
