package llm

import (
	"strings"

	"memtide/engine"
)

// NormForm is how Transformers writes a norm.
type NormForm uint8

// The forms of a norm: Llama's, which narrows before the weight; Gemma's, which multiplies by 1 + w in 4 bytes before
// it narrows; gpt-oss's and OLMo 2's, with the weight in 4 bytes; Gemma 4's, which takes a power; without a weight;
// Cohere's LayerNorm in 4 bytes; Nemotron's LayerNorm with 1 + w; T5's, which keeps its input beside the widened input.
const (
	FormUsual NormForm = iota
	FormPlus
	FormWide
	FormPower
	FormBare
	FormLayerWide
	FormLayerPlus
	FormInput
)

// normWeight returns the weight of a norm. LoRA without products trains only norms.
func (b *builder) normWeight(name string, n int64) weight {
	only := b.s.LoRA != nil && len(b.s.LoRA.On) == 0
	return weight{name: name, n: n, trained: b.s.trains() || only, adapter: only}
}

// norm normalises rows of n numbers in the block's form.
func (b *builder) norm(x valueID, name string, rows, n int64) valueID {
	return b.normAs(b.k.Form, x, name, rows, n, b.k.normParams(n))
}

// normAs normalises rows of n numbers in the given form, with the given number of weights. Compiled blocks have
// one kernel for it.
func (b *builder) normAs(form NormForm, x valueID, name string, rows, n, weights int64) valueID {
	kind := b.s.Norm
	if b.s.Compiled && kind != NormLayer && !b.s.partitioned() {
		kind = NormFused
	}
	w := b.normWeight(name, weights)
	written := b.s.written() && form != FormUsual
	switch {
	case b.s.TE && b.k.Besides && (name == "vn" || name == "router.norm" || strings.HasPrefix(name, "n2")):
		// the norms that Gemma 4 has and others have not
		return b.bridgeNorm(x, name, rows, n, w)
	case written && form == FormLayerWide, written && kind == NormEager && form != FormInput:
		return b.writtenNorm(form, x, name, rows, n, w)
	case kind == NormFused, kind == NormLayer:
		return b.oneKernel(form, x, name, rows, n, w)
	case kind == NormWide:
		return b.writtenNorm(FormWide, x, name, rows, n, w)
	case kind == NormPlain:
		return b.plainNorm(x, name, rows, n, w)
	}
	// Eager: widened to 4 bytes, normalised, narrowed, weighted. The gradient of the
	// mean is as large as its input [torch: mean_backward expands, then divides].
	out := size(rows*n, b.e)
	wide := b.values[x].wide || weights > 0 && (b.s.wideStream() || b.s.wideWeights()) // the type of the weights
	if wide {
		out = size(rows*n, 4)
	}
	f, r := b.wideNorm(x, name, rows, n)
	read := f
	if form == FormInput {
		read = x
	}
	y := b.add(op{in: []valueID{f, r}, keeps: []valueID{read, r}, back: b.values[f].bytes}, name+".mul",
		b.values[f].bytes)
	narrow := y
	if b.values[x].wide {
		b.values[y].wide = true
	} else {
		narrow = b.add(op{in: []valueID{y}}, name+".bf16", size(rows*n, b.e))
	}
	if weights == 0 {
		return narrow
	}
	y = b.weighted(narrow, name, w, out)
	b.values[y].wide = wide
	return y
}

func (b *builder) weighted(x valueID, name string, w weight, bytes engine.Bytes) valueID {
	o := op{in: []valueID{x}, weights: []weight{w}}
	if w.trained {
		o.keeps, o.back = []valueID{x}, bytes
	}
	return b.add(o, name, bytes)
}

// oneKernel is a norm in one kernel, which keeps its input and a statistic of each row, or two for a LayerNorm.
func (b *builder) oneKernel(form NormForm, x valueID, name string, rows, n int64, w weight) valueID {
	stats := size(rows, 4)
	if b.s.Norm == NormLayer {
		stats *= 2
	}
	e := b.e
	narrow := form == FormLayerPlus && b.s.written()               // outside of autocast
	bare := form == FormBare && b.s.written() && !b.values[x].wide // OLMo's
	if narrow {
		x = b.cast(x)
	} else if b.s.autocast() && b.s.Norm == NormLayer || bare {
		x, e = b.widen(x, name, size(rows*n, 4)), 4
	} else if b.values[x].wide {
		e = 4
	}
	y := b.add(op{in: []valueID{x}, keeps: []valueID{x}, weights: []weight{w}}, name, size(rows*n, e))
	b.values[y].wide = e > b.e
	b.aside(name+".stat", stats)
	if bare {
		return b.add(op{in: []valueID{y}}, name+".narrow", size(rows*n, b.e))
	}
	if e > b.e && b.s.Weight < e {
		b.copied(name+".f32.weights", size(w.n, 4))
	}
	if narrow {
		b.copied(name+".weight", size(n, b.e))
	}
	return y
}

// wideNorm returns x widened to 4 bytes, and the inverse of its root mean square.
func (b *builder) wideNorm(x valueID, name string, rows, n int64) (f, r valueID) {
	wide := size(rows*n, 4)
	f = b.widen(x, name, wide)
	sq := b.add(op{in: []valueID{f}, keeps: []valueID{f}, back: wide}, name+".pow", wide)
	mean := b.add(op{in: []valueID{sq}}, name+".mean", size(rows, 4))
	return f, b.keep(b.add(op{in: []valueID{mean}}, name+".rsqrt", size(rows, 4)))
}

// writtenNorm is a norm in a form other than Llama's, in 4 bytes throughout.
func (b *builder) writtenNorm(form NormForm, x valueID, name string, rows, n int64, w weight) valueID {
	wide := size(rows*n, 4)
	f, r := b.wideNorm(x, name, rows, n)
	if form == FormPower {
		b.aside(name+".mean2", size(rows, 4))
	}
	if form == FormLayerWide { // subtract the mean first
		f = b.add(op{in: []valueID{f}, keeps: []valueID{f}, back: wide}, name+".centred", wide)
	}
	y := b.add(op{in: []valueID{f, r}, keeps: []valueID{f, r}, back: wide}, name+".mul", wide)
	if w.n > 0 {
		y = b.weighted(y, name+".weighted", w, wide)
		if form != FormWide && w.trained {
			b.copied(name+".weight", size(w.n, 4))
		}
	}
	if b.values[x].wide {
		b.values[y].wide = true
		return y
	}
	return b.add(op{in: []valueID{y}}, name, size(rows*n, b.e))
}

// plainNorm is in the compute type throughout, as litgpt's norm was until October 2023 [rmsnorm.py].
func (b *builder) plainNorm(x valueID, name string, rows, n int64, w weight) valueID {
	out := size(rows*n, b.e)
	sq := b.add(op{in: []valueID{x}, keeps: []valueID{x}}, name+".square", out)
	mean := b.add(op{in: []valueID{sq}}, name+".mean", size(rows, b.e))
	r := b.keep(b.add(op{in: []valueID{mean}}, name+".rsqrt", size(rows, b.e)))
	y := b.add(op{in: []valueID{x, r}, keeps: []valueID{x, r}, back: out}, name+".mul", out)
	return b.weighted(y, name, w, out)
}

// final is what comes between the last block and the words: a norm, or BERT's head.
func (b *builder) final() {
	x := b.unmix(b.merge(blockInput))
	if b.m.Ends.pictures() {
		b.output = b.pooled(x)
		return
	}
	if b.m.LastNorm {
		x = b.norm(x, "last", b.outer, b.m.Hidden)
	}
	if b.m.pools() { // a product and a tanh
		h := b.m.Hidden
		b.over(b.s.Batch, func() {
			b.output = b.keep(b.point("tanh", b.act(h), []valueID{b.linear(x, "transform", h, h, h)}))
		})
		return
	}
	if b.m.Masked {
		x = b.activation(b.linear(x, "transform", b.m.Hidden, b.m.Hidden, given(b.k.Bias, b.m.Hidden)), "gelu",
			b.act(b.m.Hidden))
	}
	if b.m.Pooler { // [Megatron-LM: core/models/bert/pooler.py]
		o := &b.ops[len(b.ops)-1]
		o.weights = append(o.weights, weight{name: "pooler", n: b.m.pooler(), trained: b.s.trains()})
	}
	if b.k.WideSum && b.s.written() { // narrowed after the norm
		b.e = 4
		x = b.norm(x, lastNorm, b.outer, b.m.Hidden)
		b.e = b.s.Compute
		b.output = b.add(op{in: []valueID{x}}, "final.narrow", b.act(b.m.Hidden))
		return
	}
	b.output = b.cast(b.norm(x, lastNorm, b.outer, b.m.Hidden))
	if b.m.Ends != nil && b.m.Dropped {
		b.output = b.add(op{in: []valueID{b.output}}, "final.dropped", b.act(b.m.Hidden))
		b.aside("final.mask", size(b.outer*b.m.Hidden, 1))
	}
}
