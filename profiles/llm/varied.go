package llm

import (
	"memtide/engine"
	"memtide/engine/caching"
)

// Where each batch is padded to its own longest sequence, every step requests memory in other sizes. Few of the
// allocator's free blocks then fit, so that what it reserves grows from step to step.
const (
	variedSteps  = 32   // that are replayed, at most
	variedBlocks = 4096 // whose forwards these run, at most, so that deep models have fewer steps
	variedLeast  = 16   // the shortest batch has this part of the longest
)

// variedLengths returns the lengths of such batches, of at most s.Seq tokens. They are spread evenly and mixed well:
// multiples of the golden ratio, modulo 1.
func (s *Setup) variedLengths() []int64 {
	const golden = 0.6180339887498949
	least := ceil(s.Seq, variedLeast)
	out := make([]int64, max(2, min(variedSteps, variedBlocks/s.Model.Layers)))
	for i, at := 0, 0.0; i < len(out); i++ {
		if at += golden; at >= 1 {
			at--
		}
		out[i] = least + engine.Int64(float64(s.Seq-least)*at)
	}
	out[len(out)-1] = s.Seq // the longest last, when the others have split the free blocks
	return out
}

// vary replays steps of varied lengths through the allocator, which then may reserve more than for equal ones.
// Expandable segments do not: they reserve what the longest batch needs.
func (r *Result) vary(s *Setup, of share) {
	p := newProgram(s, of)
	p.ledger = ledgers.Get().(*ledger)
	defer p.reuse()
	p.loads()
	for _, n := range s.variedLengths() {
		one := *s
		one.Seq = n
		units := newProgram(&one, of).all()
		for i, u := range p.all() { // the states stay, the blocks have the new length
			u.block, u.light = units[i].block, units[i].light
		}
		p.s = &one
		p.step()
	}
	r.Reserved = max(r.Reserved, p.replay(caching.Rules{}, s.room, s.poll))
}
