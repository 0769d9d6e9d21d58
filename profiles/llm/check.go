package llm

import (
	"cmp"
	"fmt"

	"memtide/profiles/llm/ask"
)

// mostParams is more than ten times the parameters of the largest models, and low enough that no sum of their
// bytes overflows.
const mostParams = 1 << 45

// Check returns an error for a model that is impossible. Every description of a model passes through it, whatever
// it was read from. Errors name a number by its key in a config.json.
func (m *Model) Check() error {
	wide := int64(1)
	if m.MoE != nil && m.MoE.Dense == 0 {
		wide = 0 // no layer has a dense net
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
			ask.CheckSize("v_head_dim", l.Value, 1))
	}
	if err = cmp.Or(err, m.checkPattern()); err == nil {
		err = m.checkTogether()
	}
	if err != nil {
		return fmt.Errorf("model %s: %w", m.Name, err)
	}
	return nil
}

// above returns an error if n is larger than most, the number of which it is a part.
func above(key string, n int64, of string, most int64) error {
	if n > most {
		return fmt.Errorf("%s is %d, more than %s, which is %d: correct one of them in the config.json", key, n,
			of, most)
	}
	return nil
}

// checkPattern returns an error for the first block of Pattern whose heads have no width.
func (m *Model) checkPattern() error {
	for layer, b := range m.Pattern {
		if b.Heads > 0 && b.MLA == nil && (b.Head < 1 || b.Keys < 1) {
			return fmt.Errorf("the %d heads of layer %d are %d wide, with %d of keys and values; want each above 0: correct the heads in the config.json", b.Heads, layer, b.Head, b.Keys)
		}
	}
	return nil
}

// checkTogether returns an error for sizes that are possible alone but not together.
func (m *Model) checkTogether() error {
	most := max(m.block(0), m.block(m.Layers-1), m.embedding()+m.head())
	if most <= mostParams {
		most = m.Params()
	}
	switch {
	case m.Heads%m.Keys != 0:
		return fmt.Errorf("num_attention_heads, %d, is not a multiple of num_key_value_heads, %d: correct one of them in the config.json", m.Heads, m.Keys)
	case m.MLA != nil && m.MLA.Nope+m.MLA.Rope == 0:
		return fmt.Errorf("qk_nope_head_dim and qk_rope_head_dim are 0; want one of them above it: correct them in the config.json")
	case most > mostParams:
		return fmt.Errorf("the sizes make %d parameters; want 2^45 at most: correct the widths, the layers or the experts in the config.json", most)
	}
	return nil
}

// Limits of what is played. They are checked before a play begins. The work of
// the allocator grows with the square of what is held.
const (
	mostHeld   = 1 << 10 // blocks that one rank holds between forward and backward: the most layers of a model
	mostBlocks = 1 << 13 // blocks that all ranks that differ hold together
	mostPasses = 1 << 15 // forwards of a pipeline's step
	mostChain  = 1 << 8  // blocks of a chain for which strategies look for an optimum
	mostLive   = 1 << 53 // bytes that are allocated at once
	mostValue  = 1 << 53 // numbers of one activation
)

// widest returns the largest number of numbers per token that an operator writes.
func (m *Model) widest() int64 {
	n := max(m.Hidden, m.Words, m.Wide, m.Heads*m.Head)
	if e := m.MoE; e != nil {
		n = max(n, e.TopK*m.Hidden, e.TopK*e.Wide, e.Shared, e.Experts)
	}
	if d := m.Delta; d != nil {
		n = max(n, 2*d.KeyHeads*d.Key+d.ValueHeads*(d.Value+deltaChunk), d.ValueHeads*d.Key)
	}
	if s := m.SSM; s != nil {
		n = max(n, 2*s.Heads*s.Head+2*s.Groups*s.State+s.Heads)
	}
	if s := m.Scan; s != nil {
		n = max(n, s.Inner*s.State, s.Rank+2*s.State)
	}
	if l := m.MLA; l != nil {
		n = max(n, l.QRank, l.KVRank+l.Rope, m.Heads*(l.Nope+l.Rope), m.Heads*(l.Nope+l.Value))
	}
	return n
}

// checkPasses ends with an error for a pipeline with too many passes to be played.
func (s *Setup) checkPasses(stages int) {
	if n := int64(stages) * s.Accumulate; n > mostPasses {
		refuse("%d micro batches on %d stages of a pipeline are %d forwards; at most %d are played: lower accumulate to %d", s.Accumulate, stages, n, mostPasses, mostPasses/stages)
	}
}

// checkHeld ends with an error for ranks that hold too many blocks to be played. held has the blocks of each rank
// that differs from the others.
func (s *Setup) checkHeld(held []int64) {
	all := int64(0)
	for _, n := range held {
		if all += n; n > mostHeld {
			refuse("a rank holds %d blocks between forward and backward, its layers times the micro batches in flight; at most %d are played: lower accumulate, or take a schedule that holds fewer", n, mostHeld)
		}
	}
	if all > mostBlocks {
		refuse("the ranks hold %d blocks between forward and backward, their layers times the micro batches in flight; at most %d are played: lower pp or accumulate", all, mostBlocks)
	}
}
