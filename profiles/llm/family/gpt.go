package family

import (
	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"gpt2": gpt2, "phi": phi, "gpt_neox": neox, "falcon": falcon, "mpt": mpt} {
		families[name], classic[name] = b, true
	}
	families["starcoder2"], families["stablelm"], families["nemotron"] = starcoder2, stablelm, nemotron
}

// acts are the activations by their names, as Transformers writes them [activations.py].
var acts = map[string]llm.Act{"silu": llm.ActKernel, "swish": llm.ActKernel, "gelu": llm.ActKernel,
	"gelu_pytorch_tanh": llm.ActKernel, "gelu_python_tanh": llm.ActNew,
	"gelu_new": llm.ActNew, "gelu_fast": llm.ActNew, "relu2": llm.ActSquare, "quick_gelu": llm.ActQuick,
	"relu": llm.ActRelu, "xielu": llm.ActXIELU}

// gelu returns an activation by its name.
func (c *config) gelu(key, usual string) llm.Act {
	act, known := acts[c.text(key, usual)]
	if !known {
		c.unknown(key, "nets whose activation is not understood")
	}
	return act
}

// otherActs refuses activations other than those of one kernel where the family reads none.
func (c *config) otherActs() {
	for _, key := range []string{"hidden_act", "hidden_activation", "activation_function"} {
		if c.read[key] || c.all[key] == nil {
			continue
		}
		if act, known := acts[c.text(key, "")]; !known || act != llm.ActKernel {
			c.unknown(key, "nets whose activation is not understood")
		}
	}
}

// gpt2 learns its positions, writes its activation out, and drops out.
func gpt2(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Joined, m.Narrow, m.NoIDs, m.OwnIDs = true, true, true, true, true, true
	m.Tied = c.flag("tie_word_embeddings", true)
	m.Positions = c.or(1024, "n_positions", "max_position_embeddings")
	m.Act = c.gelu("activation_function", "gelu_new")
	m.Dropout, m.DropAttn, m.Dropped = c.above(0.1, "resid_pdrop"), c.above(0.1, "attn_pdrop"),
		c.above(0.1, "embd_pdrop")
	c.without("a gpt2 whose blocks are not understood", "reorder_and_upcast_attn", "add_cross_attention")
}

func phi(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.HeadBias, m.Parallel, m.OneNorm = true, true, true, true, true
	m.Act = c.gelu("hidden_act", "gelu_new")
	m.Rope = c.partial(m.Head, 0.5)
}

// neox reads one input with two norms.
func neox(c *config, m *llm.Model) {
	m.Layer, m.Bias, m.Parallel, m.Joined = true, true, true, true
	m.Rope = engine.Int64(float64(m.Head) * c.rope("partial_rotary_factor", c.number("rotary_pct", 0.25)))
	m.Act = c.gelu("hidden_act", "gelu")
	for _, key := range []string{"use_parallel_residual", "attention_bias"} {
		if !c.flag(key, true) {
			c.unknown(key, "a gpt_neox whose blocks are not understood")
		}
	}
}

// falcon shares one head of keys and one norm in its first models; the later ones have groups
// and two norms.
func falcon(c *config, m *llm.Model) {
	m.Layer, m.Parallel, m.OneNorm, m.Joined = true, true, true, true
	m.Tied, m.Bias = c.flag("tie_word_embeddings", true), c.flag("bias", false)
	m.Keys = m.Heads
	switch {
	case c.flag("new_decoder_architecture", false):
		m.Keys, m.OneNorm = c.or(m.Heads, "num_kv_heads"), false
	case c.flag("multi_query", true):
		m.Keys, m.Single = 1, true
	}
	if !c.flag("parallel_attn", true) {
		c.unknown("parallel_attn", "a falcon whose blocks are not understood")
	}
	c.without("a falcon whose blocks are not understood", "alibi")
}

// mpt has learned positions where attention has no slopes. What was never published of the
// family is refused.
func mpt(c *config, m *llm.Model) {
	in := c.part(c.value("attn_config"))
	if in.flag("qk_ln", false) || in.or(m.Heads, "kv_n_heads") != m.Heads || !c.flag("no_bias", true) {
		c.fail("attn_config", "qk_ln, kv_n_heads or no_bias makes an mpt with biases, norms or shared keys, whose blocks are not understood", "An mpt as it was published is expected.", wayOut)
	}
	m.Layer, m.NoBias, m.Tied, m.Joined, m.NoIDs = true, true, true, true, true
	m.Wide = c.or(4, "expansion_ratio") * m.Hidden
	if positions := c.size("max_seq_len"); !in.flag("alibi", false) {
		m.Positions = positions
	} else {
		m.NoRope = true
	}
}

func starcoder2(c *config, m *llm.Model) {
	m.Layer, m.Bias = true, c.flag("use_bias", true)
	m.Tied = c.flag("tie_word_embeddings", true)
	m.Dropout = c.above(0, "residual_dropout")
	m.Window = c.size("sliding_window")
	m.Act = c.gelu("hidden_act", "gelu_pytorch_tanh")
}

// stablelm rotates a quarter of each head.
func stablelm(c *config, m *llm.Model) {
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
