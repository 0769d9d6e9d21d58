package window

import "memtide/engine"

// ByWindow returns the schedule for a window of a size in bytes, while the strategy takes MiB. A window of 0 covers
// the variables of the present operation only. The error is an error of a strategy, or a *StopError that wraps one.
func ByWindow(p *engine.Problem, bytes engine.Bytes) (*engine.Solution, error) {
	n, err := newNetwork(p, nil)
	if err != nil {
		return nil, err
	}
	return n.given(n.windowOf(bytes))
}

// ByLMS returns the schedule for a threshold and a number of operations ahead. With ahead 0 it fetches just before
// the use, which the strategy does not try. The error is as for ByWindow.
func ByLMS(p *engine.Problem, threshold, ahead int) (*engine.Solution, error) {
	n, err := newNetwork(p, nil)
	if err != nil {
		return nil, err
	}
	return n.given(n.lms(max(threshold, 1), ahead), lmsNote(threshold, ahead))
}
