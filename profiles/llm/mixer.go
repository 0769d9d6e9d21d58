package llm

import "memtide/engine"

// Delta is a gated delta net in the place of attention, by the kernels of fla and
// causal_conv1d.
type Delta struct {
	KeyHeads, ValueHeads int64
	Key, Value           int64 // numbers of a head
	Kernel               int64 // tokens of the convolution
	Twice                bool  // beta goes to 2
}

// SSM is Mamba 2 in the place of attention.
type SSM struct {
	Heads, Head int64
	Groups      int64
	State       int64
	Kernel      int64 // tokens of the convolution
	Chunk       int64 // tokens that torch's own code scans at once
	Bias        bool  // of the products
	ConvBias    bool
	NoNorm      bool // nothing stands between the scan and the last product
	OneNorm     bool // torch's own code normalises all groups at once
}

// widths returns the numbers of a token that the scan writes, and those that the convolution in
// front of it does.
func (s *SSM) widths() (inner, conv int64) {
	inner = s.Heads * s.Head
	return inner, inner + 2*s.Groups*s.State
}

// ShortConv is LFM2's gated convolution in the place of attention.
type ShortConv struct {
	Kernel int64
	Bias   bool
}

// mixer returns what mixes tokens: attention, or what stands in its place.
func (b *builder) mixer(n valueID) valueID {
	switch {
	case b.k.Twin:
		scaled := b.point("n1.scaled", b.values[n].bytes, []valueID{n}) // each has a multiplier of its own
		return b.sum(b.stateSpace(n), b.attention(scaled))
	case b.k.Delta != nil:
		return b.delta(n)
	case b.k.SSM != nil:
		return b.stateSpace(n)
	case b.k.Scan != nil:
		return b.scan(n)
	case b.k.LRU != nil:
		return b.recurrent(n)
	case b.k.Conv != nil:
		return b.shortConv(n)
	}
	return b.attention(n)
}

// extra are weights that are no product's, read by the newest operator.
func (b *builder) extra(name string, n int64) {
	o := &b.ops[len(b.ops)-1]
	o.weights = append(o.weights, weight{name: name, n: n, trained: b.s.trains()})
}

// deltaChunk is how many tokens fla's gated delta rule solves at once; of each token and head
// it keeps as many numbers [fla: ops/gated_delta_rule/chunk.py].
const deltaChunk = 64

// delta returns a gated delta net: products, a convolution that keeps its input, the delta rule at
// the number of heads of the values, and a norm with a gate in 4 bytes.
func (b *builder) delta(n valueID) valueID {
	d, h, t := b.k.Delta, b.m.Hidden, b.inner
	torch := b.s.written() && !b.s.Kernels
	keys, values := d.KeyHeads*d.Key, d.ValueHeads*d.Value
	wide := 2*keys + values
	qkv := b.linear(n, "delta.qkv", h, wide, 0)
	z := b.linear(n, "delta.z", h, values, 0)
	beta := b.keep(b.point("delta.beta", b.act(d.ValueHeads), []valueID{b.linear(n, "delta.b", h, d.ValueHeads, 0)}))
	if d.Twice {
		if beta = b.point("delta.twice", b.act(d.ValueHeads), []valueID{beta}); !torch {
			b.keep(beta)
		}
	}
	a := b.linear(n, "delta.a", h, d.ValueHeads, 0)
	rows := size(t*d.ValueHeads, 4)
	g := b.keep(b.point("delta.dt", rows, []valueID{a}))
	b.extra("delta.A", 2*d.ValueHeads)
	b.aside("delta.A.f32", size(2*d.ValueHeads, 4))
	g = b.keep(b.point("delta.softplus", rows, []valueID{g}))
	mixed := b.point("delta.conv", b.act(wide), []valueID{qkv}, qkv)
	if torch {
		b.aside("delta.conv.out", b.padded(wide, d.Kernel))
	}
	b.extra("delta.conv", wide*d.Kernel)
	wideKeys := b.act(d.ValueHeads * d.Key)
	q := b.point("delta.q", wideKeys, []valueID{mixed})
	k := b.point("delta.k", wideKeys, []valueID{mixed})
	v := b.point("delta.v", b.act(values), []valueID{mixed})
	keeps := []valueID{q, k, v}
	switch {
	case torch && d.KeyHeads == d.ValueHeads: // parts of what the convolution wrote
		keeps = []valueID{mixed}
	case torch:
		keeps = []valueID{q, k}
	}
	o := b.add(op{kind: opAttention, in: []valueID{q, k, v, g, beta}, keeps: keeps, back: 2*wideKeys + b.act(values),
		flops: 4 * float64(t) * float64(d.ValueHeads) * float64(deltaChunk+d.Value) * float64(d.Key)}, "delta.out",
		b.act(values))
	if torch {
		b.aside("delta.norms", 2*b.act(d.ValueHeads))
		b.aside("delta.steps", b.deltaSteps())
	} else {
		b.aside("delta.norms", 3*rows)
		b.aside("delta.chunks", b.act(d.ValueHeads*deltaChunk))
	}
	y := b.gatedNorm(o, z, t*d.ValueHeads, d.Value)
	return b.linear(y, "delta.o", values, h, 0)
}

// padded returns the numbers that a convolution writes over all tokens, with those that it has too
// many of each sequence.
func (b *builder) padded(width, kernel int64) engine.Bytes {
	return size((b.inner+b.s.Batch*(kernel-1))*width, b.e)
}

// deltaSteps returns what torch's own code of the gated delta rule keeps, all in 4 bytes
// [transformers: torch_chunk_gated_delta_rule]: operands of all tokens, squares of each chunk,
// the rows of the inverse, of which each step keeps all that came before, and what each chunk
// of the loop makes of the state. The first state trains nothing.
func (b *builder) deltaSteps() engine.Bytes {
	d, c := b.k.Delta, int64(deltaChunk)
	heads := d.ValueHeads * b.s.Batch
	chunks := heads * ceil(b.s.Seq, c)
	tokens := chunks * c
	rows := int64(0)
	for i := int64(1); i < c; i++ {
		rows += i*i + i
	}
	n := tokens*(2+5*d.Key+2*d.Value) + chunks*(4*c*c+rows)
	n += chunks*(2*c*c+d.Key*d.Value+2*c+1+c*(2*d.Key+d.Value)) - heads*c*d.Key
	return size(n, 4) + size(c*c, 1)
}

// gatedNorm returns a norm of rows times the SiLU of a gate, in 4 bytes but for the weight.
func (b *builder) gatedNorm(x, gate valueID, rows, n int64) valueID {
	y := b.normAs(FormUsual, x, "gated", rows, n, n)
	wide := size(rows*n, 4)
	g := b.keep(b.add(op{in: []valueID{gate}}, "gated.gate", wide))
	silu := b.keep(b.add(op{in: []valueID{g}}, "gated.silu", wide))
	product := b.add(op{in: []valueID{y, silu}, keeps: []valueID{y, silu}}, "gated.product", wide)
	return b.add(op{in: []valueID{product}}, "gated.narrow", size(rows*n, b.e))
}

// stateSpace is Mamba 2 as one operator [mamba_ssm: ops/triton/ssd_combined.py]: what the
// product in front of it writes, the scan's result, and 1/rms of each group are kept;
// convolution, steps and states are computed again, and so is what the last product reads.
func (b *builder) stateSpace(n valueID) valueID {
	s, h, t := b.k.SSM, b.m.Hidden, b.inner
	inner, conv := s.widths()
	if b.s.written() && !b.s.Kernels {
		return b.torchState(n)
	}
	in := b.linear(n, "ssm.in", h, inner+conv+s.Heads, given(s.Bias, inner+conv+s.Heads))
	scan := b.add(op{kind: opAttention, in: []valueID{in}, keeps: []valueID{in}, back: b.act(inner + conv),
		flops: 6 * float64(t) * float64(inner) * float64(s.State)}, "ssm.scan", b.act(inner))
	b.keep(scan)
	b.extra("ssm", 3*s.Heads+conv*s.Kernel)
	if s.ConvBias {
		b.extra("ssm.conv.bias", conv)
	}
	b.aside("ssm.A", size(2*s.Heads, 4))
	y := b.add(op{in: []valueID{scan}}, "ssm.normed", b.act(inner))
	if !s.NoNorm {
		b.extra("ssm.norm", inner)
		b.aside("ssm.rstd", size(t*s.Groups, 4))
	}
	w := weight{name: "ssm.o", n: inner*h + given(s.Bias, h), trained: b.s.trains(), rows: inner, cols: h}
	return b.add(op{kind: opProduct, in: []valueID{y}, weights: []weight{w},
		flops: 2 * float64(t) * float64(inner) * float64(h)}, "ssm.o", size(b.outer*h, b.e))
}

// torchState is Mamba 2 by torch's own code [transformers: torch_forward of modeling_bamba.py].
func (b *builder) torchState(n valueID) valueID {
	s, h, t := b.k.SSM, b.m.Hidden, b.inner
	inner, conv := s.widths()
	in := b.linear(n, "ssm.in", h, inner+conv+s.Heads, given(s.Bias, inner+conv+s.Heads))
	mixed := b.point("ssm.conv", b.padded(conv, s.Kernel), []valueID{in}, in)
	b.keep(mixed)
	// Within a chunk, C of each token times B of each, a number of the state at a time, is written before it is
	// summed; the backward has such a product for C and one for B.
	pairs := size(b.s.Batch*s.Heads*ceil(b.s.Seq, s.Chunk)*s.Chunk*s.Chunk*s.State, 4)
	scan := b.add(op{kind: opAttention, in: []valueID{mixed}, temp: pairs, back: 2 * pairs, moved: 4 * pairs,
		flops: 6 * float64(t) * float64(inner) * float64(s.State)}, "ssm.scan", size(t*inner, 4))
	b.extra("ssm", 3*s.Heads+conv*s.Kernel)
	if s.ConvBias {
		b.extra("ssm.conv.bias", conv)
	}
	b.aside("ssm.steps", b.stateSteps())
	if s.NoNorm {
		return b.linear(scan, "ssm.o", inner, h, given(s.Bias, h))
	}
	y := b.add(op{in: []valueID{scan}}, "ssm.normed", b.act(inner))
	b.extra("ssm.norm", inner)
	groups := s.Groups
	if s.OneNorm {
		groups = 1
	}
	b.aside("ssm.norm.kept", size(4*t*inner+t*groups, 4))
	return b.linear(y, "ssm.o", inner, h, given(s.Bias, h))
}

// stateSteps returns what the scan keeps: steps, operands of all tokens and of all chunks, squares
// of each chunk, and the states between chunks.
func (b *builder) stateSteps() engine.Bytes {
	s, t := b.k.SSM, b.inner
	inner, c := s.Heads*s.Head, s.Chunk
	chunks := ceil(b.s.Seq, c)
	tokens, all := b.s.Batch*chunks*c, b.s.Batch*s.Heads
	n := t*(2*s.Heads+inner) + 2*s.Heads + tokens*(4*inner+3*s.Heads*s.State+2*s.Heads)
	n += 3*all*chunks*c*c + all*(chunks+1)*(chunks+1) + 2*all*(chunks+1)*s.Head*s.State
	return size(n, 4) + 2*b.act(s.Heads) + size(2*c*c+2*(chunks+1)*(chunks+1), 1)
}

// shortConv is two gates around a convolution of a few tokens [transformers:
// modeling_lfm2.py, Lfm2ShortConv], with the kernel of causal_conv1d or without.
func (b *builder) shortConv(n valueID) valueID {
	h, c := b.m.Hidden, b.k.Conv
	all := b.linear(n, "conv.in", h, 3*h, given(c.Bias, 3*h))
	parts := b.split(all, []string{"conv.b", "conv.c", "conv.x"}, []engine.Bytes{b.act(h), b.act(h), b.act(h)})
	bx := b.point("conv.bx", b.act(h), []valueID{parts[0], parts[2]}, parts[0], parts[2])
	y := b.point("conv", b.act(h), []valueID{bx}, bx)
	b.extra("conv", h*c.Kernel+given(c.Bias, h))
	out := b.point("conv.out", b.act(h), []valueID{parts[1], y}, parts[1], y)
	return b.linear(out, "conv.o", h, h, given(c.Bias, h))
}
