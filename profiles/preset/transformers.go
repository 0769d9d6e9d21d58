package preset

import (
	"fmt"
	"strconv"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
)

// GPT-2 medium by published formulas, which tables of papers have, and links that are older than the steps of package
// llm.

const fp16Bytes engine.Bytes = 2

// utilisation is the assumed share of the peak that the matrix products of a transformer reach. On A100s 10-45 %
// were measured, growing with the width and the batch.
const utilisation = 0.40

const languageGroup = "Language models"

// transformer is the shape of a transformer, with the letters of Korthikanti et al. in brackets. The sequence
// length [s] is part of the setting.
type transformer struct {
	layers    int64 // [L]
	hidden    int64 // [h]
	heads     int64 // [a]
	words     int64 // [v] size of the vocabulary
	positions int64 // learned positions, the length of the longest sequence
}

// gpt2M is GPT-2 medium (Radford et al. 2019, table 2).
var gpt2M = transformer{layers: 24, hidden: 1024, heads: 16, words: 50257, positions: 1024}

func tokenPresets() []*Preset {
	return []*Preset{{
		ID: "gpt2-medium", Title: "GPT-2 medium", Group: languageGroup, DefaultBatch: 4, DType: string(f16),
		Doc: "24 equal transformer layers of width 1024 on 1024 tokens, 16-bit: a uniform chain with a heavy end.",
		URL: "https://arxiv.org/abs/2205.05198", Optimizer: "Adam",
		own:       Options{Tokens: int(gpt2M.positions), Precision: string(f16), Device: card.DefaultID},
		maxTokens: int(gpt2M.positions), sizes: profiles.Analytic, tokenNet: true, build: gpt2M.gpt,
		notes: func(s setting, params string) []string {
			return []string{
				"Sizes: from the operators of a layer, which in 16 bits gives sbh(34 + 5as/h) bytes a layer as in Korthikanti et al. (arXiv:2205.05198), plus the statistics of two layer normalisations; attention is not fused (no FlashAttention).",
				fmt.Sprintf("Times: matrix products at %.0f %% of the %s peak of %g TFLOP/s of %s, an assumption (10-45 %% were measured on A100s); embedding and final normalisation by memory traffic.",
					100*s.share(), s.precision.bits(), float64(s.device.Peak(string(s.precision)))/1e12, s.device.Name),
				"Resident: " + adam[s.precision.half()] + " " + params + " parameters; the output layer shares the embedding's.",
				"The last stage computes the logits and the loss; its copy of the logits is 32-bit.",
				fmt.Sprintf("Sequence length %d. Causal masks and the allocator's rounding are not included.", s.tokens),
			}
		},
	}}
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

// adam says what stays on the device in 16 bits, or else in 32.
var adam = map[bool]string{
	true:  "16-bit weights and gradients, and for Adam 12 bytes a parameter: a 32-bit copy and two moments, as in ZeRO (arXiv:1910.02054).",
	false: "32-bit weights and gradients, and for Adam two moments of 4 bytes.",
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// adamBytes is the size of Adam's two moments of a parameter.
const adamBytes = 8

// gpt returns embedding | layers | final normalisation | logits and loss.
func (g transformer) gpt(s setting) network {
	b := newWriter(s, value{bytes: engine.Bytes(8 * s.batch * s.tokens), c: 1, h: s.tokens, w: 1}) // numbers of tokens
	b.stage("embedding", "embedding", func(t *tape, ids valueID) valueID {
		return t.dropout(t.sum(g.lookUp(t, ids, g.words), g.position(t, ids)))
	})
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", func(t *tape, x valueID) valueID {
			x = t.sum(x, g.attention(t, t.layerNorm(x)))
			return t.sum(x, g.feedForward(t, t.layerNorm(x)))
		})
	}
	b.stage("ln_f", "norm", func(t *tape, x valueID) valueID { return t.layerNorm(x) })
	b.stage("logits+loss", "loss", func(t *tape, x valueID) valueID { return t.entropy(g.logits(t, x)) })
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

// logits is the product with the weights of the embedding.
func (g transformer) logits(t *tape, x valueID) valueID {
	tokens := t.values[x].h
	return t.add(op{
		kind: opMatmul, in: []valueID{x}, keeps: []valueID{x},
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
