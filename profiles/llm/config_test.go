package llm

import (
	"reflect"
	"strings"
	"testing"
)

// The sizes of published config.json files, in their families' words; totals of the
// models' cards.
func TestReadConfig(t *testing.T) {
	for _, c := range []struct {
		config string
		want   int64
	}{
		{`{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256}`, 8030261248},
		{`{"model_type":"gemma","num_hidden_layers":18,"hidden_size":2048,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"intermediate_size":16384,"vocab_size":256000}`, 2506172416},
		{`{"model_type":"falcon","num_hidden_layers":32,"hidden_size":4544,"num_attention_heads":71,"vocab_size":65024,"multi_query":true,"parallel_attn":true,"bias":false}`, 6921720704},
		{`{"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,"n_positions":1024,"vocab_size":50257}`, 124439808},
		{`{"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"tie_word_embeddings":false}`, 7615616512},
		{`{"model_type":"qwen3_moe","num_hidden_layers":48,"hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"vocab_size":151936,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768}`, 30532122624},
		{`{"model_type":"mixtral","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"num_local_experts":8,"num_experts_per_tok":2}`, 46702792704},
		{`{"model_type":"deepseek_v3","num_hidden_layers":61,"hidden_size":7168,"num_attention_heads":128,"intermediate_size":18432,"vocab_size":129280,"n_routed_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"first_k_dense_replace":3,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}`, 671026419200},
		{`{"model_type":"phi3","num_hidden_layers":32,"hidden_size":3072,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":32064,"tie_word_embeddings":false}`, 3821079552},
		{`{"model_type":"smollm3","num_hidden_layers":36,"hidden_size":2048,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":128256,"tie_word_embeddings":true}`, 3075098624},
		{`{"model_type":"smollm3","num_hidden_layers":36,"hidden_size":2048,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":128256}`, 3075098624},
		{`{"model_type":"llama","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512,"attention_bias":true}`, 2*512*64 + 64 + 2*(4*64*64+4*64+3*64*128+2*64)},
		{`{"model_type":"mpt","n_layers":32,"d_model":4096,"n_heads":32,"expansion_ratio":4,"max_seq_len":2048,"vocab_size":50432,"no_bias":true,"attn_config":{"alibi":true}}`, 6649286656},
		{`{"model_type":"phi","num_hidden_layers":32,"hidden_size":2560,"num_attention_heads":32,"intermediate_size":10240,"vocab_size":51200}`, 2779683840},
	} {
		m, err := ReadConfig([]byte(c.config))
		if err != nil {
			t.Errorf("%.40s: %v", c.config, err)
			continue
		}
		if got := m.Params(); got != c.want {
			t.Errorf("%s: got %d parameters, want %d (%+d)", m.Name, got, c.want, got-c.want)
		}
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for config, names := range map[string]string{
		`[]`:                     "config",
		`{}`:                     "model_type",
		`{"model_type":"mamba"}`: "mamba",
		`{"model_type":"llama","vision_config":{}}`:                                                                                   "vision_config",
		`{"model_type":"llama","text_config":{}}`:                                                                                     "text_config",
		`{"model_type":"llama","is_encoder_decoder":true}`:                                                                            "is_encoder_decoder",
		`{"model_type":"llama","quantization_config":{"bits":4}}`:                                                                     "quantization_config",
		`{"model_type":"mpt","n_heads":1,"d_model":8,"attn_config":{"qk_ln":true}}`:                                                   "qk_ln",
		`{"model_type":"mpt","d_model":8}`:                                                                                            "n_heads",
		`{"model_type":"llama","hidden_size":8}`:                                                                                      "num_attention_heads",
		`{"model_type":"llama","num_attention_heads":1}`:                                                                              "layers",
		`{"model_type":"mixtral","num_attention_heads":1,"num_hidden_layers":1,"hidden_size":1,"vocab_size":1}`:                       "experts",
		`{"model_type":"qwen3","num_attention_heads":1,"layer_types":["full_attention","sliding_attention"]}`:                         "layer_types",
		`{"model_type":"qwen3_moe","num_attention_heads":1,"decoder_sparse_step":2}`:                                                  "decoder_sparse_step",
		`{"model_type":"qwen3_moe","num_attention_heads":1,"mlp_only_layers":[0]}`:                                                    "mlp_only_layers",
		`{"model_type":"deepseek_v2","num_attention_heads":1,"moe_layer_freq":2}`:                                                     "moe_layer_freq",
		`{"model_type":"deepseek_v3","num_attention_heads":1,"attention_bias":true}`:                                                  "attention_bias",
		`{"model_type":"gpt_neox","num_attention_heads":1,"use_parallel_residual":false}`:                                             "use_parallel_residual",
		`{"model_type":"falcon","num_attention_heads":1,"parallel_attn":false}`:                                                       "parallel_attn",
		`{"model_type":"phi","num_attention_heads":1,"qk_layernorm":true}`:                                                            "qk_layernorm",
		`{"model_type":"gpt2","num_attention_heads":1,"add_cross_attention":true}`:                                                    "add_cross_attention",
		`{"model_type":"llama","num_attention_heads":8,"num_hidden_layers":1,"hidden_size":8,"vocab_size":1,"num_key_value_heads":3}`: "num_key_value_heads",
	} {
		m, err := ReadConfig([]byte(config))
		if err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: read as %v with %v; want a refusal that names %q", config, m, err, names)
		}
	}
}

// Attention that looks back a window is the same as long as no sequence is longer.
func TestWindow(t *testing.T) {
	const sizes = `"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512`
	for _, c := range []struct {
		config string
		fits   bool // 8,192 tokens
	}{
		{`{"model_type":"mistral","sliding_window":4096,` + sizes + `}`, false},
		{`{"model_type":"mistral","sliding_window":null,` + sizes + `}`, true},
		{`{"model_type":"mistral","sliding_window":8192,` + sizes + `}`, true},
		{`{"model_type":"qwen2","sliding_window":4096,"use_sliding_window":false,` + sizes + `}`, true},
		{`{"model_type":"qwen2","sliding_window":4096,` + sizes + `}`, true},
		{`{"model_type":"qwen3","sliding_window":4096,"use_sliding_window":true,` + sizes + `}`, false},
	} {
		m, err := ReadConfig([]byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		_, err = Run(Setup{Model: m, Work: Work{Seq: 8192}})
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "sliding window of 4096") {
			t.Errorf("%s: 8,192 tokens: %v; want them understood: %t", c.config, err, c.fits)
		}
	}
}

// What is passed on of a config.json reads as the whole does, whatever else is in it.
func TestUnderstood(t *testing.T) {
	for _, text := range []string{
		`{"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vision_config": null}`,
		`{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257, "architectures": ["GPT2LMHeadModel"]}`,
		`{"model_type": "mpt", "n_layers": 2, "d_model": 64, "n_heads": 2, "max_seq_len": 128, "vocab_size": 512, "attn_config": {"alibi": false}, "architectures": ["MPTForCausalLM"]}`,
	} {
		want, err := ReadConfig([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		short, err := Understood([]byte(text))
		if err != nil || len(short) >= len(text) || strings.Contains(short, "torch_dtype") || strings.Contains(short, "architectures") {
			t.Errorf("%s: %s (%v); want what is read of it alone", text, short, err)
		}
		if got, err := ReadConfig([]byte(short)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v (%v), want %+v", short, got, err, want)
		}
	}
}
