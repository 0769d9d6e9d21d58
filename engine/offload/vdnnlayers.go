package offload

import "memtide/engine"

// layered is a schedule of vDNN or vDNN++: what leaves does so during its layer,
// and comes back one value per layer.
//
// Fetches take their room when they are issued, as the allocation of the
// destination does. In the backward pass memory therefore follows the program
// alone, and a fetch for which there is no room can never start: all copies to
// the host are over by then.
type layered struct {
	*step
	what  string // the set, for people
	set   []bool // x_i is offloaded, also if it has no bytes
	fast  ways   // which operations run by their second algorithm
	near  bool   // fetches look no further than the next convolution that is offloaded
	async bool
}

// back calls visit for every stage of the backward pass, from the last, with the
// items to fetch: own is x_i itself if it is still away, next the nearest one
// before it that is. They are -1 if there is none.
func (l *layered) back(visit func(i, own, next int)) {
	sent := lastOf(l.n, func(i int) bool { return l.set[i] })
	end := lastOf(l.n, func(i int) bool { return l.near && l.set[i] && l.conv(i) })
	away := l.n // of the set, x_0..x_{away-1} are away
	for i := l.n - 1; i >= 0; i-- {
		own, next := -1, -1
		if away > i {
			away = i
			if l.set[i] {
				own = i
			}
		}
		if i > 0 && away > 0 && sent[away-1] >= end[i-1] {
			next = sent[away-1]
		}
		if next >= 0 {
			away = next
		}
		visit(i, own, next)
	}
}

// lastOf lists for every i the last one up to it that is meant, -1 if there is none.
func lastOf(n int, meant func(i int) bool) []int {
	list := make([]int, n)
	last := -1
	for i := range list {
		if meant(i) {
			last = i
		}
		list[i] = last
	}
	return list
}

// away calls visit for every operation, in their order, with the bytes that can
// be away while it runs: whatever a forward operation waits for has left, and
// the backward pass holds what it has fetched. It does not depend on async.
func (l *layered) away(visit func(i int, pass engine.Pass, away engine.Bytes)) {
	var away engine.Bytes
	for i := range l.n {
		visit(i, engine.Forward, away)
		if l.set[i] {
			away += l.size[i]
		}
	}
	l.back(func(i, own, next int) {
		for _, x := range [2]int{own, next} {
			if x >= 0 {
				away -= l.size[x]
			}
		}
		visit(i, engine.Backward, away)
	})
}

// need returns the smallest budget, and op the operation that needs it.
func (l *layered) need() (need engine.Bytes, op engine.OpID) {
	l.away(func(i int, pass engine.Pass, away engine.Bytes) {
		m, id := l.needF[i]-away, l.p.Chain.Fwd(i+1)
		if pass == engine.Backward {
			m, id = l.needB[i]-away, l.p.Chain.Bwd(i+1)
		}
		if m > need {
			need, op = m, id
		}
	})
	return need, op
}

// schedule writes the program down.
func (l *layered) schedule() (sched engine.Schedule) {
	g := l.p.Chain
	fetch := func(x int) {
		sched = append(sched,
			engine.Instruction{Kind: engine.DoFetch, Op: engine.NoOp, Value: item(g, x), Reserve: true})
	}
	run := func(op engine.OpID) {
		st := engine.Run(op)
		st.Alt = l.fast.of(op)
		sched = append(sched, st)
	}
	for i, in := range l.set {
		if in {
			sched = append(sched, engine.Offload(item(g, i)))
		}
		run(g.Fwd(i + 1))
		if in && !l.async {
			sched = append(sched, engine.Wait(item(g, i)))
		}
		if in {
			sched = append(sched, engine.Free(item(g, i)))
		}
		sched = letGo(sched, g, i)
	}
	for i, in := range l.set {
		if in && l.async { // the barrier
			sched = append(sched, engine.Wait(item(g, i)))
		}
	}
	l.back(func(i, own, next int) {
		if own >= 0 {
			fetch(own)
			if !l.async {
				sched = append(sched, engine.Wait(item(g, own)))
			}
		}
		if next >= 0 {
			fetch(next)
		}
		if l.set[i] {
			sched = holdFor(sched, g, i)
		}
		run(g.Bwd(i + 1))
		if next >= 0 && !l.async {
			sched = append(sched, engine.Wait(item(g, next)))
		}
		sched = append(sched, engine.Free(g.Grad(i+1)), engine.Free(g.Saved(i+1)))
	})
	return append(sched, engine.Free(g.Act(0)))
}
