package llm

import "memtide/engine"

// experts is a mixture: a router, the rows of the chosen experts, gathered and sent to their ranks, the nets of
// experts, and the way back. Rows are balanced among the experts of a rank.
func (b *builder) experts(n valueID) valueID {
	if b.k.MoE.All && !b.s.Titan {
		return b.allExperts(n)
	}
	return b.chosen(n, b.route)
}

// besides is experts that read the residual stream x beside a net that reads n, each with norms of its own
// [transformers: modeling_gemma4.py; Megatron-Bridge: models/gemma/modeling_gemma4.py].
func (b *builder) besides(x, n valueID) valueID {
	h := b.m.Hidden
	dense := b.norm(b.scatter(b.net(b.collect(n), ceil(b.k.Wide, b.s.Tensor))), "n2.dense", b.outer, h)
	e := b.norm(x, "n2.experts", b.outer, h)
	e = b.chosen(e, func(valueID) valueID { return b.route(x) })
	return b.sum(dense, b.norm(e, "n2.experts.out", b.outer, h))
}

// chosen is the experts that route chooses for each token of n.
func (b *builder) chosen(n valueID, route func(valueID) valueID) valueID {
	moe, h := b.k.MoE, b.m.Hidden
	rows := b.outer * moe.TopK
	if b.s.Expert > 1 {
		rows += ceil(rows*b.s.Imbalance, 100)
	}
	b.scope = "experts."
	defer func() { b.scope = "" }()
	wide := ceil(moe.Wide, b.s.ExpertTensor)
	top := route(n)
	if b.values[n].wide { // grouped products have no autocast
		b.e = 4
	}
	r := size(rows*h, b.e)
	sent := b.add(op{in: []valueID{n}}, "rows", r)
	if moe.All { // torchtitan's score_before_experts
		sent = b.weightedRows(sent, top, r)
	}
	sent = b.moved(b.s.Expert, opExchange, sent, "dispatched", r)
	if !b.s.NoSP { // tensor parallel ranks have different tokens
		rows *= b.s.ExpertTensor
	}
	all := size(rows*h, b.e)
	sent = b.moved(b.s.ExpertTensor, opCollect, sent, "collected", all)
	sent = b.moved(b.s.Expert, opPoint, sent, "permuted", all)
	if b.s.written() { // three index vectors, one more for biases, and which rows count [integrations/moe.py]
		b.aside("index", size(rows, 3*8+1+given(moe.Biases, 8)))
	}
	bytes := size(rows*wide, b.e)
	var y valueID
	if b.k.Gated {
		gate := b.grouped(sent, "gate", rows, h, wide)
		y = b.gated(gate, b.grouped(sent, "up", rows, h, wide), bytes)
	} else {
		y = b.activation(b.grouped(sent, "up", rows, h, wide), "gelu", bytes)
	}
	if b.s.TE { // weights rows in the gate, else after it [Megatron-LM: core/transformer/moe/experts.py]
		switch gate := &b.ops[len(b.ops)-1]; {
		case !b.k.Gated:
			y = b.point("act.weighted", bytes, []valueID{y, top}, y)
		case b.k.GELU:
			y = b.point("act.wide", size(rows*wide, 4), []valueID{y, top}, y)
			y = b.retyped(y, "act.weighted", bytes)
		default:
			gate.in = append(gate.in, top)
		}
		b.aside("top.rows", size(rows, 4))
	}
	y = b.grouped(y, "down", rows, wide, h)
	y = b.moved(b.s.Expert, opPoint, y, "unpermuted", all)
	y = b.moved(b.s.ExpertTensor, opScatter, y, "scattered", r)
	y = b.moved(b.s.Expert, opExchange, y, "combined", r)
	if !b.s.TE && !moe.All {
		y = b.weightedRows(y, top, r)
	}
	out := b.add(op{in: []valueID{y}}, "mixed", size(b.outer*h, b.e))
	b.values[out].wide = b.values[n].wide
	b.e = b.s.Compute
	if moe.Shared > 0 {
		b.scope = "shared."
		out = b.sum(out, b.gatedShared(n, b.scatter(b.net(b.collect(n), ceil(moe.Shared, b.s.Tensor)))))
	}
	return out
}

// weightedRows returns rows of r bytes times their scores top, under torchtitan in fp32 [torchtitan: models/moe].
func (b *builder) weightedRows(x, top valueID, r engine.Bytes) valueID {
	if !b.s.Titan || b.s.Compiled { // a compiled kernel reads narrow rows
		return b.add(op{in: []valueID{x, top}, keeps: []valueID{x, top}}, "weighted", r)
	}
	wide := r * 4 / engine.Bytes(b.e)
	x = b.widen(x, "weighted", wide)
	return b.add(op{in: []valueID{b.point("weighted.wide", wide, []valueID{x, top}, x, top)}}, "weighted", r)
}

// grouped adds a product of rows with the rank's experts, of in x out numbers each, and returns its result. Under
// Megatron each expert has an adapter of its own, whose first matrix gate and up share [mcore-bridge: tuners/lora.py],
// or, where only Megatron Bridge knows the blocks, all experts of a rank have one [Megatron-Bridge: peft/lora.py].
func (b *builder) grouped(x valueID, name string, rows, in, out int64) valueID {
	moe, own := b.k.MoE, b.k.MoE.Experts/b.s.Expert
	w := weight{name: name, n: own*in*out + given(moe.Biases, own*out), trained: b.s.trains(), expert: true, rows: in,
		cols: out}
	o := op{kind: opProduct, in: []valueID{x}, keeps: trainedKeep(b.s, x), weights: []weight{w},
		flops: 2 * float64(rows) * float64(in) * float64(out)}
	if b.s.quantised(w) {
		o.temp = size(w.n, b.e)
		o.back = o.temp
	}
	if l := b.s.LoRA; b.s.TE && l.has(name) {
		if b.k.Besides {
			own = 1
		}
		n := own * l.Rank * (given(name != "up" || !b.k.Gated, in) + out)
		o.keeps = []valueID{x}
		o.weights = append(o.weights, weight{name: name + ".adapter", n: n, trained: true, adapter: true, expert: true,
			row: in})
	}
	return b.add(o, name, size(rows*out, b.e))
}

// moved returns x after an operator that moves it among ranks, or x itself if there is one rank.
func (b *builder) moved(ranks int64, kind opKind, x valueID, name string, bytes engine.Bytes) valueID {
	if ranks <= 1 {
		return x
	}
	return b.add(op{kind: kind, in: []valueID{x}}, name, bytes)
}

// allExperts is Llama 4's mixture: every expert computes every token, weighted before.
func (b *builder) allExperts(n valueID) valueID {
	moe, h := b.k.MoE, b.m.Hidden
	b.scope = "experts."
	defer func() { b.scope = "" }()
	rows := b.outer * moe.Experts
	w := weight{name: "router", n: h * moe.Experts, trained: b.s.trains(), rows: h, cols: moe.Experts}
	narrow := b.cast(n)
	scores := b.add(op{kind: opProduct, in: []valueID{narrow}, keeps: trainedKeep(b.s, narrow), weights: []weight{w},
		flops: 2 * float64(b.outer) * float64(w.n)}, "router", b.act(moe.Experts))
	b.aside("chosen", size(b.outer*moe.TopK, 8))
	probs := b.keep(b.add(op{in: []valueID{scores}}, "probs", size(rows, 4)))
	top := b.add(op{in: []valueID{probs}}, "top", size(rows, b.e))
	all := b.add(op{in: []valueID{n}}, "rows", b.values[n].bytes*engine.Bytes(moe.Experts))
	b.values[all].wide = b.values[n].wide
	x := b.point("weighted", b.values[all].bytes, []valueID{all, top}, all, top)
	b.values[x].wide = b.values[n].wide
	x = b.cast(x)
	gate, up := b.grouped(x, "gate", rows, h, moe.Wide), b.grouped(x, "up", rows, h, moe.Wide)
	y := b.grouped(b.gated(gate, up, size(rows*moe.Wide, b.e)), "down", rows, moe.Wide, h)
	out := b.add(op{in: []valueID{y}}, "mixed", size(b.outer*h, b.e))
	b.scope = "shared."
	return b.sum(out, b.net(n, moe.Shared))
}

// gatedShared multiplies the shared experts' result by a sigmoid of one number per token, if the mixture has such
// a gate.
func (b *builder) gatedShared(n, y valueID) valueID {
	if !b.k.MoE.Gate {
		return y
	}
	g := b.linear(n, "gate.in", b.m.Hidden, 1, 0)
	sig := b.keep(b.point("gate.sigmoid", b.act(1), []valueID{g}))
	return b.point("gate.out", size(b.outer*b.m.Hidden, b.e), []valueID{y, sig}, y, sig)
}

// route scores the experts and chooses some for each token. It returns their weights.
func (b *builder) route(n valueID) valueID {
	moe := b.k.MoE
	rows := b.outer * moe.TopK
	w := weight{name: "router", trained: b.s.trains(), n: b.m.Hidden*moe.Experts + given(moe.Router.Bias, moe.Experts) +
		given(moe.Counted, moe.Experts) + given(moe.Router.Scaled, b.m.Hidden+moe.Experts)}
	if b.s.written() {
		return b.writtenRoute(n, w)
	}
	if moe.Router.Scaled {
		n = b.normAs(b.bareForm(), n, "router.norm", b.outer, b.m.Hidden, 0)
		n = b.point("router.scaled", b.values[n].bytes, []valueID{n}, trainedKeep(b.s, n)...)
	}
	keeps := trainedKeep(b.s, n)
	if b.s.TE { // whatever trains [Megatron-LM: moe/moe_utils.py, RouterGatingLinearFunction]
		keeps = []valueID{n}
	}
	scores := b.add(op{kind: opProduct, in: []valueID{n}, keeps: keeps, weights: []weight{w}}, "scores",
		size(b.outer*moe.Experts, 4))
	probs := b.keep(b.add(op{in: []valueID{scores}}, "probs", size(b.outer*moe.Experts, 4)))
	top := b.add(op{in: []valueID{probs}}, "top", size(rows, 4))
	b.aside("chosen", size(rows, 8))
	return top
}

// writtenRoute is the router of Transformers' modules.
func (b *builder) writtenRoute(n valueID, w weight) valueID {
	moe, r := b.k.MoE, b.k.MoE.Router
	if r.Mixer {
		return b.mixerRoute(n, w)
	}
	rows, all := b.outer*moe.TopK, b.outer*moe.Experts
	if !r.Wide {
		n = b.cast(n)
	}
	e := int64(4)
	if r.Narrow {
		e = b.e
	}
	x := n
	if r.Scaled {
		normed := b.normAs(b.bareForm(), n, "router.norm", b.outer, b.m.Hidden, 0)
		x = b.point("router.scaled", b.values[n].bytes, []valueID{normed}, normed)
	}
	if r.Wide && !r.Own && b.s.autocast() { // autocast narrows the product all the same
		x, e = b.add(op{in: []valueID{n}}, "router.x", b.act(b.m.Hidden)), b.e
	} else if r.Wide {
		x = b.add(op{in: []valueID{n}}, "router.x", size(b.outer*b.m.Hidden, 4))
	}
	scores := b.add(op{kind: opProduct, in: []valueID{x}, keeps: trainedKeep(b.s, x), weights: []weight{w}}, "scores",
		size(all, e))
	if r.Wide && !r.Own && !b.s.autocast() {
		b.aside("router.weight", size(w.n, 4))
	}
	if r.First {
		top := b.add(op{in: []valueID{scores}}, "top", size(rows, e))
		b.aside("chosen", size(rows, 8))
		return b.scoreRows(b.keep(b.add(op{in: []valueID{top}}, "top.share", size(rows, e))))
	}
	if r.Sqrt {
		scores = b.point("softplus", size(all, e), []valueID{scores}, scores)
	}
	probs := b.keep(b.add(op{in: []valueID{scores}}, "probs", size(all, e)))
	if r.Groups > 0 { // the best two of each group, the groups, and a mask of experts
		b.aside("groups", size(b.outer*(r.Groups*r.Best+r.Top), 8))
		b.aside("groups.mask", size(all, 1))
	}
	top := b.add(op{in: []valueID{probs}}, "top", size(rows, e))
	b.aside("chosen", size(rows, 8))
	if r.Norm {
		b.keep(top)
		top = b.add(op{in: []valueID{top}}, "top.share", size(rows, e))
		b.aside("top.sum", size(b.outer*max(r.Sums, 1), e))
	}
	if r.Scaled {
		b.keep(top)
		b.aside("top.scales", size(rows, b.e))
	}
	return b.scoreRows(top)
}

// mixerRoute is Phi's router: noise on its input, and for each of two experts a mask, a softmax, the position of
// its maximum, and its weight.
func (b *builder) mixerRoute(n valueID, w weight) valueID {
	moe := b.k.MoE
	all, wide := b.outer*moe.Experts, size(b.outer*b.m.Hidden, b.e)
	x := n
	for range moe.Router.Noise {
		x = b.point("noisy", wide, []valueID{x})
		b.aside("noise", wide)
	}
	scores := b.add(op{kind: opProduct, in: []valueID{x}, keeps: trainedKeep(b.s, x), weights: []weight{w}}, "scores",
		size(all, b.e))
	top := scores
	for range moe.TopK {
		top = b.keep(b.add(op{in: []valueID{scores}}, "probs", size(all, b.e)))
		b.aside("mask", size(all, 1))
		b.aside("chosen", size(b.outer, 16+b.e))
	}
	return b.scoreRows(top)
}

// scoreRows returns the weights of the chosen experts, one per row.
func (b *builder) scoreRows(top valueID) valueID {
	width := b.e
	if b.k.MoE.WideScore {
		width = 4
	}
	return b.add(op{in: []valueID{top}}, "top.rows", size(b.outer*b.k.MoE.TopK, width))
}

// trainedKeep returns what a product keeps of its input x: nothing if its weights are frozen.
func trainedKeep(s *Setup, x valueID) []valueID {
	if s.trains() {
		return []valueID{x}
	}
	return nil
}
