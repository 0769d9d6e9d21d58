package preset

import (
	"fmt"

	"memtide/engine"
)

// transformer is the shape of a transformer that is not gated [in brackets the
// letters of Korthikanti et al.]. The length of its sequences [s] is a setting.
type transformer struct {
	layers    int64 // [L]
	hidden    int64 // [h]
	heads     int64 // [a]
	words     int64 // [v] the vocabulary
	positions int64 // that are learned: no sequence is longer
}

// gpt2M is GPT-2 medium (Radford et al. 2019, table 2).
var gpt2M = transformer{layers: 24, hidden: 1024, heads: 16, words: 50257, positions: 1024}

// gptPreset returns a GPT-2.
func gptPreset(id, title string, batch int, doc string, g transformer) *Preset {
	p := tokenPreset(id, title, batch, f16, int(g.positions), doc)
	p.maxTokens = int(g.positions)
	p.build = g.network
	p.notes = func(s setting) []string {
		return []string{
			"Sizes: from the operators of a layer, which in 16 bits gives sbh(34 + 5as/h) bytes a layer as in Korthikanti et al. (arXiv:2205.05198), plus the statistics of two layer normalisations; attention is not fused (no FlashAttention).",
			tokenTimes(s, "; embedding and final normalisation by memory traffic"),
			adamNote(s, g.count(), "; the output layer shares the embedding's"),
			"The last stage computes the logits and the loss; its copy of the logits is 32-bit.",
			fmt.Sprintf("Sequence length %d. Causal masks and the allocator's rounding are not included.", s.tokens),
		}
	}
	return p
}

// count returns the number of parameters of a GPT-2: 12h²+13h a layer, the embeddings
// and the final normalisation.
func (g transformer) count() int64 {
	h := g.hidden
	return g.layers*(12*h*h+13*h) + (g.words+g.positions)*h + 2*h
}

// network is embedding | layers | final normalisation | logits and loss.
func (g transformer) network(s setting) network {
	b := newTokenNet(s, ids(s))
	b.embedding(g.embedding)
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", b.products, g.block)
	}
	b.stage("ln_f", "norm", b.traffic, func(t *tape, x valueID) valueID { return t.layerNorm(x) })
	b.loss(func(t *tape, x valueID) valueID { return t.entropy(g.logits(t, x, 0)) })
	return b.trained()
}

// embedding looks up the token and the position.
func (g transformer) embedding(t *tape, ids valueID) valueID {
	return t.dropout(t.sum(g.lookUp(t, ids, g.words), g.position(t, ids)))
}

// lookUp reads a row of a table for every token.
func (g transformer) lookUp(t *tape, ids valueID, rows int64) valueID {
	tokens := t.values[ids].h
	return t.add(op{kind: opEmbed, in: []valueID{ids}, keeps: []valueID{ids}, params: rows * g.hidden},
		t.shaped(g.hidden, tokens, 1))
}

// position reads the rows of the positions, which are the same for every sample.
func (g transformer) position(t *tape, ids valueID) valueID {
	tokens := t.values[ids].h
	row := value{bytes: engine.Bytes(g.hidden*tokens) * t.elem, c: g.hidden, h: tokens, w: 1}
	return t.add(op{kind: opEmbed, params: g.positions * g.hidden}, row)
}

// block is attention and a feed-forward net, each behind a normalisation and
// beside a shortcut.
func (g transformer) block(t *tape, x valueID) valueID {
	x = t.sum(x, g.attention(t, t.layerNorm(x)))
	return t.sum(x, g.feedForward(t, t.layerNorm(x)))
}

// attention is not fused. Query, key and value are three products here and one in
// most programs: the bytes are the same. Scaling and mask work in place.
func (g transformer) attention(t *tape, x valueID) valueID {
	tokens := t.values[x].h
	query, key, val := t.linear(x, g.hidden), t.linear(x, g.hidden), t.linear(x, g.hidden)
	scores := t.matmul([]valueID{query, key}, t.shaped(tokens, tokens, g.heads), g.hidden/g.heads)
	weights := valueID(len(t.values))
	t.add(op{kind: opSoftmax, in: []valueID{scores}, keeps: []valueID{weights}}, t.values[scores])
	mixed := t.matmul([]valueID{t.dropout(weights), val}, t.shaped(g.hidden, tokens, 1), tokens)
	return t.dropout(t.linear(mixed, g.hidden))
}

func (g transformer) feedForward(t *tape, x valueID) valueID {
	return t.dropout(t.linear(t.gelu(t.linear(x, 4*g.hidden)), g.hidden))
}

// logits returns the product with the embedding's weights, and biases of its own.
func (g transformer) logits(t *tape, x valueID, biases int64) valueID {
	tokens := t.values[x].h
	return t.add(op{
		kind: opMatmul, in: []valueID{x}, keeps: []valueID{x}, params: biases,
		macs: t.batch * g.words * tokens * g.hidden,
	}, t.shaped(g.words, tokens, 1))
}
