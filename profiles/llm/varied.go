package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
)

// Batches that are padded to their own longest sequence have another length in every step, and so other sizes of
// requests, of which the allocator's free blocks fit few: what it reserves grows over the steps.
const (
	variedSteps = 32 // that are replayed
	variedLeast = 16 // the shortest batch has this part of the longest
)

// variedLengths returns the lengths of such batches, the longest s.Seq, spread evenly in an order that repeats
// nothing: multiples of the golden ratio, modulo 1.
func (s *Setup) variedLengths() []int64 {
	const golden = 0.6180339887498949
	least := ceil(s.Seq, variedLeast)
	out := make([]int64, variedSteps)
	for i, at := 0, 0.0; i < len(out); i++ {
		if at += golden; at >= 1 {
			at--
		}
		out[i] = least + engine.Int64(float64(s.Seq-least)*at)
	}
	out[len(out)-1] = s.Seq // the longest, once all others have left their blocks
	return out
}

// vary replays steps of varied lengths through the allocator, which then may reserve more than for equal ones.
// Expandable segments have no free blocks of other sizes: they reserve what the longest needs.
func (r *Result) vary(s *Setup, of share) {
	var p *program
	for _, n := range s.variedLengths() {
		one := *s
		one.Seq = n
		q := newProgram(&one, of)
		if p == nil {
			p = q
			p.ledger = ledgers.Get().(*ledger)
			defer p.reuse()
			p.loads()
		}
		p.s = q.s
		units := q.all()
		for i, u := range p.all() { // states stay, blocks are of the new length
			u.block, u.light = units[i].block, units[i].light
		}
		p.step()
	}
	r.Reserved = max(r.Reserved, p.replay(caching.Rules{}, s.poll))
}
