package offload

import (
	"cmp"
	"math"
	"slices"

	"memtide/engine"
)

// frontier decides about x_0, x_1, ... in turn for all sets at once, as labels does in the fluid model. It proves which
// set is the best one for the transfers of the problem. It is a branch and bound that goes stage by stage, so that
// partial decisions can be compared. With a small limit on the number of partial decisions after each stage it proves
// little, but finds good sets fast (a beam search). The method is our own.
//
// The rest of a step time depends only on times of the forward pass and times of the backward pass, and every part of
// it is a sum of one of each. So a partial decision dominates another if its forward times are later by at most some d
// and its backward times earlier by at least d, if at least as much leaves, and if the step time that is already
// certain is no more than a lower bound of the other's.
type frontier struct {
	m, ideal *model
	rem      []remainder
	needs    [][]engine.Bytes // by i: bytes to be away during operations from i on, sorted, without repetition
	poll     *engine.Poll
	work     int   // comparisons left
	value    int64 // step time of best
	best     []bool
	least    int64 // no set is faster than the smaller of least and value

	now, next []partial
	rows      []int64 // the times of now: for each, len(needs[i]) forward times and as many backward times
	spare     []int64 // memory for the next rows
	kept      []rival
	stages    [][]origin
}

// origin is the part of a partial decision that is kept when the next value has been decided.
type origin struct {
	from int32
	sent bool
}

// partial is a partial decision. The times at which needs[i] are away, as far as that is decided,
// are a row of the table.
type partial struct {
	away        engine.Bytes
	ends, endsB int64 // [e_{i-1}, r_{i-1}]
	link, linkB int64 // when the links are idle
	idle, idleB int64 // the same in ticks, without rounding transfers to nanoseconds
	joined      int64 // lower bound of the step time, from pairs of times so far
	least       int64 // in ticks: lower bound of all sets with these decisions
	row         int   // index of its first time
	from        int32
	sent        bool
}

// rival holds the numbers of a kept partial decision that dominated compares first.
type rival struct {
	joined                   int64 // in ticks
	ends, link, endsB, linkB int64
	row                      int // index of its first time
}

// maxMoments is the largest number of times kept after a stage.
const maxMoments = 2_000_000

// newFrontier returns a frontier that starts from a set that fits and its step time.
func newFrontier(m, ideal *model, start []bool, value int64, work int, poll *engine.Poll) *frontier {
	f := &frontier{m: m, ideal: ideal, rem: ideal.bounds(), poll: poll, work: work, value: value,
		best:  slices.Clone(start),
		needs: make([][]engine.Bytes, m.n+1)}
	var needs []engine.Bytes
	for i := m.n - 1; i >= 0; i-- {
		for _, v := range []engine.Bytes{m.overF[i], m.overB[i]} {
			if k, ok := slices.BinarySearch(needs, v); v > 0 && !ok {
				needs = slices.Insert(needs, k, v)
			}
		}
		f.needs[i] = slices.Clone(needs)
	}
	return f
}

// run decides about all values. If a stage has more than wide partial decisions, it keeps only
// narrow of them there and at every later stage: those with the least bounds. It returns true if
// that did not happen; then no set is faster than best. Otherwise best is the fastest set found.
func (f *frontier) run(wide, narrow int) bool {
	most := max(1, maxMoments/(2*len(f.needs[0])+1))
	wide, narrow = min(wide, most), min(narrow, most)
	f.now = append(f.now[:0], partial{from: -1, idle: lowest, idleB: lowest})
	f.rows, f.stages = append(f.rows[:0], make([]int64, 2*len(f.needs[0]))...), f.stages[:0]
	cut := int64(never) // least bound of the partial decisions that are left out
	for i := range f.m.n {
		f.expand(i)
		f.undominated(i)
		if f.poll.Err() != nil {
			return false
		}
		if len(f.now) > wide {
			cut, wide = min(cut, f.drop(narrow)), narrow
		}
		if f.work <= 0 {
			for k := range f.now {
				cut = min(cut, f.now[k].least)
			}
			f.proven(cut)
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
	f.proven(min(cut, f.ideal.tick*f.value))
	return cut == never
}

// proven records that no set takes less than ticks, or less than value.
func (f *frontier) proven(ticks int64) {
	f.least = max(f.least, min(f.value, int64(f.ideal.nanoseconds(ticks))))
}

// drop keeps the width partial decisions with the least bounds, and returns the least bound of the others.
func (f *frontier) drop(width int) int64 {
	slices.SortFunc(f.now, func(a, b partial) int {
		return cmp.Or(cmp.Compare(a.least, b.least), cmp.Compare(b.away, a.away), cmp.Compare(a.row, b.row))
	})
	cut := f.now[width].least
	f.now = f.now[:width]
	return cut
}

// expand decides about x_i in every partial decision.
func (f *frontier) expand(i int) {
	m := f.m
	needs := f.needs[i]
	over, overB := place(needs, m.overF[i]), place(needs, m.overB[i])
	f.next = f.next[:0]
	for k := range f.now {
		p := f.now[k]
		if p.away < m.overF[i] || p.away < m.overB[i] {
			continue
		}
		row, rowB := f.rows[p.row:], f.rows[p.row+len(needs):]
		ready := p.ends // when x_i is on the device
		p.from, p.sent = int32(k), false
		if over >= 0 {
			p.ends = max(p.ends, row[over])
		}
		if overB >= 0 {
			p.endsB = max(p.endsB, rowB[overB])
		}
		p.ends += m.timeF[i]
		p.endsB += m.timeB[i]
		if over >= 0 {
			p.joined = max(p.joined, p.ends+rowB[over])
		}
		if overB >= 0 {
			p.joined = max(p.joined, p.endsB+row[overB])
		}
		f.offer(i+1, &p)
		if m.size[i] > 0 {
			f.send(&p, i, ready)
			f.offer(i+1, &p)
		}
	}
}

// place returns the index of an amount among the needs, or -1 if nothing has to be away.
func place(needs []engine.Bytes, v engine.Bytes) int {
	if v <= 0 {
		return -1
	}
	k, _ := slices.BinarySearch(needs, v)
	return k
}

// send adds x_i, which is on the device from ready on, to the values that leave.
func (f *frontier) send(p *partial, i int, ready int64) {
	m, tick := f.m, f.ideal.tick
	p.sent = true
	p.away += m.size[i]
	p.link, p.linkB = max(p.link, ready)+m.out[i], max(p.linkB, p.endsB)+m.in[i]
	p.idle, p.idleB = max(p.idle, ready*tick)+f.ideal.out[i], max(p.idleB, p.endsB*tick)+f.ideal.in[i]
	p.joined = max(p.joined, max(p.link, p.ends)+p.linkB)
}

// offer appends a partial decision if a set with it can be faster than the best.
func (f *frontier) offer(i int, p *partial) {
	tick := f.ideal.tick
	e, eB := p.ends*tick, p.endsB*tick
	p.least = max(p.joined*tick, e+eB+f.m.rest[i]*tick+f.rem[i].atLeast(f.ideal, p.away, p.idle-e, p.idleB-eB))
	if p.least <= (f.value-1)*tick {
		f.next = append(f.next, *p)
	}
}

// undominated makes now the partial decisions of next that no other one dominates. x_i has just been decided.
func (f *frontier) undominated(i int) {
	slices.SortFunc(f.next, func(a, b partial) int {
		if a.away != b.away {
			return cmp.Compare(b.away, a.away)
		}
		before := -1 // a decision that keeps x_i comes first
		if a.sent {
			before = 1
		}
		return cmp.Or(cmp.Compare(a.least, b.least), cmp.Compare(a.ends+a.endsB, b.ends+b.endsB),
			cmp.Compare(a.from, b.from), before)
	})
	before := f.now
	rows, table := f.rows, f.spare[:0]
	needs := f.needs[i+1]
	from := positions(f.needs[i], needs)
	f.kept = f.kept[:0]
	out := f.next[:0]
	for k := range f.next {
		if f.poll.Err() != nil {
			break
		}
		p := f.next[k]
		old := before[p.from].row
		p.row = len(table)
		table = f.moments(table, rows[old:old+2*len(f.needs[i])], needs, from, &p, i)
		f.work -= len(needs) / 4
		count, _ := slices.BinarySearch(needs, p.away+1)
		row, rowB := table[p.row:p.row+count], table[p.row+len(needs):p.row+len(needs)+count]
		if f.work > 0 && f.dominated(&p, table, row, rowB, len(needs)) {
			table = table[:p.row]
			continue
		}
		f.kept = append(f.kept, rival{p.joined * f.ideal.tick, p.ends, p.link, p.endsB, p.linkB, p.row})
		out = append(out, p)
	}
	f.now, f.next = out, before
	f.rows, f.spare = table, rows
}

// positions returns the indices of needs in before, the needs of the stage before, which contain them.
func positions(before, needs []engine.Bytes) []int {
	at := make([]int, len(needs))
	k := 0
	for j, v := range needs {
		for before[k] != v {
			k++
		}
		at[j] = k
	}
	return at
}

// moments appends the times at which the needs are away after the decision about x_i: the same as
// before, or those of x_i. Needs that exceed the bytes away have no time yet.
func (f *frontier) moments(table, before []int64, needs []engine.Bytes, from []int, p *partial, i int) []int64 {
	away, half := p.away, len(before)/2
	if p.sent {
		away -= f.m.size[i]
	}
	at := len(table)
	table = slices.Grow(table, 2*len(needs))[:at+2*len(needs)]
	row, rowB := table[at:at+len(needs)], table[at+len(needs):]
	gone := max(p.link, p.ends)
	for j, v := range needs {
		switch {
		case v <= away:
			row[j], rowB[j] = before[from[j]], before[half+from[j]]
		case v > p.away:
			row[j], rowB[j] = math.MaxInt64/4, math.MaxInt64/4
		case f.m.rule == whole:
			row[j], rowB[j] = gone, p.linkB
		default: // see model.left and model.missing
			rate, rest := f.m.toDev, p.away-v
			row[j] = p.link - f.m.out[i] + int64(f.m.toHost.Time(v-away))
			rowB[j] = p.linkB - int64(min(rate.Time(rest), rate.Time(rest+1)-1))
		}
	}
	return table
}

// dominated reports whether a kept partial decision dominates p. All kept ones have at least as much away. The times of
// p are row and rowB. Those of a kept one are in the table, half forward times, then half backward times.
func (f *frontier) dominated(p *partial, table, row, rowB []int64, half int) bool {
	kept := f.kept
	for k := range kept {
		q := &kept[k]
		if q.joined > p.least {
			continue
		}
		d := max(q.ends-p.ends, q.link-p.link)
		dB := max(q.endsB-p.endsB, q.linkB-p.linkB)
		if d+dB <= 0 && later(table[q.row:], table[q.row+half:], row, rowB, d, dB) {
			f.work -= k + 1
			kept[k/2], kept[k] = kept[k], kept[k/2] // one that dominates is likely to dominate again
			return true
		}
	}
	f.work -= len(kept)
	return false
}

// later reports whether d and dB can rise to numbers with a sum of at most 0 so that no forward
// time of q is later than that of p by more than d, and no backward time by more than dB.
func later(q, qB, p, pB []int64, d, dB int64) bool {
	q, qB, pB = q[:len(p)], qB[:len(p)], pB[:len(p)]
	for j := range p {
		d, dB = max(d, q[j]-p[j]), max(dB, qB[j]-pB[j])
		if d+dB > 0 {
			return false
		}
	}
	return true
}

// trace sets best to the set of a complete decision.
func (f *frontier) trace(k int) {
	for i := f.m.n - 1; i >= 0; i-- {
		o := f.stages[i][k]
		f.best[i], k = o.sent, int(o.from)
	}
}
