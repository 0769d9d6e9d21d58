package preset

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
)

const fp16Bytes engine.Bytes = 2

// utilisation is the share of the 16-bit peak that the matrix products of a
// transformer are assumed to reach. Measured on A100s: 10-45 %, growing with
// the width and the batch.
const utilisation = 0.40

// transformer is the shape of a decoder [in brackets the letters of
// Korthikanti et al.].
type transformer struct {
	layers int64 // [L]
	hidden int64 // [h]
	heads  int64 // [a]
	tokens int64 // [s] the sequence length
	words  int64 // [v] the vocabulary
}

// gpt2M is GPT-2 medium (Radford et al. 2019, table 2).
var gpt2M = transformer{layers: 24, hidden: 1024, heads: 16, tokens: 1024, words: 50257}

func gpt2Medium() *Preset {
	return &Preset{
		ID: "gpt2-medium", Title: "GPT-2 medium", Group: "Language models", DefaultBatch: 4, DType: "f16",
		Doc:   "24 equal transformer layers of width 1024 on 1024 tokens, 16-bit: a uniform chain with a heavy end.",
		URL:   "https://arxiv.org/abs/2205.05198", // Korthikanti et al.: what a layer keeps
		sizes: profiles.Analytic, timedOn: DefaultDevice().Name + ", 16-bit",
		notes: []string{
			"Sizes: from the operators of a layer in 16 bits, which gives sbh(34 + 5as/h) bytes a layer as in Korthikanti et al. (arXiv:2205.05198), plus the statistics of two layer normalisations; attention is not fused (no FlashAttention).",
			"Times: matrix products at 40 % of the V100-PCIE's 16-bit peak of 112 TFLOP/s, an assumption (10-45 % were measured on A100s); embedding and final normalisation by memory traffic.",
			"Resident: 16-bit weights and gradients, and for Adam 12 bytes a parameter: a 32-bit copy and two moments, as in ZeRO (arXiv:1910.02054). 354,823,168 parameters; the output layer shares the embedding's.",
			"The last stage computes the logits and the loss; its copy of the logits is 32-bit.",
			"Sequence length 1024. Causal masks and the allocator's rounding are not included.",
		},
		build: func(batch int64) network { return gpt2M.network(batch) },
	}
}

// network is embedding | layers | final normalisation | logits and loss.
func (g transformer) network(batch int64) network {
	ids := value{bytes: engine.Bytes(8 * batch * g.tokens), c: 1, h: g.tokens, w: 1} // int64
	net := network{input: ids.bytes}
	products := mfuTime(DefaultDevice().FP16, utilisation)
	var params int64
	next := ids
	record := func(name, kind string, time func(*tape, *op) opTime, ops func(t *tape, x valueID) valueID) stage {
		s := stage{name: name, kind: kind, tape: newTape(batch, fp16Bytes, next), time: time}
		s.output = ops(s.tape, stageInput)
		params += s.tape.params
		next = s.tape.values[s.output]
		return s
	}
	embedding := record("embedding", "embedding", v100Time, g.embedding)
	embedding.fromData = true
	net.stages = append(net.stages, embedding)
	for i := range g.layers {
		net.stages = append(net.stages, record(fmt.Sprintf("block%d", i), "block", products, g.block))
	}
	net.stages = append(net.stages, record("ln_f", "norm", v100Time, func(t *tape, x valueID) valueID { return t.layerNorm(x) }))
	loss := record("logits+loss", "loss", products, g.loss)
	net.loss = &loss
	net.resident = engine.Resident{
		Weights:   engine.Bytes(params) * fp16Bytes,
		Grads:     engine.Bytes(params) * fp16Bytes,
		Optimizer: engine.Bytes(params) * 12,
	}
	return net
}

// embedding looks up the token and the position. The rows of positions are
// the same for every sample.
func (g transformer) embedding(t *tape, ids valueID) valueID {
	t.params += (g.words + g.tokens) * g.hidden
	token := t.add(op{kind: opEmbed, in: []valueID{ids}, keeps: []valueID{ids}}, t.shaped(g.hidden, g.tokens, 1))
	row := value{bytes: engine.Bytes(g.hidden*g.tokens) * t.elem, c: g.hidden, h: g.tokens, w: 1}
	position := t.add(op{kind: opEmbed}, row)
	return t.dropout(t.sum(token, position))
}

// block is attention and a feed-forward net, each behind a normalisation and
// beside a shortcut. Query, key and value are three products here and one in
// most programs: the bytes are the same. Scaling and mask work in place.
func (g transformer) block(t *tape, x valueID) valueID {
	normed := t.layerNorm(x)
	query, key, val := t.linear(normed, g.hidden), t.linear(normed, g.hidden), t.linear(normed, g.hidden)
	scores := t.matmul([]valueID{query, key}, t.shaped(g.tokens, g.tokens, g.heads), g.hidden/g.heads, 0)
	weights := valueID(len(t.values))
	t.add(op{kind: opSoftmax, in: []valueID{scores}, keeps: []valueID{weights}}, t.values[scores])
	mixed := t.matmul([]valueID{t.dropout(weights), val}, t.shaped(g.hidden, g.tokens, 1), g.tokens, 0)
	x = t.sum(x, t.dropout(t.linear(mixed, g.hidden)))
	wide := t.gelu(t.linear(t.layerNorm(x), 4*g.hidden))
	return t.sum(x, t.dropout(t.linear(wide, g.hidden)))
}

// loss is the product with the embedding's weights, widened to 32 bits, and the
// cross entropy, which turns the wide logits into probabilities in place and
// keeps them. What comes out is one number.
func (g transformer) loss(t *tape, x valueID) valueID {
	logits := t.matmul([]valueID{x}, t.shaped(g.words, g.tokens, 1), g.hidden, 0)
	wide := t.values[logits]
	wide.bytes *= 2
	cast := t.add(op{kind: opCast, in: []valueID{logits}}, wide)
	return t.add(op{kind: opEntropy, in: []valueID{cast}, keeps: []valueID{cast}}, value{bytes: 4, c: 1, h: 1, w: 1})
}
