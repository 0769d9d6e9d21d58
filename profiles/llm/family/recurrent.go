package family

import (
	"fmt"

	"memtide/profiles/llm"
)

func init() {
	families["mamba"], families["mamba2"], families["jamba"], families["recurrent_gemma"], families["zamba2"] = mamba,
		mamba2, jamba, recurrentGemma, zamba2
	families["falcon_mamba"] = falconMamba
}

// stream describes what the blocks of state-space models without attention share: one part each, and a residual
// stream in 4 bytes.
func (c *config) stream(m *llm.Model) {
	m.Alone, m.NoTables, m.NoIDs = true, true, true
	if c.flag("residual_in_fp32", true) {
		m.WideSum = true
		pattern(m, func(l int64, b *llm.Block) { b.WideIn = l > 0 })
	}
}

// loops notes that a recurrence runs as torch code.
func (c *config) loops() {
	c.note("The recurrence runs as torch code, a loop over tokens of which each keeps the state; what kernels for it keep is not known.")
}

// stepRank returns the rank of Mamba 1's steps: a sixteenth of the model's width if the file does not say.
func (c *config) stepRank(m *llm.Model, key string) int64 {
	if c.value(key) == "auto" {
		return (m.Hidden + 15) / 16
	}
	return c.or((m.Hidden+15)/16, key)
}

// mamba has a loss that leaves out the last token.
func mamba(c *config, m *llm.Model) {
	m.Shorter = true
	m.Scan = &llm.Scan{Inner: c.or(c.or(2, "expand")*m.Hidden, "intermediate_size"), State: c.or(16, "state_size"),
		Rank:   c.stepRank(m, "time_step_rank"),
		Kernel: c.or(4, "conv_kernel"), Bias: c.flag("use_bias", false), ConvBias: c.flag("use_conv_bias", true)}
	c.flags(false, "a scan that is not understood", "use_mambapy")
	c.loops()
	c.stream(m)
}

// falconMamba has norms without weights in its scan [transformers: modeling_falcon_mamba.py, rms_forward].
func falconMamba(c *config, m *llm.Model) {
	mamba(c, m)
	m.Scan.Norms, m.Scan.Bare = true, true
}

func mamba2(c *config, m *llm.Model) {
	m.SSM = &llm.SSM{Heads: c.need("num_heads"), Head: c.need("head_dim"), Groups: c.or(8, "n_groups"),
		State: c.or(128, "state_size"), Kernel: c.or(4, "conv_kernel"),
		Chunk: max(1, c.or(256, "chunk_size")), Bias: c.flag("use_bias", false),
		ConvBias: c.flag("use_conv_bias", true), OneNorm: true}
	c.stream(m)
}

// jamba has Mamba 1 with norms, or attention without positions, before nets or experts.
func jamba(c *config, m *llm.Model) {
	c.loops()
	m.Gated, m.NoRope, m.NoTables = true, true, true
	s := &llm.Scan{Inner: c.or(2, "mamba_expand") * m.Hidden, State: c.or(16, "mamba_d_state"),
		Rank: c.stepRank(m, "mamba_dt_rank"), Kernel: c.or(4, "mamba_d_conv"),
		Bias: c.flag("mamba_proj_bias", false), ConvBias: c.flag("mamba_conv_bias", true), Norms: true}
	c.flags(false, "a scan that is not understood", "use_mambapy")
	every, first := max(1, c.or(8, "attn_layer_period")), c.or(4, "attn_layer_offset")
	sparse, offset := max(1, c.or(2, "expert_layer_period")), c.or(1, "expert_layer_offset")
	if experts := c.or(16, "num_experts"); experts > 1 {
		m.MoE = &llm.MoE{Experts: experts, TopK: c.or(2, "num_experts_per_tok"), Wide: m.Wide}
	}
	types := c.layerTypes(m.Layers, oneFull(every, first, "mamba"))
	c.otherTypes(types, "full_attention", "attention", "mamba", linear)
	pattern(m, func(l int64, b *llm.Block) {
		if types[l] == "mamba" || types[l] == linear {
			b.Scan = s
		}
		if l%sparse != offset {
			b.MoE = nil
		}
	})
}

// recurrentGemma has gated linear recurrent units, and windows with tables that each layer makes.
func recurrentGemma(c *config, m *llm.Model) {
	c.loops()
	m.Gated, m.Form, m.NoTables, m.MLPBias, m.OutBias = true, llm.FormPlus, true, true, true
	m.QKVBias = c.flag("attention_bias", false)
	m.RopeOwn, m.Apart, m.Repeat, m.MaskAll = true, true, true, true
	m.LogitCap = c.number("logits_soft_cap", 30) > 0
	m.Act = c.gelu("hidden_activation", "gelu_pytorch_tanh")
	m.Wide /= 2
	window := c.or(2048, "attention_window_size")
	unit := &llm.LRU{Width: c.or(m.Hidden, "lru_width"), Heads: m.Heads, Kernel: c.or(4, "conv1d_width")}
	types, ok := c.value("block_types").([]any)
	if !ok {
		types = []any{"recurrent", "recurrent", "attention"}
	}
	if len(types) == 0 || m.Heads == 0 || unit.Width%m.Heads != 0 {
		c.fail("block_types", "block_types, or lru_width among num_attention_heads, makes no blocks",
			"A list of recurrent and attention is expected.", correct)
		return
	}
	pattern(m, func(l int64, b *llm.Block) {
		switch fmt.Sprint(types[l%int64(len(types))]) {
		case "recurrent":
			b.LRU = unit
		case "attention":
			b.Window = window
		default:
			c.unknown("block_types", "layers that are not understood")
		}
	})
}

// zamba2 has Mamba 2, in some layers after attention and a net that these layers share.
func zamba2(c *config, m *llm.Model) {
	m.Gated, m.Alone, m.Original, m.MaskAll = true, true, true, true
	m.Act = c.gelu("hidden_act", "gelu")
	m.NoRope = !c.flag("use_mem_rope", false)
	m.NoTables = m.NoRope
	m.Head = c.or(2*m.Hidden/max(1, m.Heads), "attention_head_dim")
	c.same(2*m.Hidden, "attention_hidden_size")
	c.flags(false, unclear, "add_bias_linear", "use_long_context")
	heads := max(1, c.or(8, "n_mamba_heads"))
	m.SSM = &llm.SSM{Heads: heads, Head: c.or(c.or(2, "mamba_expand")*m.Hidden/heads, "mamba_headdim"),
		Groups: c.or(1, "mamba_ngroups"), State: c.or(64, "mamba_d_state"),
		Kernel: c.or(4, "mamba_d_conv"), Chunk: max(1, c.or(256, "chunk_size")),
		ConvBias: c.flag("use_conv_bias", true)}
	list := c.words("layers_block_type", m.Layers)
	if list == nil {
		c.fail("layers_block_type", "layers_block_type is missing", "The kind of each layer is expected.",
			"Add it, or correct it in the config.json.")
		return
	}
	shared, uses := max(1, c.or(1, "num_mem_blocks")), int64(0)
	for _, t := range list {
		if t == "hybrid" {
			uses++
		}
	}
	each := llm.Hybrid{Rank: c.or(128, "adapter_rank"), QKV: c.flag("use_shared_attention_adapter", false)}
	again, at := &each, int64(0)
	pattern(m, func(l int64, b *llm.Block) {
		switch list[l] {
		case "mamba", linear:
		case "hybrid":
			b.Hybrid = again
			if at < shared { // the weights count here, with the additions of all uses
				first := each
				first.Adapters = (uses - at + shared - 1) / shared
				b.Hybrid = &first
			}
			at++
		default:
			c.unknown("layers_block_type", "layers that are not understood")
		}
	})
}
