package combined

import (
	"cmp"
	"slices"
	"time"

	"memtide/engine"
)

// In the model bytes leave one by one; a whole transfer frees its memory only at its end, later
// than planned. So the best plan of the model need not be the fastest schedule. The candidates are
// the plans for less and less room, which have slack for the later times. For each of them, inputs
// of segments are switched between offloaded and kept, one or two at a time, as long as that makes
// the schedule faster. The result is a good schedule, without a proof.

// shares are the parts of the room, in percent, for which plans are made.
var shares = []int64{99, 98, 97, 96, 95, 94, 92, 90, 88, 86, 83, 80, 76, 72, 68}

// wholeWidths are the widths of the searches for those plans.
var wholeWidths = []int{12, 30, 120}

// tries is the number of plans that are improved for each part of the room.
const tries = 8

// wholePlans replaces the plans of o by better ones for whole transfers, and adds plans for less
// room. Whole transfers are never faster than the model, so plans for less room are of use only if
// the model's time beats the best schedule so far.
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
			break // no plan for less room is faster
		}
		plans, err := wholeBest(p, t, more.plans, &limit, overlap, poll)
		o.plans = append(o.plans, plans...)
		if err != nil {
			return err
		}
	}
	return nil
}

// wholeBest improves the fastest tries of some plans, without repetitions, and lowers limit to the
// ticks of the fastest one.
func wholeBest(p *engine.Problem, t *terms, plans [][]segment, limit *int64, overlap bool,
	poll *engine.Poll) ([][]segment, error) {
	var lines []*timeline
	for _, segs := range plans {
		line, err := newTimeline(p, segs, overlap)
		if err != nil {
			return plans, err
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b *timeline) int { return cmp.Compare(a.Makespan, b.Makespan) })
	same := func(a, b *timeline) bool { return a.Makespan == b.Makespan && a.Peak == b.Peak }
	lines = slices.CompactFunc(lines, same)
	var better [][]segment
	for _, line := range lines[:min(len(lines), tries)] {
		better = append(better, line.segs)
		makespan, err := line.improve(overlap, t.effort, poll)
		*limit = min(*limit, int64(makespan)*t.q)
		if err != nil {
			return better, err
		}
	}
	return better, nil
}

// improve changes the set of offloaded inputs as long as that helps, and returns the best step
// time.
func (t *timeline) improve(overlap bool, e *effort, poll *engine.Poll) (best time.Duration, err error) {
	best, peak := t.Makespan, t.Peak
	// better reports whether a change makes the step faster, or as fast with a lower peak.
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
	flip := func(x, y int) { // the inputs of segments x and y, which may be the same
		t.segs[x].offload = !t.segs[x].offload
		if y > x {
			t.segs[y].offload = !t.segs[y].offload
		}
	}
	last := len(t.segs) - 1 // the loss needs its input at once
	near := 2000/len(t.segs) + 2
	for improved := true; improved; {
		improved = false
		for x := range last {
			for y := x; y < min(last, x+near); y++ {
				if err := poll.Err(); err != nil {
					return best, err
				}
				if y > x && t.segs[x].offload == t.segs[y].offload {
					continue // two inputs only change places
				}
				if !e.spend(int64(perRun * len(t.Runs))) {
					return best, nil
				}
				flip(x, y)
				if better() {
					improved = true
				} else {
					flip(x, y)
				}
			}
		}
	}
	return best, nil
}
