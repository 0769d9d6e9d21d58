package pipeline

// LongestPath returns the step time of an order without copies, by its longest path. ok is false if the order is
// refused.
func (p *Problem) LongestPath(order [][]Pass) (makespan int64, ok bool) {
	w := newWork(p)
	if !w.load(order) {
		return 0, false
	}
	makespan, _ = w.play(-1, 0, 1<<62)
	return makespan, true
}

// Perturbed makes random moves in an order. It returns the new order and the step time that was computed move by
// move, by playing only the part after each change.
func (p *Problem) Perturbed(order [][]Pass, moves int, allowed Allowed) ([][]Pass, int64) {
	w := newWork(p)
	if !w.load(order) {
		return nil, 0
	}
	a := &annealing{work: w, rng: newRand(uint64(moves)), allowed: allowed, best: 1 << 62}
	a.time, _ = w.play(-1, 0, 1<<62)
	a.note()
	for range moves {
		a.best = 0 // so that the critical path is found again
		a.move(2 * a.time)
	}
	return a.passes(), a.time
}

// TraceOf returns the trace of some spans.
func (p *Problem) TraceOf(passes, copies [][]Span) *Trace {
	t := newTrace(p, make([][]Pass, p.Ranks))
	for r := range passes {
		for _, x := range passes[r] {
			t.add(p, x)
		}
		for _, x := range copies[r] {
			t.add(p, x)
		}
		t.Peak[r] = p.peak(r, append(append([]Span{}, t.Ranks[r]...), t.Copies[r]...))
	}
	return t
}

// Listed returns the passes and copies of a trace as an order.
func (t *Trace) Listed() [][]Pass { return t.order() }
