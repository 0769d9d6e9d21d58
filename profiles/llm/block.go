package llm

import (
	"strings"

	"memtide/engine"
)

// builder writes the operators of one block onto a tape.
type builder struct {
	*tape
	s        *Setup
	m        *Model
	k        *Block          // the block of the layer
	e        int64           // bytes of an activation
	inner    int64           // tokens of products
	outer    int64           // tokens of the residual stream
	keys     int64           // tokens that a query can see
	crossing bool            // attention reads an encoder's output
	eight    valueID         // the last value of which a product keeps a copy in 8 bits
	seen     map[string]bool // names of values that earlier blocks share with this one; nil: no shared values
}

func newBuilder(t *tape, s *Setup, k *Block) *builder {
	inner, outer := s.tokens()
	return &builder{tape: t, s: s, m: s.Model, k: k, e: s.Compute, inner: inner, outer: outer, keys: s.Seq,
		eight: noValue}
}

// newBlock returns the tape of a layer, counted from 0. needsGrad says whether the block's input needs a
// gradient. seen has the names of values that earlier blocks share with this one, or is nil.
func newBlock(s *Setup, layer int64, needsGrad bool, seen map[string]bool) *tape {
	k, all := s.Model.At(layer), s
	s = s.of(k)
	if k.Cross {
		own := *s
		own.encoder = all.of(all.Model.At(0))
		if k.Unet != nil { // the text has CLIP's 77 tokens
			own.encoder = all.of(&Block{Own: Own{Hidden: k.Unet.Text, Fixed: 77}})
		}
		s = &own
	}
	_, outer := s.tokens()
	t := newTape(s.stream(outer, k, k.WideIn), needsGrad)
	t.values[blockInput].wide = s.wideStream()
	t.block(s, layer, blockInput, seen)
	if s.partitioned() {
		t.fuse()
	}
	if k.Own.Last { // the input of the next part
		next := all.Model.At(layer + 1)
		s = all.of(next)
		_, outer = s.tokens()
		t.output = t.add(op{in: []valueID{t.output}}, "next", s.stream(outer, next, next.WideIn))
	}
	return t
}

// stream returns the bytes of a block's residual stream for some tokens. wide says whether Transformers has it in
// 4 bytes a number.
func (s *Setup) stream(tokens int64, k *Block, wide bool) engine.Bytes {
	if k.AltUp != nil {
		tokens *= k.AltUp.Streams
	}
	if k.Hyper != nil {
		tokens *= k.Hyper.Streams
	}
	if k.Dit != nil && !k.Dit.Cross {
		tokens += s.Batch * k.Dit.Text
	}
	numbers := tokens * s.Model.Hidden
	if k.Dit != nil {
		numbers += s.Batch * k.Dit.Sound * k.soundWidth()
	}
	if wide && s.written() || s.wideStream() {
		return size(numbers, 4)
	}
	return size(numbers, s.Compute)
}

// Around says where a block has its norms.
type Around uint8

// The values of Around: norms come before attention and the feed-forward net, before and after each, after
// each, or after the sums.
const (
	AroundBefore Around = iota
	AroundBoth
	AroundBehind
	AroundSum
)

func (t *tape) block(s *Setup, layer int64, x valueID, seen map[string]bool) {
	b := newBuilder(t, s, s.Model.At(layer))
	b.seen = seen
	b.tables()
	switch {
	case b.k.AltUp != nil:
		b.output = b.altUp(x)
		return
	case b.k.Hyper != nil: // of DeepSeek V4 [transformers: modeling_deepseek_v4.py]
		b.output = b.mixed(b.mixed(x, "n1", b.compressed), "n2", b.feedForward)
		return
	case b.k.Dit != nil:
		b.output = b.dit(x)
		return
	case b.k.Unet != nil && b.k.Unet.Part != UnetBlock:
		b.output = b.unet(x)
		return
	}
	in := x
	if b.k.Hybrid != nil {
		in = b.hybrid(x)
	}
	n := b.before(in, "n1")
	if b.k.WideSum {
		x = b.point("residual", size(b.outer*b.m.Hidden, 4), []valueID{x})
	}
	switch {
	case b.k.NoMixer:
		b.output = b.sum(x, b.behind(b.feedForward(n), "n1.out"))
		return
	}
	a := b.behind(b.mixer(n), "n1.out")
	if b.k.Alone {
		b.output = b.sum(x, a)
		return
	}
	if b.k.Parallel {
		if !b.k.OneNorm {
			n = b.norm(x, "n2", b.outer, b.m.Hidden)
		}
		f := b.feedForward(n)
		b.output = b.sum(b.sum(f, a), x)
		return
	}
	mid := b.summed(b.sum(x, a), "n1")
	if b.k.Cross {
		mid = b.sum(mid, b.behind(b.cross(b.before(mid, "nc")), "nc.out"))
	}
	n = b.before(mid, "n2")
	f := noValue
	if b.k.Besides {
		f = b.besides(mid, n)
	} else {
		f = b.feedForward(n)
	}
	b.output = b.summed(b.sum(mid, b.behind(f, "n2.out")), "n2")
	if b.k.PerLayer != nil {
		b.output = b.sum(b.output, b.layerInput(b.output))
	}
}

// summed returns the norm after a sum, or x without one.
func (b *builder) summed(x valueID, name string) valueID {
	if b.k.Around == AroundSum {
		return b.norm(x, name, b.outer, b.m.Hidden)
	}
	return x
}

// before returns the norm before a part of the block, or x without one.
func (b *builder) before(x valueID, name string) valueID {
	if b.k.Around == AroundBehind || b.k.Around == AroundSum || name == "n1" && b.k.NoFirst {
		return x
	}
	return b.norm(x, name, b.outer, b.m.Hidden)
}

// behind returns the norm and the dropout after a part of the block, or x without them.
func (b *builder) behind(x valueID, name string) valueID {
	if b.k.Scales {
		x = b.point(name+".scaled", b.values[x].bytes, []valueID{x}, x)
		b.extra(name+".scales", b.m.Hidden)
	}
	if b.k.Dropout && b.s.written() && !(b.k.NetDrops && name == "n1.out") || b.s.Dropout {
		x = b.add(op{in: []valueID{x}}, name+".dropped", b.values[x].bytes)
		b.aside(name+".mask", size(b.outer*b.m.Hidden, 1))
	}
	if b.k.Around == AroundBefore || b.k.Around == AroundSum {
		return x
	}
	return b.norm(x, name, b.outer, b.m.Hidden)
}

// act returns the bytes of n numbers for each token of the products.
func (b *builder) act(n int64) engine.Bytes { return size(b.inner*n, b.e) }

// sum adds two values. Its backward passes the gradient to both without a copy.
func (b *builder) sum(x, y valueID) valueID {
	z := b.add(op{in: []valueID{x, y}, byRef: true}, "sum", max(b.values[x].bytes, b.values[y].bytes))
	b.values[z].wide = b.values[x].wide || b.values[y].wide
	return z
}

// point is an element-wise operator that keeps some values.
func (b *builder) point(name string, bytes engine.Bytes, in []valueID, keeps ...valueID) valueID {
	y := b.add(op{in: in, keeps: keeps}, name, bytes)
	b.values[y].wide = b.values[in[0]].wide && b.s.bitsandbytes()
	return y
}

// collect gathers the tokens of a tensor-parallel group. Its backward scatters the gradient.
func (b *builder) collect(x valueID) valueID {
	if b.inner == b.outer {
		return x
	}
	return b.add(op{kind: opCollect, in: []valueID{x}}, "gathered",
		b.values[x].bytes/engine.Bytes(b.outer)*engine.Bytes(b.inner))
}

// share returns what a product keeps of its input. Megatron and Transformer Engine keep only the rank's share of
// a gathered input, and gather it again in the backward [arXiv:2205.05198, section 4.2.2; Megatron-LM:
// core/tensor_parallel/layers.py].
func (b *builder) share(x valueID) valueID {
	for i := range b.ops {
		if o := &b.ops[i]; b.s.Static && !b.s.Gathered && o.kind == opCollect && o.out[0] == x {
			return o.in[0]
		}
	}
	return x
}

// scatter adds the partial results of a tensor-parallel group.
func (b *builder) scatter(x valueID) valueID {
	if b.inner == b.outer {
		return x
	}
	return b.add(op{kind: opScatter, in: []valueID{x}}, "scattered", size(b.outer*b.m.Hidden, b.e))
}

// linear is a product from in to out numbers per token, with its adapter.
func (b *builder) linear(x valueID, name string, in, out, bias int64) valueID {
	w := weight{name: name, n: in*out + bias, trained: b.s.trains(), rows: in, cols: out}
	wide := b.values[x].wide && b.s.bitsandbytes() // the result has the type of the input
	bytes := b.act(out)
	whole := x
	x = b.cast(x)
	o := op{kind: opProduct, in: []valueID{x}, weights: []weight{w},
		flops: 2 * float64(b.inner) * float64(in) * float64(out)}
	o.temp, o.back = b.narrowed(w, b.inner)
	o.narrow = b.s.Float8
	if w.trained {
		o.keeps = []valueID{b.share(x)}
		if o.keeps[0] != x {
			o.back += b.values[x].bytes
		}
	} else if b.s.moves(w) && b.s.RamTorch {
		o.keeps = []valueID{whole}
	}
	if b.s.Buffered && b.s.quantised(w) {
		o.keeps = []valueID{x}
	}
	if b.fuses(name) {
		return b.add(b.fuse(o, name, in, out), name, bytes)
	}
	if b.s.bitsandbytes() && b.s.Base == BaseInt8 { // the product keeps its input without a cast
		o.in, o.keeps = []valueID{whole}, []valueID{whole}
	}
	if wide {
		o.temp, o.back = max(o.temp, bytes), o.back+bytes
		bytes, x = size(b.inner*out, 4), whole // adapters make a copy of their own
	}
	own := len(o.keeps) > 0 && b.s.keepsFloat8() && name != "o"
	if own { // Transformer Engine: module/linear.py; what attention returns is kept wide by attention
		o.keeps = nil
	}
	y := b.add(o, name, bytes)
	if b.s.quantised(w) && b.s.Base == BaseFP8 { // an operator like any other reads the wide copy, and keeps it
		b.copied(name+".weight", size(in*out, b.e))
	}
	if b.values[y].wide = wide; own && b.eight != x {
		b.eight = x
		b.aside(name+".narrow", b.values[b.share(x)].bytes/engine.Bytes(b.e))
	}
	joint := b.k.Joined && !b.s.FusedQKV || b.k.Dit != nil && b.s.LoRA.has("up") // of Flux.2 with the net's
	if name == "qkv" && joint && b.s.LoRA.has("q") {                             // PEFT's on the joint product
		return b.adapt(x, y, name, in, out)
	}
	beside := strings.HasPrefix(name, "txt.") || strings.HasPrefix(name, "cross.added.")
	if part := name[strings.LastIndex(name, ".")+1:]; b.s.LoRA.has(name) || (b.k.Dit != nil || b.k.Unet != nil) &&
		b.s.LoRA.has(part) && !(b.s.LoRA.Latents && beside) {
		y = b.adapt(x, y, name, in, out)
	}
	return y
}

func given(has bool, n int64) int64 {
	if !has {
		return 0
	}
	return n
}

// feedForward is the feed-forward net or the experts, which read the output n of the second norm.
func (b *builder) feedForward(n valueID) valueID {
	if b.k.MoE != nil {
		return b.experts(n)
	}
	return b.scatter(b.net(b.collect(n), ceil(b.k.Wide, b.s.Tensor)))
}

func (b *builder) net(n valueID, wide int64) valueID {
	h := b.m.Hidden
	bias := func(n int64) int64 { return given(b.k.Bias || b.k.MLPBias, n) }
	if !b.k.Gated {
		up := b.linear(n, "up", h, wide, bias(wide))
		return b.linear(b.droppedNet(b.activation(up, "gelu", b.values[up].bytes)), "down", wide, h, bias(h))
	}
	if b.k.GateUp {
		n = b.cast(n)
	}
	if b.fuses("gate") && b.fuses("up") && !b.k.Sparse {
		return b.linear(b.fusedGate(n, wide, bias(wide)), "down", wide, h, bias(h))
	}
	gate := b.linear(n, "gate", h, wide, bias(wide))
	if b.k.Sparse { // the threshold is made of a mean and a deviation of each token
		kept := b.point("gate.largest", b.act(wide), []valueID{gate}, gate)
		b.aside("gate.deviation", b.act(1))
		gate = kept
	}
	up := b.linear(n, "up", h, wide, bias(wide))
	return b.linear(b.droppedNet(b.gated(gate, up, b.values[up].bytes)), "down", wide, h, bias(h))
}

// droppedNet returns the dropout before a net's last product, or x without one.
func (b *builder) droppedNet(x valueID) valueID {
	if !b.k.DropNet || !b.s.written() {
		return x
	}
	bytes := b.values[x].bytes
	x = b.point("net.dropped", bytes, []valueID{x})
	b.aside("net.mask", bytes/engine.Bytes(b.e))
	return x
}

// gated is the activation of the gate times the other product.
func (b *builder) gated(gate, up valueID, bytes engine.Bytes) valueID {
	// Megatron's kernel reads clamped copies [Megatron-LM: core/fusions/fused_bias_geglu.py]
	if e := b.k.MoE; e != nil && (e.Clamped && b.s.TE || e.Clipped && b.s.written() && !b.s.FusedGate) {
		gate, up = b.point("gate.clipped", bytes, []valueID{gate}, gate),
			b.point("up.clipped", bytes, []valueID{up}, up)
	}
	if b.s.TE && b.k.GELU {
		return b.glu(gate, up, bytes)
	}
	if b.s.FusedGate || b.s.Compiled && !b.s.partitioned() {
		return b.add(op{in: []valueID{gate, up}, keeps: []valueID{gate, up}}, "gated", bytes)
	}
	if e := b.k.MoE; e != nil && e.Clamped && b.s.written() {
		return b.clamped(gate, up, bytes)
	}
	silu := b.activation(gate, "silu", bytes)
	return b.point("gated", bytes, []valueID{silu, up}, silu, up)
}

// clamped is gpt-oss's activation, which keeps five more tensors than its inputs.
func (b *builder) clamped(gate, up valueID, bytes engine.Bytes) valueID {
	g := b.point("clamp.gate", bytes, []valueID{gate}, gate)
	u := b.point("clamp.up", bytes, []valueID{up}, up)
	sig := b.keep(b.point("clamp.sigmoid", bytes, []valueID{g}))
	glu := b.point("clamp.glu", bytes, []valueID{g, sig}, g, sig)
	one := b.point("clamp.one", bytes, []valueID{u})
	return b.point("gated", bytes, []valueID{glu, one}, glu, one)
}

// Act is an activation as Transformers writes it.
type Act uint8

// ActKernel is one kernel, which keeps its input: SiLU, and GELU in its exact and tanh forms. ActNew is GELU in
// several operators [transformers: activations.py, NewGELUActivation], which keeps its input and three more
// values. ActSquare is the square of a relu, which keeps the output of the relu. ActXIELU is the activation of
// Apertus [activations.py, XIELUActivation]. ActQuick is GELU by a sigmoid. ActRelu keeps its output.
const (
	ActKernel Act = iota
	ActNew
	ActSquare
	ActXIELU
	ActQuick
	ActRelu
)

// activation is an element-wise activation. bytes is the size of its input.
func (b *builder) activation(x valueID, name string, bytes engine.Bytes) valueID {
	act := b.k.Act
	if act == ActXIELU { // alpha_p and alpha_n
		b.ops[len(b.ops)-1].weights = append(b.ops[len(b.ops)-1].weights,
			weight{name: "xielu", n: 2, trained: b.s.trains()})
	}
	if !b.s.written() || act == ActXIELU && b.s.Kernels { // xielu's kernel keeps its input alone [xielu_impl.cu]
		act = ActKernel
	}
	in := []valueID{x}
	switch act {
	case ActNew:
		if b.s.autocast() {
			return b.wideGELU(x, name, bytes)
		}
		cube := b.point(name+".inner", bytes, in, x)
		tanh := b.keep(b.point(name+".tanh", bytes, []valueID{cube}))
		half := b.point(name+".half", bytes, in)
		one := b.point(name+".one", bytes, []valueID{tanh})
		return b.point(name, bytes, []valueID{half, one}, half, one)
	case ActSquare:
		relu := b.keep(b.point(name+".relu", bytes, in))
		wide := b.s.autocast() && b.e < 4 // autocast computes powers in 4 bytes
		if wide {
			bytes = b.inFour(x)
			relu = b.widen(relu, name, bytes)
		}
		y := b.add(op{in: []valueID{relu}, keeps: []valueID{relu}, back: bytes}, name, bytes) // [torch: pow_backward]
		b.values[y].wide = wide
		return y
	case ActRelu:
		return b.keep(b.point(name, bytes, in))
	case ActXIELU:
		return b.xielu(x, name, bytes)
	case ActQuick:
		sig := b.keep(b.point(name+".sigmoid", bytes, in))
		return b.point(name, bytes, []valueID{x, sig}, x, sig)
	}
	return b.point(name, bytes, in, x)
}

// xielu keeps its input, three intermediate values, and where the input is positive.
func (b *builder) xielu(x valueID, name string, bytes engine.Bytes) valueID {
	in := []valueID{x}
	wide := b.inFour(x)
	if b.s.autocast() { // autocast computes the power and everything after it in 4 bytes
		bytes = wide
	}
	square := b.keep(b.point(name+".square", bytes, in, x))
	low := b.keep(b.point(name+".expm1", bytes, in))
	less := b.keep(b.point(name+".less", bytes, []valueID{low, x}))
	y := b.point(name, bytes, []valueID{square, less})
	b.values[y].wide = b.s.autocast()
	b.copied(name+".positive", wide/4)
	return y
}

// wideGELU is ActNew under autocast, whose power widens its input and everything after it.
func (b *builder) wideGELU(x valueID, name string, bytes engine.Bytes) valueID {
	wide := b.inFour(x)
	in := b.widen(x, name, wide)
	cube := b.point(name+".inner", wide, []valueID{in, x}, in)
	tanh := b.keep(b.point(name+".tanh", wide, []valueID{cube}))
	half := b.point(name+".half", bytes, []valueID{x})
	one := b.point(name+".one", wide, []valueID{tanh})
	y := b.point(name, wide, []valueID{half, one}, half, one)
	b.values[y].wide = true
	return y
}

// inFour returns the bytes of x in 4 bytes per number.
func (b *builder) inFour(x valueID) engine.Bytes {
	if b.values[x].wide {
		return b.values[x].bytes
	}
	return b.values[x].bytes * 4 / engine.Bytes(b.e)
}

// widen returns x in 4 bytes per number, bytes in all, or x itself if it is wide.
func (b *builder) widen(x valueID, name string, bytes engine.Bytes) valueID {
	if b.values[x].wide {
		return x
	}
	y := b.retyped(x, name+".f32", bytes)
	b.values[y].wide = b.s.autocast()
	return y
}

// cast returns x in the compute type. Each product that reads a wide value makes a copy of its own, since
// autocast caches only copies of weights.
func (b *builder) cast(x valueID) valueID {
	if !b.values[x].wide {
		return x
	}
	return b.retyped(x, "cast", b.values[x].bytes*engine.Bytes(b.e)/4)
}

// retyped returns x in another type. A compiler has one copy for all that read it.
func (b *builder) retyped(x valueID, name string, bytes engine.Bytes) valueID {
	for _, o := range b.ops {
		if y := o.out[0]; b.s.partitioned() && b.values[y].cast && o.in[0] == x && b.values[y].bytes == bytes {
			return y
		}
	}
	y := b.add(op{in: []valueID{x}}, name, bytes)
	b.values[y].cast = true
	return y
}
