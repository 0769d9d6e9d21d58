package family

import (
	"memtide/profiles/llm"
)

func init() { families["deepseek_v4"] = deepseekV4 }

// onlyEager says that attention by products and a softmax is the only one that is known.
func (c *config) onlyEager(m *llm.Model) {
	m.OnlyEager = true
	c.note("Attention runs as products and a softmax, the only way that is known of this family: -attention changes nothing.")
}

// deepseekV4 has four residual streams, attention over single and compressed keys, and experts
// everywhere.
func deepseekV4(c *config, m *llm.Model) {
	m.Gated, m.Sinks, m.NoTables, m.MaskAll = true, true, true, true
	c.onlyEager(m)
	m.Keys, m.Head = 1, c.or(512, "head_dim")
	m.Hyper = &llm.Hyper{Streams: c.or(4, "hc_mult"), Steps: max(1, c.or(20, "hc_sinkhorn_iters"))}
	e := c.mixture(m)
	m.Wide = e.Wide
	e.Shared = c.or(1, "n_shared_experts") * e.Wide
	e.Bias, e.Clipped = true, c.number("swiglu_limit", 10) > 0
	e.Router = llm.Router{Narrow: true, Sqrt: true, Norm: true}
	if s := c.text("scoring_func", "sqrtsoftplus"); s != "sqrtsoftplus" {
		c.unknown("scoring_func", "a router that is not understood")
	}
	base := llm.Compressed{QRank: c.need("q_lora_rank"), Rope: c.or(64, "qk_rope_head_dim"),
		Groups: max(1, c.or(8, "o_groups")), ORank: c.or(1024, "o_lora_rank"),
		Index: llm.Index{Heads: c.or(64, "index_n_heads"), Head: c.or(128, "index_head_dim"),
			TopK: c.or(512, "index_topk")}}
	if c.err == nil && (m.Heads*m.Head%base.Groups != 0 || m.Hyper.Streams < 1 || base.ORank < 1) {
		c.fail("o_groups", "o_groups, o_lora_rank or hc_mult does not fit the heads",
			"Groups of heads and at least one stream are expected.", correct)
	}
	sparse, heavy := base, base
	in := c.part(c.value("compress_rates"))
	sparse.Rate, sparse.Overlap = max(1, in.or(4, "compressed_sparse_attention")), true
	heavy.Rate = max(1, in.or(128, "heavily_compressed_attention"))
	kinds := map[string]*llm.Compressed{"sliding_attention": &base, "compressed_sparse_attention": &sparse,
		"heavily_compressed_attention": &heavy}
	types := c.words("layer_types", m.Layers)
	if types == nil {
		c.fail("layer_types", "layer_types is missing", "The kind of attention of each layer is expected.",
			"Add it, or correct it in the config.json.")
		return
	}
	for _, t := range c.words("mlp_layer_types", m.Layers) {
		if t != "moe" && t != "hash_moe" {
			c.unknown("mlp_layer_types", unclear)
		}
	}
	pattern(m, func(l int64, b *llm.Block) {
		if b.Compressed = kinds[types[l]]; b.Compressed == nil {
			c.unknown("layer_types", unclear)
			b.Compressed = &base
		}
	})
}
