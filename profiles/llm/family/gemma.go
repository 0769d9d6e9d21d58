package family

import "memtide/profiles/llm"

func init() {
	families["gemma"], classic["gemma"] = gemma, true
	families["gemma2"], families["gemma3_text"], families["gemma3"] = gemma2, gemma3, gemma3
	families["vaultgemma"] = vaultGemma
	families["cohere"], families["cohere2"] = cohere, cohere2
}

// gemma multiplies by 1 + w in its norms, and ties its head.
func gemma(c *config, m *llm.Model) {
	m.Gated, m.Form = true, llm.FormPlus
	c.attentionBias(m, false)
	m.Head = c.or(256, "head_dim")
}

// gemma2 has norms on both sides, caps scores and logits, and a window in every other layer.
func gemma2(c *config, m *llm.Model) {
	m.Around = llm.AroundBoth
	vaultGemma(c, m)
}

// vaultGemma has norms in front alone.
func vaultGemma(c *config, m *llm.Model) {
	gemma(c, m)
	m.ScoreCap, m.LogitCap = c.number("attn_logit_softcapping", 50) > 0, c.number("final_logit_softcapping", 30) > 0
	c.windows(m, lastFull(2, sliding))
}

// gemma3 has five windows for each layer that sees all, with tables of rotation of their own.
func gemma3(c *config, m *llm.Model) {
	gemma(c, m)
	m.Around, m.QKNorm = llm.AroundBoth, true
	m.ScoreCap, m.LogitCap = c.number("attn_logit_softcapping", 0) > 0, c.number("final_logit_softcapping", 0) > 0
	c.flags(false, unclear, "use_bidirectional_attention")
	types := c.windows(m, lastFull(c.or(6, "sliding_window_pattern"), sliding))
	pattern(m, func(l int64, b *llm.Block) { b.RopeName = types[l] })
}

// cohere has one LayerNorm for both parts of a block, in 4 bytes and without a bias.
func cohere(c *config, m *llm.Model) {
	m.Gated, m.Layer, m.NoBias, m.Form, m.Parallel, m.OneNorm = true, true, true, llm.FormLayerWide, true, true
	c.attentionBias(m, false)
}

// cohere2 rotates only where a window slides.
func cohere2(c *config, m *llm.Model) {
	cohere(c, m)
	types := c.windows(m, lastFull(c.or(4, "sliding_window_pattern"), sliding))
	pattern(m, func(l int64, b *llm.Block) { b.NoRope = types[l] == "full_attention" })
}
