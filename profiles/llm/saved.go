package llm

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

// Kept is what autograd keeps for the backward of one micro batch, storages counted once at
// the first place that keeps them.
type Kept struct {
	Blocks  [][2]int64   // in order: how many blocks in a row keep how many bytes
	Outside engine.Bytes // what stands before the blocks and behind them
}

// Kept is what autograd keeps of one micro batch where a rank has the whole model. Labels
// count with what the loss keeps.
func (s Setup) Kept() (Kept, error) {
	return profiles.Try(func() Kept {
		s = s.normal()
		return newProgram(&s, s.end(true, true)).saved()
	})
}

// saved is Kept of a program that has the whole model.
func (p *program) saved() (out Kept) {
	for _, t := range p.s.Model.Beside {
		if t.Blocks > 0 {
			out.Blocks = append(out.Blocks, [2]int64{t.Blocks, 0})
		}
	}
	for _, u := range p.units {
		out.Blocks = appendRun(out.Blocks, int64(u.front().keeps()))
	}
	q, w := &program{ledger: &ledger{}, s: p.s, root: newUnit(p.root.weights, nil)}, &pass{}
	_, outer := p.s.tokens()
	x := q.take(size(outer*p.s.Model.Hidden, p.s.Compute), Saved)
	q.lossForward(w, x)
	q.give(w.loss.held)
	labels := p.s.Batch * p.s.Seq
	if p.s.Batch == 1 { // the shifted ones are a view of one more
		labels++
	}
	if p.s.Model.Masked { // as they are
		labels = 0
	}
	if p.s.Model.Shorter {
		labels = p.s.Batch * (p.s.Seq - 1)
		if p.s.Batch == 1 { // a view of what goes into the model
			labels = 0
		}
		out.Outside = -size(p.s.Batch*p.s.Model.Words, 4)
	}
	out.Outside += q.live + p.frontBytes() + size(labels, 8)
	return out
}

// frontBytes are what is kept before the first block, beside its input: positions that are
// looked up, what a dropout has dropped, a norm.
func (p *program) frontBytes() (n engine.Bytes) {
	m := p.s.Model
	if !p.first || !p.s.written() {
		return 0
	}
	inner, _ := p.s.tokens()
	if m.Positions > 0 && m.OwnIDs {
		n += size(p.s.Seq, 8)
	}
	if m.Types > 0 {
		n += size(p.s.Seq, 8)
	}
	if m.Dropped {
		n += size(inner*m.Hidden, 1)
	}
	switch {
	case m.FirstNorm && m.Layer:
		n += size(inner*m.Hidden, p.s.Compute) + size(inner, 8)
	case m.FirstNorm:
		n += size(inner*(m.Hidden+1), 4)
	}
	return n
}

// Said is what is to be said about the kernel of attention.
func (s *Setup) Said() []string {
	if s.Attention != AttentionSDPA {
		return nil
	}
	blocks, own := 0, false
	for l := range s.Model.Layers {
		if k := s.Model.At(l); s.efficient(k) {
			blocks++
			own = own || s.masked(k)
		}
	}
	if blocks == 0 {
		return nil
	}
	text := fmt.Sprintf("scaled_dot_product_attention takes its memory-efficient kernel in %d of %d blocks", blocks, s.Model.Layers)
	if own {
		text += fmt.Sprintf(": sequences are longer than a window, and each such block keeps a mask of its own, %d bytes", int64(size(s.Seq*s.Seq, 2)))
	}
	return []string{text + "."}
}

// keeps are the bytes that a block holds from its forward to its backward.
func (b *block) keeps() (n engine.Bytes) {
	for root, v := range b.values {
		switch {
		case root == 0:
			if b.input {
				n += v.bytes
			}
		case v.root != valueID(root):
		case b.mode == CheckpointNone && b.keepers[root] > 0, b.mode != CheckpointNone && b.cached[root]:
			n += v.bytes
		}
	}
	return n
}
