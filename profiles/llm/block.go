package llm

import "memtide/engine"

// builder writes the operators of one block onto a tape.
type builder struct {
	*tape
	s     *Setup
	m     *Model
	e     int64 // bytes of an activation
	inner int64 // tokens of products
	outer int64 // tokens of the residual stream
	layer int64
}

// newBlock is the tape of a layer, counted from 0. needsGrad says whether the block's
// input needs a gradient.
func newBlock(s *Setup, layer int64, needsGrad bool) *tape {
	_, outer := s.tokens()
	t := newTape(size(outer*s.Model.Hidden, s.Compute), needsGrad)
	t.block(s, layer, blockInput)
	return t
}

// block writes the operators of a layer behind a value.
func (t *tape) block(s *Setup, layer int64, x valueID) {
	inner, outer := s.tokens()
	b := &builder{tape: t, s: s, m: s.Model, e: s.Compute, inner: inner, outer: outer, layer: layer}
	n := b.norm(x, "n1", b.outer, b.m.Hidden)
	a := b.attention(b.collect(n))
	if b.m.Parallel {
		if !b.m.OneNorm {
			n = b.norm(x, "n2", b.outer, b.m.Hidden)
		}
		f := b.feedForward(n)
		b.output = b.sum(b.sum(f, a), x)
		return
	}
	mid := b.sum(x, a)
	n = b.norm(mid, "n2", b.outer, b.m.Hidden)
	b.output = b.sum(mid, b.feedForward(n))
}

// act is an activation of n numbers a token of the products.
func (b *builder) act(n int64) engine.Bytes { return size(b.inner*n, b.e) }

// sum adds two values; the gradient goes to both as it is.
func (b *builder) sum(x, y valueID) valueID {
	return b.add(op{in: []valueID{x, y}, byRef: true}, "sum", max(b.values[x].bytes, b.values[y].bytes))
}

// normWeight is the weight of a normalisation. LoRA without products trains norms alone.
func (b *builder) normWeight(name string, n int64) weight {
	only := b.s.LoRA != nil && len(b.s.LoRA.On) == 0
	return weight{name: name, n: b.m.normParams(n), trained: b.s.trains() || only, adapter: only}
}

// norm normalises rows of n numbers. Compiled blocks have one kernel for it.
func (b *builder) norm(x valueID, name string, rows, n int64) valueID {
	kind := b.s.Norm
	if b.s.Compiled && kind != NormLayer {
		kind = NormFused
	}
	w := b.normWeight(name, n)
	all := rows * n
	out := size(all, b.e)
	switch kind {
	case NormFused, NormLayer:
		stats := size(rows, 4)
		if kind == NormLayer {
			stats *= 2
		}
		y := b.add(op{in: []valueID{x}, keeps: []valueID{x}, weights: []weight{w}}, name, out)
		b.aside(name+".stat", stats)
		return y
	case NormPlain:
		return b.plainNorm(x, name, rows, n, w)
	}
	// Eager: widened to 4 bytes, normalised, narrowed, weighted. The gradient of the
	// mean is as large as its input [torch: mean_backward expands, then divides].
	wide := size(all, 4)
	f := b.add(op{in: []valueID{x}}, name+".f32", wide)
	sq := b.add(op{in: []valueID{f}, keeps: []valueID{f}, back: wide}, name+".pow", wide)
	mean := b.add(op{in: []valueID{sq}}, name+".mean", size(rows, 4))
	r := b.keep(b.add(op{in: []valueID{mean}}, name+".rsqrt", size(rows, 4)))
	y := b.add(op{in: []valueID{f, r}, keeps: []valueID{f, r}, back: wide}, name+".mul", wide)
	narrow := b.add(op{in: []valueID{y}}, name+".bf16", out)
	o := op{in: []valueID{narrow}, weights: []weight{w}}
	if w.trained {
		o.keeps, o.back = []valueID{narrow}, out
	}
	return b.add(o, name, out)
}

// plainNorm is litgpt's: in the compute type throughout [rmsnorm.py].
func (b *builder) plainNorm(x valueID, name string, rows, n int64, w weight) valueID {
	out := size(rows*n, b.e)
	sq := b.add(op{in: []valueID{x}, keeps: []valueID{x}}, name+".square", out)
	mean := b.add(op{in: []valueID{sq}}, name+".mean", size(rows, b.e))
	r := b.keep(b.add(op{in: []valueID{mean}}, name+".rsqrt", size(rows, b.e)))
	y := b.add(op{in: []valueID{x, r}, keeps: []valueID{x, r}, back: out}, name+".mul", out)
	o := op{in: []valueID{y}, weights: []weight{w}}
	if w.trained {
		o.keeps, o.back = []valueID{y}, out
	}
	return b.add(o, name, out)
}

// collect gathers what the ranks of a tensor-parallel group hold of the tokens; the
// gradient is scattered again.
func (b *builder) collect(x valueID) valueID {
	if b.inner == b.outer {
		return x
	}
	return b.add(op{kind: opCollect, in: []valueID{x}}, "gathered", size(b.inner*b.m.Hidden, b.e))
}

// scatter adds up the partial results of a tensor-parallel group.
func (b *builder) scatter(x valueID) valueID {
	if b.inner == b.outer {
		return x
	}
	return b.add(op{kind: opScatter, in: []valueID{x}}, "scattered", size(b.outer*b.m.Hidden, b.e))
}

// linear is a product from in to out numbers a token, with its adapter.
func (b *builder) linear(x valueID, name string, in, out, bias int64) valueID {
	w := weight{name: name, n: in*out + bias, trained: b.s.trains(), rows: in, cols: out}
	o := op{kind: opProduct, in: []valueID{x}, weights: []weight{w}, flops: 2 * float64(b.inner) * float64(in) * float64(out)}
	o.temp, o.back = b.narrowed(w, b.inner)
	o.narrow = b.s.Float8
	if w.trained {
		o.keeps = []valueID{x}
	}
	y := b.add(o, name, b.act(out))
	if b.s.LoRA.has(name) {
		y = b.adapt(x, y, name, in, out)
	}
	return y
}

// attention is everything from the normalised input to what is added to the stream.
func (b *builder) attention(n valueID) valueID {
	if b.m.MLA != nil {
		return b.latent(n)
	}
	m, tp := b.m, b.s.Tensor
	wide, keys := m.Heads/tp*m.Head, ceil(m.Keys, tp)*m.Head
	bias := func(n int64) int64 {
		if m.QKVBias || m.Bias {
			return n
		}
		return 0
	}
	var q, k, v valueID
	if b.s.FusedQKV {
		qkv := b.linear(n, "qkv", m.Hidden, wide+2*keys, bias(wide+2*keys))
		if b.s.LoRA.has("q") || b.s.LoRA.has("v") {
			qkv = b.adaptQKV(n, qkv, wide, keys)
		}
		parts := b.split(qkv, []string{"q", "k", "v"}, []engine.Bytes{b.act(wide), b.act(keys), b.act(keys)})
		q, k, v = parts[0], parts[1], parts[2]
	} else {
		q = b.linear(n, "q", m.Hidden, wide, bias(wide))
		k = b.linear(n, "k", m.Hidden, keys, bias(keys))
		v = b.linear(n, "v", m.Hidden, keys, bias(keys))
	}
	if m.QKNorm {
		q = b.norm(q, "qn", b.inner*wide/m.Head, m.Head)
		k = b.norm(k, "kn", b.inner*keys/m.Head, m.Head)
	}
	if m.Positions == 0 {
		q, k = b.rotate(q, "q.rope", wide), b.rotate(k, "k.rope", keys)
	}
	if b.s.RepeatKeys && keys < wide {
		k, v = b.repeat(k, "k.rep", wide), b.repeat(v, "v.rep", wide)
		keys = wide
	}
	a := b.attend(q, k, v, wide, keys, wide)
	out := int64(0)
	if m.Bias || m.OutBias {
		out = m.Hidden
	}
	return b.scatter(b.linear(a, "o", wide, m.Hidden, out))
}

// rotate turns positions into queries or keys: scratch, and nothing kept.
func (b *builder) rotate(x valueID, name string, n int64) valueID {
	temp := size(b.inner*n, b.s.RotateTemp)
	if b.s.Compiled {
		temp = 0
	}
	return b.add(op{in: []valueID{x}, temp: temp, back: temp}, name, b.act(n))
}

func (b *builder) repeat(x valueID, name string, wide int64) valueID {
	return b.add(op{in: []valueID{x}}, name, b.act(wide))
}

// attend is flash attention: it keeps its operands, its result and a statistic of each
// row. Its backward sums the gradient of the queries in fp32 and, where queries share
// keys, has gradients of keys and values at the width of the queries [flash_api.cpp].
func (b *builder) attend(q, k, v valueID, wide, keys, values int64) valueID {
	heads := b.m.Heads / b.s.Tensor
	back := size(b.inner*heads, 4)
	if !b.s.PlainDQ {
		back += size(b.inner*wide, 4)
	}
	if keys < wide {
		back += 2 * b.act(wide)
	}
	o := op{kind: opAttention, in: []valueID{q, k, v}, keeps: []valueID{q, k, v}, back: back,
		flops: 2 * float64(b.inner) * float64(b.s.Seq) * float64(wide+values) / 2}
	if b.s.Context > 1 { // keys and values of all ranks [torch: the allgather rotation]
		o.temp = 2 * size(b.inner*b.s.Context*keys, b.e)
		o.back += 2 * o.temp
	}
	a := b.add(o, "attention", b.act(values))
	b.keep(a)
	b.aside("statistics", size(b.inner*heads, 4))
	return a
}

// feedForward is the net behind the second normalisation.
func (b *builder) feedForward(n valueID) valueID {
	if b.m.hasExperts(b.layer) {
		return b.experts(n)
	}
	return b.scatter(b.net(b.collect(n), ceil(b.m.Wide, b.s.Tensor)))
}

// net is a feed-forward net of a width.
func (b *builder) net(n valueID, wide int64) valueID {
	h := b.m.Hidden
	bias := func(n int64) int64 {
		if b.m.Bias {
			return n
		}
		return 0
	}
	if !b.m.Gated {
		up := b.linear(n, "up", h, wide, bias(wide))
		g := b.add(op{in: []valueID{up}, keeps: []valueID{up}}, "gelu", b.act(wide))
		return b.linear(g, "down", wide, h, bias(h))
	}
	gate := b.linear(n, "gate", h, wide, bias(wide))
	up := b.linear(n, "up", h, wide, bias(wide))
	return b.linear(b.gated(gate, up, b.act(wide)), "down", wide, h, bias(h))
}

// gated is the activation of the gate times the other product.
func (b *builder) gated(gate, up valueID, bytes engine.Bytes) valueID {
	if b.s.FusedGate || b.s.Compiled {
		return b.add(op{in: []valueID{gate, up}, keeps: []valueID{gate, up}}, "gated", bytes)
	}
	silu := b.add(op{in: []valueID{gate}, keeps: []valueID{gate}}, "silu", bytes)
	return b.add(op{in: []valueID{silu, up}, keeps: []valueID{silu, up}}, "gated", bytes)
}
