package pipeline

import "time"

// searching is a schedule in the making: whenever a rank is free it takes of the passes
// that can start the backward of inputs that waits longest, else a forward if a rank may hold one
// more, else the backward of weights that waits longest. That is the order of preference
// of the paper's own search [arXiv:2401.10241, section 3.1] without its tries of the
// other orders.
type searching struct {
	s     *Schedule
	p     *Plan
	limit func(stage int) int

	free    []time.Duration // when each rank is
	done    map[Pass]time.Duration
	next    []int    // by stage: forwards that have run
	back    []int    // by stage: backwards of inputs that have run
	inside  []int    // by entry stage: micro batches that are held
	weights [][]Pass // by rank: that wait
	mine    [][]int  // by rank: its stages
}

// search fills the orders of a schedule whose stages have ranks. limit is how many micro
// batches a rank may hold of those that come in at a stage.
func search(s *Schedule, p *Plan, limit func(stage int) int) (*Schedule, error) {
	w := &searching{s: s, p: p, limit: limit, free: make([]time.Duration, p.Ranks), done: map[Pass]time.Duration{},
		weights: make([][]Pass, p.Ranks), mine: make([][]int, p.Ranks),
		next: make([]int, len(s.Rank)), back: make([]int, len(s.Rank)), inside: make([]int, len(s.Rank))}
	for stage, r := range s.Rank {
		w.mine[r] = append(w.mine[r], stage)
	}
	stages := len(s.Rank)
	if s.Twice {
		stages = s.stages
	}
	for left := 3 * p.Micro * stages; left > 0; left-- {
		w.step()
	}
	return s, nil
}

// step runs the pass that can start first, of the rank that can start it first.
func (w *searching) step() {
	best, rank, at := Pass{}, -1, time.Duration(0)
	for r := range w.p.Ranks {
		pass, start, ok := w.pick(r)
		if ok && (rank < 0 || start < at) {
			best, rank, at = pass, r, start
		}
	}
	if rank < 0 {
		panic("pipeline: no pass can start")
	}
	w.run(rank, best, at)
}

// pick is the pass that a rank starts next, and when.
func (w *searching) pick(r int) (best Pass, start time.Duration, ok bool) {
	better := func(pass Pass, ready time.Duration) {
		ready = max(ready, w.free[r])
		if !ok || ready < start {
			best, start, ok = pass, ready, true
		}
	}
	mine := w.mine[r]
	for i := len(mine) - 1; i >= 0; i-- { // what is nearer to the end of its path goes first
		if pass, ready, can := w.backward(mine[i]); can {
			better(pass, ready)
		}
	}
	for i := len(mine) - 1; i >= 0; i-- {
		if pass, ready, can := w.forward(r, mine[i]); can {
			better(pass, ready)
		}
	}
	if len(w.weights[r]) > 0 {
		better(w.weights[r][0], 0)
	}
	return best, start, ok
}

// micro is the n-th micro batch that passes a stage; -1 if there is none.
func (w *searching) micro(stage, n int) int {
	all, first := w.p.Micro, 0
	if w.s.Twice {
		all, first = all/2, stage/w.s.stages*(all/2)
	}
	if n >= all {
		return -1
	}
	return first + n
}

// forward is the next forward of a stage, and when its input is there.
func (w *searching) forward(r, stage int) (Pass, time.Duration, bool) {
	m := w.micro(stage, w.next[stage])
	if m < 0 {
		return Pass{}, 0, false
	}
	entry := w.entry(r, stage)
	if stage == entry && w.inside[entry] >= w.limit(stage) {
		return Pass{}, 0, false
	}
	ready, ok := w.s.ready(w.p, Pass{Forward, m, stage}, w.done)
	return Pass{Forward, m, stage}, ready, ok
}

// entry is the stage at which a micro batch comes first to a rank.
func (w *searching) entry(r, stage int) int {
	if w.s.Twice {
		return stage
	}
	return w.mine[r][0]
}

// backward is the next backward of inputs of a stage.
func (w *searching) backward(stage int) (Pass, time.Duration, bool) {
	m := w.micro(stage, w.back[stage])
	if m < 0 {
		return Pass{}, 0, false
	}
	ready, ok := w.s.ready(w.p, Pass{Inputs, m, stage}, w.done)
	return Pass{Inputs, m, stage}, ready, ok
}

// run runs a pass.
func (w *searching) run(r int, pass Pass, at time.Duration) {
	w.s.Order[r] = append(w.s.Order[r], pass)
	w.free[r] = at + w.p.Cost(pass)
	w.done[pass] = w.free[r]
	entry := w.entry(r, pass.Stage)
	switch pass.Kind {
	case Forward:
		w.next[pass.Stage]++
		if pass.Stage == entry {
			w.inside[entry]++
		}
	case Inputs:
		w.back[pass.Stage]++
		w.weights[r] = append(w.weights[r], Pass{Weights, pass.Micro, pass.Stage})
	case Weights:
		w.weights[r] = w.weights[r][1:]
		if pass.Stage == entry { // the last of its passes here
			w.inside[entry]--
		}
	}
}
