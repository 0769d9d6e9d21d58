package llm

import "memtide/engine"

// scores is attention by products and a softmax, usually in 4 bytes [transformers: eager_attention_forward].
func (b *builder) scores(q, k, v valueID, wide, keys, values int64) valueID {
	// A view of a part of each row is copied where it has batches and heads apart, which Transformer Engine has as one.
	matrix := func(x valueID, name string, n int64) valueID {
		if b.values[x].root != x && b.s.Batch > 1 && !b.s.TE {
			return b.repeat(x, name, n)
		}
		return x
	}
	q, k, v = matrix(q, "q.rep", wide), matrix(k, "k.rep", keys), matrix(v, "v.rep", values)
	if keys < wide && (b.k.Keys > 1 || b.s.Batch > 1) { // a single head is repeated as a view
		k, v = b.repeat(k, "k.rep", wide), b.repeat(v, "v.rep", wide)
	}
	if b.k.Upcast && b.s.written() && !b.s.autocast() {
		q, k = b.widen(q, "q.wide", size(b.inner*wide, 4)), b.widen(k, "k.wide", size(b.inner*keys, 4))
	}
	n := b.inner * (b.k.Heads / b.s.Tensor) * b.keys
	narrow := size(n, b.e)
	s := b.pairs(q, k, "scores", wide, narrow)
	if b.k.Buckets > 0 {
		b.positionBias(false)
	}
	if b.k.ScoreCap {
		s = b.keep(b.point("scores.tanh", narrow, []valueID{s}))
	}
	var p valueID
	if b.k.Sinks {
		return b.sunk(s, v, values)
	}
	if b.k.OwnMask {
		b.aside("scores.mask", size(b.s.Batch*b.s.Seq*b.s.Seq, 1))
	}
	if b.k.Narrow && !b.s.autocast() || b.s.SoftmaxFused {
		p = b.keep(b.point("softmax", narrow, []valueID{s}))
	} else {
		wide := b.keep(b.add(op{in: []valueID{s}, back: size(n, 4)}, "softmax.f32", size(n, 4)))
		p = b.point("softmax", narrow, []valueID{wide})
	}
	if b.s.partitioned() {
		b.aside("softmax.rows", size(2*n/b.keys, 4)) // maxima and sums
	}
	// rows of padding become 0, by a mask that the layer makes [TE: attention, backends.py]
	if b.s.TE && !b.s.Local && (b.k.Both || b.crossing) {
		p = b.point("softmax.filled", narrow, []valueID{p})
		b.aside("softmax.padding", size(b.inner*b.keys, 1))
	}
	if b.k.DropAttn || b.s.TE && b.s.Dropout { // Megatron's --attention-dropout is that of the stream by default
		p = b.point("softmax.dropped", narrow, []valueID{p})
		b.aside("softmax.mask", size(n, 1))
	}
	return b.mix(p, v, values, b.act(values))
}

// pairs is a product over all pairs of tokens, which keeps its operands.
func (b *builder) pairs(x, y valueID, name string, widths int64, bytes engine.Bytes) valueID {
	return b.add(op{kind: opAttention, in: []valueID{x, y}, keeps: []valueID{x, y}, flops: b.attentionFlops(widths)},
		name, bytes)
}

// mix weights values by the output of a softmax, and puts the heads together in rows.
func (b *builder) mix(p, v valueID, values int64, bytes engine.Bytes) valueID {
	return b.add(op{in: []valueID{b.pairs(p, v, "attention", values, bytes)}}, "attention.rows", b.act(values))
}

// mathScores is scaled_dot_product_attention without a kernel: everything in 4 bytes, with keys and values at the
// width of the queries [torch: _scaled_dot_product_attention_math].
func (b *builder) mathScores(q, k, v valueID, wide, values int64) valueID {
	q, k, v = b.widen(q, "q", size(b.inner*wide, 4)), b.add(op{in: []valueID{k}}, "k.rep", size(b.inner*wide, 4)),
		b.add(op{in: []valueID{v}}, "v.rep", size(b.inner*values, 4))
	scores := size(b.inner*(b.k.Heads/b.s.Tensor)*b.keys, 4)
	s := b.pairs(q, k, "scores", wide, scores)
	p := b.keep(b.add(op{in: []valueID{s}, back: scores}, "softmax", scores))
	return b.mix(p, v, values, size(b.inner*values, 4))
}

// sunk is the rest of attention with a learned number of each head beside its scores: the softmax of all scores
// in the compute type, the positions of the maxima, and the weighted values. Transformer Engine has no kernel for a
// softmax with that column, and none of its operators finds maxima [TE: attention, backends.py; softmax.py].
func (b *builder) sunk(s, v valueID, values int64) valueID {
	heads, e := b.k.Heads/b.s.Tensor, b.e
	if b.s.wideStream() || b.s.TE { // the type of the sinks, or of a softmax without a kernel
		e = 4
	}
	p := b.keep(b.add(op{in: []valueID{s}}, "softmax", size(b.inner*heads*(b.s.Seq+1), e)))
	b.extra("sinks", heads)
	if !b.s.TE {
		b.aside("softmax.max", size(b.inner*heads, 8))
	}
	if e > b.e { // drops the column of the sinks
		p = b.add(op{in: []valueID{p}}, "softmax.narrow", size(b.inner*heads*b.s.Seq, b.e))
	}
	return b.mix(p, v, values, b.act(values))
}
