package combined

import (
	"slices"

	"memtide/engine"
)

// What the model sends byte by byte leaves at once in whole transfers, later than
// planned, so the best plan of the model need not be the one that runs best. The
// candidates are the plans of less and less room, which have slack for that; for
// each, inputs of segments are offloaded or kept after all, one or two at a time,
// as long as that makes the schedule faster. What comes out is a good schedule,
// without a proof.

// shares are the parts of the room, in percent, whose plans are tried.
var shares = []int64{98, 96, 93, 90, 86, 82, 76, 70}

// wholeWidths are the widths of the searches for them.
var wholeWidths = []int{30, 300}

// wholePlans adds plans of less room to those of o, and makes all of them better.
func wholePlans(p *engine.Problem, t *terms, o *optimum, overlap bool, poll *engine.Poll) error {
	for _, share := range shares {
		less := *t
		less.room = t.room / 100 * share
		more, err := solve(&less, o.ceiling, allTricks, wholeWidths, poll)
		o.plans = append(o.plans, more.plans...)
		if err != nil {
			return err
		}
	}
	lines := make([]*timeline, 0, len(o.plans))
	for _, segs := range o.plans {
		line, err := newTimeline(p, segs, overlap)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b *timeline) int { return order(int64(a.makespan), int64(b.makespan)) })
	lines = slices.CompactFunc(lines, func(a, b *timeline) bool { return a.makespan == b.makespan && a.peak == b.peak })
	o.plans = o.plans[:0] // the best of them, fewer where each takes longer
	for _, line := range lines[:min(len(lines), max(12, 60_000/(t.n*t.n)))] {
		o.plans = append(o.plans, line.segs)
		if err := improve(p, line.segs, overlap, poll); err != nil {
			return err
		}
	}
	return nil
}

// improve changes which inputs are offloaded, to the better.
func improve(p *engine.Problem, segs []segment, overlap bool, poll *engine.Poll) error {
	line, err := newTimeline(p, segs, overlap)
	if err != nil {
		return err
	}
	best, peak := line.makespan, line.peak
	// better keeps a change that makes the step faster, or as fast with less memory.
	better := func() bool {
		line, err := newTimeline(p, segs, overlap)
		if err != nil || line.makespan > best || line.makespan == best && line.peak >= peak {
			return false
		}
		best, peak = line.makespan, line.peak
		return true
	}
	flip := func(x int) { segs[x].offload = !segs[x].offload }
	last := len(segs) - 1 // the loss needs its input at once
	near := 2000/len(segs) + 2
	for again := true; again; {
		again = false
		for x := range last {
			for y := x; y < min(last, x+near); y++ {
				if err := poll.Err(); err != nil {
					return err
				}
				if y > x && segs[x].offload == segs[y].offload {
					continue // only an exchange
				}
				flip(x)
				if y > x {
					flip(y)
				}
				if better() {
					again = true
					continue
				}
				flip(x)
				if y > x {
					flip(y)
				}
			}
		}
	}
	return nil
}
