package preset

import (
	"fmt"

	"memtide/engine"
)

// Llama 3 8B as Hugging Face Transformers trains it, which keeps more than the
// operators need: the norm widens its input to 32 bits and keeps that and the result
// before the weights, so no backward reads a layer's own output; the loss widens the
// logits, and the narrow ones stay in a variable of the program. The same rules, read in
// its code, are those of package llm: its steps have the same sizes to the byte, but for
// temporaries of a block's backward, where it adds gradients of weights made anew.

// hfPreset is trained in bf16 alone, with the moments of AdamW in 8 bits.
func hfPreset(id, title string, g llama) *Preset {
	p := tokenPreset(id, title, 1, bf16, 8192,
		"32 gated layers of width 4096 on 8192 tokens, and the norms, logits and bf16 weights of Hugging Face Transformers, with 8-bit AdamW.")
	params := g.layers*g.count() + 2*g.words*g.hidden + g.hidden
	p.URL, p.build = llama3, g.huggingFace
	p.Optimizer = "8-bit AdamW"
	p.notes = func(s setting) []string {
		return []string{
			"Sizes: by the operators that Hugging Face Transformers runs with FlashAttention: beside what the products, the attention and the gated net keep, each norm keeps its input in 32 bits and its result before the weights, and the loss keeps its probabilities in 32 bits beside the logits.",
			tokenTimes(s, "; half of the attention's products, as it is causal; embedding and final normalisation by memory traffic"),
			fmt.Sprintf("Resident: %d-bit weights and gradients, and the two moments of AdamW in 8 bits (arXiv:2110.02861). %s parameters.", 8*s.precision.bytes(), thousands(params)),
			fmt.Sprintf("Sequence length %d, %d heads, %d of keys and values. The optimizer's step and the allocator's rounding are not included.", s.tokens, g.heads, g.keyHeads),
		}
	}
	return p
}

// huggingFace is embedding | layers | norm, logits and loss.
func (g llama) huggingFace(s setting) network {
	b := newTokenNet(s, ids(s))
	b.net.frees = true
	b.embedding(func(t *tape, ids valueID) valueID {
		return t.add(op{kind: opEmbed, in: []valueID{ids}, keeps: []valueID{ids}, params: g.words * g.hidden},
			t.shaped(g.hidden, s.tokens, 1))
	})
	for i := range g.layers {
		b.stage(fmt.Sprintf("block%d", i), "block", b.products, func(t *tape, x valueID) valueID {
			return g.feedForward(t, g.attention(t, x, t.wideNorm), t.wideNorm)
		})
	}
	b.loss(func(t *tape, x valueID) valueID {
		return t.wideEntropy(t.project(t.wideNorm(x), g.words, 0))
	})
	n := b.trained()
	n.resident.Optimizer = 2 * engine.Bytes(b.params)
	return n
}

// wideNorm is rmsNorm in 32 bits: it keeps its input so widened, the inverse size of each
// token, and the result before it is scaled.
func (t *tape) wideNorm(x valueID) valueID {
	wide, in := t.widened(x), t.values[x]
	narrow := t.add(op{kind: opNorm, in: []valueID{wide}, keeps: []valueID{wide},
		aux: engine.Bytes(t.batch*in.h) * 4}, in)
	return t.add(op{kind: opNorm, in: []valueID{narrow}, keeps: []valueID{narrow}, params: in.c}, in)
}

// widened is x in 32 bits: itself if it is.
func (t *tape) widened(x valueID) valueID {
	wide := t.values[x]
	if t.elem == fp32Bytes {
		return x
	}
	wide.bytes = wide.bytes / t.elem * fp32Bytes
	return t.add(op{kind: opCast, in: []valueID{x}}, wide)
}

// wideEntropy returns the cross entropy of logits in 32 bits, which keeps their logarithms. The
// logits themselves stay in a variable until the end of the backward.
func (t *tape) wideEntropy(logits valueID) valueID {
	product := &t.ops[len(t.ops)-1]
	product.keeps = append(product.keeps, logits)
	wide := t.widened(logits)
	log := valueID(len(t.values))
	t.add(op{kind: opSoftmax, in: []valueID{wide}, keeps: []valueID{log}}, t.values[wide])
	return t.add(op{kind: opEntropy, in: []valueID{log}, keeps: []valueID{log}}, value{bytes: 4, c: 1, h: 1, w: 1})
}
