package llm

import "memtide/engine"

// Workspaces of Transformer Engine's products, before Hopper and from it on: one for products, and one for each stream
// of the products of experts [TE: pytorch/cpp_extensions/gemm.py, get_cublas_workspace; common/util/multi_stream.cpp].
const (
	engineAmpere  = 4 * engine.MiB
	engineHopper  = 32*engine.MiB + engine.KiB
	engineStreams = 4
)

// ofMegatron returns the model with the blocks and ends that Megatron-LM gives it where they are not those of its own
// paper: BERT with norms before the parts of a block [Megatron-LM: core/models/bert], and T5 with LayerNorms, biases
// and learned positions [core/models/T5, whose layers t5_spec.py has].
func (m *Model) ofMegatron() *Model {
	out := *m
	switch {
	case m.Around == AroundSum:
		out.Around, out.FirstNorm, out.LastNorm, out.Pooler = AroundBefore, false, true, true
	case m.Ends != nil && m.Ends.Kind == EndT5:
		ends, known := *m.Ends, map[*Block]*Block{}
		ends.Params, out.Ends = 2*m.Hidden, &ends
		out.Positions, out.HeadBias, out.Dropped, out.Pattern = ends.Positions, true, false, nil
		for _, k := range append(m.Pattern, &m.Block) {
			if known[k] == nil {
				own := *k
				own.Layer, own.Bias, own.Form, own.Buckets, own.FirstBias = true, true, FormUsual, 0, false
				own.DropAttn = false
				known[k] = &own
			}
			out.Pattern = append(out.Pattern, known[k])
		}
		out.Block, out.Pattern = *known[&m.Block], out.Pattern[:m.Layers]
	}
	return &out
}

// glu is a gate for whose activation Megatron-LM has no fused kernel. The activation keeps the half of the product's
// result that it reads, and thereby all of it, and 0 is added to the other half, which makes a copy [Megatron-LM:
// core/transformer/mlp.py, moe/experts.py].
func (b *builder) glu(gate, up valueID, bytes engine.Bytes) valueID {
	act := b.point("gelu", bytes, []valueID{gate}, gate, up)
	linear := b.point("up.offset", bytes, []valueID{up})
	return b.point("gated", bytes, []valueID{act, linear}, act, linear)
}

// bridgeNorm is Gemma 4's norm as Megatron Bridge writes it: of one copy in 4 bytes the power is taken, and another is
// multiplied. That of values has one copy [Megatron-Bridge: models/gemma/modeling_gemma4.py].
func (b *builder) bridgeNorm(x valueID, name string, rows, n int64, w weight) valueID {
	y := b.writtenNorm(FormPower, x, name, rows, n, w)
	if name != "vn" {
		b.aside(name+".copy", size(rows*n, 4))
	}
	return y
}

// engineBytes returns what Transformer Engine allocates once and keeps: its workspaces, and a tensor for each shape of
// weights whose gradients are added to the stored ones, which autograd gets in place of these gradients [TE:
// pytorch/module/base.py, get_dummy_wgrad; Megatron-LM: core/tensor_parallel/layers.py]. Megatron-LM's own layers have
// no such workspaces, but a buffer that is as large as the scores or what ranks gather, whichever is larger.
func (p *program) engineBytes() (n engine.Bytes) {
	streams, shapes, buffer := engine.Bytes(1), map[[2]int64]bool{}, engine.Bytes(0)
	for _, u := range p.all() {
		if u.block != nil && p.s.Local { // [Megatron-LM: core/utils.py, GlobalMemoryBuffer]
			for _, v := range u.block.values {
				if v.name == "scores" || v.name == "gathered" {
					buffer = max(buffer, v.bytes)
				}
			}
		}
		for i, w := range u.weights {
			shape := [2]int64{w.rows, w.cols}
			switch {
			case w.name == "head", w.name == "embedding" && p.s.Model.Tied && p.last:
				shape = [2]int64{w.row, ceil(p.s.Model.Words, p.s.Tensor)}
			case w.name == "gate": // of one weight with up
				shape[1] *= 2
			case w.name == "up" && i > 0 && u.weights[i-1].name == "gate":
				shape[0] = 0
			}
			if p.s.Adds && w.trained && shape[0] > 0 && !shapes[shape] {
				shapes[shape] = true
				n += size(shape[0]*shape[1], p.s.Compute)
			}
			if w.expert && !p.s.Sequential {
				streams = 1 + engineStreams
			}
		}
	}
	switch w := p.s.Workspace; {
	case p.s.Local:
		return n + buffer
	case p.s.TE && w == workspaceAmpere:
		return n + streams*engineAmpere
	case p.s.TE && w == workspaceHopper:
		return n + streams*engineHopper
	}
	return n
}
