package offload

import "memtide/engine"

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

// atLeast is the bound for a partial decision: away bytes are to leave, and the
// links will be done with them pend and pendB ticks from now (negative: they
// have been idle that long).
func (q *remainder) atLeast(m *model, away engine.Bytes, pend, pendB int64) int64 {
	f := max(pend, 0) - int64(away)*m.out1
	g := max(pendB, 0) - int64(away)*m.in1
	least := max(f+q.waitF, 0) + max(g+q.waitB, 0)
	return max(least, g+q.backF, f+g+q.backFw, f+q.outB, f+g+q.outBw)
}
