package llm

import "memtide/engine"

// wideScaled is a norm in 4 bytes that is also scaled and shifted in 4 bytes.
func (b *builder) wideScaled(x valueID, name string) valueID {
	h, t := b.m.Hidden, b.outer
	if b.k.Dit.Narrow && !b.k.Dit.Roots {
		return b.scaledNorm(x, name, t)
	}
	if b.k.Dit.Narrow {
		return b.shifted(b.normAs(FormInput, x, name, t, h, 0), name)
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
// 4 bytes, and PixArt's and LTX's. between, unless it is nil, adds something before the feed-forward net.
func (b *builder) crossDit(x valueID, between func(valueID) valueID) valueID {
	d, h, t := b.k.Dit, b.m.Hidden, b.outer
	batch, bytes := b.s.Batch, size(t*h, b.e)
	n := b.wideScaled(x, "n1")
	e := int64(4)
	if d.Narrow {
		e = b.e
	}
	vectors := 6 + given(d.Newer, 3)
	gates := b.add(op{in: trainedKeep(b.s, x)}, "scales", size(batch*vectors*h, e))
	b.extra("scales", (vectors+given(d.Newer, 2))*h)
	whole := func(v valueID, name string, rows int64) valueID {
		if d.Bare {
			return v
		}
		return b.normAs(FormUsual, v, name, rows, h, h)
	}
	gated := b.headGates(n, "")
	q := whole(b.linear(n, "q", h, h, b.biased(h)), "qn", t)
	k := whole(b.linear(n, "k", h, h, b.biased(h)), "kn", t)
	v := b.linear(n, "v", h, h, b.biased(h))
	var a valueID
	if d.Linear {
		a = b.linearDit(q, k, v)
	} else {
		a = gated(b.ditAttend([3][]valueID{{q}, {k}, {v}}, t), h)
	}
	if d.Sound > 0 {
		b.aside("sines", size(t*h, 4))
	}
	x = b.gatedSum(x, b.linear(a, "o", h, h, h), gates, "gate", bytes)
	n = x
	if !d.Narrow {
		f := b.add(op{in: []valueID{x}}, "n2.f32", size(t*h, 4))
		n = b.add(op{in: []valueID{f}, keeps: []valueID{f}, weights: []weight{b.normWeight("n2", 2*h)}}, "n2", bytes)
		b.aside("n2.stat", size(t, 8)+size(2*h, 4))
	} else if d.Sound > 0 {
		n = b.normAs(FormInput, x, "n2", t, h, 0)
		if d.Newer {
			n = b.shifted(n, "n2")
		}
	}
	gated = b.headGates(n, "cross.")
	q = whole(b.linear(n, "cross.q", h, h, h), "cross.qn", t)
	q = b.add(op{in: []valueID{q}}, "cross.q.heads", bytes)
	y := b.beside(n, q, "cross.", d.Text, whole)
	if d.Seen > 0 {
		y = b.add(op{in: []valueID{y, b.beside(n, q, "cross.added.", d.Seen, whole)}}, "cross.both", bytes)
	}
	if y = b.linear(gated(y, h), "cross.o", h, h, h); d.Newer {
		x = b.gatedSum(x, y, gates, "cross.gate", bytes)
	} else {
		x = b.sum(x, y)
	}
	if between != nil {
		x = between(x)
	}
	n = b.wideScaled(x, "n3")
	var out valueID
	if d.Linear {
		out = b.convolved(n)
	} else {
		out = b.linear(b.ditNet(n, ""), "down", b.k.Wide, h, given(!d.NetPlain, h))
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
		if b.k.Dit.Newer {
			states = b.add(op{in: []valueID{states}, keeps: trainedKeep(b.s, states)}, name+"states.scaled", b.act(h))
		}
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

// headGates returns a function that multiplies the result of attention, of the given width, by twice a sigmoid for each
// head, which a product makes of n. Without such gates the function returns the result itself.
func (b *builder) headGates(n valueID, name string) func(a valueID, width int64) valueID {
	heads := b.k.Heads
	if !b.k.Dit.Newer {
		return func(a valueID, _ int64) valueID { return a }
	}
	logits := b.linear(n, name+"logits", b.m.Hidden, heads, heads)
	return func(a valueID, width int64) valueID {
		sigmoid := b.keep(b.point(name+"sigmoid", b.act(heads), []valueID{logits}))
		gates := b.point(name+"twice", b.act(heads), []valueID{sigmoid})
		return b.point(name+"gated", b.act(width), []valueID{a, gates}, a, gates)
	}
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
	up := b.activation(b.convolution(n, "up", h, 2*wide, 1, 2*wide, b.outer), "up.act", both)
	deep := b.add(op{kind: opConv, in: []valueID{up}, keeps: []valueID{up}}, "depth", both)
	b.extra("depth", 20*wide)
	halves := b.split(deep, []string{"value", "gate"}, []engine.Bytes{b.act(wide), b.act(wide)})
	return b.convolution(b.gated(halves[1], halves[0], b.act(wide)), "down", wide, h, 1, 0, b.outer)
}

// soundDit is LTX-2's block: latents and a sound, whose heads are narrower, attend to themselves, to the text and to
// each other [diffusers: models/transformers/transformer_ltx2.py].
func (b *builder) soundDit(x valueID) valueID {
	sound, m, k, tokens := *b, *b.m, *b.k, b.s.Batch*b.k.Dit.Sound
	m.Hidden, k.Head, k.Wide = b.k.soundWidth(), k.Dit.SoundHead, 4*b.k.soundWidth()
	d := *k.Dit
	d.NetPlain, k.Dit = false, &d
	sound.m, sound.k, sound.inner, sound.outer = &m, &k, tokens, tokens
	parts := b.split(x, []string{"img", "sound"}, []engine.Bytes{b.act(b.m.Hidden), sound.act(m.Hidden)})
	img := b.crossDit(parts[0], func(x valueID) valueID {
		n := b.normAs(FormInput, x, "n4", b.outer, b.m.Hidden, 0)
		b.scope = "sound."
		defer func() { b.scope = "" }()
		parts[1] = sound.crossDit(parts[1], func(y valueID) valueID {
			own := sound.normAs(FormInput, y, "n4", tokens, m.Hidden, 0)
			x = b.hears(x, n, own, &sound, "heard.")
			return sound.hears(y, own, n, b, "seen.")
		})
		return x
	})
	return b.add(op{in: []valueID{img, parts[1]}}, "both", b.values[img].bytes+b.values[parts[1]].bytes)
}

// hears adds the attention of a stream to another one, by heads as wide as the sound's, to x. Both are normalised, and
// scaled anew. Rotations of halves of heads keep a copy of half the sines for queries and for keys. The names of
// weights begin with name.
func (b *builder) hears(x, own, other valueID, from *builder, name string) valueID {
	h, t, keys, width := b.m.Hidden, b.outer, from.outer, b.k.soundWidth()
	own, other = b.shifted(own, "hears"), from.shifted(other, "heard")
	b.extra("scales", 5*h) // with a gate
	gated := b.headGates(own, name)
	q := b.normAs(FormUsual, b.linear(own, name+"q", h, width, width), name+"qn", t, width, width)
	k := b.normAs(FormUsual, from.linear(other, name+"k", from.m.Hidden, width, width), name+"kn", keys, width, width)
	q = b.add(op{in: []valueID{q}}, "q.all", size(t*width, b.e))
	k = b.add(op{in: []valueID{k}}, "k.all", size(keys*width, b.e))
	v := from.linear(other, name+"v", from.m.Hidden, width, width)
	o := op{kind: opAttention, in: []valueID{q, k, v}, keeps: []valueID{q, k, v},
		flops: 4 * float64(t) * float64(keys/b.s.Batch) * float64(width)}
	a := b.keep(b.add(o, "attention", size(t*width, b.e)))
	b.aside("statistics", size(t*(b.k.Heads+width/2)+keys*width/2, 4)) // and sines
	gate := b.add(op{in: trainedKeep(b.s, x)}, "scale", size(b.s.Batch*h, b.e))
	return b.gatedSum(x, b.linear(gated(a, width), name+"o", width, h, h), gate, "gate", size(t*h, b.e))
}
