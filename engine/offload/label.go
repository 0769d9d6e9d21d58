package offload

import (
	"cmp"
	"slices"
	"sort"

	"memtide/engine"
)

// label is a decision about x_0..x_{i-1}, a state of Algorithm 1 of paper 000, in ticks of a fluid model.
type label struct {
	away  engine.Bytes // bytes that leave; the paper's M_F less the pending bytes is the total less this
	pend  int64        // [Delta_F] link time still needed at the end of F_{i-1}; negative: idle that long
	pendB int64        // [Delta_B] the same for the backward pass, in reversed time
	idle  int64        // [IDLE] how long operations have waited, in both passes
	tie   int64        // sum of the weights of the values that leave; 0 without ties
	from  int32        // index of the label of x_0..x_{i-2} that it continues
	sent  bool         // x_{i-1} leaves
}

// labels is Algorithm 1 of paper 000, corrected, by label setting. The paper tabulates every state
// of memory and the two pending amounts. This search keeps only states that no other state
// dominates, and that may still lead to a set as fast as the best known one.
//
// One label dominates another if at least as much leaves and, after it has waited until its links are no further behind
// than those of the other, it has waited no longer. Each unit of waiting moves a byte or is one of an idle link, so
// every later decision of the other is possible for it, too, and costs no more.
//
// Corrections to the algorithm as printed: the feasibility test uses the positive parts of the pending amounts, Delta_B
// is the data of x_{i-1}..x_0, and in the last step R_j^B has |y_{j+1}| and R_j^F does not count |y_{L+1}|. Here
// needB_j contains |y_j| and |y_{j+1}|, and needF_j only gradients that are held at that time.
type labels struct {
	m      *model
	rem    []remainder
	ties   bool // among equally fast sets, prefer the fewest bytes, then the earliest values
	cap    int  // labels kept after each stage
	work   int  // comparisons left
	poll   *engine.Poll
	best   int64 // best known step time; sets as fast as this are of interest
	tie    int64 // tie-break of the best set
	set    []bool
	cut    int64 // least bound of the labels that were left out; never if none was
	stages [][]label
	kept   []labelSums  // of the labels that are not dominated,
	waits  []labelWaits // and the other numbers to compare
}

// labelSums are the numbers that mostly decide that a label does not dominate another. labelWaits
// are the other numbers to compare.
type (
	labelSums  struct{ all, tie int64 }
	labelWaits struct{ idle, pend, pendB int64 }
)

// newLabels returns a search that starts from a set that fits. work is the largest number of comparisons of labels.
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

// weight returns the weight of x_i, or 0 without ties.
func (l *labels) weight(i int) int64 {
	if !l.ties {
		return 0
	}
	return l.m.weight(i, l.m.size[i])
}

// weight returns the weight of x_i in the tie-break: among equally fast sets, the one with the
// least sum of weights is taken, which roughly has the fewest bytes and the earliest values. Bytes
// are counted in units so that the sum does not overflow.
func (m *model) weight(i int, size engine.Bytes) int64 {
	return int64((size+m.unit-1)/m.unit) * int64(1000+i)
}

// run decides about all values. set is then the best set and best its step time: the least of all
// sets, if cut is not below it.
func (l *labels) run() {
	l.stages = [][]label{{{from: -1}}}
	for i := range l.m.n {
		next := l.expand(i)
		next = l.undominated(next)
		if len(next) > l.cap { // the labels with the largest bounds are left out
			sort.SliceStable(next, func(a, b int) bool { return l.least(i+1, &next[a]) < l.least(i+1, &next[b]) })
			l.cut = min(l.cut, l.least(i+1, &next[l.cap]))
			next = next[:l.cap:l.cap]
		}
		l.stages = append(l.stages, next)
		if l.poll.Err() != nil {
			l.cut = lowest
			return
		}
		if l.work <= 0 {
			for k := range next {
				l.cut = min(l.cut, l.least(i+1, &next[k]))
			}
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

// expand decides about x_i in every label.
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

// offer appends a label if a set that continues it can be of interest.
func (l *labels) offer(next []label, i int, c label) []label {
	least := l.least(i, &c)
	if least > l.best || least == l.best && (!l.ties || l.leastTie(i, &c) >= l.tie) {
		return next
	}
	return append(next, c)
}

// least returns a lower bound on the step time of all sets that continue a label.
func (l *labels) least(i int, c *label) int64 {
	return l.m.compute + c.idle + l.rem[i].atLeast(l.m, c.away, c.pend, c.pendB)
}

// leastTie returns the least tie-break of all sets that continue a label: the missing bytes have to
// leave with x_i or later values.
func (l *labels) leastTie(i int, c *label) int64 {
	return c.tie + max(0, int64((l.m.excess-c.away)/l.m.unit))*int64(1000+i)
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

// compareLabels orders labels so that no label is dominated by a later one.
func compareLabels(a, b label) int {
	if a.away != b.away {
		return cmp.Compare(b.away, a.away)
	}
	return cmp.Or(cmp.Compare(a.idle, b.idle), cmp.Compare(a.pend, b.pend),
		cmp.Compare(a.pendB, b.pendB), // orders all sums of idle with pend and pendB
		cmp.Compare(a.tie, b.tie))
}

// dominated reports whether a kept label is at most as large in every part. In all kept labels, at least as much
// leaves. A label that dominates moves towards the front, because it is likely to dominate again.
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

// final returns how long a complete decision still has to wait [e_G]: for the order of the
// transfers, and for those B_j and F_j that no wait of their own pass has covered.
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

// trace sets set to the set of label k of the last stage.
func (l *labels) trace(k int) {
	for i := l.m.n; i > 0; i-- {
		c := &l.stages[i][k]
		l.set[i-1] = c.sent
		k = int(c.from)
	}
}

// remainder bounds what the operations from a stage on add to a step time. It depends only on the
// chain: whatever is decided about the values, bytes do not move faster than the link.
//
// In each of the four kinds of waiting, some operation j needs bytes to be away: F_j waits for offloads; B_j, in
// reversed time, for fetches; fetches start after F_j; B_j starts after offloads. The bytes that are away already, and
// the work of the links that is left, come from a partial decision. The remainder is the largest of the rest over all
// j. The last two kinds add the waiting before j.
type remainder struct{ waitF, waitB, backF, backFw, outB, outBw int64 }

// lowest is below every time of a model.
const lowest = -1 << 60

// bounds returns the remainders for i = 0..n. The rule of the model must be fluid.
func (m *model) bounds() []remainder {
	all := make([]remainder, m.n+1)
	none := remainder{lowest, lowest, lowest, lowest, lowest, lowest}
	all[m.n] = none
	// The sums of times from j on are the same for all earlier stages, so the last four fields are
	// kept without the part that depends on i.
	over := none
	var restF, restB int64 // times of the operations after j, then from j on
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

// atLeast returns the bound for a partial decision: away bytes leave, and the links need pend and
// pendB more ticks for them (if negative, they have been idle that long).
func (q *remainder) atLeast(m *model, away engine.Bytes, pend, pendB int64) int64 {
	f := max(pend, 0) - int64(away)*m.out1
	g := max(pendB, 0) - int64(away)*m.in1
	least := max(f+q.waitF, 0) + max(g+q.waitB, 0)
	return max(least, g+q.backF, f+g+q.backFw, f+q.outB, f+g+q.outBw)
}
