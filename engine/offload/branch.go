package offload

import (
	"slices"

	"memtide/engine"
)

// branch is a depth-first branch and bound over the sets: it decides x_0, x_1,
// ... in turn and leaves a branch when no set of it can be faster than the best
// one. What the decisions so far cost is exact, in the rule of m; what is still
// to come is bounded in the fluid model (see bounds).
type branch struct {
	m, ideal *model
	rem      []remainder
	poll     *engine.Poll
	left     int // branches that are left
	set      []bool
	best     []bool
	value    int64   // of best
	rest     []int64 // nanoseconds of the operations from i on
}

// node is a partial decision: x_0..x_{i-1}.
type node struct {
	away         engine.Bytes // what is to leave
	ends, endsB  int64        // [e_{i-1}, r_{i-1}]
	link, linkB  int64        // in ticks: when the links are idle, were bytes not rounded to nanoseconds
	placed, gone int          // transfers, in the lanes of m
}

// newBranch starts from a set that fits and its step time.
func newBranch(m, ideal *model, start []bool, value int64, branches int, poll *engine.Poll) *branch {
	b := &branch{m: m, ideal: ideal, rem: ideal.bounds(), poll: poll, left: branches, value: value,
		best: slices.Clone(start), set: make([]bool, m.n), rest: make([]int64, m.n+1)}
	for i := m.n - 1; i >= 0; i-- {
		b.rest[i] = b.rest[i+1] + m.timeF[i] + m.timeB[i]
	}
	return b
}

// run decides everything. It returns true if it has finished: then no set is
// faster than best.
func (b *branch) run() bool {
	b.m.fwd.k, b.m.fwd.at, b.m.bwd.k, b.m.bwd.at = 0, 0, 0, 0
	const idle = -1 << 60 // the links have never been busy
	return b.decide(0, node{link: idle, linkB: idle})
}

func (b *branch) decide(i int, at node) bool {
	if b.left--; b.left < 0 || b.poll.Err() != nil {
		return false
	}
	m := b.m
	if i == m.n {
		k := m.fwd.k
		if t := m.time(b.set); t < b.value {
			b.value = t
			copy(b.best, b.set)
		}
		m.fwd.k, m.bwd.k = k, k
		return true
	}
	there := at.ends
	start, startB := max(at.ends, m.fwd.off(m.overF[i])), max(at.endsB, m.bwd.off(m.overB[i]))
	if start == never || startB == never {
		return true
	}
	at.ends, at.endsB = start+m.timeF[i], startB+m.timeB[i]
	keep, send := at, at
	send.away += m.size[i]
	send.link = max(at.link, there*b.ideal.tick) + b.ideal.out[i]
	send.linkB = max(at.linkB, at.endsB*b.ideal.tick) + b.ideal.in[i]
	first, second := b.least(i+1, &keep), int64(never)
	if m.size[i] > 0 {
		second = b.least(i+1, &send)
	}
	if first <= second {
		return b.keep(i, keep, first) && b.send(i, send, second, there)
	}
	return b.send(i, send, second, there) && b.keep(i, keep, first)
}

// least is a lower bound, in ticks, of all sets with the decisions of a node.
func (b *branch) least(i int, at *node) int64 {
	tick := b.ideal.tick
	e, eB := at.ends*tick, at.endsB*tick
	return e + eB + b.rest[i]*tick + b.rem[i].atLeast(b.ideal, at.away, at.link-e, at.linkB-eB)
}

func (b *branch) keep(i int, at node, least int64) bool {
	if least > (b.value-1)*b.ideal.tick {
		return true
	}
	return b.decide(i+1, at)
}

func (b *branch) send(i int, at node, least, there int64) bool {
	if least > (b.value-1)*b.ideal.tick {
		return true
	}
	m := b.m
	m.fwd.add(m.size[i], m.out[i], there, at.ends)
	m.bwd.add(m.size[i], m.in[i], at.endsB, 0)
	k := m.fwd.k
	// All that leaves is gone before the first fetch, and the links only get later.
	done := true
	if m.fwd.gone[k-1]+m.bwd.end[k-1] < b.value {
		b.set[i] = true
		done = b.decide(i+1, at)
		b.set[i] = false
	}
	m.fwd.k, m.bwd.k = k-1, k-1
	return done
}
