package llm

import "memtide/engine"

// PerLayer are the inputs that every layer has of its own in Gemma 3n and 4: an embedding of
// each word for each layer.
type PerLayer struct {
	Words, Width int64
}

// AltUp are the parallel residual streams of Gemma 3n, of which each block computes one and
// predicts the others, and its low-rank branch beside attention.
type AltUp struct {
	Streams, Laurel int64
	Scaled          bool // the corrected stream is scaled for what the layer's own input gates
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

// embeddedBytes returns what making them keeps of some tokens, e bytes a number.
func (m *Model) embeddedBytes(tokens, e int64) (n engine.Bytes) {
	if p := m.PerLayer; p != nil { // the embedding, and a norm
		n += size(tokens*m.Hidden, e) + size(tokens*m.Layers*(2*p.Width+2)+p.Width, 4)
	}
	if m.AltUp != nil {
		n += m.AltUp.magnitudes(tokens, m.Hidden, e)
	}
	return n
}

// magnitudes returns what scaling all streams but one to the first one's length keeps.
func (a *AltUp) magnitudes(tokens, h, e int64) engine.Bytes {
	return size(2*(a.Streams-1)*tokens*(h+1)+2*tokens, e)
}

// merge puts the streams together behind the last block.
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

// altUp returns a block of Gemma 3n: it predicts all streams from the active one, computes that, and
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

// modalities returns what a router makes of a stream: a number for each stream, behind a tanh in 4
// bytes. Its weights are those of the first use.
func (b *builder) modalities(x valueID, name string) valueID {
	h, streams, from := b.m.Hidden, b.k.AltUp.Streams, len(b.ops)
	n := b.linear(b.normAs(b.k.Form, x, name+".norm", b.outer, h, h), name+".router", h, streams, 0)
	if name == "correct" {
		b.tied(from)
	}
	tanh := b.keep(b.add(op{in: []valueID{n}}, name+".tanh", size(b.outer*streams, 4)))
	return b.add(op{in: []valueID{tanh}}, name+".narrow", b.act(streams))
}

// tied says that operators from one on read weights that are counted elsewhere.
func (t *tape) tied(from int) {
	for _, o := range t.ops[from:] {
		for i := range o.weights {
			o.weights[i].n = 0
		}
	}
}

// layerInput gates the layer's own input by a stream, and returns what is added to it.
func (b *builder) layerInput(x valueID) valueID {
	p, h := b.k.PerLayer, b.m.Hidden
	gate := b.linear(x, "own.gate", h, p.Width, 0)
	act := b.keep(b.activation(gate, "own.act", b.act(p.Width)))
	return b.norm(b.linear(b.point("own.product", b.act(p.Width), []valueID{act}), "own.o", p.Width, h, 0),
		"own.norm", b.outer, h)
}
