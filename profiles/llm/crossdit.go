package llm

import "memtide/engine"

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
