package family

import (
	"maps"

	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	maps.Copy(families, map[string]builder{"qwen3_next": qwen3Next, "qwen3_5_text": qwen35, "lfm2_moe": lfm2MoE,
		"qwen3_5_moe_text": qwen35MoE, "olmo_hybrid": olmoHybrid, "nemotron_h": nemotronH, "bamba": bamba,
		"granitemoehybrid": graniteHybrid, "lfm2": lfm2, "falcon_h1": falconH1})
}

// delta gives layers of linear attention gated delta nets, and returns the kinds of layers.
func (c *config) delta(m *llm.Model, every int64) []string {
	d := &llm.Delta{KeyHeads: c.or(16, "linear_num_key_heads"), ValueHeads: c.or(32, "linear_num_value_heads"),
		Key:   c.or(128, "linear_key_head_dim"),
		Value: c.or(128, "linear_value_head_dim"), Kernel: c.or(4, "linear_conv_kernel_dim")}
	types := c.layerTypes(m.Layers, lastFull(every, linear))
	c.otherTypes(types, "full_attention", linear)
	where(m, types, func(b *llm.Block) { b.Delta = d }, linear)
	return types
}

// gatedAttention describes layers whose queries come with a gate, and whose norms multiply by 1 + w.
func (c *config) gatedAttention(m *llm.Model) {
	llama(c, m)
	m.QKNorm, m.QGate, m.Form, m.Megatron = true, true, llm.FormPlus, true
	m.Head = c.or(256, "head_dim")
	m.Rope = c.partial(m.Head, 0.25)
	c.read["attn_output_gate"] = true
}

// qwen3Next has experts in every layer.
func qwen3Next(c *config, m *llm.Model) {
	c.gatedAttention(m)
	c.gatedMixture(m).Router.Norm = c.flag("norm_topk_prob", true)
	c.sparse(m)
	c.delta(m, c.or(4, "full_attention_interval"))
}

func qwen35(c *config, m *llm.Model) {
	c.gatedAttention(m)
	c.delta(m, c.or(4, "full_attention_interval"))
}

func qwen35MoE(c *config, m *llm.Model) {
	c.gatedAttention(m)
	c.gatedMixture(m).Router.Norm = true
	c.delta(m, c.or(4, "full_attention_interval"))
}

// olmoHybrid has its norms after the parts of layers with attention, and before the parts of others.
func olmoHybrid(c *config, m *llm.Model) {
	olmo2(c, m)
	types := c.delta(m, 4)
	twice := c.flag("linear_allow_neg_eigval", true)
	where(m, types, func(b *llm.Block) { b.Around, b.NoTables, b.Delta.Twice = llm.AroundBefore, true, twice }, linear)
}

// stateSpace returns Mamba 2 by the keys of most families.
func (c *config) stateSpace(heads, head, groups, state, kernel string) *llm.SSM {
	return &llm.SSM{Heads: c.need(heads), Head: c.need(head), Groups: c.or(1, groups), State: c.need(state),
		Kernel: c.or(4, kernel), Chunk: max(1, c.or(256, "mamba_chunk_size", "chunk_size"))}
}

// mamba2Beside returns Mamba 2 of a family whose other layers have attention.
func (c *config) mamba2Beside() *llm.SSM {
	s := c.stateSpace("mamba_n_heads", "mamba_d_head", "mamba_n_groups", "mamba_d_state", "mamba_d_conv")
	s.Bias, s.ConvBias = c.flag("mamba_proj_bias", false), c.flag("mamba_conv_bias", true)
	return s
}

// nemotronH has one part in each block: a state space, a net, experts or attention.
func nemotronH(c *config, m *llm.Model) {
	s := c.stateSpace("mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel")
	s.Bias, s.ConvBias = c.flag("mamba_proj_bias", false), c.flag("use_conv_bias", true)
	m.NoRope, m.NoTables, m.Megatron = true, true, true
	m.NextOnce = c.flag("mtp_use_repeated_layer", true) // [Megatron-Bridge: models/nemotronh/nemotron_h_bridge.py]
	c.biases(m)
	m.Act = c.gelu("mlp_hidden_act", "relu2")
	types := c.words("layers_block_type", m.Layers)
	kinds := map[rune]string{'M': linear, '*': "full_attention", '-': "mlp", 'E': "moe"}
	if types == nil {
		for _, letter := range c.text("hybrid_override_pattern", "") {
			types = append(types, kinds[letter])
		}
	}
	c.otherTypes(types, linear, "mamba", "full_attention", "attention", "mlp", "moe")
	if c.err == nil && int64(len(types)) != m.Layers {
		c.fail("hybrid_override_pattern", "hybrid_override_pattern does not say what each layer is",
			"A letter for each layer is expected.", correct)
	}
	if c.err != nil {
		return
	}
	if c.all["n_routed_experts"] != nil {
		e := c.groups(m)
		e.Shared = c.or(e.Wide, "moe_shared_expert_intermediate_size") * c.or(1, "n_shared_experts")
	}
	experts := m.MoE
	pattern(m, func(l int64, b *llm.Block) {
		b.Alone, b.MoE = true, nil
		switch types[l] {
		case linear, "mamba":
			b.SSM = s
		case "mlp", "moe":
			b.Alone, b.NoMixer = false, true
			if types[l] == "moe" {
				b.MoE = experts
			}
		}
	})
}

// bamba has Mamba 2 or attention before each net.
func bamba(c *config, m *llm.Model) {
	llama(c, m)
	m.Rope = c.partial(m.Head, 0.5)
	s := c.mamba2Beside()
	seen := c.indices("attn_layer_indices")
	pattern(m, func(l int64, b *llm.Block) {
		if !seen[l] {
			b.SSM = s
		}
	})
}

// graniteHybrid has experts and a net beside them after Mamba 2 or attention.
func graniteHybrid(c *config, m *llm.Model) {
	granite(c, m)
	s := c.mamba2Beside()
	m.NoRope = c.text("position_embedding_type", "nope") != "rope"
	m.NoTables, m.NoIDs = m.NoRope, m.NoRope
	m.Wide = c.need("shared_intermediate_size")
	if n := c.or(0, "num_local_experts"); n > 0 {
		wide := m.Wide
		m.Wide = c.size("intermediate_size")
		e := c.mixture(m)
		e.Router.First, e.Shared = true, wide
	}
	types := c.layerTypes(m.Layers, full)
	c.otherTypes(types, "full_attention", "attention", linear, "mamba")
	where(m, types, func(b *llm.Block) { b.SSM = s }, linear, "mamba")
}

// lfm2 has short convolutions or attention before each net, whose width is rounded.
func lfm2(c *config, m *llm.Model) {
	m.Gated, m.QKNorm = true, true
	m.Tied = c.flag("tie_word_embeddings", c.flag("tie_embedding", true))
	m.Wide = c.or(m.Wide, "block_ff_dim") // its first files have other keys [transformers: configuration_lfm2.py]
	if c.flag("block_auto_adjust_ff_dim", true) {
		of := c.or(256, "block_multiple_of")
		m.Wide = engine.Int64(c.number("block_ffn_dim_multiplier", 1) * float64(2*m.Wide/3))
		m.Wide = of * ((m.Wide + of - 1) / max(of, 1))
	}
	conv := &llm.ShortConv{Kernel: c.or(3, "conv_L_cache"), Bias: c.flag("conv_bias", false)}
	seen := c.indices("full_attn_idxs")
	types := c.layerTypes(m.Layers, func(l int64) string {
		if seen == nil || seen[l] {
			return "full_attention"
		}
		return "conv"
	})
	c.otherTypes(types, "full_attention", "conv")
	where(m, types, func(b *llm.Block) { b.Conv = conv }, "conv")
}

// lfm2MoE has experts in all but its first layers.
func lfm2MoE(c *config, m *llm.Model) {
	wide, first := m.Wide, c.or(2, "num_dense_layers")
	e := c.mixture(m)
	e.Router = llm.Router{Narrow: true, Norm: c.flag("norm_topk_prob", true)}
	c.flag("use_expert_bias", true)
	lfm2(c, m)
	pattern(m, func(l int64, b *llm.Block) {
		if b.Wide = wide; l < first {
			b.MoE = nil
		}
	})
}

// falconH1 has Mamba 2 beside attention in each block.
func falconH1(c *config, m *llm.Model) {
	granite(c, m)
	c.flag("projectors_bias", false)
	m.SSM, m.Twin = c.mamba2Beside(), true
	m.SSM.NoNorm = !c.flag("mamba_rms_norm", false)
}
