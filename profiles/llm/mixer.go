package llm

import "memtide/engine"

// Delta is a gated delta net instead of attention.
type Delta struct {
	KeyHeads, ValueHeads int64
	Key, Value           int64 // numbers of a head
	Kernel               int64 // tokens of the convolution
	Twice                bool  // beta ranges up to 2
}

// SSM is Mamba 2 instead of attention.
type SSM struct {
	Heads, Head int64
	Groups      int64
	State       int64
	Kernel      int64 // tokens of the convolution
	Chunk       int64 // tokens that torch's own code scans at once
	Bias        bool  // products have biases
	ConvBias    bool
	NoNorm      bool // no norm between the scan and the last product
	OneNorm     bool // torch's own code normalises all groups at once
}

// widths returns the numbers per token that the scan writes, and that the convolution before it writes.
func (s *SSM) widths() (inner, conv int64) {
	inner = s.Heads * s.Head
	return inner, inner + 2*s.Groups*s.State
}

// ShortConv is LFM2's gated convolution instead of attention.
type ShortConv struct {
	Kernel int64
	Bias   bool
}

// mixer is what mixes tokens: attention, or the part instead of it.
func (b *builder) mixer(n valueID) valueID {
	if b.k.MLA == nil || !b.s.TE {
		n = b.collect(n)
	}
	switch {
	case b.k.Twin:
		scaled := b.point("n1.scaled", b.values[n].bytes, []valueID{n}) // each part has its own multiplier
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

// extra adds weights to the newest operator, which is not a product.
func (b *builder) extra(name string, n int64) {
	o := &b.ops[len(b.ops)-1]
	o.weights = append(o.weights, weight{name: name, n: n, trained: b.s.trains()})
}

// deltaChunk is how many tokens fla's gated delta rule solves at once. It keeps the same number of numbers for
// each token and head [fla: ops/gated_delta_rule/chunk.py].
const deltaChunk = 64

// delta is a gated delta net: products, a convolution that keeps its input, the delta rule with the number of
// heads of the values, and a norm with a gate in 4 bytes.
func (b *builder) delta(n valueID) valueID {
	d, h, t, heads := b.k.Delta, b.m.Hidden, b.inner, b.k.Delta.ValueHeads/b.s.Tensor
	torch := b.s.written() && !b.s.Kernels
	keys, values := d.KeyHeads/b.s.Tensor*d.Key, heads*d.Value
	wide := 2*keys + values
	parts := b.deltaParts(n, []int64{wide, values, heads, heads})
	qkv, z, a := parts[0], parts[1], parts[3]
	beta := b.keep(b.point("delta.beta", b.act(heads), parts[2:3]))
	if d.Twice {
		if beta = b.point("delta.twice", b.act(heads), []valueID{beta}); !torch {
			b.keep(beta)
		}
	}
	rows := size(t*heads, 4)
	g := b.keep(b.point("delta.dt", rows, []valueID{a}))
	b.extra("delta.A", 2*heads)
	b.aside("delta.A.f32", size(2*heads, 4))
	g = b.keep(b.point("delta.softplus", rows, []valueID{g}))
	mixed := b.add(op{kind: opConv, in: []valueID{qkv}, keeps: []valueID{qkv}}, "delta.conv", b.act(wide))
	if torch {
		b.aside("delta.conv.out", b.padded(wide, d.Kernel))
	}
	b.extra("delta.conv", wide*d.Kernel)
	normed, wideKeys := mixed, b.act(heads*d.Key)
	if b.s.TE { // before they are repeated, not in the rule's kernel
		normed = b.keep(b.point("delta.normed", b.act(2*keys), []valueID{mixed}))
	}
	q := b.point("delta.q", wideKeys, []valueID{normed})
	k := b.point("delta.k", wideKeys, []valueID{normed})
	v := b.point("delta.v", b.act(values), []valueID{mixed})
	keeps := []valueID{q, k, v}
	switch {
	case torch && d.KeyHeads == d.ValueHeads: // views of the convolution's output
		keeps = []valueID{mixed}
	case torch:
		keeps = []valueID{q, k}
	}
	o := b.add(op{kind: opAttention, in: []valueID{q, k, v, g, beta}, keeps: keeps, back: 2*wideKeys + b.act(values),
		flops: 4 * float64(t) * float64(heads) * float64(deltaChunk+d.Value) * float64(d.Key)}, "delta.out",
		b.act(values))
	if torch {
		b.aside("delta.norms", 2*b.act(heads))
		b.aside("delta.steps", b.deltaSteps())
	} else {
		b.aside("delta.norms", 3*rows)
		b.aside("delta.chunks", b.act(heads*deltaChunk))
	}
	y := b.moved(b.s.Context, opExchange, b.gatedNorm(o, z, t*heads, d.Value), "delta.tokens", b.act(values))
	return b.scatter(b.linear(y, "delta.o", values, h, 0))
}

// deltaParts returns what products make of n: queries, keys and values; the gate; weights; and decays, of the given
// widths. Megatron-LM has one product, all of which the convolution keeps with its part. Tensor parallel ranks share
// heads, and context parallel ranks exchange tokens for heads, as many numbers [Megatron-LM: core/ssm/gated_delta_net].
func (b *builder) deltaParts(n valueID, widths []int64) (parts []valueID) {
	names := []string{"delta.qkv", "delta.z", "delta.b", "delta.a"}
	all, grads := int64(0), []engine.Bytes{}
	for i, wide := range widths {
		if all, grads = all+wide, append(grads, b.act(wide)); !b.s.TE {
			parts = append(parts, b.linear(n, names[i], b.m.Hidden, wide, 0))
		}
	}
	if b.s.TE {
		in := b.linear(n, "delta.in", b.m.Hidden, all, 0)
		parts = b.split(b.moved(b.s.Context, opExchange, in, "delta.heads", b.act(all)), names, grads)
		parts[1] = b.point("delta.gate", grads[1], []valueID{parts[1]})
	}
	return parts
}

// padded returns the bytes that a convolution of a kernel writes for all tokens, including its extra tokens of
// each sequence.
func (b *builder) padded(width, kernel int64) engine.Bytes {
	return size((b.inner+b.s.Batch*(kernel-1))*width, b.e)
}

// deltaSteps returns what torch's own code of the gated delta rule keeps, in 4 bytes [transformers:
// torch_chunk_gated_delta_rule]: operands of all tokens, squares of each chunk, the rows of the inverse, of which each
// step keeps all earlier rows, and what each chunk of the loop makes of the state. The first state needs no gradient.
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

// gatedNorm is a norm of rows times the SiLU of a gate, in 4 bytes except for the weight. Beside a fused norm the
// kernels are all of fla's, its gated norm included; without one they are as the recorded blocks were measured, whose
// norm is torch's code.
func (b *builder) gatedNorm(x, gate valueID, rows, n int64) valueID {
	if b.s.TE { // Transformer Engine's norm, and one kernel
		y := b.normAs(FormUsual, x, "delta.norm", rows, n, n)
		return b.point("delta.gated", size(rows*n, b.e), []valueID{y, gate}, y, gate)
	}
	if !b.s.written() || b.s.Kernels && b.s.Norm == NormFused { // [fla: modules/fused_norm_gate.py]
		y := b.point("gated", size(rows*n, b.e), []valueID{x, gate}, x, gate)
		b.ops[len(b.ops)-1].weights = []weight{b.normWeight("gated", n)}
		b.aside("gated.rows", size(rows, 4))
		return y
	}
	y := b.normAs(FormUsual, x, "gated", rows, n, n)
	wide := size(rows*n, 4)
	g := b.keep(b.add(op{in: []valueID{gate}}, "gated.gate", wide))
	silu := b.keep(b.add(op{in: []valueID{g}}, "gated.silu", wide))
	product := b.add(op{in: []valueID{y, silu}, keeps: []valueID{y, silu}}, "gated.product", wide)
	return b.add(op{in: []valueID{product}}, "gated.narrow", size(rows*n, b.e))
}

// hasKernels reports whether kernels of a library of their own, which keep less, can run parts of the block.
func (k *Block) hasKernels() bool { return k.Delta != nil || k.SSM != nil || k.Act == ActXIELU }

// stateSpace is Mamba 2 as one operator [mamba_ssm: ops/triton/ssd_combined.py]. It keeps the output of the
// product before it, the scan's result, and the inverse root mean square of each group. Convolution, steps,
// states and the input of the last product are computed again.
func (b *builder) stateSpace(n valueID) valueID {
	s, h, t, tp := b.k.SSM, b.m.Hidden, b.inner, b.s.Tensor
	if b.s.written() && !b.s.Kernels {
		return b.torchState(n)
	}
	inner, conv := s.widths()
	inner, conv, heads := inner/tp, conv/tp, s.Heads/tp
	in := b.linear(n, "ssm.in", h, inner+conv+heads, given(s.Bias, inner+conv+heads))
	scan := b.add(op{kind: opAttention, in: []valueID{in}, keeps: []valueID{in}, back: b.act(inner + conv),
		flops: 6 * float64(t) * float64(inner) * float64(s.State)}, "ssm.scan", b.act(inner))
	b.keep(scan)
	b.extra("ssm", 3*heads+conv*s.Kernel+given(s.ConvBias, conv))
	b.aside("ssm.A", size(2*heads, 4))
	if b.s.TE { // gated rows and their norm are tensors of their own [Megatron-LM: core/ssm/mamba_mixer.py]
		y := b.repeat(scan, "ssm.y", inner)
		y = b.normAs(FormUsual, y, "ssm.norm", t*s.Groups/tp, inner*tp/s.Groups, inner)
		return b.scatter(b.linear(y, "ssm.o", inner, h, 0))
	}
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
	// Within a chunk, the product of each token's C and each token's B is written for every number of the state
	// before it is summed. The backward has such products for C and for B.
	pairs := size(b.s.Batch*s.Heads*ceil(b.s.Seq, s.Chunk)*s.Chunk*s.Chunk*s.State, 4)
	scan := b.add(op{kind: opAttention, in: []valueID{mixed}, temp: pairs, back: 2 * pairs, moved: 4 * pairs,
		flops: 6 * float64(t) * float64(inner) * float64(s.State)}, "ssm.scan", size(t*inner, 4))
	b.extra("ssm", 3*s.Heads+conv*s.Kernel+given(s.ConvBias, conv))
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

// stateSteps returns what the scan keeps: steps, operands of all tokens and of all chunks, squares of each chunk,
// and the states between chunks.
func (b *builder) stateSteps() engine.Bytes {
	s, t := b.k.SSM, b.inner
	inner, c := s.Heads*s.Head, s.Chunk
	chunks := ceil(b.s.Seq, c)
	tokens, all := b.s.Batch*chunks*c, b.s.Batch*s.Heads
	n := t*(2*s.Heads+inner) + 2*s.Heads + tokens*(4*inner+3*s.Heads*s.State+2*s.Heads)
	n += 3*all*chunks*c*c + all*(chunks+1)*(chunks+1) + 2*all*(chunks+1)*s.Head*s.State
	return size(n, 4) + 2*b.act(s.Heads) + size(2*c*c+2*(chunks+1)*(chunks+1), 1)
}

// shortConv is two gates around a convolution of a few tokens [transformers: modeling_lfm2.py, Lfm2ShortConv],
// with or without the kernel of causal_conv1d.
func (b *builder) shortConv(n valueID) valueID {
	h, c := b.m.Hidden, b.k.Conv
	all := b.linear(n, "conv.in", h, 3*h, given(c.Bias, 3*h))
	parts := b.split(all, []string{"conv.b", "conv.c", "conv.x"}, []engine.Bytes{b.act(h), b.act(h), b.act(h)})
	bx := b.point("conv.bx", b.act(h), []valueID{parts[0], parts[2]}, parts[0], parts[2])
	y := b.add(op{kind: opConv, in: []valueID{bx}, keeps: []valueID{bx}}, "conv", b.act(h))
	b.extra("conv", h*c.Kernel+given(c.Bias, h))
	out := b.point("conv.out", b.act(h), []valueID{parts[1], y}, parts[1], y)
	return b.linear(out, "conv.o", h, h, given(c.Bias, h))
}

// Scan is Mamba 1 instead of attention.
type Scan struct {
	Inner  int64 // numbers per token that the scan writes
	State  int64 // numbers of the state for each of them
	Rank   int64 // rank of the steps
	Kernel int64 // tokens of the convolution

	Bias     bool // the first and the last product have biases
	ConvBias bool
	Norms    bool // steps and both projections of the state are normalised (Jamba)
	Bare     bool // with Norms: without weights (Falcon Mamba)
}

// scan is Mamba 1 by torch's own code [transformers: slow_forward of modeling_mamba.py]: a loop over tokens that
// keeps the state of each token.
func (b *builder) scan(n valueID) valueID {
	m, h, t := b.k.Scan, b.m.Hidden, b.inner
	in := b.linear(n, "scan.in", h, 2*m.Inner, given(m.Bias, 2*m.Inner))
	conv := b.point("scan.conv", b.padded(m.Inner, m.Kernel), []valueID{in}, in)
	b.extra("scan.conv", m.Inner*m.Kernel+given(m.ConvBias, m.Inner))
	u := b.keep(b.point("scan.u", b.act(m.Inner), []valueID{conv}, conv))
	x := b.linear(u, "scan.x", m.Inner, m.Rank+2*m.State, 0)
	names, sizes := []string{"scan.step", "scan.B", "scan.C"},
		[]engine.Bytes{b.act(m.Rank), b.act(m.State), b.act(m.State)}
	parts := b.split(x, names, sizes)
	if m.Norms {
		form := FormUsual
		if m.Bare {
			form = FormBare
		}
		for i, wide := range []int64{m.Rank, m.State, m.State} {
			parts[i] = b.normAs(form, parts[i], names[i]+".norm", t, wide, given(!m.Bare, wide))
		}
	}
	step := b.linear(parts[0], "scan.dt", m.Rank, m.Inner, m.Inner)
	soft := b.keep(b.point("scan.softplus", b.act(m.Inner), []valueID{step}, step))
	y := b.add(op{kind: opAttention, in: []valueID{u, soft, parts[1], parts[2]}, keeps: []valueID{u, parts[2]},
		flops: 6 * float64(t) * float64(m.Inner) * float64(m.State)}, "scan.out", size(t*m.Inner, 4))
	b.keep(y)
	b.extra("scan.A", m.Inner*m.State+m.Inner)
	states := m.Inner * m.State
	b.aside("scan.steps", size(2*states+t*(2*states+m.State+m.Inner)+b.s.Batch*(b.s.Seq-1)*states+m.Inner,
		4)+size(b.s.Batch*(b.s.Seq+1)*states, b.e))
	gate := b.keep(b.point("scan.gate", b.act(m.Inner), []valueID{in}))
	return b.linear(b.point("scan.gated", b.act(m.Inner), []valueID{y, gate}, y, gate), "scan.o", m.Inner, h,
		given(m.Bias, h))
}

// LRU is the gated linear recurrent unit of RecurrentGemma instead of attention.
type LRU struct {
	Width  int64
	Heads  int64 // blocks of the gates
	Kernel int64 // tokens of the convolution
}

// recurrent is an LRU by torch's own code [transformers: modeling_recurrent_gemma.py]: two products, a
// convolution, and a loop over tokens in 4 bytes.
func (b *builder) recurrent(n valueID) valueID {
	l, h, t := b.k.LRU, b.m.Hidden, b.inner
	wide := b.act(l.Width)
	y := b.keep(b.activation(b.linear(n, "lru.y", h, l.Width, l.Width), "lru.act", wide))
	x := b.linear(n, "lru.x", h, l.Width, l.Width)
	conv := b.keep(b.point("lru.conv", b.padded(l.Width, l.Kernel), []valueID{x}, x))
	b.extra("lru.conv", l.Width*(l.Kernel+1))
	u := b.add(op{kind: opAttention, in: []valueID{conv},
		flops: 4 * float64(t) * float64(l.Width) * float64(l.Width/l.Heads)}, "lru", wide)
	b.keep(u)
	b.extra("lru", 2*(l.Width*l.Width/l.Heads+l.Width)+l.Width)
	b.aside("lru.gates", 8*wide+size(l.Width, b.e)+size(2*b.s.Seq, 1))
	b.aside("lru.states", size(b.s.Batch*(2*b.s.Seq-1)*l.Width, 4))
	return b.linear(b.point("lru.gated", wide, []valueID{y, u}, y, u), "lru.o", l.Width, h, h)
}

// Hybrid is the part before the state space that several blocks of Zamba 2 share. It reads the block's input and
// the model's.
type Hybrid struct {
	Rank int64 // rank of the addition of each use to the first product of the net
	QKV  bool  // each use also adds to queries, keys and values
	// uses whose additions count with the weights of this block; 0: an earlier block has the weights
	Adapters int64
}

// hybrid is the shared part for a block's input [transformers: Zamba2AttentionDecoderLayer].
func (b *builder) hybrid(x valueID) valueID {
	y, k, h, t := b.k.Hybrid, b.k, b.m.Hidden, b.inner
	from, wide := len(b.ops), k.Heads*k.Head
	both := b.add(op{in: []valueID{x}}, "both", 2*b.values[x].bytes)
	n := b.norm(both, "shared.n1", t, 2*h)
	added := int64(0) // weights of the additions of one use
	add := func(in, v valueID, name string, from, to int64) valueID {
		added += y.Rank * (from + to)
		at := len(b.ops)
		v = b.sum(v, b.linear(b.linear(in, name+".low", from, y.Rank, 0), name+".high", y.Rank, to, 0))
		b.tied(at)
		return v
	}
	parts := [3]valueID{}
	for i, name := range []string{"q", "k", "v"} {
		out := wide
		if i > 0 {
			out = k.Keys * k.Head
		}
		parts[i] = b.linear(n, name, 2*h, out, 0)
		if y.QKV {
			parts[i] = add(n, parts[i], name, 2*h, 2*h)
		}
	}
	q, key := parts[0], parts[1]
	if !k.NoRope {
		q, key = b.rotate(q, "q.rope", wide), b.rotate(key, "k.rope", k.Keys*k.Head)
	}
	a := b.linear(b.attend(q, key, parts[2], wide, k.Keys*k.Head, wide), "o", wide, h, 0)
	n = b.norm(a, "shared.n2", t, h)
	net := add(n, b.linear(n, "gate", h, 2*k.Wide, 0), "gate", h, 2*k.Wide)
	halves := b.split(net, []string{"gate.half", "up.half"}, []engine.Bytes{b.act(k.Wide), b.act(k.Wide)})
	f := b.linear(b.gated(halves[0], halves[1], b.act(k.Wide)), "down", k.Wide, h, 0)
	if y.Adapters == 0 {
		b.tied(from)
	} else {
		b.extra("additions", y.Adapters*added)
	}
	out := b.linear(f, "shared.o", h, h, 0)
	return b.add(op{in: []valueID{x, out}}, "beside", b.values[x].bytes)
}
