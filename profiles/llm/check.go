package llm

import (
	"cmp"
	"fmt"

	"memtide/profiles/llm/ask"
)

// mostParams is more than ten times what the largest models have, and so few that no sum
// of their bytes overflows.
const mostParams = 1 << 45

// Check reports a model that cannot be: everything that describes one comes through here,
// whatever it was read from. Errors name the number by its key in a config.json.
func (m *Model) Check() error {
	wide := int64(1)
	if m.MoE != nil && m.MoE.Dense == 0 {
		wide = 0 // no layer has it
	}
	err := cmp.Or(ask.CheckSize("num_hidden_layers", m.Layers, 1), ask.CheckSize("hidden_size", m.Hidden, 1),
		ask.CheckSize("num_attention_heads", m.Heads, 1), ask.CheckSize("num_key_value_heads", m.Keys, 1),
		ask.CheckSize("head_dim", m.Head, 1),
		ask.CheckSize("intermediate_size", m.Wide, wide), ask.CheckSize("vocab_size", m.Words, 1),
		ask.CheckSize("max_position_embeddings", m.Positions, 0), ask.CheckSize("sliding_window", m.Window, 0))
	if e := m.MoE; e != nil && err == nil {
		err = cmp.Or(ask.CheckSize("num_experts", e.Experts, 1), ask.CheckSize("num_experts_per_tok", e.TopK, 1),
			ask.CheckSize("moe_intermediate_size", e.Wide, 1), ask.CheckSize("first_k_dense_replace", e.Dense, 0),
			above("num_experts_per_tok", e.TopK, "num_experts", e.Experts),
			above("first_k_dense_replace", e.Dense, "num_hidden_layers", m.Layers))
	}
	if l := m.MLA; l != nil && err == nil {
		err = cmp.Or(ask.CheckSize("q_lora_rank", l.QRank, 0), ask.CheckSize("kv_lora_rank", l.KVRank, 1),
			ask.CheckSize("qk_nope_head_dim", l.Nope, 0), ask.CheckSize("qk_rope_head_dim", l.Rope, 0),
			ask.CheckSize("v_head_dim", l.Value, 1),
			above("q_lora_rank", l.QRank, "hidden_size", m.Hidden),
			above("kv_lora_rank", l.KVRank, "hidden_size", m.Hidden))
	}
	if err = cmp.Or(err, m.checkPattern()); err == nil {
		err = m.checkTogether()
	}
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	return nil
}

// above reports a number that is more than the one that it is a part of.
func above(key string, n int64, of string, most int64) error {
	if n > most {
		return fmt.Errorf("%s is %d, more than %s, which is %d: correct one of them in the config.json", key, n,
			of, most)
	}
	return nil
}

// checkPattern reports the first block of its own whose heads have no width.
func (m *Model) checkPattern() error {
	for layer, b := range m.Pattern {
		if b.Heads > 0 && b.MLA == nil && (b.Head < 1 || b.Keys < 1) {
			return fmt.Errorf("the %d heads of layer %d are %d wide, with %d of keys and values; want each above 0: correct the heads in the config.json", b.Heads, layer, b.Head, b.Keys)
		}
	}
	return nil
}

// checkTogether reports sizes, each of which could be, that cannot be together.
func (m *Model) checkTogether() error {
	most := max(m.block(0), m.block(m.Layers-1), m.embedding()+m.head())
	if most <= mostParams {
		most = m.Params()
	}
	switch {
	case m.Heads%m.Keys != 0:
		return fmt.Errorf("num_attention_heads is %d, which do not divide among num_key_value_heads, %d: correct one of them in the config.json", m.Heads, m.Keys)
	case m.MLA != nil && m.MLA.Nope+m.MLA.Rope == 0:
		return fmt.Errorf("qk_nope_head_dim and qk_rope_head_dim are 0; want one of them above it: correct them in the config.json")
	case most > mostParams:
		return fmt.Errorf("the sizes make %d parameters; want 2^45 at most: correct the widths, the layers or the experts in the config.json", most)
	}
	return nil
}
