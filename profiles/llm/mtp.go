package llm

// next is a layer that predicts a later token, while a micro batch runs.
type next struct {
	in   handle
	kept *kept
	loss lossState
}

// nextParts returns the layers of which one that predicts later tokens has copies: the last, or of layers that have one
// part each the last with attention and the last with a net.
func (m *Model) nextParts() []int64 {
	parts := map[bool]int64{}
	for l := range m.Layers {
		if k := m.At(l); k.NoMixer || k.Alone && k.attends() {
			parts[k.NoMixer] = l
		}
	}
	if k := m.At(m.Layers - 1); len(parts) == 2 && (k.NoMixer || k.Alone) {
		return []int64{parts[false], parts[true]}
	}
	return []int64{m.Layers - 1}
}

// addNexts adds the layers that predict later tokens. Each reads the normalised output of the layer before, joins it
// with the embedding of later tokens by a product, and has a block like the model's last one and a norm. A last stage
// without the embedding has a copy of it [Megatron-LM: core/transformer/multi_token_prediction.py].
func (p *program) addNexts() {
	s, m := p.s, p.s.Model
	layers := m.nextParts()
	k, h := m.At(layers[0]), m.Hidden
	_, outer := s.tokens()
	for i := range given(p.last, s.Nexts) {
		if i > 0 && m.NextOnce {
			p.nexts = append(p.nexts, p.nexts[0])
			continue
		}
		t := newTape(s.stream(outer, k, false), true)
		b := newBuilder(t, s, k)
		words := weight{name: "embedding", n: given(i == 0 && !p.first, ceil(m.Words*h, s.Tensor)), trained: s.trains(),
			row: h}
		e := b.add(op{weights: []weight{words}, temp: b.act(h) - size(outer*h, b.e)}, "embedded", size(outer*h, b.e))
		t.values[e].held = true
		e = b.norm(e, "enorm", outer, h)
		x := b.add(op{in: []valueID{e, b.norm(blockInput, "hnorm", outer, h)}}, "both", size(2*outer*h, b.e))
		x = b.linear(b.collect(x), "joined", 2*h, ceil(h, s.Tensor), 0)
		if s.Tensor > 1 { // columns are gathered and put in rows, of which a rank has its share
			x = b.add(op{in: []valueID{x}, temp: b.act(h)}, "joined.whole", b.act(h))
			x = b.add(op{in: []valueID{x}}, "joined.part", size(outer*h, b.e))
		}
		t.output = x
		for _, l := range layers {
			t.block(s, l, t.output, nil)
		}
		t.output = b.norm(t.output, "n3", outer, h)
		played := newPlayed(t, s, s.Checkpoint, false)
		p.nexts = append(p.nexts, newUnit(p.blockWeights(played), played))
	}
}

// nextForward runs these layers on the output of the last norm, and their heads and losses. All outputs are copied to
// one tensor, of which each head's input is a part. What a loss keeps lives until the backward of the model's own loss
// has begun [multi_token_prediction.py, MTPLossAutoScaler].
func (p *program) nextForward(w *pass) {
	w.next = make([]next, len(p.nexts))
	x := w.loss.hidden
	for i, u := range p.nexts {
		w.next[i].in = x
		x, w.next[i].kept = u.block.forward(p.ledger, x)
	}
	if len(p.nexts) > 0 {
		_, outer, h := p.behind()
		w.loss.hidden = p.take(size(int64(1+len(p.nexts))*outer*h, p.s.Compute), Saved)
		p.give(x)
	}
	for i := range w.next {
		w.next[i].loss.hidden = p.share(w.loss.hidden)
		whole := p.gathered(true)
		p.lossKept(&w.next[i].loss)
		p.give(whole)
	}
}

// nextBackward runs the backward of these losses and layers, from g, the gradient that the model's own loss gives the
// last norm's output. It returns the whole gradient of that.
func (p *program) nextBackward(w *pass, g handle) handle {
	parts := []handle{g}
	for i := len(w.next) - 1; i >= 0; i-- {
		parts = append(parts, p.headBackward(&w.next[i].loss))
	}
	if len(parts) > 1 {
		_, outer, h := p.behind()
		g = p.take(size(int64(len(parts))*outer*h, p.s.Compute), Backwards)
		p.giveAll(parts)
	}
	for i := len(p.nexts) - 1; i >= 0; i-- {
		l := w.next[i]
		g = p.unitBackward(p.nexts[i], l.in, g, l.kept)
		p.give(l.in)
	}
	return g
}
