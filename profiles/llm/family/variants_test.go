package family_test

import (
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/llm/family"
)

// TestVariants checks that keys that change a block of a known family change its parameters as worked out by
// hand. h, f and V are the widths of the configs and the number of words.
func TestVariants(t *testing.T) {
	const h, f, V, L = 32, 48, 64, 2
	llama := func(a, k, d int64) int64 { return h*a*d + 2*h*k*d + a*d*h + 3*h*f + 2*h }
	with := func(kind string, more object) object {
		c := object{"model_type": kind, "hidden_size": h, "num_hidden_layers": L, "num_attention_heads": 4,
			"num_key_value_heads": 2, "intermediate_size": f, "vocab_size": V}
		for key, v := range more {
			c[key] = v
		}
		return c
	}
	latent := object{"q_lora_rank": nil, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
		"v_head_dim": 6, "n_routed_experts": 4, "num_experts_per_tok": 2,
		"moe_intermediate_size": 10, "n_shared_experts": 2, "first_k_dense_replace": 1, "num_key_value_heads": 4}
	const attend = h*4*12 + h*20 + 16 + 16*4*14 + 4*6*h // full queries; keys and values through 16 numbers
	for _, c := range []struct {
		name   string
		config object
		want   int64
	}{
		{"heads wider than the model", with("llama", object{"head_dim": 16}), 2*V*h + h + L*llama(4, 2, 16)},
		{"one key for each head", with("llama", object{"num_key_value_heads": nil}), 2*V*h + h + L*llama(4, 4, 8)},
		{"a tied head", with("llama", object{"tie_word_embeddings": true}), V*h + h + L*llama(4, 2, 8)},
		{"biases", with("llama", object{"attention_bias": true, "mlp_bias": true}),
			2*V*h + h + L*(llama(4, 2, 8)+4*8+2*2*8+h+2*f+h)},
		{"norms of queries and keys", with("qwen3", object{"head_dim": 8}), 2*V*h + h + L*(llama(4, 2, 8)+2*8)},
		{"whole queries, shared experts, a dense layer", with("deepseek_v3", latent),
			2*V*h + h + 2*attend + 4*h + 3*h*f + 3*h*10*(4+2) + 4*h},
		{"keys of an earlier layer, a wider net",
			with("gemma4_text", object{"head_dim": 8, "global_head_dim": 8, "hidden_size_per_layer_input": 0,
				"num_hidden_layers":    4,
				"layer_types":          []string{"sliding_attention", "full_attention", "sliding_attention", "full_attention"},
				"num_kv_shared_layers": 2, "use_double_wide_mlp": true}),
			V*h + h + 2*(llama(4, 2, 8)+2*h+2*8) + 2*(h*32+32*h+6*h*f+4*h+8)},
		{"an indexer of the layer before",
			with("glm_moe_dsa", object{"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
				"qk_rope_head_dim": 4, "v_head_dim": 6,
				"num_key_value_heads": 4, "index_n_heads": 2, "index_head_dim": 8,
				"indexer_types": []string{"full", "shared"}}),
			2*V*h + h + L*(h*16+16+16*4*12+h*20+16+16*4*14+4*6*h+3*h*f+2*h) + 16*2*8 + h*8 + 2*8 + h*2},
		{"a T5 whose head is its own", object{"model_type": "t5", "d_model": h, "num_layers": 1, "num_heads": 4,
			"d_kv": 8, "d_ff": f, "vocab_size": V, "tie_word_embeddings": false},
			2*V*h + 2*h + (4*h*32 + 2*h*f + 2*h + 32*4) + (8*h*32 + 2*h*f + 3*h + 32*4)},
		{"DINOv2 with a gated net", object{"model_type": "dinov2", "hidden_size": h, "num_hidden_layers": 1,
			"num_attention_heads": 4, "image_size": 16, "patch_size": 8, "use_swiglu_ffn": true},
			3*64*h + h + 5*h + 2*h + 2*h + (2*2*h + 2) + (4*(h*h+h) + 2*(h*88+88) + 88*h + h + 4*h + 2*h)},
	} {
		checkParams(t, c.name, c.config.with(nil), c.want)
	}
}

// A part of CLIP or SigLIP whose config leaves out sizes has the sizes of its class: the published SigLIP base
// has 203,155,970 parameters.
func TestPartsOfTheClass(t *testing.T) {
	m, err := family.Read([]byte(`{"model_type":"siglip","text_config":{"model_type":"siglip_text_model"},"vision_config":{"model_type":"siglip_vision_model"}}`))
	if err != nil || m.Params() != 203_155_970 {
		t.Errorf("read with %v as %v; want 203155970 parameters", err, m)
	}
}

// TestVariantsRefused checks that the error for a value that leads to unknown blocks names the key.
func TestVariantsRefused(t *testing.T) {
	for name, config := range map[string][]byte{
		"hidden_act":                  smallConfig("llama").with(object{"hidden_act": "gelu_new"}),
		"activation_function":         smallConfig("gpt2").with(object{"activation_function": "mish"}),
		"use_bidirectional_attention": smallConfig("gemma4_text").with(object{"use_bidirectional_attention": "all"}),
		"share_att_key":               smallConfig("deberta-v2").with(object{"relative_attention": true}),
		"norm_rel_ebd": smallConfig("deberta-v2").with(object{"relative_attention": true,
			"share_att_key": true, "pos_att_type": []string{"c2p", "p2c"}}),
		"pos_att_type": smallConfig("deberta-v2").with(object{"relative_attention": true,
			"share_att_key": true, "norm_rel_ebd": "layer_norm", "pos_att_type": "c2p"}),
		"feed_forward_proj":      smallConfig("t5").with(object{"feed_forward_proj": "gated-tanh"}),
		"num_decoder_layers":     smallConfig("t5").with(object{"num_decoder_layers": 0}),
		"heads":                  smallConfig("gemma4_text").with(object{"global_head_dim": 0}),
		"layer_types":            smallConfig("deepseek_v4").with(object{"layer_types": []string{"full_attention", "full_attention"}}),
		"add_bias_linear":        smallConfig("zamba2").with(object{"add_bias_linear": true}),
		"use_mambapy":            smallConfig("mamba").with(object{"use_mambapy": true}),
		"caption_projection_dim": smallConfig("SD3Transformer2DModel").with(object{"caption_projection_dim": 8}),
		"is_causal":              smallConfig("llama").with(object{"is_causal": false}),
		"num_kv_shared_layers": smallConfig("gemma3n_text").with(object{"num_kv_shared_layers": 1,
			"layer_types": []string{"sliding_attention", "full_attention"}}),
		"moe_topk":     smallConfig("hunyuan_v1_moe").with(object{"moe_topk": []int{2, 1}}),
		"scoring_func": smallConfig("deepseek_v4").with(object{"scoring_func": "softmax"}),
		"_class_name":  object{"_class_name": "AuraFlowTransformer2DModel"}.with(nil),
		"cross_attention_layers": smallConfig("mllama_text_model").with(object{
			"cross_attention_layers": []int{0, 1}}),
		"q_lora_rank": smallConfig("deepseek_v32").with(object{"q_lora_rank": nil}),
	} {
		m, err := family.Read(config)
		problems := profiles.Problems(err)
		if err == nil || !strings.Contains(err.Error(), name) || len(problems) != 1 ||
			problems[0].Remedy == "" || strings.Contains(problems[0].Found, "correct") {
			t.Errorf("%s: read as %v with %v; want a refusal that names the key and says once what to do", name, m, err)
		}
	}
}

// TestAttentionDropout checks that a dropout of attention's scores is read from the config.
func TestAttentionDropout(t *testing.T) {
	m, err := family.Read(smallConfig("llama").with(object{"attention_dropout": 0.1}))
	if err != nil || !m.At(0).DropAttn {
		t.Errorf("read with %v, dropout of scores %v; want it", err, m != nil && m.At(0).DropAttn)
	}
}
