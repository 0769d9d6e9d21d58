package family

import (
	"fmt"
	"maps"
	"slices"

	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"mixtral": mixtral, "qwen3_moe": qwen3MoE, "deepseek_v3": deepseekV3,
		"deepseek_v2": deepseekV2, "kimi_k2": deepseekV3} {
		families[name], classic[name] = b, true
	}
	maps.Copy(families, map[string]builder{"deepseek_v32": deepseekV32, "glm_moe_dsa": glmMoeDSA, "qwen2_moe": qwen2MoE,
		"olmoe": olmoe, "dots1": dots1, "ernie4_5_moe": ernieMoE, "glm4_moe": glm4MoE, "glm4_moe_lite": deepseekV3,
		"minimax_m2": minimaxM2, "qwen3_vl_moe_text": qwen3VLMoE, "qwen3_omni_moe_text": qwen3VLMoE,
		"mistral4": mistral4, "granitemoe": graniteMoE, "granitemoeshared": graniteMoE,
		"solar_open": glm4MoE, "glm4v_moe_text": glm4VMoE, "mellum": qwen3MoE, "flex_olmo": flexOlmo,
		"exaone_moe": exaoneMoE, "hunyuan_v1_moe": hunyuanMoE, "hy_v3": hyV3, "gpt_oss": gptOSS, "phimoe": phiMoE,
		"llama4_text": llama4, "llama4": llama4, "deepseek_v4": deepseekV4})
}

// mixture returns a net of experts by the keys of most families, and sets it in every layer.
func (c *config) mixture(m *llm.Model) *llm.MoE {
	m.MoE = &llm.MoE{Experts: c.need("num_experts", "num_local_experts", "n_routed_experts", "num_routed_experts"),
		TopK: c.need("num_experts_per_tok"),
		Wide: c.or(m.Wide, "moe_intermediate_size")}
	m.MoE.Shared = c.size("n_shared_experts") * m.MoE.Wide
	m.MoE.Router.Norm = c.flag("norm_topk_prob", false)
	return m.MoE
}

// dense removes the experts of some layers.
func dense(m *llm.Model, is func(layer int64) bool) {
	pattern(m, func(l int64, b *llm.Block) {
		if is(l) {
			b.MoE = nil
		}
	})
}

// sparse removes the experts of the layers that Qwen's keys name.
func (c *config) sparse(m *llm.Model) {
	step := c.or(1, "decoder_sparse_step")
	only := c.indices("mlp_only_layers")
	dense(m, func(l int64) bool { return step == 0 || (l+1)%step != 0 || only[l] })
}

// firstDense removes the experts of the first layers.
func (c *config) firstDense(m *llm.Model) {
	first := c.size("first_k_dense_replace")
	if types := c.words("mlp_layer_types", m.Layers); types != nil {
		dense(m, func(l int64) bool { return types[l] == "dense" })
		return
	}
	if first > m.Layers {
		c.fail("first_k_dense_replace",
			fmt.Sprintf("first_k_dense_replace is %d, more than num_hidden_layers, which is %d", first, m.Layers),
			"As many layers at least are expected.", "Correct one of them in the config.json.")
	}
	dense(m, func(l int64) bool { return l < first })
}

func mixtral(c *config, m *llm.Model) {
	mistral(c, m)
	e := c.mixture(m)
	e.Router.Norm, e.WideScore = true, true
}

func qwen3MoE(c *config, m *llm.Model) {
	qwen3(c, m)
	c.mixture(m)
	c.sparse(m)
}

func qwen3VLMoE(c *config, m *llm.Model) {
	qwen3MoE(c, m)
	m.Megatron = true
	pattern(m, func(_ int64, b *llm.Block) { b.Each = true })
}

// qwen2MoE has a gate for its shared experts.
func qwen2MoE(c *config, m *llm.Model) {
	m.Gated, m.QKVBias, m.Megatron = true, c.flag("qkv_bias", true), true
	c.usedWindow(m)
	c.gatedMixture(m)
	c.sparse(m)
}

// gatedMixture is mixture with a gate for the shared experts.
func (c *config) gatedMixture(m *llm.Model) *llm.MoE {
	e := c.mixture(m)
	e.Shared, e.Gate = c.need("shared_expert_intermediate_size"), true
	return e
}

// deepseek is the first DeepSeek, with the attention of Llama.
func deepseek(c *config, m *llm.Model) {
	llama(c, m)
	c.mixture(m)
	c.firstDense(m)
}

func olmoe(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm, m.WholeQK = true, true
	c.mixture(m)
}

// groups is mixture with DeepSeek-V3's router: sigmoids in 4 bytes, and the choice of groups of experts first.
func (c *config) groups(m *llm.Model) *llm.MoE {
	e := c.mixture(m)
	e.WideScore = true
	r := &e.Router
	r.Wide = true
	r.Norm = c.flag("norm_topk_prob", true)
	r.Groups, r.Best, r.Top = c.or(1, "n_group"), 2, c.or(1, "topk_group")
	return e
}

func dots1(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm, m.Megatron = true, true
	e := c.groups(m)
	e.Router.Norm = c.flag("norm_topk_prob", false)
	c.usedWindow(m)
	c.firstDense(m)
}

// exaoneMoE has a window in some layers, and rotates only these.
func exaoneMoE(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm = true
	e := c.groups(m)
	e.Shared = c.size("num_shared_experts") * e.Wide
	c.firstDense(m)
	if c.size("sliding_window") == 0 {
		return
	}
	types := c.windows(m, lastFull(c.or(4, "sliding_window_pattern"), sliding))
	pattern(m, func(l int64, b *llm.Block) { b.NoRope = types[l] == "full_attention" })
}

// hunyuanMoE has a net of full width beside its experts. Published files name the same number for each layer.
func hunyuanMoE(c *config, m *llm.Model) {
	hunyuan(c, m)
	list, _ := c.all["moe_topk"].([]any)
	if slices.ContainsFunc(list, func(v any) bool { return v != list[0] }) {
		c.unknown("moe_topk", unclear)
	}
	m.MoE = &llm.MoE{Experts: c.need("num_experts"), TopK: c.side("moe_topk", 1), Wide: m.Wide, Shared: m.Wide,
		Router: llm.Router{Norm: true}}
}

// hyV3 scores by sigmoids, without groups.
func hyV3(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm = true
	e := c.groups(m)
	e.Router.Groups, e.Shared = 0, c.size("num_shared_experts")*e.Wide
	c.firstDense(m)
}

func glm4MoE(c *config, m *llm.Model) {
	m.Gated, m.QKVBias, m.Megatron = true, c.flag("attention_bias", false), true
	m.QKNorm = c.flag("use_qk_norm", false)
	m.Rope = c.partial(m.Head, 0.5)
	c.groups(m)
	c.firstDense(m)
}

// glm4VMoE makes tables for each sequence, as Qwen3-VL does, and has no norms of queries and keys
// [transformers: modular_glm4v_moe.py].
func glm4VMoE(c *config, m *llm.Model) {
	glm4MoE(c, m)
	pattern(m, func(_ int64, b *llm.Block) {
		b.Each, b.QKNorm, b.QKVBias = true, false, c.flag("attention_bias", true)
	})
}

func minimaxM2(c *config, m *llm.Model) {
	m.Gated, m.QKNorm, m.WholeQK, m.Apart = true, c.flag("use_qk_norm", true), true, true
	m.Rope = c.partial(m.Head, 1)
	e := c.mixture(m)
	e.Router.Norm, e.WideScore = true, true
}

// ernieMoE has experts from a certain layer on.
func ernieMoE(c *config, m *llm.Model) {
	ernie(c, m)
	m.Megatron = true
	e := &llm.MoE{Experts: c.need("moe_num_experts", "num_experts"), TopK: c.need("moe_k", "num_experts_per_tok"),
		Wide: c.need("moe_intermediate_size")}
	e.Shared = c.size("moe_num_shared_experts") * e.Wide
	e.Router = llm.Router{Wide: true, Own: true, Norm: true, Sums: 2}
	e.Counted = true
	m.MoE = e
	from, to, every := c.or(1, "moe_layer_start_index"), c.number("moe_layer_end_index", -1),
		c.or(1, "moe_layer_interval")
	if to < 0 {
		to = float64(m.Layers) - 1
	}
	dense(m, func(l int64) bool { return (l+1)%max(every, 1) != 0 || l < from || float64(l) > to })
}

// graniteMoE chooses experts before it scores them.
func graniteMoE(c *config, m *llm.Model) {
	granite(c, m)
	c.mixture(m).Router.First = true
	m.MoE.Shared = c.size("shared_intermediate_size")
}

// flexOlmo has the norms of OLMo 2.
func flexOlmo(c *config, m *llm.Model) {
	olmo2(c, m)
	c.mixture(m)
}

// latent describes attention with compressed keys and values.
func (c *config) latent(m *llm.Model) {
	m.MLA = &llm.MLA{QRank: c.size("q_lora_rank"), KVRank: c.need("kv_lora_rank"), Nope: c.size("qk_nope_head_dim"),
		Rope: c.size("qk_rope_head_dim"), Value: c.need("v_head_dim")}
	c.read["head_dim"] = true
	m.Head, m.Keys = m.MLA.Value, m.Heads
}

func deepseekV3(c *config, m *llm.Model) {
	m.Gated, m.Megatron = true, m.Family == "glm4_moe_lite"
	c.latent(m)
	if c.has("n_routed_experts", "num_experts", "num_local_experts", "num_routed_experts") {
		c.groups(m)
		c.firstDense(m)
	}
}

// deepseekV32 has an indexer, which chooses what each token sees.
func deepseekV32(c *config, m *llm.Model) {
	deepseekV3(c, m)
	c.need("q_lora_rank")
	m.Index = &llm.Index{Heads: c.or(64, "index_n_heads"), Head: c.or(128, "index_head_dim"),
		TopK: c.or(2048, "index_topk")}
	c.otherTypes(c.layerTypes(m.Layers, full), "full_attention", "deepseek_sparse_attention")
	pattern(m, func(_ int64, b *llm.Block) { b.Index = m.Index })
}

// glmMoeDSA passes the keys chosen by a layer on to the next layer, which may have no indexer.
func glmMoeDSA(c *config, m *llm.Model) {
	deepseekV32(c, m)
	next, shared := *m.Index, *m.Index
	next.Handed, shared.Handed, shared.Shared = true, true, true
	types := c.words("indexer_types", m.Layers)
	pattern(m, func(l int64, b *llm.Block) {
		switch {
		case l > 0 && types != nil && types[l] == "shared":
			b.Index = &shared
		case l > 0:
			b.Index = &next
		}
	})
}

// deepseekV2 scores by a softmax.
func deepseekV2(c *config, m *llm.Model) {
	deepseekV3(c, m)
	if m.MoE != nil {
		m.MoE.Router = llm.Router{Wide: true}
		if c.text("topk_method", "greedy") == "group_limited_greedy" {
			m.MoE.Router.Groups, m.MoE.Router.Best, m.MoE.Router.Top = c.need("n_group"), 1, c.need("topk_group")
		}
		c.read["norm_topk_prob"] = true
	}
}

// mistral4 scores in the compute type, and scales queries by a number per position.
func mistral4(c *config, m *llm.Model) {
	deepseekV3(c, m)
	m.Scale = 2
	if e := m.MoE; e != nil {
		e.Router.Wide, e.Router.Narrow, e.WideScore = false, true, false
	}
}

// gptOSS has sinks, windows in every other layer, and experts with biases.
func gptOSS(c *config, m *llm.Model) {
	m.Gated, m.Form, m.Sinks, m.RopeHalf, m.Megatron = true, llm.FormWide, true, true, true
	c.attentionBias(m, true)
	m.Head = c.or(64, "head_dim")
	e := c.mixture(m)
	e.Wide = m.Wide
	e.Router = llm.Router{First: true, Narrow: true, Bias: true}
	e.Biases, e.Clamped = true, true
	types := c.layerTypes(m.Layers, lastFull(2, sliding))
	c.otherTypes(types, "full_attention", sliding)
	slide(m, types, c.or(128, "sliding_window"))
}

// phiMoE chooses one expert after the other, with noise.
func phiMoE(c *config, m *llm.Model) {
	m.Layer, m.Gated, m.HeadBias = true, true, c.flag("lm_head_bias", false)
	c.attentionBias(m, false)
	m.Window = c.size("sliding_window")
	e := c.mixture(m)
	e.Router = llm.Router{Mixer: true}
	for _, key := range []string{"router_jitter_noise", "input_jitter_noise"} {
		if c.above(0, key) {
			e.Router.Noise++
		}
	}
}

// llama4 rotates three of four layers, within chunks, and has every expert compute every token.
func llama4(c *config, m *llm.Model) {
	m.Gated, m.Bare, m.HeadLast, m.Narrow, m.Titan = true, true, true, true, true
	c.attentionBias(m, false)
	normed := c.flag("use_qk_norm", true)
	narrow := m.Wide
	m.Wide = c.or(2*narrow, "intermediate_size_mlp")
	m.MoE = &llm.MoE{Experts: c.need("num_local_experts", "num_experts"), TopK: c.or(1, "num_experts_per_tok"),
		Wide: narrow, Shared: narrow, All: true}
	if list, ok := c.all["no_rope_layers"].([]any); ok && len(list) == 0 { // as in the files of Scout and Maverick
		c.all["no_rope_layers"] = nil
	}
	rotated, every := c.list("no_rope_layers", m.Layers), c.or(4, "no_rope_layer_interval")
	step := c.or(1, "interleave_moe_layer_step")
	listed := c.indices("moe_layers")
	tuned := c.flag("attn_temperature_tuning", true)
	chunk := c.or(8192, "attention_chunk_size")
	c.read["layer_types"] = true
	pattern(m, func(l int64, b *llm.Block) {
		b.NoRope = (l+1)%max(every, 1) == 0
		if rotated != nil {
			b.NoRope = told(rotated[l]) == "0"
		}
		if b.QKNorm = normed && !b.NoRope; !b.NoRope {
			b.Window = chunk
		} else if tuned {
			b.Scale = 4
		}
		experts := (l+1)%max(step, 1) == 0
		if listed != nil {
			experts = listed[l]
		}
		if !experts {
			b.MoE = nil
		}
	})
}

// onlyEager records that only attention by products and a softmax is known.
func (c *config) onlyEager(m *llm.Model) {
	m.OnlyEager = true
	c.note("Attention runs as products and a softmax, the only way that is known of this family: -attention changes nothing.")
}

// deepseekV4 has four residual streams, attention over single and compressed keys, and experts in all layers.
func deepseekV4(c *config, m *llm.Model) {
	m.Gated, m.Sinks, m.NoTables, m.MaskAll = true, true, true, true
	c.onlyEager(m)
	m.Keys, m.Head = 1, c.or(512, "head_dim")
	m.Hyper = &llm.Hyper{Streams: c.or(4, "hc_mult"), Steps: max(1, c.or(20, "hc_sinkhorn_iters"))}
	e := c.mixture(m)
	m.Wide = e.Wide
	e.Shared = c.or(1, "n_shared_experts") * e.Wide
	e.Clipped = c.number("swiglu_limit", 10) > 0
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
