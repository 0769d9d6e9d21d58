package family

import (
	"maps"

	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"gpt2": gpt2, "phi": phi, "gpt_neox": neox, "falcon": falcon, "mpt": mpt} {
		families[name], classic[name] = b, true
	}
	maps.Copy(families, map[string]builder{"starcoder2": starcoder2, "stablelm": stablelm, "nemotron": nemotron,
		"gpt_bigcode": bigcode, "gptj": gptJ, "codegen": codeGen, "gpt_neo": gptNeo, "opt": opt, "bloom": bloom,
		"gpt-sw3": gpt2, "biogpt": bioGPT, "persimmon": persimmon})
}

// acts are the activations by name, as Transformers writes them [activations.py].
var acts = map[string]llm.Act{"silu": llm.ActKernel, "swish": llm.ActKernel, "gelu": llm.ActKernel,
	"gelu_pytorch_tanh": llm.ActKernel, "gelu_python_tanh": llm.ActNew,
	"gelu_new": llm.ActNew, "gelu_fast": llm.ActNew, "relu2": llm.ActSquare, "quick_gelu": llm.ActQuick,
	"relu": llm.ActRelu, "xielu": llm.ActXIELU}

// gelu returns the activation that a key names.
func (c *config) gelu(key, usual string) llm.Act {
	act, known := acts[c.text(key, usual)]
	if !known {
		c.unknown(key, "nets whose activation is not understood")
	}
	return act
}

// otherActs refuses activations that are not one kernel if the family reads none.
func (c *config) otherActs() {
	for _, key := range []string{"hidden_act", "hidden_activation", "activation_function"} {
		if !c.read[key] && c.all[key] != nil && c.gelu(key, "") != llm.ActKernel {
			c.unknown(key, "nets whose activation is not understood")
		}
	}
}

// gpt2 learns its positions, writes its activation in several operators, and has dropouts.
func gpt2(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Joined, m.Narrow, m.NoIDs, m.OwnIDs, m.OwnLoss = true, true, true, true, true, true, true
	m.Positions = c.or(1024, "n_positions", "max_position_embeddings")
	m.Act = c.gelu("activation_function", "gelu_new")
	m.Dropout, m.DropAttn, m.Dropped = c.above(0.1, "resid_pdrop"), c.above(0.1, "attn_pdrop"),
		c.above(0.1, "embd_pdrop")
	c.flags(false, "a gpt2 whose blocks are not understood", "reorder_and_upcast_attn", "add_cross_attention")
}

// bigcode is GPT-2 with one head of keys.
func bigcode(c *config, m *llm.Model) {
	gpt2(c, m)
	m.Act = c.gelu("activation_function", "gelu_pytorch_tanh")
	m.Narrow = !c.flag("attention_softmax_in_fp32", true)
	if c.flag("multi_query", true) {
		m.Keys = 1
	}
}

// gptJ rotates a part of each head by tables that each layer makes, and scores in 4 bytes.
func gptJ(c *config, m *llm.Model) {
	c.onlyEager(m)
	m.Layer, m.MLPBias, m.HeadBias, m.Parallel, m.OneNorm, m.Upcast = true, true, true, true, true, true
	m.Rope, m.RopeOwn, m.NoTables = c.or(64, "rotary_dim"), true, true
	m.RopeWide = true
	m.Act = c.gelu("activation_function", "gelu_new")
	m.Dropout, m.DropAttn, m.Dropped = c.above(0, "resid_pdrop"), c.above(0, "attn_pdrop"), c.above(0, "embd_pdrop")
}

// codeGen makes queries, keys and values in one product, with separate tables for queries and for keys.
func codeGen(c *config, m *llm.Model) {
	gptJ(c, m)
	m.OneQKV, m.RopeWide, m.RopeEach = true, false, true
}

// gptNeo learns its positions, and scores in 4 bytes. Its windows are a mask that is not kept.
func gptNeo(c *config, m *llm.Model) {
	c.onlyEager(m)
	m.Layer, m.OutBias, m.MLPBias, m.NoIDs, m.OwnIDs, m.Upcast = true, true, true, true, true, true
	m.Positions = c.or(2048, "max_position_embeddings")
	m.Act = c.gelu("activation_function", "gelu_new")
	m.Dropout, m.DropAttn, m.Dropped = c.above(0, "resid_dropout"), c.above(0, "attention_dropout"),
		c.above(0, "embed_dropout")
}

// opt learns two positions more than its file says.
func opt(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.OwnIDs, m.OwnLoss = true, true, true, true
	m.Positions = c.or(2048, "max_position_embeddings") + 2
	m.Act = c.gelu("activation_function", "relu")
	m.Dropout, m.DropAttn = c.above(0.1, "dropout"), c.above(0, "attention_dropout")
	c.flags(true, unclear, "do_layer_norm_before", "enable_bias", "layer_norm_elementwise_affine")
	c.same(m.Hidden, "word_embed_proj_dim")
}

// bioGPT learns two positions more than its file says, and has a dropout before its blocks, too.
func bioGPT(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Tied, m.Narrow, m.OwnIDs = true, true, true, true, true
	m.Positions = c.or(1024, "max_position_embeddings") + 2
	m.Act = c.gelu("hidden_act", "gelu")
	m.Dropout, m.DropAttn = c.above(0.1, "hidden_dropout_prob"), c.above(0.1, "attention_probs_dropout_prob")
	m.Dropped = m.Dropout
}

// persimmon normalises queries and keys by head, rotates half of each, and squares a relu.
func persimmon(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Joined, m.QKNorm = true, true, true, c.flag("qk_layernorm", true)
	m.Rope = c.partial(m.Head, 0.5)
	m.Act = c.gelu("hidden_act", "relu2")
	m.Dropout = c.above(0, "hidden_dropout")
}

// bloom has slopes instead of positions, and a norm after its embedding.
func bloom(c *config, m *llm.Model) {
	c.onlyEager(m)
	m.Layer, m.Bias, m.OneQKV, m.NoRope, m.NoTables, m.NoIDs, m.FirstNorm = true, true, true, true, true, true, true
	m.Dropout, m.DropAttn, m.OwnLoss = c.above(0, "hidden_dropout"), c.above(0, "attention_dropout"), true
	c.flags(false, unclear, "apply_residual_connection_post_layernorm")
}

func phi(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.HeadBias, m.Parallel, m.OneNorm = true, true, true, true, true
	m.Act, m.QKNorm = c.gelu("hidden_act", "gelu_new"), c.flag("qk_layernorm", false)
	m.Rope = c.partial(m.Head, 0.5)
}

// neox has two norms, by itself of the same input.
func neox(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Parallel, m.Joined, m.OwnLoss = true, true, c.flag("use_parallel_residual", true), true, true
	m.Rope = engine.Int64(float64(m.Head) * c.rope("partial_rotary_factor", c.number("rotary_pct", 0.25)))
	m.Act = c.gelu("hidden_act", "gelu")
	c.flags(true, "a gpt_neox whose blocks are not understood", "attention_bias")
}

// falcon shares one head of keys and one norm in its first models. Later ones have groups of heads and 1 or 2 norms.
func falcon(c *config, m *llm.Model) {
	m.Layer, m.Parallel, m.OneNorm, m.Joined, m.Narrow, m.OwnLoss = true, true, true, true, true, true
	m.Bias = c.flag("bias", false)
	m.Keys = m.Heads
	switch {
	case c.flag("new_decoder_architecture", false):
		m.Repeat = true
		m.Keys, m.OneNorm = c.or(m.Heads, "num_kv_heads"), c.or(2, "num_ln_in_parallel_attn") == 1
	case c.flag("multi_query", true):
		m.Keys, m.Single = 1, true
	}
	c.flags(true, "a falcon whose blocks are not understood", "parallel_attn")
	c.flags(false, "a falcon whose blocks are not understood", "alibi")
}

// mpt has learned positions where attention has no slopes. Variants of the family that were never published are
// refused.
func mpt(c *config, m *llm.Model) {
	in := c.part(c.value("attn_config"))
	if in.flag("qk_ln", false) || in.or(m.Heads, "kv_n_heads") != m.Heads || !c.flag("no_bias", true) {
		c.fail("attn_config", "qk_ln, kv_n_heads or no_bias makes an mpt with biases, norms or shared keys, whose blocks are not understood", "An mpt as it was published is expected.", wayOut)
	}
	m.Layer, m.NoBias, m.Tied, m.Joined, m.NoIDs, m.OwnLoss = true, true, true, true, true, true
	m.Wide = c.or(4, "expansion_ratio") * m.Hidden
	if positions := c.size("max_seq_len"); !in.flag("alibi", false) {
		m.Positions = positions
	} else {
		m.NoRope = true
	}
}

func starcoder2(c *config, m *llm.Model) {
	m.Layer, m.Bias = true, c.flag("use_bias", true)
	m.Dropout = c.above(0, "residual_dropout")
	m.Window = c.size("sliding_window")
	m.Act = c.gelu("hidden_act", "gelu_pytorch_tanh")
}

// stablelm rotates a quarter of each head. Its largest model has LayerNorms of queries and keys, one for each head.
func stablelm(c *config, m *llm.Model) {
	m.QKNorm = c.flag("qk_layernorm", false)
	m.EachHead = m.QKNorm
	m.Layer, m.Gated, m.QKVBias = true, true, c.flag("use_qkv_bias", false)
	m.Rope = c.partial(m.Head, 0.25)
	m.Dropout = c.above(0, "hidden_dropout")
	if c.flag("use_parallel_residual", false) {
		m.Parallel, m.OneNorm = true, true
	}
}

// nemotron has LayerNorms with 1 + w, and squares a relu.
func nemotron(c *config, m *llm.Model) {
	c.biases(m)
	m.Layer, m.Form = true, llm.FormLayerPlus
	m.Act = c.gelu("hidden_act", "relu2")
	m.Rope = c.partial(m.Head, 0.5)
}
