package llm

import "memtide/engine"

// latent is DeepSeek's attention: keys and values come out of one compressed vector a
// token, and each head's part without positions is put beside the rotated part.
func (b *builder) latent(n valueID) valueID {
	m, l, tp := b.m, b.m.MLA, b.s.Tensor
	heads := m.Heads / tp
	q := n
	if l.QRank > 0 {
		q = b.norm(b.linear(n, "q.down", m.Hidden, l.QRank, 0), "qn", b.inner, l.QRank)
	}
	width := l.Nope + l.Rope
	in := m.Hidden
	if l.QRank > 0 {
		in = l.QRank
	}
	q = b.linear(q, "q", in, heads*width, 0)
	kv := b.linear(n, "kv.down", m.Hidden, l.KVRank+l.Rope, 0)
	parts := b.split(kv, []string{"kv.part", "k.pe"}, []engine.Bytes{b.act(l.KVRank), b.act(l.Rope)})
	c := b.norm(parts[0], "kvn", b.inner, l.KVRank)
	up := b.linear(c, "kv.up", l.KVRank, heads*(l.Nope+l.Value), 0)
	kv2 := b.split(up, []string{"k.nope", "v"}, []engine.Bytes{b.act(heads * l.Nope), b.act(heads * l.Value)})
	q = b.rotate(q, "q.rope", heads*width)
	k := b.add(op{in: []valueID{parts[1], kv2[0]}, temp: size(b.inner*l.Rope, b.s.RotateTemp)}, "k.cat", b.act(heads*width))
	a := b.attend(q, k, kv2[1], heads*width, heads*width, heads*l.Value)
	return b.scatter(b.linear(a, "o", heads*l.Value, m.Hidden, 0))
}

// experts is a mixture: a router, the rows of the chosen experts gathered and sent to
// where the experts are, their nets, and the way back. Rows are balanced among experts.
func (b *builder) experts(n valueID) valueID {
	m, moe := b.m, b.m.MoE
	rows := b.outer * moe.TopK
	b.scope = "experts."
	defer func() { b.scope = "" }()
	wide := moe.Wide
	scores := b.add(op{kind: opProduct, in: []valueID{n}, keeps: trainedKeep(b.s, n), weights: []weight{{name: "router", n: m.Hidden * moe.Experts, trained: b.s.trains()}}},
		"scores", size(b.outer*moe.Experts, 4))
	probs := b.keep(b.add(op{in: []valueID{scores}}, "probs", size(b.outer*moe.Experts, 4)))
	top := b.add(op{in: []valueID{probs}}, "top", size(rows, 4))
	b.aside("chosen", size(rows, 8))
	r := size(rows*m.Hidden, b.e)
	sent := b.add(op{in: []valueID{n}}, "rows", r)
	if b.s.Expert > 1 {
		sent = b.add(op{kind: opScatter, in: []valueID{sent}}, "dispatched", r)
		sent = b.add(op{in: []valueID{sent}}, "permuted", r)
	}
	own := moe.Experts / b.s.Expert
	grouped := func(x valueID, name string, in, out int64) valueID {
		w := weight{name: name, n: own * in * out, trained: b.s.trains(), expert: true, rows: in, cols: out}
		o := op{kind: opProduct, in: []valueID{x}, keeps: trainedKeep(b.s, x), weights: []weight{w}, flops: 2 * float64(rows) * float64(in) * float64(out)}
		if b.s.quantised(w) {
			o.temp = size(w.n, b.e)
			o.back = o.temp
		}
		return b.add(o, name, size(rows*out, b.e))
	}
	gate := grouped(sent, "gate", m.Hidden, wide)
	up := grouped(sent, "up", m.Hidden, wide)
	y := grouped(b.gated(gate, up, size(rows*wide, b.e)), "down", wide, m.Hidden)
	if b.s.Expert > 1 {
		y = b.add(op{in: []valueID{y}}, "unpermuted", r)
		y = b.add(op{kind: opScatter, in: []valueID{y}}, "combined", r)
	}
	weighted := b.add(op{in: []valueID{y, top}, keeps: []valueID{y, top}}, "weighted", r)
	out := b.add(op{in: []valueID{weighted}}, "mixed", size(b.outer*m.Hidden, b.e))
	if moe.Shared > 0 {
		b.scope = "shared."
		out = b.sum(out, b.scatter(b.net(b.collect(n), ceil(moe.Shared, b.s.Tensor))))
	}
	return out
}

// trainedKeep is what a product keeps of its input: nothing if its weights are frozen.
func trainedKeep(s *Setup, x valueID) []valueID {
	if s.trains() {
		return []valueID{x}
	}
	return nil
}
