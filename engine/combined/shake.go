package combined

import (
	"math/rand/v2"
	"time"

	"memtide/engine"
)

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
