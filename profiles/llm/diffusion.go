package llm

import "memtide/engine"

// Dit is a block of a diffusion transformer: latent tokens beside the tokens of a text. The time of the diffusion
// scales and shifts its norms.
type Dit struct {
	Text      int64    // tokens of the text
	Single    bool     // one row of all tokens; otherwise latents and text have separate weights
	Cross     bool     // latents attend to the text, which is not part of the stream (Wan)
	Seen      int64    // tokens of a picture that latents attend to beside the text
	Given     int64    // vectors of scales that a module outside the blocks makes; 0: a product of the block does
	Shared    bool     // all blocks of a kind share scales that are made before them
	Plain     bool     // products have no biases
	Swish     bool     // the feed-forward net has a gate
	Narrow    bool     // with Cross: norms and scales are in the compute type
	Roots     bool     // with Narrow: norms are RMS norms
	Time      int64    // width of the time's embedding if latents and text share weights (CogVideoX); else 0
	Linear    bool     // with Cross: attention without a softmax and a net of convolutions (Sana)
	Heads     int64    // with Cross: heads of the attention to the text; 0: the heads of latents
	Around    bool     // norms come before and after each part (Z-Image)
	Scaled    bool     // with Around: the time scales and gates both parts
	Norms     NormForm // form of the norms of queries and keys by head
	Bare      bool     // queries and keys have no norms
	TextOut   bool     // the block is the last one that reads the text
	Dual      bool     // latents attend to themselves alone, too (Stable Diffusion 3.5 Medium)
	Copied    bool     // attention's result is copied for the products after it
	Twice     bool     // with Single: attention reads a copy of its input
	Masked    bool     // the text has a mask
	Table     int64    // bytes of the tables of rotation per token
	TextTable int64    // bytes of the tables of rotation of the whole text
	LatentTab bool     // Table holds only for latents
}

// dit is a block of latents and a text [diffusers: models/transformers].
func (b *builder) dit(x valueID) valueID {
	switch d := b.k.Dit; {
	case d.Cross:
		return b.crossDit(x)
	case d.Around:
		return b.aroundDit(x)
	case d.Time > 0:
		return b.jointDit(x)
	case d.Single:
		return b.singleDit(x)
	}
	return b.doubleDit(x)
}

// over calls f with the given number of tokens.
func (b *builder) over(tokens int64, f func()) {
	inner, outer := b.inner, b.outer
	b.inner, b.outer = tokens, tokens
	f()
	b.inner, b.outer = inner, outer
}

// ditTables adds the values that all blocks share: the embedding of the time, tables, a text.
func (b *builder) ditTables(first func(name string, bytes engine.Bytes, kept bool)) {
	d, h, batch := b.k.Dit, b.m.Hidden, b.s.Batch
	tokens := b.s.Seq
	if !d.LatentTab && !d.Cross {
		tokens += d.Text
	}
	if d.Table > 0 {
		first("rotation "+b.k.RopeName, size(tokens, d.Table)+engine.Bytes(d.TextTable), true)
	}
	switch {
	case d.Around:
		if d.Scaled {
			first("time", size(batch*timeWidth, b.e), true)
		}
	case d.Time > 0:
		first("time", size(batch*d.Time, b.e), true)
	case d.Cross && d.Narrow:
		first("text", size(batch*d.Text*h, b.e), true)
		first("time", size(batch*6*h, b.e), false)
	case d.Shared && d.Single:
		first("scales", size(batch*3*h, b.e), true)
	case d.Shared:
		first("scales of two", size(batch*12*h, b.e), true)
	case d.Cross:
		first("text", size(batch*(d.Text+d.Seen)*h, b.e), true)
		first("time", size(batch*6*h, b.e), false)
	case d.Given == 0:
		first("time", size(batch*h, b.e), true)
	case !d.Single: // put together for the block
		b.shared("scales", size(batch*12*h, b.e), false, true)
	default:
		first("scales", size(batch*d.Given*h, b.e), true)
	}
	if d.Masked {
		first("text mask", size(batch*(b.s.Seq+d.Text), 1), false)
	}
}

// scales is the product that makes vectors of scales from the time.
func (b *builder) scales(name string, vectors int64) (y valueID) {
	h := b.m.Hidden
	from := h
	if b.k.Dit.Time > 0 {
		from = b.k.Dit.Time
	}
	b.over(b.s.Batch, func() {
		silu := b.add(op{in: trainedKeep(b.s, blockInput)}, name+".silu", b.act(from))
		y = b.linear(silu, name, from, vectors*h, vectors*h)
	})
	return y
}

// scaledNorm is a norm without weights, scaled and shifted.
func (b *builder) scaledNorm(x valueID, name string, tokens int64) valueID {
	return b.shifted(b.bareNorm(x, name, tokens), name)
}

// bareNorm is a norm without weights, which autocast computes in 4 bytes.
func (b *builder) bareNorm(x valueID, name string, tokens int64) valueID {
	bytes := size(tokens*b.m.Hidden, b.e)
	if b.s.autocast() {
		bytes = size(tokens*b.m.Hidden, 4)
		x = b.widen(x, name, bytes)
	}
	n := b.add(op{in: []valueID{x}, keeps: []valueID{x}}, name, bytes)
	b.values[n].wide = b.s.autocast()
	b.aside(name+".stat", size(tokens, 8))
	return n
}

// shifted scales and shifts the result of a norm, which is kept only for gradients of the scales: if they are made by
// weights that train.
func (b *builder) shifted(n valueID, name string) valueID {
	y := b.add(op{in: []valueID{n}, keeps: trainedKeep(b.s, n)}, name+".scaled", b.values[n].bytes)
	b.values[y].wide = b.values[n].wide
	b.aside(name+".scale", size(b.s.Batch*b.m.Hidden, b.e))
	return y
}

// qkv returns queries, keys and values of some tokens. Queries and keys are normalised by head.
func (b *builder) qkv(n valueID, name string, tokens int64) (out [3]valueID) {
	h, k := b.m.Hidden, b.k
	b.over(tokens, func() {
		for i, of := range []string{"q", "k", "v"} {
			out[i] = b.linear(n, name+of, h, h, b.biased(h))
			if i < 2 && !k.Dit.Bare {
				out[i] = b.normAs(k.Dit.Norms, out[i], name+of+".norm", tokens*k.Heads, k.Head, k.Head)
			}
		}
	})
	return out
}

// ditAttend is attention of all tokens to all tokens. in has the parts of queries, keys and values.
func (b *builder) ditAttend(in [3][]valueID, tokens int64) valueID {
	h := b.m.Hidden
	var all [3]valueID
	for i, parts := range in {
		all[i] = parts[0]
		if i < 2 || len(parts) > 1 { // rotated, or put together
			all[i] = b.add(op{in: parts}, []string{"q", "k", "v"}[i]+".all", size(tokens*h, b.e))
		}
	}
	return b.sdpa(all, "", tokens)
}

// sdpa is PyTorch's attention of all tokens to all tokens, by queries, keys and values.
func (b *builder) sdpa(all [3]valueID, name string, tokens int64) valueID {
	h := b.m.Hidden
	o := op{kind: opAttention, in: all[:], keeps: all[:], back: size(tokens*h, 4),
		flops: 4 * float64(tokens) * float64(tokens/b.s.Batch) * float64(h)}
	a := b.keep(b.add(o, name+"attention", size(tokens*h, b.e)))
	each, batch := tokens/b.s.Batch, b.s.Batch
	if b.k.Dit.Masked {
		b.aside("mask", size(batch*upTo(each, efficientMask), b.e))
		each = upTo(each, efficientRows)
	}
	b.aside(name+"statistics", size(batch*each*b.k.Heads, 4))
	if b.k.Dit.Copied && name == "" { // whose queries are put together; other results lie as products read them
		a = b.add(op{in: []valueID{a}}, name+"attention.rows", size(tokens*h, b.e))
	}
	return a
}

// gatedSum adds a part's result times a gate to the stream.
func (b *builder) gatedSum(x, y, gates valueID, name string, bytes engine.Bytes) valueID {
	return b.sum(x, b.point(name, bytes, []valueID{y, gates}, append(trainedKeep(b.s, y), gates)...))
}

// doubleDit has separate weights for latents and text.
func (b *builder) doubleDit(x valueID) valueID {
	d, h := b.k.Dit, b.m.Hidden
	tokens := [2]int64{b.outer, b.s.Batch * d.Text}
	bytes := [2]engine.Bytes{size(tokens[0]*h, b.e), size(tokens[1]*h, b.e)}
	names := [2]string{"img.", "txt."}
	parts := b.split(x, []string{"img", "txt"}, bytes[:])
	var gates [2]valueID
	var alone valueID            // what latents attend to by themselves
	if d.Shared || d.Given > 0 { // given scales are concatenated
		all := b.add(op{in: trainedKeep(b.s, x)}, "scales", size(given(!d.Shared, b.s.Batch*12*h), b.e))
		gates = [2]valueID{all, all}
	}
	var in [3][]valueID
	for i := range parts {
		if d.Given == 0 && !d.Shared {
			vectors := int64(6)
			if i == 1 && d.TextOut {
				vectors = 2
			} else if i == 0 && d.Dual {
				vectors = 9
			}
			gates[i] = b.scales(names[i]+"mod", vectors)
		}
		n := b.bareNorm(parts[i], names[i]+"n1", tokens[i])
		qkv := b.qkv(b.shifted(n, names[i]+"n1"), names[i], tokens[i])
		if i == 0 && d.Dual {
			alone = b.shifted(n, "alone.n1")
		}
		for j := range in {
			in[j] = append(in[j], qkv[j])
		}
	}
	a := b.split(b.ditAttend(in, tokens[0]+tokens[1]), []string{"img.a", "txt.a"}, bytes[:])
	for i := range parts {
		if i == 1 && d.TextOut {
			return parts[0]
		}
		b.over(tokens[i], func() {
			y := b.gatedSum(parts[i], b.linear(a[i], names[i]+"o", h, h, b.biased(h)), gates[i], names[i]+"gate",
				bytes[i])
			if i == 0 && d.Dual {
				out := b.linear(b.sdpa(b.qkv(alone, "alone.", tokens[0]), "alone.", tokens[0]), "alone.o", h, h, h)
				y = b.gatedSum(y, out, gates[0], "alone.gate", bytes[0])
			}
			n := b.scaledNorm(y, names[i]+"n2", tokens[i])
			act := b.ditNet(n, names[i])
			parts[i] = b.gatedSum(y, b.linear(act, names[i]+"down", b.k.Wide, h, b.biased(h)), gates[i],
				names[i]+"gate2", bytes[i])
		})
	}
	return b.add(op{in: parts}, "both", bytes[0]+bytes[1])
}

// biased returns the number of biases of a product with n outputs.
func (b *builder) biased(n int64) int64 { return given(!b.k.Dit.Plain, n) }

// ditNet is a feed-forward net without its last product.
func (b *builder) ditNet(n valueID, name string) valueID {
	h, wide := b.m.Hidden, b.k.Wide
	if !b.k.Dit.Swish {
		return b.activation(b.linear(n, name+"up", h, wide, b.biased(wide)), name+"gelu", b.act(wide))
	}
	both := b.linear(n, name+"up", h, 2*wide, b.biased(2*wide))
	halves := b.split(both, []string{name + "gate", name + "value"}, []engine.Bytes{b.act(wide), b.act(wide)})
	return b.gated(halves[0], halves[1], b.act(wide))
}

// fusedDit is one product for queries, keys, values and the net. Values and the net are views of its result.
func (b *builder) fusedDit(n valueID, tokens int64) (act valueID, qkv [3]valueID) {
	h, wide := b.m.Hidden, b.k.Wide
	all := b.linear(n, "qkv", h, 3*h+2*wide, 0)
	parts := b.split(all, []string{"q", "k", "v", "gate", "value"},
		[]engine.Bytes{b.act(h), b.act(h), b.act(h), b.act(wide), b.act(wide)})
	for i, name := range []string{"q.norm", "k.norm"} {
		parts[i] = b.normAs(b.k.Dit.Norms, parts[i], name, tokens*b.k.Heads, b.k.Head, b.k.Head)
	}
	return b.gated(parts[3], parts[4], b.act(wide)), [3]valueID(parts[:3])
}

// singleDit adds a block with a single row of tokens, in which attention and the net run side by side. Their joint
// last product is named as the net's, because lists of attention's products leave it out.
func (b *builder) singleDit(x valueID) valueID {
	d, h, wide := b.k.Dit, b.m.Hidden, b.k.Wide
	tokens := b.outer + b.s.Batch*d.Text
	bytes := size(tokens*h, b.e)
	gates := x
	if d.Given == 0 && !d.Shared {
		gates = b.scales("mod", 3)
	} else { // a view of the given scales
		gates = b.add(op{in: trainedKeep(b.s, x)}, "scales", 0)
	}
	n := b.scaledNorm(x, "n1", tokens)
	var y valueID
	b.over(tokens, func() {
		var act valueID
		var qkv [3]valueID
		if d.Swish {
			act, qkv = b.fusedDit(n, tokens)
		} else {
			act = b.ditNet(n, "")
			if d.Twice {
				n = b.add(op{in: []valueID{n}}, "n1.again", bytes)
			}
			qkv = b.qkv(n, "", tokens)
		}
		a := b.ditAttend([3][]valueID{{qkv[0]}, {qkv[1]}, {qkv[2]}}, tokens)
		both := b.add(op{in: []valueID{a, act}}, "both", b.act(h+wide))
		y = b.linear(both, "net.down", h+wide, h, b.biased(h))
	})
	return b.gatedSum(x, y, gates, "gate", bytes)
}

// wideScaled is a norm in 4 bytes that is also scaled and shifted in 4 bytes.
func (b *builder) wideScaled(x valueID, name string) valueID {
	h, t := b.m.Hidden, b.outer
	if b.k.Dit.Narrow && !b.k.Dit.Roots {
		return b.scaledNorm(x, name, t)
	}
	if b.k.Dit.Narrow {
		n := b.normAs(FormInput, x, name, t, h, 0)
		y := b.add(op{in: []valueID{n}, keeps: trainedKeep(b.s, n)}, name+".scaled", size(t*h, b.e))
		b.aside(name+".scale", size(b.s.Batch*h, b.e))
		return y
	}
	wide := size(t*h, 4)
	f := b.add(op{in: []valueID{x}}, name+".f32", wide)
	n := b.add(op{in: []valueID{f}, keeps: []valueID{f}}, name, wide)
	b.aside(name+".stat", size(t, 8))
	y := b.add(op{in: []valueID{n}, keeps: trainedKeep(b.s, n)}, name+".scaled", wide)
	b.aside(name+".scale", size(b.s.Batch*h, 4))
	return b.add(op{in: []valueID{y}}, name+".narrow", size(t*h, b.e))
}

// crossDit has latents that attend to each other and to a text: Wan's, whose norms and vectors of the time are in
// 4 bytes, and PixArt's and LTX's.
func (b *builder) crossDit(x valueID) valueID {
	d, h, t := b.k.Dit, b.m.Hidden, b.outer
	batch, bytes := b.s.Batch, size(t*h, b.e)
	n := b.wideScaled(x, "n1")
	e := int64(4)
	if d.Narrow {
		e = b.e
	}
	gates := b.add(op{in: trainedKeep(b.s, x)}, "scales", size(batch*6*h, e))
	b.extra("scales", 6*h)
	whole := func(v valueID, name string, rows int64) valueID {
		if d.Bare {
			return v
		}
		return b.normAs(FormUsual, v, name, rows, h, h)
	}
	q := whole(b.linear(n, "q", h, h, b.biased(h)), "qn", t)
	k := whole(b.linear(n, "k", h, h, b.biased(h)), "kn", t)
	v := b.linear(n, "v", h, h, b.biased(h))
	var a valueID
	if d.Linear {
		a = b.linearDit(q, k, v)
	} else {
		a = b.ditAttend([3][]valueID{{q}, {k}, {v}}, t)
	}
	x = b.gatedSum(x, b.linear(a, "o", h, h, h), gates, "gate", bytes)
	n = x
	if !d.Narrow {
		f := b.add(op{in: []valueID{x}}, "n2.f32", size(t*h, 4))
		n = b.add(op{in: []valueID{f}, keeps: []valueID{f}, weights: []weight{b.normWeight("n2", 2*h)}}, "n2", bytes)
		b.aside("n2.stat", size(t, 8)+size(2*h, 4))
	}
	q = whole(b.linear(n, "cross.q", h, h, h), "cross.qn", t)
	q = b.add(op{in: []valueID{q}}, "cross.q.heads", bytes)
	y := b.beside(n, q, "cross.", d.Text, whole)
	if d.Seen > 0 {
		y = b.add(op{in: []valueID{y, b.beside(n, q, "cross.added.", d.Seen, whole)}}, "cross.both", bytes)
	}
	x = b.sum(x, b.linear(y, "cross.o", h, h, h))
	n = b.wideScaled(x, "n3")
	var out valueID
	if d.Linear {
		out = b.convolved(n)
	} else {
		out = b.linear(b.ditNet(n, ""), "down", b.k.Wide, h, h)
	}
	if !d.Narrow {
		out = b.add(op{in: []valueID{out}}, "down.f32", size(t*h, 4))
	}
	return b.gatedSum(x, out, gates, "gate2", bytes)
}

// beside is the attention of the latents to tokens outside their stream. The states of these tokens count in the
// first block that reads them.
func (b *builder) beside(n, q valueID, name string, tokens int64, whole func(valueID, string, int64) valueID) valueID {
	h, rows := b.m.Hidden, b.s.Batch*tokens
	states := b.add(op{in: []valueID{n}}, name+"states", 0)
	var k, v valueID
	b.over(rows, func() {
		k = whole(b.linear(states, name+"k", h, h, h), name+"kn", rows)
		k = b.add(op{in: []valueID{k}}, name+"k.heads", b.act(h))
		v = b.linear(states, name+"v", h, h, h)
	})
	o := op{kind: opAttention, in: []valueID{q, k, v}, keeps: []valueID{q, k, v},
		flops: 4 * float64(b.outer) * float64(tokens) * float64(h)}
	a := b.keep(b.add(o, name+"attention", size(b.outer*h, b.e)))
	heads := b.k.Heads
	if b.k.Dit.Heads > 0 {
		heads = b.k.Dit.Heads
	}
	b.aside(name+"statistics", size(b.outer*heads, 4))
	return a
}

// linearDit is attention without a softmax, by products in 4 bytes of relu outputs, with a row of ones beside the
// values [diffusers: SanaLinearAttnProcessor2_0].
func (b *builder) linearDit(q, k, v valueID) valueID {
	h, t, heads, d := b.m.Hidden, b.outer, b.k.Heads, b.k.Head
	q, k = b.keep(b.point("q.relu", b.act(h), []valueID{q})), b.keep(b.point("k.relu", b.act(h), []valueID{k}))
	a := b.add(op{kind: opAttention, in: []valueID{q, k, v}, flops: 4 * float64(t) * float64(h) * float64(d)},
		"attention", b.act(h))
	b.aside("attention.wide", size(2*t*h+2*t*(h+heads)+t*heads+b.s.Batch*heads*(d+1)*d, 4))
	return a
}

// convolved is a net of convolutions with a gate [diffusers: GLUMBConv].
func (b *builder) convolved(n valueID) valueID {
	h, wide := b.m.Hidden, b.k.Wide
	both := b.act(2 * wide)
	up := b.activation(b.linear(n, "up", h, 2*wide, 2*wide), "up.act", both)
	deep := b.add(op{kind: opConv, in: []valueID{up}, keeps: []valueID{up}}, "depth", both)
	b.extra("depth", 20*wide)
	halves := b.split(deep, []string{"value", "gate"}, []engine.Bytes{b.act(wide), b.act(wide)})
	return b.linear(b.gated(halves[1], halves[0], b.act(wide)), "down", wide, h, 0)
}

// jointDit has one set of weights for latents and text. Their norms have weights, and differ only in their
// scales.
func (b *builder) jointDit(x valueID) valueID {
	h, d := b.m.Hidden, b.k.Head
	tokens := b.outer + b.s.Batch*b.k.Dit.Text
	bytes := size(tokens*h, b.e)
	norm := func(x valueID, name string) valueID {
		n := b.scaledNorm(x, name, tokens)
		b.aside(name+".scale2", size(b.s.Batch*h, b.e)) // of the text
		b.extra(name, 2*h)
		return n
	}
	b.over(tokens, func() {
		gates := b.scales("mod1", 6)
		n := norm(x, "n1")
		var qkv [3]valueID
		for i, name := range []string{"q", "k", "v"} {
			qkv[i] = b.linear(n, name, h, h, b.biased(h))
			if i < 2 {
				x, bytes := qkv[i], bytes
				if b.s.autocast() { // as all LayerNorms; attention narrows the result
					bytes = size(tokens*h, 4)
					x = b.widen(x, name, bytes)
				}
				o := op{in: []valueID{x}, keeps: []valueID{x}, weights: []weight{b.normWeight(name+".norm", 2*d)}}
				if b.k.Dit.Table > 0 { // rotated in place, through copies [diffusers: embeddings.py, apply_rotary_emb]
					o.temp, o.back = size((tokens-b.s.Batch*b.k.Dit.Text)*h, 3*4+b.e), size(tokens*h, 3*4)
				}
				qkv[i] = b.add(o, name+".normed", bytes)
				b.aside(name+".stat", size(tokens*b.k.Heads, 8))
			}
		}
		a := b.ditAttend([3][]valueID{{qkv[0]}, {qkv[1]}, {qkv[2]}}, tokens)
		x = b.gatedSum(x, b.linear(a, "o", h, h, h), gates, "gate", bytes)
		gates = b.scales("mod2", 6)
		n = norm(x, "n2")
		act := b.activation(b.linear(n, "up", h, b.k.Wide, b.k.Wide), "gelu", b.act(b.k.Wide))
		x = b.gatedSum(x, b.linear(act, "down", b.k.Wide, h, h), gates, "gate2", bytes)
	})
	return x
}

// timeWidth is the width of the sines of a time.
const timeWidth = 256

// aroundDit is Z-Image's block: tokens of one kind, or of both, with norms before and after each part.
func (b *builder) aroundDit(x valueID) valueID {
	d, h, t := b.k.Dit, b.m.Hidden, b.outer
	bytes := size(t*h, b.e)
	if d.Scaled {
		b.over(b.s.Batch, func() {
			time := b.add(op{in: trainedKeep(b.s, blockInput)}, "time", 0) // counted in the first block that reads it
			b.linear(time, "mod", timeWidth, 4*h, 4*h)
			b.aside("gates", 2*b.act(h))
		})
	}
	norm := func(v valueID, name, by string) valueID {
		v = b.normAs(FormInput, v, name, t, h, h)
		if d.Scaled {
			v = b.add(op{in: []valueID{v}, keeps: trainedKeep(b.s, v)}, name+by, bytes)
		}
		return v
	}
	before := func(v valueID, name string) valueID {
		v = norm(v, name, ".scaled")
		if d.Scaled {
			b.aside(name+".scale", size(b.s.Batch*h, b.e))
		}
		return v
	}
	qkv := b.qkv(before(x, "n1"), "", t)
	a := b.ditAttend([3][]valueID{{qkv[0]}, {qkv[1]}, {qkv[2]}}, t)
	x = b.sum(x, norm(b.linear(a, "o", h, h, 0), "n1.out", ".gated"))
	n := before(x, "n2")
	gate, up := b.linear(n, "gate", h, b.k.Wide, 0), b.linear(n, "up", h, b.k.Wide, 0)
	f := b.linear(b.gated(gate, up, b.act(b.k.Wide)), "down", b.k.Wide, h, 0)
	return b.sum(x, norm(f, "n2.out", ".gated"))
}
