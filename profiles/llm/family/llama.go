package family

import (
	"maps"

	"memtide/engine"
	"memtide/profiles/llm"
)

func init() {
	for name, b := range map[string]builder{"llama": llama, "mistral": mistral, "qwen2": qwen2, "qwen3": qwen3,
		"phi3": phi3, "smollm3": smollm3} {
		families[name], classic[name] = b, true
	}
	maps.Copy(families, map[string]builder{"ministral": mistral, "ministral3": ministral3, "granite": granite,
		"arcee": arcee, "apertus": apertus, "seed_oss": seedOSS, "ernie4_5": ernie, "hunyuan_v1_dense": hunyuan,
		"exaone4": exaone4, "olmo": olmo, "olmo2": olmo2, "olmo3": olmo3, "glm": glm, "glm4": glm4, "glm4v_text": glm4V,
		"nanochat": nanochat, "qwen3_vl_text": qwen3VL, "qwen2_vl_text": qwen2VL, "qwen2_5_vl_text": qwen2VL,
		"qwen2_vl": qwen2VL, "qwen2_5_vl": qwen2VL, "qwen2_5_omni_text": qwen2VL, "cwm": mistral, "helium": helium,
		"hyperclovax": hyperCLOVA, "eurobert": euroBERT, "mllama_text_model": mllama,
		"jais2": jais2, "minicpm3": latent, "youtu": latent})
	for name, b := range map[string]builder{"exaone": llama, "internlm2": internLM2, "internlm3": internLM3,
		"baichuan": baichuan, "chatglm": chatGLM, "qwen": qwen, "minicpm": llama, "deepseek": deepseek, "mimo": mimo} {
		families[name] = func(c *config, m *llm.Model) {
			b(c, m)
			c.note("The code of this family comes with the model: what its blocks keep is what such blocks of Transformers do. Its loss may read logits of 16 bits, which -program deepspeed leaves so: -loss bf16.")
		}
	}
}

// biases reads the biases of the products of attention and of the feed-forward net, by the keys of most families.
func (c *config) biases(m *llm.Model) {
	c.attentionBias(m, false)
	m.MLPBias = c.flag("mlp_bias", false)
}

// attentionBias reads the biases of all products of attention.
func (c *config) attentionBias(m *llm.Model, usual bool) {
	m.QKVBias = c.flag("attention_bias", usual)
	m.OutBias = m.QKVBias
}

func llama(c *config, m *llm.Model) {
	m.Gated = true
	c.biases(m)
}

// mllama is Llama with layers that attend to pictures, which a text alone does not run [transformers:
// modeling_mllama.py]. Eight words more are embedded than it says.
func mllama(c *config, m *llm.Model) {
	llama(c, m)
	cross, h, d := int64(len(c.indices("cross_attention_layers"))), m.Hidden, m.Head
	if cross >= m.Layers {
		c.fail("cross_attention_layers", "cross_attention_layers is "+told(c.all["cross_attention_layers"])+
			", and no layer is left for the text", "Fewer of them than num_hidden_layers are expected.", correct)
	}
	m.Layers -= cross
	m.Beside = append(m.Beside, llm.Tower{Name: "cross attention", Blocks: cross, Beside: 8 * h,
		Params: 2*h*d*(m.Heads+m.Keys) + 3*h*m.Wide + 2*h + 2*d + 2})
	c.note("The %d layers that attend to pictures are counted, and not run: the step is one on text.", cross)
}

// granite divides its logits.
func granite(c *config, m *llm.Model) {
	llama(c, m)
	m.LogitMul = true
}

// mistral has a window in every layer.
func mistral(c *config, m *llm.Model) {
	m.Gated = true
	m.Window = c.size("sliding_window")
	if c.all["layer_types"] != nil {
		c.windows(m, full)
	}
}

// windows sets the window of the layers with sliding attention, by layer_types or the usual kinds. It returns the
// kinds.
func (c *config) windows(m *llm.Model, usual func(layer int64) string) []string {
	types := c.layerTypes(m.Layers, usual)
	c.slides(m, types)
	return types
}

// slides sets the window of layers of known kinds.
func (c *config) slides(m *llm.Model, types []string) {
	c.otherTypes(types, "full_attention", sliding)
	m.Window = 0
	slide(m, types, c.size("sliding_window"))
}

// usedWindow sets the window only if the file says that it is used.
func (c *config) usedWindow(m *llm.Model) {
	switch used := c.flag("use_sliding_window", false); {
	case used && c.all["layer_types"] != nil:
		c.windows(m, full)
	case used:
		m.Window = c.size("sliding_window")
	default:
		c.read["layer_types"] = true
	}
}

// ministral3 scales queries by a number per position, which autograd keeps.
func ministral3(c *config, m *llm.Model) {
	m.Gated = true
	m.Window = c.size("sliding_window")
	m.Scale = 2
}

func qwen2(c *config, m *llm.Model) {
	m.Gated, m.QKVBias = true, true
	m.Both = !c.flag("is_causal", true) // as the code that comes with gte-Qwen2 reads it
	c.usedWindow(m)
}

// mimo is Qwen2, whose biases it says. Its layer for a later token is not part of training with Transformers.
func mimo(c *config, m *llm.Model) {
	qwen2(c, m)
	c.flags(true, unclear, "attention_bias")
}

// qwen2VL makes new tables for its three axes in each layer.
func qwen2VL(c *config, m *llm.Model) {
	qwen2(c, m)
	m.RopeOwn, m.NoIDs, m.Axes, m.Each, m.Megatron = true, true, 3, true, true
}

// qwen3VL makes tables for each sequence.
func qwen3VL(c *config, m *llm.Model) {
	qwen3(c, m)
	m.Each, m.Megatron = true, true
}

func qwen3(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm = true
	c.usedWindow(m)
}

// phi3 makes queries, keys and values in one product, and rotates a part of each head.
func phi3(c *config, m *llm.Model) {
	m.Gated, m.Joined, m.GateUp = true, true, true
	m.Window = c.size("sliding_window")
	m.Rope = c.partial(m.Head, 1)
	m.Dropout = c.above(0, "resid_pdrop")
}

// smollm3 does not rotate every fourth layer.
func smollm3(c *config, m *llm.Model) {
	llama(c, m)
	c.usedWindow(m)
	rotated, every := c.list("no_rope_layers", m.Layers), c.or(4, "no_rope_layer_interval")
	pattern(m, func(l int64, b *llm.Block) {
		switch {
		case rotated != nil:
			b.NoRope = told(rotated[l]) == "0"
		case every > 0:
			b.NoRope = (l+1)%every == 0
		}
	})
}

// arcee has no gate, and squares a relu.
func arcee(c *config, m *llm.Model) {
	c.biases(m)
	m.Act = c.gelu("hidden_act", "relu2")
}

func apertus(c *config, m *llm.Model) {
	c.biases(m)
	m.QKNorm, m.Act = true, c.gelu("hidden_act", "xielu")
}

// helium makes new tables of rotation in each layer, and has the weights of its norms in 4 bytes.
func helium(c *config, m *llm.Model) {
	llama(c, m)
	m.RopeOwn, m.Form = true, llm.FormWide
}

// hyperCLOVA has norms before and after each part, unless its file says otherwise.
func hyperCLOVA(c *config, m *llm.Model) {
	llama(c, m)
	if c.flag("use_post_norm", true) {
		m.Around = llm.AroundBoth
	}
}

// euroBERT looks both ways.
func euroBERT(c *config, m *llm.Model) {
	llama(c, m)
	m.Both = true
}

// jais2 has LayerNorms and no gate.
func jais2(c *config, m *llm.Model) {
	c.attentionBias(m, true)
	m.Layer, m.MLPBias, m.Act = true, c.flag("mlp_bias", true), c.gelu("hidden_act", "relu2")
}

// latent has DeepSeek's attention, and no experts.
func latent(c *config, m *llm.Model) {
	llama(c, m)
	c.latent(m)
}

func seedOSS(c *config, m *llm.Model) {
	m.Gated = true
	m.QKVBias, m.OutBias = c.flag("attention_bias", true), c.flag("attention_out_bias", false)
	m.MLPBias = c.flag("mlp_bias", false)
	m.Dropout, m.DropAttn = c.above(0.1, "residual_dropout"), c.above(0.1, "attention_dropout")
}

// ernie makes new tables of rotation in each layer, in 4 bytes.
func ernie(c *config, m *llm.Model) {
	m.Gated, m.Bias = true, c.flag("use_bias", false)
	m.RopeOwn, m.RopeWide = true, true
}

func hunyuan(c *config, m *llm.Model) {
	m.HeadLast = true
	llama(c, m)
	m.QKNorm = true
}

// exaone4 has its norms after each part, and rotates only layers with a window.
func exaone4(c *config, m *llm.Model) {
	m.Gated, m.QKNorm, m.Around = true, true, llm.AroundBehind
	every := int64(4)
	if text := c.text4("sliding_window_pattern"); text > 0 {
		every = text
	}
	if c.size("sliding_window") == 0 {
		return
	}
	types := c.windows(m, lastFull(every, sliding))
	pattern(m, func(l int64, b *llm.Block) { b.NoRope = types[l] == "full_attention" })
}

// text4 returns a pattern of layers as its length, given as a number or as a word of L and G.
func (c *config) text4(key string) int64 {
	if word, ok := c.value(key).(string); ok {
		return int64(len(word))
	}
	return engine.Int64(c.number(key, 0))
}

// internLM2 makes queries, keys and values in one product.
func internLM2(c *config, m *llm.Model) {
	m.Gated, m.Joined, m.QKVBias = true, true, c.flag("bias", false)
	m.OutBias = m.QKVBias
}

// internLM3 is Llama as it was published, without biases.
func internLM3(c *config, m *llm.Model) {
	m.Gated = true
	c.flags(false, unclear, "bias", "qkv_bias")
}

// baichuan uses ALiBi slopes instead of rotation in its larger models, whose config.json has no
// max_position_embeddings.
func baichuan(c *config, m *llm.Model) {
	m.Gated, m.Joined, m.NoRope = true, true, !c.has("max_position_embeddings")
}

// qwen is the first Qwen, whose nets have half the width in its file.
func qwen(c *config, m *llm.Model) {
	m.Gated, m.Joined, m.QKVBias = true, true, true
	m.Head = c.or(m.Head, "kv_channels")
	m.Wide /= 2
	c.flags(true, unclear, "no_bias")
}

// chatGLM rotates half of each head.
func chatGLM(c *config, m *llm.Model) {
	m.Gated, m.Joined, m.GateUp, m.Head = true, true, true, c.or(m.Head, "kv_channels")
	m.Rope, m.RopeHalf, m.QKVBias = m.Head/2, true, c.flag("add_qkv_bias", false)
	m.OutBias, m.MLPBias = c.flag("add_bias_linear", false), c.flag("add_bias_linear", false)
	if c.flag("multi_query_attention", false) {
		m.Keys = c.need("multi_query_group_num")
	}
	c.flags(true, unclear, "rmsnorm", "post_layer_norm")
}

// olmo has LayerNorms without weights.
func olmo(c *config, m *llm.Model) {
	llama(c, m)
	m.Layer, m.Form, m.RopeWide = true, llm.FormBare, true
	m.Clip = c.above(0, "clip_qkv")
}

// olmo2 has its norms after each part, with weights in 4 bytes, and normalises all heads at once.
func olmo2(c *config, m *llm.Model) {
	llama(c, m)
	m.QKNorm, m.WholeQK, m.Around, m.Form, m.RopeWide = true, true, llm.AroundBehind, llm.FormWide, true
}

// olmo3 has separate tables of rotation for layers with a window.
func olmo3(c *config, m *llm.Model) {
	olmo2(c, m)
	types := c.windows(m, lastFull(4, sliding))
	pattern(m, func(l int64, b *llm.Block) { b.RopeName = types[l] })
}

// glm rotates half of each head, with tables that each layer makes.
func glm(c *config, m *llm.Model) {
	m.Gated, m.GateUp, m.QKVBias = true, true, c.flag("attention_bias", true)
	m.Rope, m.RopeOwn = c.partial(m.Head, 0.5), true
}

func glm4(c *config, m *llm.Model) {
	glm(c, m)
	m.GateUp, m.QKVBias, m.Around = true, c.flag("attention_bias", false), llm.AroundBoth
}

// glm4V makes tables of three axes for each sequence.
func glm4V(c *config, m *llm.Model) {
	glm4(c, m)
	m.QKVBias, m.NoIDs, m.Axes, m.Each = c.flag("attention_bias", true), true, 3, true
}

// nanochat has norms without weights, also after the embedding, and caps its logits.
func nanochat(c *config, m *llm.Model) {
	c.biases(m)
	m.QKNorm, m.Form, m.Act, m.FirstNorm = true, llm.FormBare, c.gelu("hidden_act", "relu2"), true
	m.LogitCap = c.number("final_logit_softcapping", 15) > 0
}
