package family

import (
	"fmt"
	"maps"
	"strings"

	"memtide/profiles/llm"
)

func init() {
	maps.Copy(families, map[string]builder{"bert": bert, "roberta": roberta, "xlm-roberta": roberta,
		"camembert": roberta, "modernbert": modernBERT, "deberta-v2": deberta, "distilbert": distilBERT})
}

// bert looks both ways, normalises its sums, and guesses masked words.
func bert(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Both, m.Around, m.Narrow, m.NoIDs = true, true, true, llm.AroundSum, true, true
	m.Act = c.gelu("hidden_act", "gelu")
	m.Dropout, m.DropAttn = c.above(0.1, "hidden_dropout_prob"), c.above(0.1, "attention_probs_dropout_prob")
	m.Dropped, m.FirstNorm, m.Masked, m.HeadBias = m.Dropout, true, true, true
	m.Positions, m.Types = c.or(512, "max_position_embeddings"), c.or(2, "type_vocab_size")
	m.Megatron = m.Family == "bert"
	c.flags(false, "a bert whose blocks are not understood", "is_decoder", "add_cross_attention")
}

// distilBERT has only one type of sentences.
func distilBERT(c *config, m *llm.Model) {
	bert(c, m)
	m.Types, m.Act, m.NetDrops = 0, c.gelu("activation", "gelu"), true
	m.Dropout, m.DropAttn = c.above(0.1, "dropout"), c.above(0.1, "attention_dropout")
	m.Dropped = m.Dropout
}

// roberta computes the position ids of each input.
func roberta(c *config, m *llm.Model) {
	bert(c, m)
	m.OwnIDs = true
	m.Types = c.or(1, "type_vocab_size")
}

// modernBERT rotates positions, looks through windows both ways, and has no norm before its first attention.
func modernBERT(c *config, m *llm.Model) {
	m.Gated, m.Layer, m.NoBias, m.Both, m.Joined, m.GateUp, m.NoIDs, m.Axes = true, true, true, true, true, true,
		true, 1
	m.NoBias = !c.flag("norm_bias", false)
	c.biases(m)
	m.Act = c.gelu("hidden_activation", "gelu")
	m.FirstNorm, m.LastNorm, m.Masked, m.HeadBias = true, true, true, c.flag("decoder_bias", true)
	m.Dropped = c.above(0, "embedding_dropout")
	m.Dropout, m.DropAttn = c.above(0, "mlp_dropout"), c.above(0, "attention_dropout")
	m.Fp32Loss = true
	types := c.layerTypes(m.Layers, oneFull(c.or(3, "global_attn_every_n_layers"), 0, sliding))
	c.otherTypes(types, "full_attention", sliding)
	slide(m, types, c.or(128, "local_attention")/2)
	pattern(m, func(l int64, b *llm.Block) { b.RopeName, b.NoFirst = types[l], l == 0 })
}

// deberta has a mask in each layer, and scores of distances between tokens beside those of their contents.
func deberta(c *config, m *llm.Model) {
	bert(c, m)
	c.onlyEager(m)
	m.OwnMask, m.EmbedMask, m.Types = true, true, c.or(0, "type_vocab_size")
	if !c.flag("position_biased_input", true) {
		m.Positions = 0
	}
	if c.flag("relative_attention", false) {
		c.distances(m)
	}
	c.same(0, "conv_kernel_size")
	c.same(m.Hidden, "embedding_size")
}

// distances reads the keys of DeBERTa's table of distances, which version 3 has: as many to each side as there are
// buckets, or positions.
func (c *config) distances(m *llm.Model) {
	m.NoRope, m.Distances = true, 2*c.or(512, "max_position_embeddings")
	for _, key := range []string{"max_relative_positions", "position_buckets"} {
		if n, _ := whole(c.value(key)); n > 0 { // -1 stands for none
			m.Distances = 2 * c.size(key)
		}
	}
	if !c.flag("share_att_key", false) {
		c.unknown("share_att_key", unclear)
	}
	if c.text("norm_rel_ebd", "none") != "layer_norm" {
		c.unknown("norm_rel_ebd", unclear)
	}
	kinds := fmt.Sprint(c.value("pos_att_type")) // a list, or joined by bars
	if !strings.Contains(kinds, "c2p") || !strings.Contains(kinds, "p2c") {
		c.unknown("pos_att_type", unclear)
	}
}
