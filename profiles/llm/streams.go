package llm

import "memtide/engine"

// Hyper are the parallel residual streams of DeepSeek V4. They are mixed before and after each part of a block by
// numbers that Sinkhorn's iteration makes from all streams.
type Hyper struct {
	Streams, Steps int64
}

// Compressed is DeepSeek V4's attention: one head of keys, which are also the values, and beside it keys of
// several tokens each, among which an indexer may choose.
type Compressed struct {
	QRank, Rope   int64
	Groups, ORank int64 // of the product after attention
	Rate          int64 // tokens per compressed key; 0: no compressed keys
	Overlap       bool  // each compressed key reads the tokens of two, and an indexer chooses among them
	Index         Index
}

// mixed combines the streams for a part of the block, and adds its result to all streams.
func (b *builder) mixed(x valueID, name string, part func(valueID) valueID) valueID {
	y, h, t := b.k.Hyper, b.m.Hidden, b.outer
	n, comb := y.Streams, y.Streams*y.Streams
	mixes := b.streamMix(x, name, n*(n+2), 3) // weights before, after, and among the streams
	b.aside(name+".sinkhorn", size(t*(2*y.Steps*comb+(2*y.Steps-1)*n), 4))
	b.aside(name+".sigmoids", size(3*t*n, 4))
	one := b.add(op{in: []valueID{x, mixes}, keeps: []valueID{x}}, name+".one", b.act(h))
	out := part(b.norm(one, name, t, h))
	all := b.add(op{in: []valueID{out, x, mixes}, keeps: []valueID{out, x}}, name+".streams", b.values[x].bytes)
	b.aside(name+".mixes", size(t*(n+comb), b.e))
	return all
}

// streamMix is a product in 4 bytes of all streams, normalised together, with out numbers per token.
func (b *builder) streamMix(x valueID, name string, out, scales int64) valueID {
	wide := b.k.Hyper.Streams * b.m.Hidden
	f, r := b.wideNorm(x, name+".hc", b.outer, wide)
	y := b.keep(b.add(op{in: []valueID{f, r}, keeps: []valueID{f, r}}, name+".hc.mul", size(b.outer*wide, 4)))
	w := weight{name: name + ".hc", n: wide*out + out + scales, trained: b.s.trains()}
	mixes := b.add(op{kind: opProduct, in: []valueID{y}, weights: []weight{w},
		flops: 2 * float64(b.outer) * float64(wide) * float64(out)}, name+".hc.out", size(b.outer*out, 4))
	b.keep(mixes)
	b.aside(name+".hc.weight", size(wide*out, 4))
	return mixes
}

// unmix combines the streams after the last block.
func (b *builder) unmix(x valueID) valueID {
	y := b.k.Hyper
	if y == nil {
		return x
	}
	mixes := b.streamMix(x, "last", y.Streams, 1)
	b.aside("last.sigmoids", size(2*b.outer*y.Streams, 4))
	return b.add(op{in: []valueID{x, mixes}, keeps: []valueID{x}}, "last.one", b.act(b.m.Hidden))
}

// compressed is attention over single and compressed keys with sinks, by products and a softmax.
func (b *builder) compressed(n valueID) valueID {
	c, k, h, t := b.k.Compressed, b.k, b.m.Hidden, b.inner
	wide := k.Heads * k.Head
	residual := b.norm(b.linear(n, "q.down", h, c.QRank, 0), "qn", t, c.QRank)
	q := b.linear(residual, "q", c.QRank, wide, 0)
	rows := t * k.Heads
	q = b.add(op{in: []valueID{q}, keeps: []valueID{q}}, "q.norm", b.act(wide))
	b.aside("q.norm.kept", size(t*wide+rows, 4)+size(rows, b.e))
	q = b.ownRotated(q, "q.rope", b.act(wide), b.s.Seq)
	kv := b.norm(b.linear(n, "kv", h, k.Head, 0), "kvn", t, k.Head)
	kv = b.ownRotated(kv, "kv.rope", b.act(k.Head), b.s.Seq)
	keys := b.s.Seq
	if c.Rate > 0 && b.s.Seq >= c.Rate {
		keys += b.s.Seq / c.Rate
		kv = b.add(op{in: []valueID{kv, b.compress(n, "comp", k.Head, residual)}}, "kv.all",
			size(b.s.Batch*keys*k.Head, b.e))
	} else if c.Rate > 0 {
		b.compress(n, "comp", k.Head, residual)
	}
	v := kv
	if b.s.Batch > 1 {
		each := size(b.s.Batch*keys*wide, b.e)
		v = b.add(op{in: []valueID{kv}}, "v.rep", each)
		kv = b.add(op{in: []valueID{kv}}, "k.rep", each)
	}
	s := b.pairs(q, kv, "scores", wide, size(rows*keys, b.e))
	p := b.keep(b.add(op{in: []valueID{s}}, "softmax", size(rows*(keys+1), b.e)))
	b.extra("sinks", k.Heads)
	b.aside("softmax.max", size(rows, 8))
	a := b.pairs(p, v, "attention", wide, b.act(wide))
	a = b.ownRotated(a, "attention.rope", b.act(wide), b.s.Seq)
	group := wide / c.Groups
	w := weight{name: "o.down", n: group * c.Groups * c.ORank, trained: b.s.trains(), rows: group, cols: c.ORank}
	o := b.add(op{kind: opProduct, in: []valueID{a}, keeps: trainedKeep(b.s, a), weights: []weight{w},
		flops: 2 * float64(t) * float64(wide) * float64(c.ORank)},
		"o.down", b.act(c.Groups*c.ORank))
	return b.linear(o, "o", c.Groups*c.ORank, h, 0)
}

// ownRotated rotates rows by tables that it widens.
func (b *builder) ownRotated(x valueID, name string, bytes engine.Bytes, rows int64) valueID {
	y := b.add(op{in: []valueID{x}}, name, bytes)
	b.aside(name+".tables", 2*size(rows*b.k.Compressed.Rope, b.e))
	return y
}

// compress makes compressed keys of d numbers, and has the indexer score them.
func (b *builder) compress(n valueID, name string, d int64, residual valueID) valueID {
	c, h := b.k.Compressed, b.m.Hidden
	width, span := d, c.Rate
	if c.Overlap {
		width, span = 2*d, 2*c.Rate
	}
	windows := b.s.Batch * (b.s.Seq / c.Rate)
	kv := b.linear(n, name+".kv", h, width, 0)
	gate := b.linear(n, name+".gate", h, width, 0)
	b.extra(name+".positions", c.Rate*width)
	soft := b.keep(b.add(op{in: []valueID{gate}}, name+".softmax", size(windows*span*d, 4)))
	narrow := b.add(op{in: []valueID{soft}}, name+".share", size(windows*span*d, b.e))
	if c.Overlap {
		kv = b.add(op{in: []valueID{kv}}, name+".windows", size(windows*span*d, b.e))
	}
	sum := b.add(op{in: []valueID{kv, narrow}, keeps: []valueID{kv, narrow}}, name+".sum", size(windows*d, b.e))
	y := b.normAs(FormUsual, sum, name+".norm", windows, d, d)
	y = b.ownRotated(y, name+".rope", size(windows*d, b.e), windows)
	if c.Overlap && d == b.k.Head && name == "comp" {
		b.scoreKeys(n, residual)
	}
	return y
}

// scoreKeys is the indexer, which has compressed keys of its own. Its scores only choose, so that no gradient
// passes through them, but they are kept all the same.
func (b *builder) scoreKeys(n, residual valueID) {
	c, t := b.k.Compressed, b.inner
	i := c.Index
	windows := b.s.Seq / c.Rate
	keys := b.compress(n, "index", i.Head, residual)
	q := b.linear(residual, "index.q", c.QRank, i.Heads*i.Head, 0)
	q = b.ownRotated(q, "index.rope", b.act(i.Heads*i.Head), b.s.Seq)
	weights := b.linear(n, "index.weights", b.m.Hidden, i.Heads, 0)
	copies := b.s.Batch
	if copies > 1 { // for each token
		copies *= b.s.Seq
	}
	b.add(op{in: []valueID{q, keys, weights}}, "index.scores", size(t*i.Heads*windows, 4))
	b.aside("index.kept", size(copies*windows*i.Head+t*i.Heads*(i.Head+1+2*windows), 4)+size(b.s.Seq*windows,
		1)+size(t*min(i.TopK, windows), 8))
}

// PerLayer are the inputs of Gemma 3n and 4 that every layer has: an embedding of each word for each layer.
type PerLayer struct {
	Words, Width int64
}

// AltUp are the parallel residual streams of Gemma 3n, of which each block computes one and predicts the others,
// and its low-rank branch beside attention.
type AltUp struct {
	Streams, Laurel int64
	Scaled          bool // the corrected stream is scaled before it gates the layer's own input
}

// embedded returns the weights that make the inputs of all layers and the streams, before the blocks.
func (m *Model) embedded() (n int64) {
	if p := m.PerLayer; p != nil {
		all := m.Layers * p.Width
		n += p.Words*all + m.Hidden*all + p.Width
	}
	if a := m.AltUp; a != nil {
		n += (a.Streams - 1) * m.Hidden * m.Hidden
	}
	return n
}

// embeddedBytes returns what making the inputs of all layers and the streams keeps for some tokens, with e bytes
// per number.
func (m *Model) embeddedBytes(tokens, e int64) (n engine.Bytes) {
	if p := m.PerLayer; p != nil { // the embedding, and a norm
		n += size(tokens*m.Hidden, e) + size(tokens*m.Layers*(2*p.Width+2)+p.Width, 4)
	}
	if m.AltUp != nil {
		n += m.AltUp.magnitudes(tokens, m.Hidden, e)
	}
	return n
}

// magnitudes returns what scaling all other streams to the length of the first one keeps.
func (a *AltUp) magnitudes(tokens, h, e int64) engine.Bytes {
	return size(2*(a.Streams-1)*tokens*(h+1)+2*tokens, e)
}

// merge combines the streams after the last block.
func (b *builder) merge(x valueID) valueID {
	a, h := b.m.AltUp, b.m.Hidden
	if a == nil {
		return x
	}
	y := b.add(op{kind: opProduct, in: []valueID{x}, keeps: []valueID{x},
		flops:   2 * float64(b.outer) * float64((a.Streams-1)*h) * float64(h),
		weights: []weight{{name: "unembed", n: (a.Streams - 1) * h * h, trained: b.s.trains()}}}, "merged", b.act(h))
	b.aside("magnitudes", a.magnitudes(b.outer, h, b.e))
	return y
}

// altUp is a block of Gemma 3n. It predicts all streams from the active one, computes the active one, and
// corrects all by the difference.
func (b *builder) altUp(x valueID) valueID {
	a, h := b.k.AltUp, b.m.Hidden
	streams := b.values[x].bytes
	modal := b.modalities(x, "predict")
	coefs := b.linear(modal, "predict.coefs", a.Streams, a.Streams*a.Streams, 0)
	predicted := b.point("predicted", streams, []valueID{x, coefs}, x, coefs)
	active := b.split(predicted, []string{"active"}, []engine.Bytes{b.act(h)})[0]
	n := b.norm(active, "n1", b.outer, h)
	laurel := b.linear(b.linear(n, "laurel.left", h, a.Laurel, 0), "laurel.right", a.Laurel, h, 0)
	mid := b.sum(active, b.norm(b.attention(n), "n1.out", b.outer, h))
	mid = b.sum(mid, b.norm(laurel, "laurel.norm", b.outer, h))
	done := b.sum(mid, b.norm(b.feedForward(b.norm(mid, "n2", b.outer, h)), "n2.out", b.outer, h))
	modal = b.modalities(done, "correct")
	all := b.point("correct.coefs", b.act(a.Streams), []valueID{modal}, modal)
	b.keep(all)
	b.extra("correct", a.Streams*a.Streams)
	b.aside("correct.weight", size(a.Streams*a.Streams, b.e))
	differences := b.point("differences", streams, []valueID{done, predicted})
	corrected := b.point("corrected", streams, []valueID{differences, all}, differences, all)
	first := b.add(op{in: []valueID{corrected}}, "first", b.act(h))
	if a.Scaled {
		kept := first
		first = b.point("first.scaled", b.act(h), []valueID{kept}, kept)
	}
	b.extra("correct.scale", h)
	return b.sum(corrected, b.layerInput(first))
}

// modalities is the router's number for each stream, after a tanh in 4 bytes. Its weights count at the first use.
func (b *builder) modalities(x valueID, name string) valueID {
	h, streams, from := b.m.Hidden, b.k.AltUp.Streams, len(b.ops)
	n := b.linear(b.normAs(b.k.Form, x, name+".norm", b.outer, h, h), name+".router", h, streams, 0)
	if name == "correct" {
		b.tied(from)
	}
	tanh := b.keep(b.add(op{in: []valueID{n}}, name+".tanh", size(b.outer*streams, 4)))
	return b.add(op{in: []valueID{tanh}}, name+".narrow", b.act(streams))
}

// tied sets the sizes of weights of the operators from one on to 0, since they count elsewhere.
func (t *tape) tied(from int) {
	for _, o := range t.ops[from:] {
		for i := range o.weights {
			o.weights[i].n = 0
		}
	}
}

// layerInput gates the layer's own input by a stream, and returns what is added to the stream.
func (b *builder) layerInput(x valueID) valueID {
	p, h := b.k.PerLayer, b.m.Hidden
	gate := b.linear(x, "own.gate", h, p.Width, 0)
	act := b.keep(b.activation(gate, "own.act", b.act(p.Width)))
	return b.norm(b.linear(b.point("own.product", b.act(p.Width), []valueID{act}), "own.o", p.Width, h, 0),
		"own.norm", b.outer, h)
}
