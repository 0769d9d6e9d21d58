package offload

import "memtide/engine"

// layered is a schedule of vDNN or vDNN++: a value leaves during its layer, and values come back
// one per layer.
//
// A fetch allocates its destination when it is issued. So memory in the backward pass follows from
// the program alone, and a fetch without room can never start, because all copies to the host have
// ended by then.
type layered struct {
	*step
	what  string // the set, for people
	set   []bool // by i: x_i is offloaded, even if it has no bytes
	fast  ways   // the operations that run by their second algorithm
	near  bool   // a fetch takes no value before the nearest earlier convolution that is offloaded
	async bool   // vDNN++: operations do not wait for copies
}

// back calls visit for every stage of the backward pass, from the last one, with the items to
// fetch: own is x_i itself if it is still away, and next is the nearest earlier one that is away.
// They are -1 if there is no such item.
func (l *layered) back(visit func(i, own, next int)) {
	sent := lastOf(l.n, func(i int) bool { return l.set[i] })
	end := lastOf(l.n, func(i int) bool { return l.near && l.set[i] && l.conv(i) })
	away := l.n // the values of the set among x_0..x_{away-1} are away
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

// lastOf returns, for every i, the last index up to i for which meant is true, or -1.
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

// needs calls visit for every operation, in order, with the memory while it runs. The values that
// have left before a forward operation are away, and in the backward pass those that have not been
// fetched. The needs do not depend on async.
func (l *layered) needs(visit func(op engine.OpID, need engine.Bytes)) {
	var away engine.Bytes
	for i := range l.n {
		visit(l.p.Chain.Fwd(i+1), l.needF[i]-away)
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
		visit(l.p.Chain.Bwd(i+1), l.needB[i]-away)
	})
}

// need returns the smallest budget, and the operation that needs it.
func (l *layered) need() (need engine.Bytes, op engine.OpID) {
	l.needs(func(id engine.OpID, m engine.Bytes) {
		if m > need {
			need, op = m, id
		}
	})
	return need, op
}

// schedule returns the instructions of the schedule.
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
		sched = freeUnsaved(sched, g, i)
	}
	for i, in := range l.set {
		if in && l.async { // all copies end before the backward pass
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
			sched = waitUnsaved(sched, g, i)
		}
		run(g.Bwd(i + 1))
		if next >= 0 && !l.async {
			sched = append(sched, engine.Wait(item(g, next)))
		}
		sched = append(sched, engine.Free(g.Grad(i+1)), engine.Free(g.Saved(i+1)))
	})
	return append(sched, engine.Free(g.Act(0)))
}
