package sim

import "time"

// never is a moment after all others: 292 years.
const never = time.Duration(1<<63 - 1)

// after is the moment d after another; false, and never, if no clock counts so far.
func after(at, d time.Duration) (time.Duration, bool) {
	if d >= never-at {
		return never, false
	}
	return at + d, true
}

// sooner is the earlier of two moments of which one may not exist or be over.
func (pl *player) sooner(next, at time.Duration, exists bool) time.Duration {
	if exists && at > pl.now && at < next {
		return at
	}
	return next
}

// endless is the step of what is under way and would not end before never.
func (pl *player) endless() (step int, ok bool) {
	if pl.run != nil {
		return pl.t.Spans[pl.run.span].Step, true
	}
	for i := range pl.link.queues {
		if tr := pl.link.queues[i].active; tr != nil && (tr.rate > 0 || tr.job != nil) {
			return tr.step, true
		}
	}
	return 0, false
}
