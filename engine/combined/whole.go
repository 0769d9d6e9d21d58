package combined

import (
	"cmp"
	"math/rand/v2"
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

const polishSlack = 200

// wholePlans replaces the plans of o by better ones for whole transfers, and adds
// those of less room. Whole transfers never beat the model, so a plan of less room
// is of no use if the model does not beat the best schedule so far.
func wholePlans(p *engine.Problem, t *terms, o *optimum, overlap bool, poll *engine.Poll) error {
	t.effort.left = wholeEffort
	limit, err := lessRoom(p, t, o, o.ceiling, 0, overlap, poll)
	if err != nil || o.note == "" {
		return err
	}
	t.effort.left = min(t.effort.left, shakeEffort)
	_, err = shaken(p, t, o, limit, overlap, poll)
	return err
}

// polished makes the plans of a search that is not at its end better in the same
// way, for values that are sent byte by byte: on long chains that comes closer to
// the optimum than a wider search does, and makes that search smaller.
func polished(p *engine.Problem, t *terms, o *optimum, poll *engine.Poll) error {
	streamed := *p
	streamed.Transfers = engine.Streamed
	left := t.effort.left
	t.effort.left = min(left, polishEffort)
	left -= t.effort.left
	cost, err := lessRoom(&streamed, t, o, o.cost, o.cost/polishSlack, false, poll)
	t.effort.left += left
	o.cost = min(o.cost, cost)
	return err
}

// lessRoom makes the plans of o better as p sends them, and adds plans of less
// room that may beat limit. It returns the ticks of the fastest if it is below.
func lessRoom(p *engine.Problem, t *terms, o *optimum, limit, slack int64, overlap bool, poll *engine.Poll) (int64,
	error) {
	plans, err := wholeBest(p, t, o.plans, &limit, overlap, poll)
	o.plans = plans
	if err != nil {
		return limit, err
	}
	tried := shares
	if slack > 0 {
		tried = append([]int64{100}, shares...)
	}
	for _, share := range tried {
		if t.effort.left < 0 {
			break
		}
		less := *t
		less.found, less.polish = nil, nil
		less.room = t.room / 100 * share
		more, err := solve(&less, limit+slack, allTricks, wholeWidths, poll)
		if err != nil {
			return limit, err
		}
		if len(more.plans) == 0 && more.bound >= limit+slack {
			break // and even less room costs more
		}
		plans, err := wholeBest(p, t, more.plans, &limit, overlap, poll)
		o.plans = append(o.plans, plans...)
		if err != nil {
			return limit, err
		}
	}
	return limit, nil
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

// Making a plan better ends where no change of one or two inputs helps. On long
// chains, where the best plan is not known, a few random changes before that lead
// to better ends.

const (
	shakeEffort = 1e9 // for plans of a search that was not finished
	shakenPlans = 6   // of the best
)

// shaken disturbs the offloads of the best plans of o and makes them better again,
// until its work is used up. It returns the ticks of the fastest, if that is below limit.
func shaken(p *engine.Problem, t *terms, o *optimum, limit int64, overlap bool, poll *engine.Poll) (int64, error) {
	lines, err := fastestLines(p, o.plans, shakenPlans, overlap)
	if err != nil || len(lines) == 0 {
		return limit, err
	}
	r := rand.New(rand.NewPCG(1, 0))
	for round := 0; t.effort.left >= 0 && limit > o.bound; round++ {
		line := lines[round%len(lines)]
		err := line.shake(r, overlap, t.effort, poll)
		limit = min(limit, int64(line.Makespan)*t.q)
		if err != nil {
			return limit, err
		}
	}
	return limit, nil
}

// shake changes a few inputs at random, improves what comes out, and keeps it
// unless it is slower.
func (t *timeline) shake(r *rand.Rand, overlap bool, e *effort, poll *engine.Poll) error {
	was, offloads := t.Makespan, make([]bool, len(t.segs))
	for x := range t.segs {
		offloads[x] = t.segs[x].offload
	}
	if last := len(t.segs) - 1; last > 0 {
		for range 2 + r.IntN(5) {
			x := r.IntN(last)
			t.segs[x].offload = !t.segs[x].offload
		}
	}
	e.spend(int64(perRun * len(t.Runs)))
	slower, err := true, error(nil)
	if t.Play(overlap, tooLong) {
		var best time.Duration
		t.Measure()
		best, err = t.improve(overlap, e, poll)
		slower = best > was
	}
	if slower {
		for x := range t.segs {
			t.segs[x].offload = offloads[x]
		}
	}
	t.Play(overlap, tooLong) // the last change that was tried need not have been kept
	t.Measure()
	return err
}
