package llm

import (
	"strings"

	"memtide/engine"
)

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
	Sound     int64    // with Cross: tokens of a sound, a stream of its own (LTX-2)
	SoundHead int64    // width of a head of the sound
	Newer     bool     // with Sound: gates for each head, and the time scales the text and what attends to it (LTX-2.3)
	NetPlain  bool     // with Sound: the net of latents has no biases (LTX-2.5)
	TextOut   bool     // the block is the last one that reads the text
	Still     bool     // references have scales of the time 0, so that each latent token has its own (Qwen-Image-Edit)
	Dual      bool     // latents attend to themselves alone, too (Stable Diffusion 3.5 Medium)
	Copied    bool     // attention's result is copied for the products after it
	Twice     bool     // with Single: attention reads a copy of its input
	Masked    bool     // the text has a mask
	Pairs     bool     // with Masked: scaled_dot_product_attention gets a mask of each pair of tokens
	Table     int64    // bytes of the tables of rotation per token
	TextTable int64    // bytes of the tables of rotation of the whole text
	LatentTab bool     // Table holds only for latents
}

// soundWidth returns the width of the stream of a sound.
func (k *Block) soundWidth() int64 { return k.Heads * k.Dit.SoundHead }

// dit is a block of latents and a text [diffusers: models/transformers].
func (b *builder) dit(x valueID) valueID {
	switch d := b.k.Dit; {
	case d.Sound > 0:
		return b.soundDit(x)
	case d.Cross:
		return b.crossDit(x, nil)
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
	tokens := b.s.part()
	if !d.LatentTab && !d.Cross {
		tokens += d.Text
	}
	if d.Roots { // tables of each video
		tokens *= batch
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
	case d.Sound > 0:
		first("rotation of sound", size(batch*d.Sound*8*b.k.soundWidth(), 1), true)
		first("text", size(batch*d.Text*(h+b.k.soundWidth()), b.e), true)
		first("time", size(batch*(11+given(d.Newer, 5))*(h+b.k.soundWidth()), b.e), false)
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
		first("time", size(b.s.times()*h, b.e), true)
	case !d.Single: // put together for the block
		b.shared("scales", size(batch*12*h, b.e), false, true)
	default:
		first("scales", size(batch*d.Given*h, b.e), true)
	}
	if d.Masked {
		first("text mask", size(batch*(given(!d.Pairs, b.s.Seq)+d.Text), 1), false)
	}
}

func (s *Setup) times() int64 { return s.Batch * (1 + given(s.Model.At(0).Dit.Still, 1)) }

// scales is the product that makes vectors of scales from the given number of times.
func (b *builder) scales(name string, times, vectors int64) (y valueID) {
	h := b.m.Hidden
	from := h
	if b.k.Dit.Time > 0 {
		from = b.k.Dit.Time
	}
	b.over(times, func() {
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
// weights that train. by are the scales and shifts, where the block makes them.
func (b *builder) shifted(n valueID, name string, by ...valueID) valueID {
	y := b.add(op{in: append(by, n), keeps: trainedKeep(b.s, n)}, name+".scaled", b.values[n].bytes)
	b.values[y].wide = b.values[n].wide
	rows := b.s.Batch
	if b.still(name) {
		rows = b.outer
		b.aside(name+".times", size(given(b.s.trains(), 3*rows), 1)) // which of the times a token has
	}
	b.aside(name+".scale", size(rows*b.m.Hidden, b.e))
	return y
}

// still reports whether each token of a part has scales and gates of its own.
func (b *builder) still(name string) bool { return b.k.Dit.Still && strings.HasPrefix(name, "img.") }

// gates returns the gates of a part from those of its times.
func (b *builder) gates(of valueID, name string) valueID {
	if !b.still(name) {
		return of
	}
	return b.add(op{in: []valueID{of}}, name+".each", b.act(b.m.Hidden))
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

// sdpa is PyTorch's attention of all tokens to all tokens, by queries, keys and values. Context parallel ranks exchange
// tokens for heads before it and after it, as many numbers, and have all tokens of a text [FastVideo:
// fastvideo/attention/layer.py].
func (b *builder) sdpa(all [3]valueID, name string, tokens int64) valueID {
	h, each, batch := b.m.Hidden, tokens/b.s.Batch, b.s.Batch
	keys := each + b.s.Seq - b.s.part()
	for i := range all {
		all[i] = b.moved(b.s.Context, opExchange, all[i], name+[]string{"q", "k", "v"}[i]+".heads", size(tokens*h, b.e))
	}
	o := op{kind: opAttention, in: all[:], keeps: all[:], back: size(tokens*h, 4),
		flops: 4 * float64(tokens) * float64(keys) * float64(h)}
	masked, rows := b.k.Dit.Masked, int64(1)
	if b.k.Dit.Pairs {
		masked, rows = b.s.Attention == AttentionSDPA, each
		if masked { // two in one byte, and one that is not padded yet [diffusers: HunyuanVideo15AttnProcessor2_0]
			o.temp = size(batch*each*each, 2) + size(given(each%efficientMask > 0, batch*each*each), b.e)
		}
	}
	a := b.keep(b.add(o, name+"attention", size(tokens*h, b.e)))
	if masked {
		b.aside("mask", size(batch*rows*upTo(keys, efficientMask), b.e))
		each = upTo(each, efficientRows)
	}
	b.aside(name+"statistics", size(batch*each*b.k.Heads, 4))
	a = b.moved(b.s.Context, opExchange, a, name+"attention.tokens", size(tokens*h, b.e))
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
	var gates, first [2]valueID  // all, and those of attention
	var alone valueID            // what latents attend to by themselves
	if d.Shared || d.Given > 0 { // given scales are concatenated
		all := b.add(op{in: trainedKeep(b.s, x)}, "scales", size(given(!d.Shared, b.s.Batch*12*h), b.e))
		gates = [2]valueID{all, all}
	}
	var in [3][]valueID
	for i := range parts {
		if d.Given == 0 && !d.Shared {
			vectors, times := int64(6), b.s.Batch
			switch {
			case i == 0 && d.Dual:
				vectors = 9
			case i == 0:
				times = b.s.times()
			case d.TextOut:
				vectors = 2
			}
			gates[i] = b.scales(names[i]+"mod", times, vectors)
		}
		n := b.bareNorm(parts[i], names[i]+"n1", tokens[i])
		qkv := b.qkv(b.shifted(n, names[i]+"n1", gates[i]), names[i], tokens[i])
		first[i] = b.gates(gates[i], names[i]+"gate")
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
			if b.s.Batch > 1 && !d.Copied { // the tokens of a part do not lie in one piece
				a[i] = b.add(op{in: []valueID{a[i]}}, names[i]+"a.rows", bytes[i])
			}
			y := b.gatedSum(parts[i], b.linear(a[i], names[i]+"o", h, h, b.biased(h)), first[i], names[i]+"gate",
				bytes[i])
			if i == 0 && d.Dual {
				out := b.linear(b.sdpa(b.qkv(alone, "alone.", tokens[0]), "alone.", tokens[0]), "alone.o", h, h, h)
				y = b.gatedSum(y, out, gates[0], "alone.gate", bytes[0])
			}
			n := b.scaledNorm(y, names[i]+"n2", tokens[i])
			each := b.gates(gates[i], names[i]+"gate2")
			act := b.ditNet(n, names[i])
			parts[i] = b.gatedSum(y, b.linear(act, names[i]+"down", b.k.Wide, h, b.biased(h)), each,
				names[i]+"gate2", bytes[i])
		})
	}
	return b.add(op{in: parts}, "both", bytes[0]+bytes[1])
}

func (b *builder) biased(n int64) int64 { return given(!b.k.Dit.Plain, n) }

// ditNet is a feed-forward net without its last product.
func (b *builder) ditNet(n valueID, name string) valueID {
	h, wide := b.m.Hidden, b.k.Wide
	if d := b.k.Dit; !d.Swish {
		bias := given(!d.NetPlain, b.biased(wide))
		return b.activation(b.linear(n, name+"up", h, wide, bias), name+"gelu", b.act(wide))
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
		gates = b.scales("mod", b.s.Batch, 3)
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

// jointDit has one set of weights for latents and text. Their norms have weights, and differ only in their scales.
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
		gates := b.scales("mod1", b.s.Batch, 6)
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
		gates = b.scales("mod2", b.s.Batch, 6)
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
	var mod valueID
	if d.Scaled {
		b.over(b.s.Batch, func() {
			time := b.add(op{in: trainedKeep(b.s, blockInput)}, "time", 0) // counted in the first block that reads it
			mod = b.linear(time, "mod", timeWidth, 4*h, 4*h)
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
	f = norm(f, "n2.out", ".gated")
	if d.Scaled { // the last of what reads views of the scales
		last := &b.ops[len(b.ops)-1]
		last.in = append(last.in, mod)
	}
	return b.sum(x, f)
}
