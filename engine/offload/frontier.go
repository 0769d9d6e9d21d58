package offload

import (
	"slices"
	"sort"

	"memtide/engine"
)

// frontier decides x_0, x_1, ... in turn for all sets at once, as labels does in
// the fluid model, and proves which set is the best one for the transfers that
// the problem has. It is a branch and bound that goes stage by stage, so that
// partial decisions can be compared. It is ours.
//
// All that a step time depends on later are moments of the forward pass and
// moments of the backward pass, and every part of it is a sum of one of each. So
// a partial decision dominates another if its forward moments are later by at
// most some d, and its backward ones earlier by at least d; both let at least as
// much leave; and what is certain about its step time so far is no more than what
// is about the other's.
type frontier struct {
	m, ideal *model
	rem      []remainder
	rest     []int64          // nanoseconds of the operations from i on
	needs    [][]engine.Bytes // what has to be away during operations from i on: sorted, without repetition
	poll     *engine.Poll
	work     int // comparisons that are left
	value    int64
	best     []bool
	least    int64 // no set is faster than that or value, whichever is less
	now      []partial
	stages   [][]origin
}

// origin is all that is kept of a partial decision when the next value has been
// decided.
type origin struct {
	from int32
	sent bool
}

// partial is a partial decision. Its lists are shared and never changed.
type partial struct {
	away        engine.Bytes
	ends, endsB int64 // [e_{i-1}, r_{i-1}]
	link, linkB int64 // when the links are idle
	idle, idleB int64 // the same in ticks, were bytes not rounded to nanoseconds
	joined      int64 // what the step takes at least, from pairs of moments so far
	least       int64 // ticks: what any set with these decisions takes at least
	moved       []gone
	offF, offB  []int64 // when needs[i] are away, as far as it is decided
	from        int32
	sent        bool
}

// gone is a transfer, in both passes.
type gone struct {
	cum, size   engine.Bytes // what has moved after it, and with it
	start, gone int64        // in the forward pass
	end         int64        // in the backward pass
}

// maxFrontier is how many partial decisions are kept after each stage.
const maxFrontier = 8000

// newFrontier starts from a set that fits and its step time.
func newFrontier(m, ideal *model, start []bool, value int64, work int, poll *engine.Poll) *frontier {
	f := &frontier{m: m, ideal: ideal, rem: ideal.bounds(), poll: poll, work: work, value: value, best: slices.Clone(start),
		rest: make([]int64, m.n+1), needs: make([][]engine.Bytes, m.n+1)}
	var needs []engine.Bytes
	for i := m.n - 1; i >= 0; i-- {
		f.rest[i] = f.rest[i+1] + m.timeF[i] + m.timeB[i]
		for _, v := range []engine.Bytes{m.overF[i], m.overB[i]} {
			if k, ok := slices.BinarySearch(needs, v); v > 0 && !ok {
				needs = slices.Insert(needs, k, v)
			}
		}
		f.needs[i] = slices.Clone(needs)
	}
	return f
}

// run returns true if it has finished: then no set is faster than best.
func (f *frontier) run() bool {
	f.now = []partial{{from: -1, idle: lowest, idleB: lowest}}
	for i := range f.m.n {
		f.now = f.undominated(i+1, f.expand(i))
		if f.poll.Err() != nil {
			return false
		}
		f.least = f.leastOf(f.now)
		if len(f.now) > maxFrontier || f.work <= 0 {
			return false
		}
		stage := make([]origin, len(f.now))
		for k := range f.now {
			stage[k] = origin{f.now[k].from, f.now[k].sent}
		}
		f.stages = append(f.stages, stage)
	}
	for k := range f.now {
		if t := max(f.now[k].joined, f.now[k].ends+f.now[k].endsB); t < f.value {
			f.value = t
			f.trace(k)
		}
	}
	f.least = f.value
	return true
}

// leastOf is a lower bound, in nanoseconds, of what is left.
func (f *frontier) leastOf(all []partial) int64 {
	least := int64(never)
	for k := range all {
		least = min(least, all[k].least)
	}
	return int64(f.ideal.nanoseconds(least))
}

// expand decides x_i in every partial decision.
func (f *frontier) expand(i int) (next []partial) {
	m := f.m
	for k := range f.now {
		p := f.now[k]
		if p.away < m.overF[i] || p.away < m.overB[i] {
			continue
		}
		there := p.ends
		p.from, p.sent = int32(k), false
		p.ends = max(p.ends, f.off(&p, m.overF[i])) + m.timeF[i]
		p.endsB = max(p.endsB, f.offB(&p, m.overB[i])) + m.timeB[i]
		if m.overF[i] > 0 {
			p.joined = max(p.joined, p.ends+f.offB(&p, m.overF[i]))
		}
		if m.overB[i] > 0 {
			p.joined = max(p.joined, p.endsB+f.off(&p, m.overB[i]))
		}
		next = f.offer(next, i+1, p)
		if m.size[i] > 0 {
			next = f.offer(next, i+1, f.send(p, i, there))
		}
	}
	return next
}

// send is a partial decision in which x_i leaves too.
func (f *frontier) send(p partial, i int, there int64) partial {
	m, tick := f.m, f.ideal.tick
	p.sent = true
	p.away += m.size[i]
	p.link, p.linkB = max(p.link, there)+m.out[i], max(p.linkB, p.endsB)+m.in[i]
	p.idle, p.idleB = max(p.idle, there*tick)+f.ideal.out[i], max(p.idleB, p.endsB*tick)+f.ideal.in[i]
	g := gone{cum: p.away, size: m.size[i], start: p.link - m.out[i], gone: max(p.link, p.ends), end: p.linkB}
	p.joined = max(p.joined, g.gone+g.end)
	// What is less than any later need can be forgotten.
	from := len(p.moved)
	if needs := f.needs[i+1]; len(needs) > 0 {
		from = sort.Search(len(p.moved), func(k int) bool { return p.moved[k].cum >= needs[0] })
	}
	p.moved = append(slices.Clone(p.moved[from:]), g)
	return p
}

// off is when v bytes are away in the forward pass: see lane.off.
func (f *frontier) off(p *partial, v engine.Bytes) int64 {
	if v <= 0 {
		return 0
	}
	g := p.last(v)
	if f.m.rule == whole {
		return g.gone
	}
	return g.start + int64(f.m.fwd.rate.Time(v-g.cum+g.size))
}

// offB is the same in the backward pass.
func (f *frontier) offB(p *partial, v engine.Bytes) int64 {
	if v <= 0 {
		return 0
	}
	g := p.last(v)
	if f.m.rule == whole {
		return g.end
	}
	rate, rest := f.m.bwd.rate, g.cum-v
	return g.end - int64(min(rate.Time(rest), rate.Time(rest+1)-1))
}

// last is the first of the transfers after which v bytes are away.
func (p *partial) last(v engine.Bytes) *gone {
	return &p.moved[sort.Search(len(p.moved), func(k int) bool { return p.moved[k].cum >= v })]
}

// offer appends a partial decision unless no set with it is faster than the best.
func (f *frontier) offer(next []partial, i int, p partial) []partial {
	tick := f.ideal.tick
	e, eB := p.ends*tick, p.endsB*tick
	p.least = max(p.joined*tick, e+eB+f.rest[i]*tick+f.rem[i].atLeast(f.ideal, p.away, p.idle-e, p.idleB-eB))
	if p.least > (f.value-1)*tick {
		return next
	}
	return append(next, p)
}

// undominated removes what another partial decision dominates.
func (f *frontier) undominated(i int, all []partial) []partial {
	slices.SortStableFunc(all, func(a, b partial) int {
		switch {
		case a.away != b.away:
			return int(max(-1, min(b.away-a.away, 1)))
		case a.least != b.least:
			return int(max(-1, min(a.least-b.least, 1)))
		}
		return int(max(-1, min(a.ends+a.endsB-b.ends-b.endsB, 1)))
	})
	out := all[:0]
	for k := range all {
		if f.poll.Err() != nil {
			return nil
		}
		p := all[k]
		p.offF, p.offB = nil, nil
		for _, v := range f.needs[i] {
			if v > p.away {
				break
			}
			p.offF, p.offB = append(p.offF, f.off(&p, v)), append(p.offB, f.offB(&p, v))
		}
		if f.work <= 0 || !f.dominated(out, &p) {
			out = append(out, p)
		}
	}
	return out
}

// dominated looks for a partial decision that dominates p; all kept ones have at
// least as much away.
func (f *frontier) dominated(kept []partial, p *partial) bool {
	for k := range kept {
		q := &kept[k]
		f.work--
		if q.joined*f.ideal.tick > p.least {
			continue
		}
		d := max(q.ends-p.ends, q.link-p.link)
		dB := max(q.endsB-p.endsB, q.linkB-p.linkB)
		for j := 0; j < len(p.offF) && d+dB <= 0; j++ {
			d, dB = max(d, q.offF[j]-p.offF[j]), max(dB, q.offB[j]-p.offB[j])
		}
		if d+dB <= 0 {
			kept[k/2], kept[k] = kept[k], kept[k/2] // what dominates once does it again
			return true
		}
	}
	return false
}

// trace reads the set of a complete decision.
func (f *frontier) trace(k int) {
	for i := f.m.n - 1; i >= 0; i-- {
		o := f.stages[i][k]
		f.best[i], k = o.sent, int(o.from)
	}
}
