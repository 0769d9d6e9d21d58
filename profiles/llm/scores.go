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
	if b.k.Distances > 0 {
		s = b.distances(s, q, k, narrow)
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

// distances adds to scores those that queries and keys have of the distance of each pair of tokens. The products that
// make keys and queries of tokens make vectors of a table of distances, too, which are repeated for each sample
// [transformers: modeling_deberta_v2.py, disentangled_attention_bias].
func (b *builder) distances(s, q, k valueID, pairs engine.Bytes) valueID {
	h, n := b.m.Hidden, b.k.Distances
	table := b.add(op{in: []valueID{s}}, "distances", 0) // counted in the first block that reads them
	if b.k.Dropout {
		table = b.add(op{in: []valueID{table}}, "distances.dropped", size(n*h, b.e))
		b.aside("distances.mask", size(n*h, 1))
	}
	if b.s.autocast() { // each product narrows the table
		b.aside("distances.narrow", size(n*h, b.e))
	}
	b.aside("k.scaled", b.act(h))
	for i, x := range []valueID{q, k} {
		name := []string{"q", "k"}[i]
		vectors := b.add(op{kind: opProduct, in: []valueID{table}, keeps: []valueID{table},
			flops: 2 * float64(n) * float64(h) * float64(h)}, name+".vectors", size(b.s.Batch*n*h, b.e))
		all := b.add(op{kind: opProduct, in: []valueID{x, vectors}, keeps: []valueID{x, vectors},
			flops: 2 * float64(b.inner) * float64(n) * float64(h)}, name+".all", size(b.inner*b.k.Heads*n, b.e))
		b.aside(name+".index", size(b.keys*b.keys, 8))
		// gather keeps its input
		s = b.add(op{in: []valueID{s, all}, keeps: []valueID{all}, temp: pairs}, name+".scores", pairs)
	}
	return s
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
