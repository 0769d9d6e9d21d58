package family

import "memtide/profiles/llm"

func init() {
	families["bert"], families["modernbert"], families["deberta-v2"] = bert, modernBERT, deberta
	for _, name := range []string{"roberta", "xlm-roberta", "camembert"} {
		families[name] = roberta
	}
}

// bert looks both ways, normalises its sums, and guesses masked words.
func bert(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Both, m.Around, m.Narrow, m.NoIDs = true, true, true, llm.AroundSum, true, true
	m.Act = c.gelu("hidden_act", "gelu")
	m.Dropout, m.DropAttn = c.above(0.1, "hidden_dropout_prob"), c.above(0.1, "attention_probs_dropout_prob")
	m.Dropped, m.FirstNorm, m.Masked, m.HeadBias = m.Dropout, true, true, true
	m.Tied = c.flag("tie_word_embeddings", true)
	m.Positions, m.Types = c.or(512, "max_position_embeddings"), c.or(2, "type_vocab_size")
	c.without("a bert whose blocks are not understood", "is_decoder", "add_cross_attention")
}

// roberta computes the positions of each input.
func roberta(c *config, m *llm.Model) {
	bert(c, m)
	m.OwnIDs = true
	m.Types = c.or(1, "type_vocab_size")
}

// modernBERT rotates, looks through windows both ways, and has no norm before its first
// attention.
func modernBERT(c *config, m *llm.Model) {
	m.Gated, m.Layer, m.NoBias, m.Both, m.Joined, m.GateUp, m.NoIDs, m.Axes = true, true, true, true, true, true,
		true, 1
	m.NoBias = !c.flag("norm_bias", false)
	c.biases(m)
	m.Act = c.gelu("hidden_activation", "gelu")
	m.FirstNorm, m.LastNorm, m.Masked, m.HeadBias = true, true, true, c.flag("decoder_bias", true)
	m.Dropped = c.above(0, "embedding_dropout")
	m.Dropout, m.DropAttn = c.above(0, "mlp_dropout"), c.above(0, "attention_dropout")
	m.Tied = c.flag("tie_word_embeddings", true)
	m.Fp32Loss = true
	every := c.or(3, "global_attn_every_n_layers")
	types := c.layerTypes(m.Layers, func(l int64) string {
		if l%max(every, 1) != 0 {
			return sliding
		}
		return full(l)
	})
	c.otherTypes(types, "full_attention", sliding)
	slide(m, types, c.or(128, "local_attention")/2)
	pattern(m, func(l int64, b *llm.Block) { b.RopeName, b.NoFirst = types[l], l == 0 })
}

// deberta has scores of contents alone, with a mask in each layer. Those of relative positions are
// refused.
func deberta(c *config, m *llm.Model) {
	bert(c, m)
	c.onlyEager(m)
	m.OwnMask, m.EmbedMask, m.Types = true, true, c.or(0, "type_vocab_size")
	if !c.flag("position_biased_input", true) {
		m.Positions = 0
	}
	c.without("a deberta whose blocks are not understood", "relative_attention")
	if c.or(0, "conv_kernel_size") > 0 {
		c.unknown("conv_kernel_size", "a deberta whose blocks are not understood")
	}
	if n := c.or(m.Hidden, "embedding_size"); n != m.Hidden {
		c.unknown("embedding_size", "a deberta whose blocks are not understood")
	}
}
