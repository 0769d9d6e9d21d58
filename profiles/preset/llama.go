package preset

import (
	"fmt"

	"memtide/engine"
)

const llama3 = "https://arxiv.org/abs/2407.21783" // Llama team: The Llama 3 herd of models, table 3

// llama is the shape of a gated transformer whose heads share keys and values:
// no biases, no dropout, FlashAttention.
type llama struct {
	layers   int64
	hidden   int64 // [h]
	heads    int64 // [a]
	keyHeads int64 // heads of keys and of values
	wide     int64 // [f] width of the feed-forward net
	words    int64 // [v]
}

var (
	llama8B  = llama{layers: 32, hidden: 4096, heads: 32, keyHeads: 8, wide: 14336, words: 128256}
	llama70B = llama{layers: 80, hidden: 8192, heads: 64, keyHeads: 8, wide: 28672, words: 128256}
)

// llamaPresets lists the gated transformers.
func llamaPresets() []*Preset {
	return []*Preset{
		llamaPreset("llama3-8b", "Llama 3 8B", 8192,
			"32 gated layers of width 4096 on 8192 tokens with FlashAttention: no square of the length, and logits of 128,256 words.",
			llama8B, llama8B.network, llama8B.layers*llama8B.count()+2*llama8B.words*llama8B.hidden+llama8B.hidden),
		hfPreset("llama3-8b-hf", "Llama 3 8B, Hugging Face", llama8B),
		llamaPreset("llama3-70b-layer", "Llama 3 70B, one layer", 8192,
			"One of the 80 layers of width 8192, its attention and its feed-forward net: what a device of a pipeline repeats.",
			llama70B, llama70B.layer, llama70B.count()),
	}
}

func llamaPreset(id, title string, tokens int, doc string, g llama, build func(s setting) network,
	params int64) *Preset {
	p := tokenPreset(id, title, 1, bf16, tokens, doc)
	p.URL, p.build = llama3, build
	p.notes = func(s setting) []string {
		return []string{
			"Sizes: from the operators of a layer, in 16 bits 2sbh for each of the inputs of two normalisations, of the products and of the attention's output, 2sbh(1 + 2k/a) for queries, keys and values with k heads of keys, 8sbf for the gated net of width f, and 4abs for the statistics of FlashAttention: the rules of Korthikanti et al. (arXiv:2205.05198) for these operators. A real layer may keep up to twice that.",
			tokenTimes(s, "; half of the attention's products, as it is causal; embedding and final normalisation by memory traffic"),
			adamNote(s, params, ""),
			fmt.Sprintf("Sequence length %d, %d heads, %d of keys and values. Position tables and the allocator's rounding are not included.", s.tokens, g.heads, g.keyHeads),
		}
	}
	return p
}

// count returns the number of parameters of a layer.
func (g llama) count() int64 {
	return 2*g.hidden*g.hidden + 2*g.hidden*g.shared() + 3*g.hidden*g.wide + 2*g.hidden
}

// shared returns the width of the keys, and of the values.
func (g llama) shared() int64 { return g.hidden / g.heads * g.keyHeads }

// network is embedding | layers | final normalisation | logits and loss. The
// output layer has weights of its own.
func (g llama) network(s setting) network {
	b := newTokenNet(s, ids(s))
	b.embedding(func(t *tape, ids valueID) valueID {
		return t.add(op{kind: opEmbed, in: []valueID{ids}, keeps: []valueID{ids}, params: g.words * g.hidden},
			t.shaped(g.hidden, s.tokens, 1))
	})
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", b.products, func(t *tape, x valueID) valueID {
			return g.feedForward(t, g.attention(t, x, t.rmsNorm), t.rmsNorm)
		})
	}
	b.stage("norm", "norm", b.traffic, func(t *tape, x valueID) valueID { return t.rmsNorm(x) })
	b.loss(func(t *tape, x valueID) valueID { return t.entropy(t.project(x, g.words, 0)) })
	return b.trained()
}

// layer is one layer in two stages, which end where its two sums do. It hands a
// gradient on to the layer before.
func (g llama) layer(s setting) network {
	in := value{bytes: engine.Bytes(s.batch*s.tokens*g.hidden) * s.precision.bytes(), c: g.hidden, h: s.tokens, w: 1}
	b := newTokenNet(s, in)
	b.net.inputGrad = in.bytes
	b.stage("attention", "block", b.products, func(t *tape, x valueID) valueID { return g.attention(t, x, t.rmsNorm) })
	b.stage("feed-forward", "block", b.products,
		func(t *tape, x valueID) valueID { return g.feedForward(t, x, t.rmsNorm) })
	return b.trained()
}

// attention is normalised and fused: the weights of the pairs are never stored.
func (g llama) attention(t *tape, x valueID, norm func(valueID) valueID) valueID {
	normed := norm(x)
	query := t.rotate(t.project(normed, g.hidden, 0))
	key := t.rotate(t.project(normed, g.shared(), 0))
	val := t.project(normed, g.shared(), 0)
	return t.sum(x, t.project(t.flash(query, key, val, g.heads), g.hidden, 0))
}

// feedForward is normalised and gated (SwiGLU).
func (g llama) feedForward(t *tape, x valueID, norm func(valueID) valueID) valueID {
	normed := norm(x)
	gate, up := t.project(normed, g.wide, 0), t.project(normed, g.wide, 0)
	open := t.add(op{kind: opGate, in: []valueID{gate}, keeps: []valueID{gate}}, t.values[gate])
	product := t.add(op{kind: opGate, in: []valueID{open, up}, keeps: []valueID{open, up}}, t.values[up])
	return t.sum(x, t.project(product, g.hidden, 0))
}

// rotate turns queries or keys by their positions; its backward turns back and
// needs nothing.
func (t *tape) rotate(x valueID) valueID {
	return t.add(op{kind: opRotate, in: []valueID{x}}, t.values[x])
}

// flash is causal attention that keeps its operands, its result and one 32-bit
// number for each head and token. Pairs that the mask hides are not computed.
func (t *tape) flash(query, key, val valueID, heads int64) valueID {
	q := t.values[query]
	out := valueID(len(t.values))
	return t.add(op{
		kind: opMatmul, in: []valueID{query, key, val}, keeps: []valueID{query, key, val, out},
		aux: engine.Bytes(4 * heads * t.batch * q.h), macs: t.batch * q.h * q.h * q.c,
	}, q)
}
