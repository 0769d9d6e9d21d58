package combined

import (
	"slices"

	"memtide/engine"
)

// rematOnly is what recomputation costs from a stage on as a function of the room,
// without a link. The bytes that a plan offloads from that stage on are room that
// the same plan would need without a link. So they count as room here, and take
// their time on the link.
type rematOnly struct {
	top   int64   // bytes at which nothing has to be computed again
	steps []lower // rising in both
}

// lower is a way to need fewer bytes than the top.
type lower struct {
	bytes int64
	cost  int64 // ticks of computing again
}

// addSequences finds rematOnly for every stage. Plans of more than slack ticks are
// left out.
func (r *lowerBound) addSequences(slack int64, poll *engine.Poll) error {
	if k := r.shared; k.rematOnly != nil && slack <= k.slack {
		r.rematOnly, r.sharp = k.rematOnly, true
		return nil
	}
	f := curves{terms: r.terms, slack: slack, most: 8 * max(24, maxPoints/(r.n*r.n)),
		rows: make([][]point, (r.n+2)*(r.n+1)), poll: poll}
	err := f.fill()
	if f.coarse || err != nil {
		r.effort.spend(int64(f.work * perPoint))
	}
	if err == errTooMany {
		return nil
	} else if err != nil {
		return err
	}
	r.rematOnly = make([]rematOnly, r.n+1)
	for i := 1; i <= r.n; i++ {
		a := &r.rematOnly[i]
		row := f.at(i, r.n)
		a.steps = make([]lower, len(row))
		for x, c := range row {
			a.top = row[0].peak
			a.steps[x] = lower{a.top - c.peak, c.cost}
		}
	}
	r.sharp = !f.coarse
	if r.sharp {
		r.shared.rematOnly, r.shared.slack = r.rematOnly, slack
	}
	return nil
}

// point is a way to run stages i..j without a link: it computes again for cost
// ticks, and needs peak bytes.
type point struct{ peak, cost int64 }

// curves are the points of every (i,j) that no other one is at least as good as,
// with rising costs: the program of paper 002 for all budgets at once.
type curves struct {
	*terms
	slack  int64 // ticks of computing again that are of interest
	rows   [][]point
	most   int // points of a row: few once there are many points, or much work was done
	work   int // points looked at so far
	points int // of all rows
	poll   *engine.Poll
	w, v   []point // of the row at hand

	coarse bool // some row has fewer points than there are
}

func (f *curves) at(i, j int) []point { return f.rows[i*(f.n+1)+j] }

// fill computes all rows, the last stage first.
func (f *curves) fill() error {
	for i := f.n; i >= 1; i-- {
		for j := i; j <= f.n; j++ {
			if err := f.poll.Err(); err != nil {
				return err
			}
			f.build(i, j)
			f.few()
			f.points += len(f.w)
			if f.points > maxPoints/2 || int64(f.work)*perPoint > curveEffort/8 {
				f.most = min(f.most, max(24, maxPoints/(f.n*f.n)))
			}
			if int64(f.work)*perPoint > curveEffort {
				return errTooMany
			}
			f.rows[i*(f.n+1)+j] = slices.Clone(f.w)
		}
	}
	return nil
}

// build makes the row of (i,j).
func (f *curves) build(i, j int) {
	least := max(f.all(i, j), f.back(i))
	f.w = f.w[:0]
	if i == j {
		f.w = append(f.w, point{least, 0})
		return
	}
	limit := f.slack
	if j < f.n { // whoever comes here has run these stages once more already
		limit -= f.until[j] - f.until[i-1]
	}
	for _, c := range f.at(i+1, j) {
		if c.cost > limit {
			break
		}
		f.w = f.lower(f.w, point{max(least, f.saved[i]+c.peak), c.cost})
	}
	none := int64(0)
	for k := i; k < j; k++ {
		again := f.until[k] - f.until[i-1]
		if again > limit {
			break
		}
		none = max(none, f.none(i, j, k))
		f.split(f.at(i, k), f.at(k+1, j), f.act[k], none, again, limit)
		if len(f.w) > 4*f.most {
			f.few()
		}
	}
}

// few makes the row at hand no longer than it may be.
func (f *curves) few() {
	f.coarse = f.coarse || len(f.w) > f.most
	f.w = coarser(f.w, f.most)
}

// lower appends a point to rising ones, if it is below them.
func (f *curves) lower(to []point, c point) []point {
	if n := len(to); n > 0 {
		if to[n-1].peak <= c.peak {
			return to
		}
		if to[n-1].cost == c.cost {
			to = to[:n-1]
		}
	}
	return append(to, c)
}

// coarser makes a few points of many, each as good as all that it stands for: a
// lower bound stays one. The first, which computes nothing again, stays as it is.
func coarser(w []point, most int) []point {
	if len(w) <= most {
		return w
	}
	last := 0
	for x := 1; x < most; x++ {
		end := 1 + (len(w)-1)*x/(most-1)
		w[x] = point{w[end-1].peak, w[last+1].cost}
		last = end - 1
	}
	return w[:most]
}

// below returns the first of rising points that needs no more than peak.
func below(w []point, peak int64) int {
	x, hi := 0, len(w)
	for x < hi {
		if mid := (x + hi) / 2; w[mid].peak <= peak {
			hi = mid
		} else {
			x = mid + 1
		}
	}
	return x
}

// split puts the ways to run the first stages without keeping anything, then those
// on the right, and then those on the left, into the row.
func (f *curves) split(left, right []point, act, none, again, limit int64) {
	if len(left) == 0 || len(right) == 0 || again+left[0].cost+right[0].cost > limit {
		return
	}
	// The best that can come of it, in each of the two.
	best := point{max(left[len(left)-1].peak, act+right[len(right)-1].peak, none), again + left[0].cost + right[0].cost}
	if x := below(f.w, best.peak); x < len(f.w) && f.w[x].cost <= best.cost {
		return
	}
	v, w := f.v[:0], f.w
	at := 0 // of the row: points before it are in v
	for x, y := 0, 0; ; {
		l, r := left[x].peak, act+right[y].peak
		c := point{max(l, r, none), again + left[x].cost + right[y].cost}
		if c.cost > limit {
			break
		}
		for at < len(w) && w[at].cost <= c.cost {
			v = f.lower(v, w[at])
			at++
		}
		v = f.lower(v, c)
		f.work++
		// What needs the most has to become less.
		most := c.peak
		if none == most {
			break
		}
		if l == most {
			x++
		}
		if r == most {
			y++
		}
		if x == len(left) || y == len(right) {
			break
		}
	}
	for ; at < len(w); at++ {
		v = f.lower(v, w[at])
	}
	f.work += len(v)
	f.v, f.w = w, v
}

// least bounds the ticks that plans take from a label before stage i on.
func (a *rematOnly) least(r *lowerBound, i int, l *label) int64 {
	fwd := r.until[r.n] - r.until[i-1]
	bwd := r.base[r.n] - r.base[i-1] - fwd
	excess := l.held + r.input(i, l.saved) + a.top - r.room
	if len(a.steps) == 0 || excess <= 0 {
		return max(fwd, l.out) + max(bwd, l.in)
	}
	// While the transfers of the backward pass take longer than what it computes,
	// computing more is better.
	x, hi := 0, len(a.steps)-1
	for x < hi {
		mid := (x + hi) / 2
		if s := &a.steps[mid]; bwd+s.cost < l.in+r.in*max(excess-s.bytes, 0) {
			x = mid + 1
		} else {
			hi = mid
		}
	}
	best := unreachable
	for x = max(x-1, 0); x < len(a.steps); x++ {
		s := &a.steps[x]
		b := max(excess-s.bytes, 0)
		out, in := l.out+r.out*b, l.in+r.in*b
		best = min(best, max(fwd, out)+max(bwd+s.cost, in))
		if out <= fwd && in <= bwd+s.cost {
			break
		}
	}
	return best
}
