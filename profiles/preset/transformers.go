package preset

import (
	"fmt"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

// The language models of links and tables that are older than the steps of package llm: GPT-2,
// BERT-large and Llama 3, by published formulas.

const fp16Bytes engine.Bytes = 2

// utilisation is the assumed share of the peak that the matrix products of a transformer reach. On A100s 10-45 %
// were measured, growing with the width and the batch.
const utilisation = 0.40

const languageGroup = "Language models"

const (
	korthikanti = "https://arxiv.org/abs/2205.05198" // Korthikanti et al.: what a layer keeps
	llama3      = "https://arxiv.org/abs/2407.21783" // Llama team: The Llama 3 herd of models, table 3
)

// transformer is the shape of a transformer, with the letters of Korthikanti et al. in brackets. The sequence
// length [s] is part of the setting. Gated transformers, the Llamas, have no biases, no dropout, FlashAttention,
// and heads that share keys and values.
type transformer struct {
	layers    int64 // [L]
	hidden    int64 // [h]
	heads     int64 // [a]
	words     int64 // [v] size of the vocabulary
	positions int64 // learned positions, the length of the longest sequence
	keyHeads  int64 // heads of keys and of values, for gated ones
	wide      int64 // [f] width of the feed-forward net, for gated ones
}

var (
	// GPT-2 medium (Radford et al. 2019, table 2) and BERT-large (Devlin et al. 2019, section 3).
	gpt2M = transformer{layers: 24, hidden: 1024, heads: 16, words: 50257, positions: 1024}
	bertL = transformer{layers: 24, hidden: 1024, heads: 16, words: 30522, positions: 512}

	llama8B  = transformer{layers: 32, hidden: 4096, heads: 32, keyHeads: 8, wide: 14336, words: 128256}
	llama70B = transformer{layers: 80, hidden: 8192, heads: 64, keyHeads: 8, wide: 28672, words: 128256}
)

func tokenPresets() []*Preset {
	gpt := func(id, title string, batch int, doc string, g transformer) *Preset {
		return unfused(id, title, batch, doc, g, g.gpt, "embedding and final normalisation", "", "the logits",
			"Causal masks and the allocator's rounding are")
	}
	hf := gated("llama3-8b-hf", "Llama 3 8B, Hugging Face",
		"32 gated layers of width 4096 on 8192 tokens, and the norms, logits and bf16 weights of Hugging Face Transformers, with 8-bit AdamW.",
		"by the operators that Hugging Face Transformers runs with FlashAttention: beside what the products, the attention and the gated net keep, each norm keeps its input in 32 bits and its result before the weights, and the loss keeps its probabilities in 32 bits beside the logits.",
		llama8B, llama8B.huggingFace, "The optimizer's step")
	hf.Optimizer = "8-bit AdamW"
	const ofLayer = "from the operators of a layer, in 16 bits 2sbh for each of the inputs of two normalisations, of the products and of the attention's output, 2sbh(1 + 2k/a) for queries, keys and values with k heads of keys, 8sbf for the gated net of width f, and 4abs for the statistics of FlashAttention: the rules of Korthikanti et al. (arXiv:2205.05198) for these operators. A real layer may keep up to twice that."
	return []*Preset{
		gpt("gpt2-medium", "GPT-2 medium", 4,
			"24 equal transformer layers of width 1024 on 1024 tokens, 16-bit: a uniform chain with a heavy end.",
			gpt2M),
		gpt("gpt2", "GPT-2 small", 8,
			"12 layers of width 768 on 1024 tokens: the logits are larger than what two layers keep.",
			transformer{layers: 12, hidden: 768, heads: 12, words: 50257, positions: 1024}),
		gpt("gpt2-large", "GPT-2 large", 4, "36 layers of width 1280 on 1024 tokens.",
			transformer{layers: 36, hidden: 1280, heads: 20, words: 50257, positions: 1024}),
		gpt("gpt2-xl", "GPT-2 XL", 2, "48 layers of width 1600 on 1024 tokens: 1.6 billion parameters.",
			transformer{layers: 48, hidden: 1600, heads: 25, words: 50257, positions: 1024}),
		unfused("bert-large", "BERT-large", 8,
			"24 layers of width 1024 on 512 tokens, normalised behind the shortcuts, trained on masked words.",
			bertL, bertL.bert, "the embedding", "; the classifier of sentences is not included",
			"the logits of all tokens", "The allocator's rounding is"),
		gated("llama3-8b", "Llama 3 8B",
			"32 gated layers of width 4096 on 8192 tokens with FlashAttention: no square of the length, and logits of 128,256 words.",
			ofLayer, llama8B, llama8B.llama, "Position tables"),
		hf,
		gated("llama3-70b-layer", "Llama 3 70B, one layer",
			"One of the 80 layers of width 8192, its attention and its feed-forward net: what a device of a pipeline repeats.",
			ofLayer, llama70B, llama70B.layer, "Position tables"),
	}
}

// tokenPreset returns a transformer with a default precision and sequence length, on a V100.
func tokenPreset(id, title string, batch int, p precision, tokens int64, doc, url string, build func(setting) network,
	notes func(s setting, params string) []string) *Preset {
	return &Preset{
		ID: id, Title: title, Group: languageGroup, DefaultBatch: batch, DType: string(p), Doc: doc, URL: url,
		Optimizer: "Adam",
		own:       Options{Tokens: int(tokens), Precision: string(p), Device: card.DefaultID},
		sizes:     profiles.Analytic, tokenNet: true, build: build, notes: notes,
	}
}

// unfused returns a transformer without FlashAttention, whose output layer shares the weights of the embedding.
func unfused(id, title string, batch int, doc string, g transformer, build func(setting) network, traffic, more, loss,
	less string) *Preset {
	notes := func(s setting, params string) []string {
		return []string{
			"Sizes: from the operators of a layer, which in 16 bits gives sbh(34 + 5as/h) bytes a layer as in Korthikanti et al. (arXiv:2205.05198), plus the statistics of two layer normalisations; attention is not fused (no FlashAttention).",
			tokenTimes(s, "; "+traffic+" by memory traffic"),
			adamNote(s, params+" parameters; the output layer shares the embedding's"+more),
			"The last stage computes " + loss + " and the loss; its copy of the logits is 32-bit.",
			fmt.Sprintf("Sequence length %d. %s not included.", s.tokens, less),
		}
	}
	p := tokenPreset(id, title, batch, f16, g.positions, doc, korthikanti, build, notes)
	p.maxTokens = int(g.positions)
	return p
}

func gated(id, title, doc, sizes string, g transformer, build func(setting) network, less string) *Preset {
	return tokenPreset(id, title, 1, bf16, 8192, doc, llama3, build, func(s setting, params string) []string {
		stays := adamNote(s, params+" parameters")
		if id == "llama3-8b-hf" {
			stays = fmt.Sprintf("Resident: %d-bit weights and gradients, and the two moments of AdamW in 8 bits (arXiv:2110.02861). %s parameters.", 8*s.precision.bytes(), params)
		}
		return []string{
			"Sizes: " + sizes,
			tokenTimes(s, "; half of the attention's products, as it is causal; embedding and final normalisation by memory traffic"),
			stays,
			fmt.Sprintf("Sequence length %d, %d heads, %d of keys and values. %s and the allocator's rounding are not included.", s.tokens, g.heads, g.keyHeads, less),
		}
	})
}

// share returns the share of the peak that the products of a transformer reach.
func (s setting) share() float64 {
	if s.efficiency > 0 {
		return float64(s.efficiency) / 100
	}
	return utilisation
}

// utilised returns the time of an operator of a transformer's layer, see analytic.Utilised.
func (s setting) utilised(_ *tape, o *op) opTime {
	return analytic.Utilised(float64(s.device.Peak(string(s.precision))), s.share(), float64(o.macs))
}

// tokenTimes returns where the times of a transformer come from.
func tokenTimes(s setting, rest string) string {
	return fmt.Sprintf("Times: matrix products at %.0f %% of the %s peak of %g TFLOP/s of %s, an assumption (10-45 %% were measured on A100s)%s.",
		100*s.share(), s.precision.bits(), float64(s.device.Peak(string(s.precision)))/1e12, s.device.Name, rest)
}

// adamNote returns what stays on the device, and the number of parameters.
func adamNote(s setting, parameters string) string {
	text := "16-bit weights and gradients, and for Adam 12 bytes a parameter: a 32-bit copy and two moments, as in ZeRO (arXiv:1910.02054)."
	if !s.precision.half() {
		text = "32-bit weights and gradients, and for Adam two moments of 4 bytes."
	}
	return "Resident: " + text + " " + parameters + "."
}

func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// adamBytes is the size of Adam's two moments of a parameter.
const adamBytes = 8

// stack writes an embedding and equal layers.
func (g transformer) stack(s setting, embedding, layer ops) *writer {
	b := newWriter(s, value{bytes: engine.Bytes(8 * s.batch * s.tokens), c: 1, h: s.tokens, w: 1}) // numbers of tokens
	b.stage("embedding", "embedding", embedding)
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", layer)
	}
	return b
}

// gpt returns embedding | layers | final normalisation | logits and loss.
func (g transformer) gpt(s setting) network {
	b := g.stack(s, func(t *tape, ids valueID) valueID {
		return t.dropout(t.sum(g.lookUp(t, ids, g.words), g.position(t, ids)))
	}, func(t *tape, x valueID) valueID {
		x = t.sum(x, g.attention(t, t.layerNorm(x)))
		return t.sum(x, g.feedForward(t, t.layerNorm(x)))
	})
	b.stage("ln_f", "norm", func(t *tape, x valueID) valueID { return t.layerNorm(x) })
	b.stage("logits+loss", "loss", func(t *tape, x valueID) valueID { return t.entropy(g.logits(t, x, 0)) })
	return b.trained(adamBytes)
}

// bert returns embedding | layers, which normalise their sums | transformation | logits and loss. The prediction
// of the next sentence is left out. segments is the number of kinds of sentences.
func (g transformer) bert(s setting) network {
	const segments = 2
	b := g.stack(s, func(t *tape, ids valueID) valueID {
		sum := t.sum(t.sum(g.lookUp(t, ids, g.words), g.lookUp(t, ids, segments)), g.position(t, ids))
		return t.dropout(t.layerNorm(sum))
	}, func(t *tape, x valueID) valueID {
		x = t.layerNorm(t.sum(x, g.attention(t, x)))
		return t.layerNorm(t.sum(x, g.feedForward(t, x)))
	})
	b.stage("transform", "block", func(t *tape, x valueID) valueID {
		return t.layerNorm(t.gelu(t.linear(x, g.hidden)))
	})
	b.stage("logits+loss", "loss", func(t *tape, x valueID) valueID { return t.entropy(g.logits(t, x, g.words)) })
	return b.trained(adamBytes)
}

// llama returns embedding | layers | final normalisation | logits and loss. The output layer has weights of its
// own.
func (g transformer) llama(s setting) network {
	b := g.stack(s, func(t *tape, ids valueID) valueID { return g.lookUp(t, ids, g.words) },
		func(t *tape, x valueID) valueID { return g.gatedNet(t, g.fused(t, x, t.rmsNorm), t.rmsNorm) })
	b.stage("norm", "norm", func(t *tape, x valueID) valueID { return t.rmsNorm(x) })
	b.stage("logits+loss", "loss", func(t *tape, x valueID) valueID { return t.entropy(t.project(x, g.words, 0)) })
	return b.trained(adamBytes)
}

// layer returns one layer in two stages, which end at its two sums. It passes a gradient on to the layer before.
func (g transformer) layer(s setting) network {
	in := value{bytes: engine.Bytes(s.batch*s.tokens*g.hidden) * s.precision.bytes(), c: g.hidden, h: s.tokens, w: 1}
	b := newWriter(s, in)
	b.net.inputGrad = in.bytes
	b.stage("attention", "block", func(t *tape, x valueID) valueID { return g.fused(t, x, t.rmsNorm) })
	b.stage("feed-forward", "block", func(t *tape, x valueID) valueID { return g.gatedNet(t, x, t.rmsNorm) })
	return b.trained(adamBytes)
}

// huggingFace returns embedding | layers | norm, logits and loss: Llama 3 8B as Hugging Face Transformers trains
// it, which keeps more than the operators need. The norm widens its input to 32 bits and keeps the wide input and
// the result before the weights, so that no backward reads a layer's output. The loss widens the logits, and the
// narrow ones stay in a variable of the program. It trains in bf16 only, with the moments of AdamW in 8 bits.
// Package llm follows the same rules, read in the code of Transformers: its steps have the same sizes to the
// byte, except for temporaries of a block's backward, where package llm adds new gradients of weights.
func (g transformer) huggingFace(s setting) network {
	b := g.stack(s, func(t *tape, ids valueID) valueID { return g.lookUp(t, ids, g.words) },
		func(t *tape, x valueID) valueID { return g.gatedNet(t, g.fused(t, x, t.wideNorm), t.wideNorm) })
	b.net.frees = true
	b.stage("logits+loss", "loss", func(t *tape, x valueID) valueID {
		return t.wideEntropy(t.project(t.wideNorm(x), g.words, 0))
	})
	n := b.trained(0)
	n.resident.Optimizer = 2 * n.resident.Weights / s.precision.bytes()
	return n
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

// attention is not fused. Query, key and value are three products here and one in most programs; the bytes are
// the same. Scaling and mask work in place.
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

// logits is the product with the weights of the embedding, with biases of its own.
func (g transformer) logits(t *tape, x valueID, biases int64) valueID {
	tokens := t.values[x].h
	return t.add(op{
		kind: opMatmul, in: []valueID{x}, keeps: []valueID{x}, params: biases,
		macs: t.batch * g.words * tokens * g.hidden,
	}, t.shaped(g.words, tokens, 1))
}

// fused is FlashAttention after a norm, which never stores the weights of the pairs.
func (g transformer) fused(t *tape, x valueID, norm func(valueID) valueID) valueID {
	normed, shared := norm(x), g.hidden/g.heads*g.keyHeads
	query := t.rotate(t.project(normed, g.hidden, 0))
	key := t.rotate(t.project(normed, shared, 0))
	val := t.project(normed, shared, 0)
	return t.sum(x, t.project(t.flash(query, key, val, g.heads), g.hidden, 0))
}

// gatedNet is a gated feed-forward net (SwiGLU) after a norm.
func (g transformer) gatedNet(t *tape, x valueID, norm func(valueID) valueID) valueID {
	normed := norm(x)
	gate, up := t.project(normed, g.wide, 0), t.project(normed, g.wide, 0)
	open := t.add(op{kind: opGate, in: []valueID{gate}, keeps: []valueID{gate}}, t.values[gate])
	product := t.add(op{kind: opGate, in: []valueID{open, up}, keeps: []valueID{open, up}}, t.values[up])
	return t.sum(x, t.project(product, g.hidden, 0))
}

// rotate rotates queries or keys by their positions. Its backward rotates back and keeps nothing.
func (t *tape) rotate(x valueID) valueID {
	return t.add(op{kind: opRotate, in: []valueID{x}}, t.values[x])
}

// flash is causal attention that keeps its operands, its result and one 32-bit number for each head and token.
// Pairs that the mask hides are not computed.
func (t *tape) flash(query, key, val valueID, heads int64) valueID {
	q := t.values[query]
	out := valueID(len(t.values))
	return t.add(op{
		kind: opMatmul, in: []valueID{query, key, val}, keeps: []valueID{query, key, val, out},
		aux: engine.Bytes(4 * heads * t.batch * q.h), macs: t.batch * q.h * q.h * q.c,
	}, q)
}

// wideNorm is rmsNorm in 32 bits. It keeps its widened input, the inverse root mean square of each token, and the
// result before it is scaled.
func (t *tape) wideNorm(x valueID) valueID {
	wide, in := t.widened(x), t.values[x]
	narrow := t.add(op{kind: opNorm, in: []valueID{wide}, keeps: []valueID{wide},
		aux: engine.Bytes(t.batch*in.h) * 4}, in)
	return t.add(op{kind: opNorm, in: []valueID{narrow}, keeps: []valueID{narrow}, params: in.c}, in)
}

// widened returns x in 32 bits, or x itself if it has 32 bits.
func (t *tape) widened(x valueID) valueID {
	wide := t.values[x]
	if t.elem == fp32Bytes {
		return x
	}
	wide.bytes = wide.bytes / t.elem * fp32Bytes
	return t.add(op{kind: opCast, in: []valueID{x}}, wide)
}

// wideEntropy is the cross entropy of logits in 32 bits, which keeps their logarithms. The logits themselves stay
// in a variable until the end of the backward.
func (t *tape) wideEntropy(logits valueID) valueID {
	product := &t.ops[len(t.ops)-1]
	product.keeps = append(product.keeps, logits)
	wide := t.widened(logits)
	log := valueID(len(t.values))
	t.add(op{kind: opSoftmax, in: []valueID{wide}, keeps: []valueID{log}}, t.values[wide])
	return t.add(op{kind: opEntropy, in: []valueID{log}, keeps: []valueID{log}}, value{bytes: 4, c: 1, h: 1, w: 1})
}

// entropy widens logits to 32 bits and returns the cross entropy, which turns the wide logits into probabilities
// in place and keeps them. Its output is one number.
func (t *tape) entropy(logits valueID) valueID {
	wide := t.values[logits]
	wide.bytes = wide.bytes / t.elem * fp32Bytes
	cast := t.add(op{kind: opCast, in: []valueID{logits}}, wide)
	return t.add(op{kind: opEntropy, in: []valueID{cast}, keeps: []valueID{cast}}, value{bytes: 4, c: 1, h: 1, w: 1})
}
