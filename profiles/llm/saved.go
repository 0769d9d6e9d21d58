package llm

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

// Kept is what autograd keeps for the backward of one micro batch. A storage counts at the first place that keeps
// it.
type Kept struct {
	Blocks  [][2]int64   // runs of equal blocks, in order: how many blocks, and the bytes that each keeps
	Outside engine.Bytes // bytes that are kept before and after the blocks
}

// Kept returns what autograd keeps of one micro batch if a rank has the whole model. Labels count with the loss.
func (s Setup) Kept() (Kept, error) {
	return profiles.Try(func() Kept {
		s = s.normal()
		return newProgram(&s, s.end(true, true)).saved()
	})
}

// saved is Kept for a program with the whole model.
func (p *program) saved() (out Kept) {
	for _, t := range p.s.Model.Beside {
		if t.Blocks > 0 {
			out.Blocks = append(out.Blocks, [2]int64{t.Blocks, 0})
		}
	}
	for i, u := range p.units {
		n := u.front().keeps()
		if i == 0 && u.front().input && p.s.Model.PerLayer != nil &&
			p.s.Model.AltUp == nil { // the embedding counts outside
			n -= u.front().values[0].bytes
		}
		if u.front().mode != CheckpointNone { // PyTorch's hooks see the input of an inner checkpoint outside
			for _, v := range u.front().values {
				if v.held && v.name == "beside" {
					n -= v.bytes
					out.Outside += v.bytes
				}
			}
		}
		out.Blocks = appendRun(out.Blocks, int64(n))
	}
	none := newUnit(nil, nil)
	alone := *p.s // a reference keeps nothing
	alone.Objective = ""
	q, w := &program{ledger: &ledger{}, s: &alone, root: none, head: none}, &pass{}
	last := p.s.tail()
	_, outer := last.tokens()
	x := q.take(last.stream(outer, &last.Model.Block, last.Model.WideSum), Saved)
	q.lossForward(w, x)
	q.give(w.loss.held)
	labels := p.s.Batch * p.s.part()
	if p.s.Batch == 1 { // the shifted labels are a view of one more
		labels++
	}
	if p.s.Model.Masked || p.s.Model.NarrowLoss { // labels are not shifted
		labels = 0
	}
	if p.s.Model.Shorter {
		labels = p.s.Batch * (p.s.part() - 1)
		if p.s.Batch == 1 { // a view of the model's input
			labels = 0
		}
		out.Outside -= size(p.s.Batch*p.s.Model.Words, 4)
	}
	out.Outside += q.live + p.frontBytes() + size(labels, 8)
	return out
}

// frontBytes returns the bytes that are kept before the first block, beside its input: positions, masks of
// dropouts, and the input of a norm.
func (p *program) frontBytes() (n engine.Bytes) {
	m := p.s.Model
	if _, outer := p.s.tokens(); p.first && p.s.TE && m.Ends == nil { // [Megatron-LM: core/models/common/embeddings]
		return engine.Bytes(given(p.s.Dropout, outer*m.Hidden))
	}
	if !p.first || !p.s.written() && !p.s.TE {
		return 0
	}
	if m.Ends != nil {
		return p.s.frontKept()
	}
	inner, _ := p.s.tokens()
	n += m.embeddedBytes(inner, p.s.Compute)
	n += size(given(m.Positions > 0 && m.OwnIDs, p.s.part())+given(m.Types > 0, p.s.part()), 8)
	n += size(m.Distances, 8) + size(given(m.EmbedMask, inner), p.s.Compute) + size(given(m.Dropped, inner*m.Hidden), 1)
	switch {
	case m.FirstNorm && m.Layer && p.s.autocast():
		n += size(inner*(m.Hidden+2), 4)
	case m.FirstNorm && m.Layer:
		n += size(inner*m.Hidden, p.s.Compute) + size(inner, 8)
	case m.FirstNorm:
		n += size(inner*(m.Hidden+1), 4)
	}
	return n
}

// Said returns notes on what the answer takes for granted: kernels and versions, and what it counts beside the step.
func (s *Setup) Said() (notes []string) {
	for _, text := range []string{s.swapSaid(), s.ramSaid()} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	if s.written() && !s.Kernels && s.Model.has((*Block).hasKernels) {
		notes = append(notes, "Linear attention, state spaces and Apertus' activation run as torch code, which keeps several times more than the kernels of fla, causal_conv1d, mamba_ssm and xielu: -kernels.")
	}
	if s.Written && !s.DeepSpeed && s.LoRA == nil && s.Optimizer == StepFused && s.Moments > 0 {
		notes = append(notes, "The optimizer's step is one fused kernel, Transformers' default for AdamW since PyTorch 2.8. Before it was foreach, whose step needs more: -kernel foreach, or -program hf-2024 with all that Transformers did until March 2025.")
	}
	if s.Written && s.Expert > 1 {
		notes = append(notes, "Each rank is taken to have samples of its own, whose rows go to the ranks of their experts, as with torchtitan. Transformers' own (enable_expert_parallel, in TRL, too) runs one batch on all ranks, which is not known.")
	}
	if s.Deferred && s.gathers() && s.Accumulate > 1 && s.Stages < 2 && s.trains() {
		notes = append(notes, "Gradients are whole on every card until the last micro batch, as no_sync leaves them (Transformers' Trainer, under FSDP2 since Accelerate 1.11, and litgpt). With one micro batch a step needs the shares alone.")
	}
	if s.wideExperts() {
		notes = append(notes, "bitsandbytes stores linear layers in 8 or 4 bits. Experts of Transformers 5 are none, and stay in 16 bits; where a program stores them so, as Transformers 4 (-program hf-2024) and axolotl's quantize_moe_experts do: -base-experts.")
	}
	if s.Beside > 0 {
		notes = append(notes, fmt.Sprintf("%d MiB of frozen models are on each card beside the trained one, as was said; what their runs need is not counted.", s.Beside))
	}
	if s.Rollout > 0 {
		notes = append(notes, fmt.Sprintf("%d GiB of each card are an engine's for rollouts, as was said; they are counted with what CUDA takes.", s.Rollout))
	}
	if s.refers() {
		notes = append(notes, "A reference runs the forward of each micro batch, too, and its logits are those of as many tokens: all of them, prompts included, unless -prompt says how many have none.")
	}
	if s.partitioned() && s.Model.has(func(k *Block) bool { return k.MoE != nil }) {
		notes = append(notes, "torch.compile sees experts as grouped products, as Transformers 5 has them. The loop over experts of earlier releases breaks the graph; then up to what is told without -compile is needed.")
	}
	blocks, own := 0, false
	for l := range s.Model.Layers {
		if k := s.Model.At(l); s.of(k).efficient(k) {
			blocks++
			own = own || s.masked(k)
		}
	}
	if blocks == 0 {
		return notes
	}
	text := fmt.Sprintf("scaled_dot_product_attention takes its memory-efficient kernel in %d of %d blocks", blocks,
		s.Model.Layers)
	if own {
		text += fmt.Sprintf(": each such block keeps a mask of its own for a window or for what an indexer chooses, %d bytes", int64(size(s.Batch*s.Seq*s.Seq, 2)))
	}
	return append(notes, text+".")
}

// keeps returns the bytes that a block holds from its forward to its backward.
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
