package family

import "memtide/profiles/llm"

func init() {
	families["bert"] = bert
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
	for _, key := range []string{"is_decoder", "add_cross_attention"} {
		if c.flag(key, false) {
			c.unknown(key, "a bert whose blocks are not understood")
		}
	}
}

// roberta computes the positions of each input.
func roberta(c *config, m *llm.Model) {
	bert(c, m)
	m.OwnIDs = true
	m.Types = c.or(1, "type_vocab_size")
}
