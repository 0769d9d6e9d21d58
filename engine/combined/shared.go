package combined

import "memtide/engine"

// shared is what searches have in common. Neither floors nor the costs of
// recomputation alone depend on the room, so they serve all budgets of a chain.
// Where a bound is exact, what it says of plans below a limit is the same whether
// or not it was found for a higher limit, so that a budget that is solved with
// others is solved as it is by itself. Nor does exact work count as effort.
type shared struct {
	shown     func(*engine.Solution) *engine.Solution // what to show of a solution on the way; nil: itself
	floors    [][]int64
	rematOnly []rematOnly // exact; nil: not known
	slack     int64       // of rematOnly
	fronts    *fronts     // the last ones that were filled for a room, all triples of them
}

// frontsOf are fronts for plans that take at most slack ticks more than the sum of
// all times. Those of more room and a little more slack do as well: a triple
// that needs too much is never the best, nor is one that takes too long.
func (t *terms) frontsOf(slack int64, thin int, use tricks, poll *engine.Poll) *fronts {
	if f := t.shared.fronts; f != nil && thin == 0 && f.use == use && f.room >= t.room && f.slack >= slack && f.slack-slack <= slack/4 {
		same := *f
		same.terms, same.poll = t, poll
		return &same
	}
	f := &fronts{terms: t, use: use, slack: slack, thin: thin, poll: poll}
	if thin == 0 {
		t.shared.fronts = f
	}
	return f
}

// show is a solution on the way as others may see it.
func (k *shared) show(sol *engine.Solution) *engine.Solution {
	if k.shown == nil || sol == nil {
		return sol
	}
	return k.shown(sol)
}
