package preset

import "fmt"

// segments is how many kinds of sentences BERT tells apart.
const segments = 2

// bertL is BERT-large (Devlin et al. 2019, section 3): a layer normalises behind
// its shortcuts.
var bertL = transformer{layers: 24, hidden: 1024, heads: 16, words: 30522, positions: 512}

// bertLarge is trained on masked words; which sentence follows is left out.
func bertLarge() *Preset {
	g := bertL
	p := tokenPreset("bert-large", "BERT-large", 8, f16, int(g.positions),
		"24 layers of width 1024 on 512 tokens, normalised behind the shortcuts, trained on masked words.")
	p.maxTokens = int(g.positions)
	p.build = g.bert
	h := g.hidden
	params := g.layers*(12*h*h+13*h) + (g.words+g.positions+segments)*h + 2*h + // embeddings and their normalisation
		h*h + 3*h + g.words // head
	p.notes = func(s setting) []string {
		return []string{
			"Sizes: from the operators of a layer, which in 16 bits gives sbh(34 + 5as/h) bytes a layer as in Korthikanti et al. (arXiv:2205.05198), plus the statistics of two layer normalisations; attention is not fused (no FlashAttention).",
			tokenTimes(s, "; the embedding by memory traffic"),
			adamNote(s, params, "; the output layer shares the embedding's; the classifier of sentences is not included"),
			"The last stage computes the logits of all tokens and the loss; its copy of the logits is 32-bit.",
			fmt.Sprintf("Sequence length %d. The allocator's rounding is not included.", s.tokens),
		}
	}
	return p
}

// bert is embedding | layers | transformation | logits and loss.
func (g transformer) bert(s setting) network {
	b := newTokenNet(s, ids(s))
	b.embedding(func(t *tape, ids valueID) valueID {
		sum := t.sum(t.sum(g.lookUp(t, ids, g.words), g.lookUp(t, ids, segments)), g.position(t, ids))
		return t.dropout(t.layerNorm(sum))
	})
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", b.products, g.postBlock)
	}
	b.stage("transform", "block", b.products, func(t *tape, x valueID) valueID {
		return t.layerNorm(t.gelu(t.linear(x, g.hidden)))
	})
	b.loss(func(t *tape, x valueID) valueID { return t.entropy(g.logits(t, x, g.words)) })
	return b.trained()
}

// postBlock normalises the sums.
func (g transformer) postBlock(t *tape, x valueID) valueID {
	x = t.layerNorm(t.sum(x, g.attention(t, x)))
	return t.layerNorm(t.sum(x, g.feedForward(t, x)))
}
