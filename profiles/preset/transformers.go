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

// The language models of links and tables that are older than the steps of package llm: GPT-2 and
// BERT-large, by published formulas.

const fp16Bytes engine.Bytes = 2

// utilisation is the assumed share of the peak that the matrix products of a transformer reach. On A100s 10-45 %
// were measured, growing with the width and the batch.
const utilisation = 0.40

const languageGroup = "Language models"

const korthikanti = "https://arxiv.org/abs/2205.05198" // Korthikanti et al.: what a layer keeps

// transformer is the shape of a transformer, with the letters of Korthikanti et al. in brackets. The sequence
// length [s] is part of the setting.
type transformer struct {
	layers    int64 // [L]
	hidden    int64 // [h]
	heads     int64 // [a]
	words     int64 // [v] size of the vocabulary
	positions int64 // learned positions, the length of the longest sequence
}

var (
	// GPT-2 medium (Radford et al. 2019, table 2) and BERT-large (Devlin et al. 2019, section 3).
	gpt2M = transformer{layers: 24, hidden: 1024, heads: 16, words: 50257, positions: 1024}
	bertL = transformer{layers: 24, hidden: 1024, heads: 16, words: 30522, positions: 512}
)

func tokenPresets() []*Preset {
	gpt := func(id, title string, batch int, doc string, g transformer) *Preset {
		return unfused(id, title, batch, doc, g, g.gpt, "embedding and final normalisation", "", "the logits",
			"Causal masks and the allocator's rounding are")
	}
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

// entropy widens logits to 32 bits and returns the cross entropy, which turns the wide logits into probabilities
// in place and keeps them. Its output is one number.
func (t *tape) entropy(logits valueID) valueID {
	wide := t.values[logits]
	wide.bytes = wide.bytes / t.elem * fp32Bytes
	cast := t.add(op{kind: opCast, in: []valueID{logits}}, wide)
	return t.add(op{kind: opEntropy, in: []valueID{cast}, keeps: []valueID{cast}}, value{bytes: 4, c: 1, h: 1, w: 1})
}
