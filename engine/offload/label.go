package offload

import (
	"cmp"
	"slices"
	"sort"

	"memtide/engine"
)

// label is a decision about x_0..x_{i-1}, as Algorithm 1 of paper 000 sees it,
// in ticks of a fluid model.
type label struct {
	away  engine.Bytes // what is to leave; the paper's M_F less what is pending is the total less this
	pend  int64        // [Delta_F] how long the link still needs at the end of F_{i-1}; negative: idle for so long
	pendB int64        // [Delta_B] the same in the backward pass, in reversed time
	idle  int64        // [IDLE] what the operations have waited, in both passes
	tie   int64        // sum of x_i*(1000+i) over what is to leave; see ties
	from  int32        // the label of x_0..x_{i-2} that it continues
	sent  bool         // x_{i-1} is to leave
}

// labels is Algorithm 1 of paper 000, corrected, by label setting. In the
// paper's form it tabulates every state that memory and the two pending amounts
// can take; here only states are kept that no other one dominates, and that may
// still lead to a set as fast as the best one known.
//
// One label dominates another if at least as much is to leave and, after it has
// waited for as long as its links are behind those of the other, it has not
// waited longer: each unit of waiting moves a byte or is one of an idle link, so
// every later decision of the other is open to it and costs no more.
//
// Corrections to the algorithm as printed: the feasibility test uses the
// positive parts of the pending amounts, Delta_B is the data of x_{i-1}..x_0,
// and in the last step R_j^B has |y_{j+1}| and R_j^F does not count |y_{L+1}|.
// Here needB_j contains |y_j| and |y_{j+1}|, and needF_j no gradient that is not
// held at that time.
type labels struct {
	m      *model
	rem    []remainder
	ties   bool // tell equally fast sets apart: fewest bytes, then the earliest
	cap    int  // labels that are kept after each stage
	work   int  // comparisons that are left
	poll   *engine.Poll
	best   int64 // the best step time that is known; sets as fast as this are of interest
	tie    int64 // of the best set
	set    []bool
	cut    int64 // the least bound of what was left out; never if nothing was
	stages [][]label
	kept   []labelSums  // of the labels that no other one dominates,
	waits  []labelWaits // and the rest of what is compared
}

// labelSums are what mostly tells that a label does not dominate another, and
// labelWaits are what else has to be compared.
type (
	labelSums  struct{ all, tie int64 }
	labelWaits struct{ idle, pend, pendB int64 }
)

// newLabels starts from a set that fits. work is how many comparisons of labels
// are made at most.
func newLabels(m *model, start []bool, ties bool, work int, poll *engine.Poll) *labels {
	l := &labels{m: m, rem: m.bounds(), ties: ties, cap: 1000 + min(work, 1<<30)/1000, work: work, poll: poll,
		best: m.time(start), set: slices.Clone(start), cut: never}
	for i, sent := range start {
		if sent {
			l.tie += l.weight(i)
		}
	}
	return l
}

// weight returns what x_i adds to the tie-break, if there is one.
func (l *labels) weight(i int) int64 {
	if !l.ties {
		return 0
	}
	return l.m.weight(i, l.m.size[i])
}

// weight returns the tie-break: among equally fast sets the one with the least sum is
// taken, that is, with the fewest bytes, roughly, and the earlier ones. Where the
// sum would overflow, bytes are counted in larger units.
func (m *model) weight(i int, size engine.Bytes) int64 {
	return int64((size+m.unit-1)/m.unit) * int64(1000+i)
}

// run decides everything. The best set is then in set, and best is its step
// time: the least of all sets if cut is not below it.
func (l *labels) run() {
	l.stages = [][]label{{{from: -1}}}
	for i := range l.m.n {
		next := l.expand(i)
		next = l.undominated(next)
		if len(next) > l.cap {
			l.drop(i+1, next)
			next = next[:l.cap:l.cap]
		}
		l.stages = append(l.stages, next)
		if l.poll.Err() != nil {
			l.cut = lowest
			return
		}
		if l.work <= 0 {
			l.cut = min(l.cut, l.leastOf(i+1, next))
			return
		}
	}
	last := l.stages[l.m.n]
	for k := range last {
		c := &last[k]
		t := l.m.compute + c.idle + l.final(c)
		if t < l.best || t == l.best && c.tie < l.tie {
			l.best, l.tie = t, c.tie
			l.trace(k)
		}
	}
}

// expand decides x_i in every label.
func (l *labels) expand(i int) (next []label) {
	m := l.m
	for k := range l.stages[i] {
		c := &l.stages[i][k]
		roomF, roomB := m.overF[i]-c.away, m.overB[i]-c.away
		if roomF > 0 || roomB > 0 {
			continue
		}
		waitF := max(0, max(c.pend, 0)+int64(roomF)*m.out1)
		waitB := max(0, max(c.pendB, 0)+int64(roomB-m.part)*m.in1)
		keep := *c
		keep.from, keep.sent = int32(k), false
		keep.idle += waitF + waitB
		keep.pend -= waitF + m.timeF[i]
		keep.pendB -= waitB + m.timeB[i]
		next = l.offer(next, i+1, keep)
		if m.size[i] == 0 {
			continue
		}
		send := keep
		send.sent = true
		send.away += m.size[i]
		send.pend = max(c.pend, 0) + m.out[i] - waitF - m.timeF[i]
		send.pendB = max(keep.pendB, 0) + m.in[i]
		send.tie += l.weight(i)
		next = l.offer(next, i+1, send)
	}
	return next
}

// offer appends a label unless no set that continues it is of interest.
func (l *labels) offer(next []label, i int, c label) []label {
	least := l.least(i, &c)
	if least > l.best || least == l.best && (!l.ties || l.leastTie(i, &c) >= l.tie) {
		return next
	}
	return append(next, c)
}

func (l *labels) least(i int, c *label) int64 {
	return l.m.compute + c.idle + l.rem[i].atLeast(l.m, c.away, c.pend, c.pendB)
}

// leastTie returns the least tie-break of all sets that continue a label: what is
// still missing has to leave, x_i at the earliest.
func (l *labels) leastTie(i int, c *label) int64 {
	return c.tie + max(0, int64((l.m.excess-c.away)/l.m.unit))*int64(1000+i)
}

func (l *labels) leastOf(i int, all []label) int64 {
	least := int64(never)
	for k := range all {
		least = min(least, l.least(i, &all[k]))
	}
	return least
}

// drop leaves out the labels with the largest bounds, and remembers the least of
// them.
func (l *labels) drop(i int, all []label) {
	sort.SliceStable(all, func(a, b int) bool { return l.least(i, &all[a]) < l.least(i, &all[b]) })
	l.cut = min(l.cut, l.least(i, &all[l.cap]))
}

// undominated removes the labels that another one dominates.
func (l *labels) undominated(all []label) []label {
	slices.SortFunc(all, compareLabels)
	l.kept, l.waits = l.kept[:0], l.waits[:0]
	out := all[:0]
	for k := range all {
		if l.poll.Err() != nil {
			return nil
		}
		c := &all[k]
		sum, wait := labelSums{c.idle + c.pend + c.pendB, c.tie}, labelWaits{c.idle, c.idle + c.pend, c.idle + c.pendB}
		if l.work > 0 && l.dominated(sum, wait) {
			continue
		}
		l.kept, l.waits = append(l.kept, sum), append(l.waits, wait)
		out = append(out, *c)
	}
	return out
}

// compareLabels orders labels so that none is dominated by a later one.
func compareLabels(a, b label) int {
	if a.away != b.away {
		return cmp.Compare(b.away, a.away)
	}
	return cmp.Or(cmp.Compare(a.idle, b.idle), cmp.Compare(a.pend, b.pend),
		cmp.Compare(a.pendB, b.pendB), // that of all three, and that of idle and pendB
		cmp.Compare(a.tie, b.tie))
}

// dominated reports whether a kept label is at most as large in every part; all kept labels have at least as much away.
// A label that dominates moves towards the front, because it is likely to dominate again.
func (l *labels) dominated(sum labelSums, wait labelWaits) bool {
	kept, rest := l.kept, l.waits[:len(l.kept)]
	for k := range kept {
		if kept[k].all > sum.all || kept[k].tie > sum.tie {
			continue
		}
		if q := &rest[k]; q.idle <= wait.idle && q.pend <= wait.pend && q.pendB <= wait.pendB {
			l.work -= k + 1
			kept[k/2], kept[k] = kept[k], kept[k/2]
			rest[k/2], rest[k] = rest[k], rest[k/2]
			return true
		}
	}
	l.work -= len(kept)
	return false
}

// final returns what a complete decision still has to wait [e_G]: for the order of
// the transfers, and for B_j and F_j that no wait of their own pass has covered.
func (l *labels) final(c *label) int64 {
	m := l.m
	wait := max(0, c.pend+c.pendB)
	var after int64
	for j := m.n - 1; j >= 0 && after < -c.pendB; j-- {
		wait = max(wait, int64(m.overB[j]-c.away)*m.out1+max(c.pend, 0)-after)
		after += m.timeB[j]
	}
	after = 0
	for j := m.n - 1; j >= 0 && after < -c.pend; j-- {
		wait = max(wait, int64(m.overF[j]-m.part-c.away)*m.in1+max(c.pendB, 0)-after)
		after += m.timeF[j]
	}
	return wait
}

// trace reads the set of a label of the last stage.
func (l *labels) trace(k int) {
	for i := l.m.n; i > 0; i-- {
		c := &l.stages[i][k]
		l.set[i-1] = c.sent
		k = int(c.from)
	}
}

// remainder bounds what the operations from a stage on add to a step time, from
// constants of the chain: whatever is decided about their values, bytes do not
// move faster than the link.
//
// In each of the four kinds of waiting, some operation j still needs that bytes
// are away: F_j waits for offloads; B_j, in reversed time, for fetches; fetches
// start after F_j; B_j starts after offloads. What is away already, and what the
// links still have to do, come from a partial decision; the rest is the largest
// over j. The last two add the waiting before j.
type remainder struct{ waitF, waitB, backF, backFw, outB, outBw int64 }

const lowest = -1 << 60

// bounds computes the remainders for i = 0..n. The model must be one of fluid.
func (m *model) bounds() []remainder {
	all := make([]remainder, m.n+1)
	none := remainder{lowest, lowest, lowest, lowest, lowest, lowest}
	all[m.n] = none
	// The sums of times from j on are the same seen from any earlier stage, so
	// the last four are kept without the part that depends on i.
	over := none
	var restF, restB int64 // of the operations after j, then from j on
	for j := m.n - 1; j >= 0; j-- {
		outF, outB := int64(m.overF[j])*m.out1, int64(m.overB[j])*m.out1
		inF, inB := int64(m.overF[j]-m.part)*m.in1, int64(m.overB[j]-m.part)*m.in1
		over.waitF = max(outF, over.waitF-m.timeF[j])
		over.waitB = max(inB, over.waitB-m.timeB[j])
		over.backF = max(over.backF, inF-restF)
		over.outB = max(over.outB, outB-restB)
		restF += m.timeF[j]
		restB += m.timeB[j]
		over.backFw = max(over.backFw, inF+outF+m.timeF[j])
		over.outBw = max(over.outBw, outB+inB+m.timeB[j])
		all[j] = remainder{over.waitF, over.waitB, over.backF - restB, over.backFw - restF - restB,
			over.outB - restF, over.outBw - restF - restB}
	}
	return all
}

// atLeast returns the bound for a partial decision: away bytes are to leave, and the
// links will be done with them pend and pendB ticks from now (negative: they
// have been idle that long).
func (q *remainder) atLeast(m *model, away engine.Bytes, pend, pendB int64) int64 {
	f := max(pend, 0) - int64(away)*m.out1
	g := max(pendB, 0) - int64(away)*m.in1
	least := max(f+q.waitF, 0) + max(g+q.waitB, 0)
	return max(least, g+q.backF, f+g+q.backFw, f+q.outB, f+g+q.outBw)
}
