package family

import (
	"fmt"
	"slices"
	"strconv"

	"memtide/profiles/llm"
)

func init() {
	families["gemma"], classic["gemma"] = gemma, true
	families["gemma2"], families["gemma3_text"], families["gemma3"] = gemma2, gemma3, gemma3
	families["vaultgemma"] = vaultGemma
	families["gemma3n_text"], families["gemma4_text"] = gemma3n, gemma4
	families["cohere"], families["cohere2"] = cohere, cohere2
}

// gemma multiplies by 1 + w in its norms, and ties its head.
func gemma(c *config, m *llm.Model) {
	m.Gated, m.GELU, m.Form = true, true, llm.FormPlus
	c.attentionBias(m, false)
	m.Head = c.or(256, "head_dim")
}

// gemma2 has norms before and after each part, caps scores and logits, and has a window in every other layer.
func gemma2(c *config, m *llm.Model) {
	m.Around, m.Litgpt = llm.AroundBoth, true
	vaultGemma(c, m)
}

// vaultGemma has norms only before each part.
func vaultGemma(c *config, m *llm.Model) {
	gemma(c, m)
	m.ScoreCap, m.LogitCap = c.number("attn_logit_softcapping", 50) > 0, c.number("final_logit_softcapping", 30) > 0
	c.windows(m, lastFull(2, sliding))
}

// gemma3 has five layers with a window for each layer without, with separate tables of rotation.
func gemma3(c *config, m *llm.Model) {
	gemma(c, m)
	m.Around, m.QKNorm = llm.AroundBoth, true
	m.ScoreCap, m.LogitCap = c.number("attn_logit_softcapping", 0) > 0, c.number("final_logit_softcapping", 0) > 0
	m.Both = c.flag("use_bidirectional_attention", false) // EmbeddingGemma
	m.Masks = m.Both
	m.Megatron = !m.ScoreCap && !m.LogitCap && !m.Both // [Megatron-Bridge: models/gemma/gemma3_provider.py]
	types := c.windows(m, lastFull(c.or(6, "sliding_window_pattern"), sliding))
	pattern(m, func(l int64, b *llm.Block) { b.RopeName = types[l] })
}

// cohere has one LayerNorm for both parts of a block, in 4 bytes and without a bias.
func cohere(c *config, m *llm.Model) {
	m.Gated, m.Layer, m.NoBias, m.Form, m.Parallel, m.OneNorm = true, true, true, llm.FormLayerWide, true, true
	m.LogitMul, m.QKNorm = true, m.Family == "cohere" && c.flag("use_qk_norm", false) // Command R+
	m.EachHead = m.QKNorm
	c.attentionBias(m, false)
}

// cohere2 rotates only layers with a window, and has no norms of queries and keys.
func cohere2(c *config, m *llm.Model) {
	cohere(c, m)
	types := c.windows(m, lastFull(c.or(4, "sliding_window_pattern"), sliding))
	pattern(m, func(l int64, b *llm.Block) { b.NoRope = types[l] == "full_attention" })
}

// perLayer reads the embeddings of each layer.
func (c *config) perLayer(m *llm.Model) {
	if p := c.or(256, "hidden_size_per_layer_input"); p > 0 {
		m.PerLayer = &llm.PerLayer{Words: c.or(262144, "vocab_size_per_layer_input"), Width: p}
	}
}

// valueNorm describes attention with norms of queries, keys and values by head, which take a power.
func (c *config) valueNorm(m *llm.Model, cap float64) {
	gemma(c, m)
	m.Form, m.Around, m.QKNorm, m.VNorm = llm.FormPower, llm.AroundBoth, true, true
	m.Act = c.gelu("hidden_activation", "gelu_pytorch_tanh")
	m.LogitCap = c.number("final_logit_softcapping", cap) > 0
}

// shareKV reports which layers read the keys and values of an earlier layer of their kind: the last layers.
func (c *config) shareKV(m *llm.Model, types []string, usual int64) func(layer int64) bool {
	first := m.Layers - c.or(usual, "num_kv_shared_layers")
	if first <= 0 {
		return func(int64) bool { return false }
	}
	for _, t := range types[first:] {
		if !slices.Contains(types[:first], t) {
			c.fail("num_kv_shared_layers",
				fmt.Sprintf("num_kv_shared_layers leaves no layer of %s with keys of its own", t),
				"Fewer layers are expected.", correct)
		}
	}
	return func(l int64) bool { return l >= first }
}

// gemma3n has four residual streams, and nets whose first layers keep a twentieth of their gate.
func gemma3n(c *config, m *llm.Model) {
	c.valueNorm(m, 30)
	c.perLayer(m)
	if m.PerLayer == nil {
		c.unknown("hidden_size_per_layer_input", unclear)
	}
	m.AltUp = &llm.AltUp{Streams: c.or(4, "altup_num_inputs"), Laurel: c.or(64, "laurel_rank"),
		Scaled: c.flag("altup_correct_scale", true)}
	if m.AltUp.Streams < 2 {
		c.fail("altup_num_inputs", "altup_num_inputs is less than 2", "Streams beside the active one are expected.",
			correct)
	}
	types := c.windows(m, lastFull(5, sliding))
	same := c.shareKV(m, types, 15)
	var widths, sparse []any
	if m.Wide == 0 {
		widths = c.list("intermediate_size", m.Layers)
	}
	if n := c.number("activation_sparsity_pattern", -1); n >= 0 {
		sparse = slices.Repeat([]any{c.all["activation_sparsity_pattern"]}, int(m.Layers))
	} else {
		sparse = c.list("activation_sparsity_pattern", m.Layers)
	}
	if c.err != nil {
		return
	}
	pattern(m, func(l int64, b *llm.Block) {
		b.RopeName, b.SameKV = types[l], same(l)
		b.Sparse = sparse == nil && l < 10 || sparse != nil && told(sparse[l]) != "0" && told(sparse[l]) != "0.0"
		if widths != nil {
			n, ok := whole(widths[l])
			if !ok || n < 1 || n > 1<<20 {
				c.fail("intermediate_size", "intermediate_size is "+told(widths), "Widths of nets are expected.",
					correct)
			}
			b.Wide = n
			m.Wide = max(m.Wide, n)
		}
	})
}

// gemma4 has wider heads in layers without a window, and in larger models experts beside the nets.
func gemma4(c *config, m *llm.Model) {
	c.valueNorm(m, 0)
	c.perLayer(m)
	if seen := c.text("use_bidirectional_attention", ""); seen != "" && seen != "vision" {
		c.unknown("use_bidirectional_attention", unclear)
	}
	if c.flag("enable_moe_block", false) {
		m.MoE = &llm.MoE{Experts: c.need("num_experts"), TopK: c.need("top_k_experts", "num_experts_per_tok"),
			Wide: c.need("moe_intermediate_size"), WideScore: true}
		m.MoE.Router.Scaled, m.MoE.Router.Norm, m.Besides, m.Megatron = true, true, true, m.PerLayer == nil
	}
	types := c.layerTypes(m.Layers, lastFull(6, sliding))
	types[max(0, m.Layers-1)] = "full_attention"
	c.slides(m, types)
	same, double, equal := c.shareKV(m, types, 0), c.flag("use_double_wide_mlp", false),
		c.flag("attention_k_eq_v", false)
	head, keys := c.or(512, "global_head_dim"), m.Keys
	if equal {
		keys = c.or(m.Keys, "num_global_key_value_heads")
	}
	own := c.ownLayers()
	if c.err != nil {
		return
	}
	pattern(m, func(l int64, b *llm.Block) {
		b.RopeName, b.SameKV = types[l], same(l)
		if b.SameKV && double {
			b.Wide *= 2
		}
		if types[l] != "full_attention" {
			return
		}
		b.KeyValue = equal
		if b.Head, b.Keys = head, keys; own != nil {
			b.Head, b.Keys = own(l, "head_dim", m.Head), own(l, "num_key_value_heads", m.Keys)
		}
	})
}

// ownLayers returns a function that reads per_layer_config, or nil if the file does not have it.
func (c *config) ownLayers() func(layer int64, key string, otherwise int64) int64 {
	given, ok := c.value("per_layer_config").(map[string]any)
	if !ok {
		return nil
	}
	layers := map[int64]*config{}
	for name, v := range given {
		layer, err := strconv.ParseInt(name, 10, 64)
		keys, ok := v.(map[string]any)
		if err != nil || !ok {
			c.fail("per_layer_config", "per_layer_config has "+told(name)+": "+told(v),
				"Keys of a layer are expected.", correct)
			return nil
		}
		for key := range keys {
			if key != "head_dim" && key != "num_key_value_heads" {
				c.unknown("per_layer_config", unclear)
			}
		}
		layers[layer] = c.part(keys)
	}
	return func(layer int64, key string, otherwise int64) int64 {
		of := layers[layer]
		if of == nil {
			return otherwise
		}
		return of.or(otherwise, key)
	}
}
