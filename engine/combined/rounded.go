package combined

import (
	"time"

	"memtide/engine"
)

// A transfer takes whole nanoseconds, so a schedule takes a little longer than the
// model says, and a plan that is not the best of the model may lose less by that.
// The search is made again with debts in whole nanoseconds. What it finds is a
// lower bound still: while a part of the debts is waited for, the transfers that are
// left may be those that are rounded up, so that part counts a nanosecond less for
// each of them.

// taking returns the ticks that a transfer takes whose bytes, moving evenly, would take ticks.
func (t *terms) taking(ticks int64) int64 {
	if t.grain == 0 {
		return ticks
	}
	return (ticks + t.grain - 1) / t.grain * t.grain
}

// partly returns the least that a debt before stage i takes as far as bytes matter.
func (t *terms) partly(debt int64, i int) int64 { return debt - t.grain*int64(i-1) }

const (
	roundings     = 4   // searches with rounded debts
	roundingWidth = 300 // of the first ones
)

// rounded looks for plans that are a few nanoseconds faster than the best schedule
// so far, or proves that there are none.
func rounded(p *engine.Problem, t *terms, o *optimum, poll *engine.Poll) error {
	best, err := fastest(p, o)
	if err != nil || o.note != "" {
		return err
	}
	model := t.nanoseconds(o.bound)
	if lost := best - model; lost <= 0 || lost > time.Duration(4*t.n) {
		return nil
	}
	whole := *t
	whole.grain = t.q
	r, err := newLowerBound(&whole, poll)
	if err != nil {
		return err
	}
	for x := range roundings {
		limit := int64(best-1)*t.q + 1
		if err := r.addSequences(limit-t.base[t.n], poll); err != nil || r.rematOnly == nil {
			return err
		}
		width := roundingWidth
		if x == roundings-1 {
			width = 0
		}
		s, err := search(whole.frontsOf(limit-1-t.base[t.n], 0, allTricks, poll), r, limit, width)
		if err == errTooMany {
			return nil
		} else if err != nil {
			return err
		}
		if s.last >= 0 {
			o.plans = append(o.plans, s.plan(s.last))
			best, err = fastest(p, o)
			if err != nil {
				return err
			}
		}
		if bound := min(s.best, s.least); t.nanoseconds(bound) >= best {
			o.bound = bound
			return nil
		} else if s.last < 0 && width == 0 {
			return nil
		}
	}
	return nil
}

// fastest returns the step time of the best plan of o as it runs.
func fastest(p *engine.Problem, o *optimum) (time.Duration, error) {
	best := time.Duration(tooLong)
	for _, segs := range o.plans {
		line, err := newTimeline(p, segs, false)
		if err != nil {
			return best, err
		}
		best = min(best, line.Makespan)
	}
	return best, nil
}
