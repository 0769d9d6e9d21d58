package combined

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

// What the model sends byte by byte leaves at once in whole transfers, later than
// planned, so the best plan of the model need not be the one that runs best. The
// candidates are the plans of less and less room, which have slack for that; for
// each, inputs of segments are offloaded or kept after all, one or two at a time,
// as long as that makes the schedule faster. What comes out is a good schedule,
// without a proof.

// shares are the parts of the room, in percent, whose plans are tried.
var shares = []int64{99, 98, 97, 96, 95, 94, 92, 90, 88, 86, 83, 80, 76, 72, 68}

// wholeWidths are the widths of the searches for them, and tries is how many
// plans of each are made better.
var wholeWidths = []int{12, 30, 120}

const tries = 8

// wholePlans replaces the plans of o by better ones for whole transfers, and adds
// those of less room. Whole transfers never beat the model, so a plan of less room
// is of no use if the model does not beat the best schedule so far.
func wholePlans(p *engine.Problem, t *terms, o *optimum, overlap bool, poll *engine.Poll) error {
	limit := o.ceiling
	plans, err := wholeBest(p, t, o.plans, &limit, overlap, poll)
	o.plans = plans
	if err != nil {
		return err
	}
	for _, share := range shares {
		if t.effort.left < 0 {
			break
		}
		less := *t
		less.found = nil
		less.room = t.room / 100 * share
		more, err := solve(&less, limit, wholeWidths, poll)
		if err != nil {
			return err
		}
		if len(more.plans) == 0 && more.bound >= limit {
			break // and even less room costs more
		}
		plans, err := wholeBest(p, t, more.plans, &limit, overlap, poll)
		o.plans = append(o.plans, plans...)
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeBest makes the best few of some plans better, and lowers the limit to the
// ticks of the fastest.
func wholeBest(p *engine.Problem, t *terms, plans [][]segment, limit *int64, overlap bool,
	poll *engine.Poll) ([][]segment, error) {
	lines, err := fastestLines(p, plans, tries, overlap)
	if err != nil {
		return plans, err
	}
	var better [][]segment
	for _, line := range lines {
		better = append(better, line.segs)
		makespan, err := line.improve(overlap, t.effort, poll)
		*limit = min(*limit, int64(makespan)*t.q)
		if err != nil {
			return better, err
		}
	}
	return better, nil
}

// fastestLines returns the timelines of the best few plans that are not the same.
func fastestLines(p *engine.Problem, plans [][]segment, most int, overlap bool) ([]*timeline, error) {
	var lines []*timeline
	for _, segs := range plans {
		line, err := newTimeline(p, segs, overlap)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b *timeline) int { return cmp.Compare(int64(a.Makespan), int64(b.Makespan)) })
	lines = slices.CompactFunc(lines, func(a, b *timeline) bool { return a.Makespan == b.Makespan && a.Peak == b.Peak })
	return lines[:min(len(lines), most)], nil
}

// improve changes which inputs are offloaded, to the better.
func (t *timeline) improve(overlap bool, e *effort, poll *engine.Poll) (best time.Duration, err error) {
	best, peak := t.Makespan, t.Peak
	// better says whether a change makes the step faster, or as fast with less memory.
	better := func() bool {
		if !t.Play(overlap, best) || t.Makespan > best {
			return false
		}
		t.Measure()
		if t.Makespan == best && t.Peak >= peak {
			return false
		}
		best, peak = t.Makespan, t.Peak
		return true
	}
	flip := func(x int) { t.segs[x].offload = !t.segs[x].offload }
	last := len(t.segs) - 1 // the loss needs its input at once
	near := 2000/len(t.segs) + 2
	for again := true; again; {
		again = false
		for x := range last {
			for y := x; y < min(last, x+near); y++ {
				if err := poll.Err(); err != nil {
					return best, err
				}
				if y > x && t.segs[x].offload == t.segs[y].offload {
					continue // only an exchange
				}
				if !e.spend(int64(perRun * len(t.Runs))) {
					return best, nil
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
	return best, nil
}
