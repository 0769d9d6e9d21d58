package bound

import (
	"cmp"
	"math"
	"slices"
	"time"

	"memtide/engine"
)

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
