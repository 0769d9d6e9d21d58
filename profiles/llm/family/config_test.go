package family_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/profiles/llm/family"
)

// TestRead checks published config.json files of several families. The totals are those of the model cards.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		config string
		want   int64
	}{
		{`{"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":128256}`, 8030261248},
		{`{"model_type":"gemma","num_hidden_layers":18,"hidden_size":2048,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"intermediate_size":16384,"vocab_size":256000}`, 2506172416},
		{`{"model_type":"falcon","num_hidden_layers":32,"hidden_size":4544,"num_attention_heads":71,"vocab_size":65024,"multi_query":true,"parallel_attn":true,"bias":false}`, 6921720704},
		{`{"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,"n_positions":1024,"vocab_size":50257}`,
			124439808},
		{`{"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,"num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,"vocab_size":152064,"tie_word_embeddings":false}`, 7615616512},
		{`{"model_type":"qwen3_moe","num_hidden_layers":48,"hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,"vocab_size":151936,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768}`, 30532122624},
		{`{"model_type":"mixtral","num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,"vocab_size":32000,"num_local_experts":8,"num_experts_per_tok":2}`, 46702792704},
		{`{"model_type":"deepseek_v3","num_hidden_layers":61,"hidden_size":7168,"num_attention_heads":128,"intermediate_size":18432,"vocab_size":129280,"n_routed_experts":256,"num_experts_per_tok":8,"moe_intermediate_size":2048,"n_shared_experts":1,"first_k_dense_replace":3,"q_lora_rank":1536,"kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128}`, 671026404352},
		{`{"model_type":"phi3","num_hidden_layers":32,"hidden_size":3072,"num_attention_heads":32,"num_key_value_heads":32,"intermediate_size":8192,"vocab_size":32064,"tie_word_embeddings":false}`, 3821079552},
		{`{"model_type":"smollm3","num_hidden_layers":36,"hidden_size":2048,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":128256,"tie_word_embeddings":true}`, 3075098624},
		{`{"model_type":"smollm3","num_hidden_layers":36,"hidden_size":2048,"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":11008,"vocab_size":128256}`, 3075098624},
		{`{"model_type":"llama","num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512,"attention_bias":true}`, 2*512*64 + 64 + 2*(4*64*64+4*64+3*64*128+2*64)},
		{`{"model_type":"mpt","n_layers":32,"d_model":4096,"n_heads":32,"expansion_ratio":4,"max_seq_len":2048,"vocab_size":50432,"no_bias":true,"attn_config":{"alibi":true}}`, 6649286656},
		{`{"model_type":"phi","num_hidden_layers":32,"hidden_size":2560,"num_attention_heads":32,"intermediate_size":10240,"vocab_size":51200}`, 2779683840},
	} {
		checkParams(t, fmt.Sprintf("%.60s", c.config), []byte(c.config), c.want)
	}
}

func TestReadRefuses(t *testing.T) {
	const plain = `"num_attention_heads":8,"num_hidden_layers":2,"hidden_size":64,"vocab_size":100`
	const sizes = plain + `,"kv_lora_rank":8,"v_head_dim":8`
	for config, names := range map[string]string{
		`[]`:                      "JSON array",
		`{"a":1`:                  "no JSON",
		`{}`:                      "model_type",
		`{"model_type":"newest"}`: "newest",
		`{"model_type":"llama","is_encoder_decoder":true}`:                                                      "is_encoder_decoder",
		`{"model_type":"llama","draft_vocab_size":32000}`:                                                       "draft head",
		`{"model_type":"llama","architectures":["LlamaForCausalLMEagle3"]}`:                                     "draft head",
		`{"model_type":"llama","architectures":["Qwen3DFlashModel"]}`:                                           "draft head",
		`{"model_type":"mpt","n_heads":1,"d_model":8,"n_layers":1,"vocab_size":1,"attn_config":{"qk_ln":true}}`: "qk_ln",
		`{"model_type":"mpt","d_model":8,"n_layers":1,"vocab_size":1}`:                                          "num_attention_heads",
		`{"model_type":"llama","num_attention_heads":1}`:                                                        "layers",
		`{"model_type":"mixtral",` + plain +
			`}`: "experts",
		`{"model_type":"deepseek_v2","moe_layer_freq":2,` + sizes +
			`}`: "moe_layer_freq",
		`{"model_type":"deepseek_v3","attention_bias":true,` + sizes +
			`}`: "attention_bias",
		`{"model_type":"llama","kv_lora_rank":512,` + sizes +
			`}`: "kv_lora_rank",
		`{"model_type":"gpt_neox","attention_bias":false,` + sizes +
			`}`: "attention_bias",
		`{"model_type":"falcon","parallel_attn":false,` + sizes +
			`}`: "parallel_attn",
		`{"model_type":"cohere2","use_qk_norm":true,` + plain +
			`}`: "use_qk_norm",
		`{"model_type":"gpt2","add_cross_attention":true,` + sizes +
			`}`: "add_cross_attention",
		`{"model_type":"gemma2","layer_types":["linear_attention","full_attention"],` + plain +
			`}`: "linear_attention",
		`{"model_type":"llama","num_key_value_heads":3,` + plain +
			`}`: "num_key_value_heads",
	} {
		m, err := family.Read([]byte(config))
		problems := profiles.Problems(err)
		if err == nil || !strings.Contains(err.Error(), names) || len(problems) != 1 || problems[0].Remedy == "" {
			t.Errorf("%s: read as %v with %v; want a refusal that names %q and says what to do", config, m, err, names)
		}
	}
}

// A file with numbers that Python writes and JSON does not have is accepted.
func TestPythonNumbers(t *testing.T) {
	m, err := family.Read([]byte(`{"model_type":"llama","num_attention_heads":8,"num_hidden_layers":2,"hidden_size":64,"vocab_size":100,"a":[0.0, Infinity],"b":NaN,"c":"NaN \" -Infinity"}`))
	if err != nil || m.Layers != 2 {
		t.Errorf("read as %v with %v; want 2 layers", m, err)
	}
}

// TestWindow checks that the window of the file is used if the family uses one.
func TestWindow(t *testing.T) {
	const sizes = `"num_hidden_layers":2,"hidden_size":64,"num_attention_heads":4,"intermediate_size":128,"vocab_size":512`
	for _, c := range []struct {
		config string
		want   int64
	}{
		{`{"model_type":"mistral","sliding_window":4096,` + sizes + `}`, 4096},
		{`{"model_type":"mistral","sliding_window":null,` + sizes + `}`, 0},
		{`{"model_type":"qwen2","sliding_window":4096,"use_sliding_window":false,` + sizes + `}`, 0},
		{`{"model_type":"qwen2","sliding_window":4096,` + sizes + `}`, 0},
		{`{"model_type":"qwen3","sliding_window":4096,"use_sliding_window":true,` + sizes + `}`, 4096},
		{`{"model_type":"qwen3","sliding_window":4096,"use_sliding_window":true,"layer_types":["full_attention","sliding_attention"],` + sizes + `}`, 4096},
	} {
		m, err := family.Read([]byte(c.config))
		if err != nil {
			t.Errorf("%s: %v", c.config, err)
			continue
		}
		if got := m.At(1).Window; got != c.want {
			t.Errorf("%s: a window of %d, want %d", c.config, got, c.want)
		}
	}
}

// The part of a config.json that links contain reads like the whole file, whatever other keys the file has.
func TestUnderstood(t *testing.T) {
	for _, text := range []string{
		`{"model_type": "gemma", "hidden_size": 2048, "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "intermediate_size": 16384, "vocab_size": 256000, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vision_config": null}`,
		`{"model_type": "gpt2", "n_layer": 12, "n_embd": 768, "n_head": 12, "n_positions": 1024, "vocab_size": 50257, "architectures": ["GPT2LMHeadModel"]}`,
		`{"model_type": "mpt", "n_layers": 2, "d_model": 64, "n_heads": 2, "max_seq_len": 128, "vocab_size": 512, "attn_config": {"alibi": false}, "architectures": ["MPTForCausalLM"]}`,
	} {
		want, err := family.Read([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		short := want.Config
		if len(short) >= len(text) || strings.Contains(short, "torch_dtype") {
			t.Errorf("%s: %s; want what is read of it alone", text, short)
		}
		if got, err := family.Read([]byte(short)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v (%v), want %+v", short, got, err, want)
		}
	}
}

// TestSaidNorms checks that a key for norms of queries and keys is understood where a family always has them, and
// refused where it has none, as is one for experts on a narrower stream.
func TestSaidNorms(t *testing.T) {
	for config, ok := range map[string]bool{
		`"model_type":"apertus","qk_norm":true`: true, `"model_type":"hunyuan_v1_dense","use_qk_norm":true`: true,
		`"model_type":"llama","qk_norm":true`: false, `"model_type":"llama","moe_latent_size":8`: false} {
		_, err := family.Read([]byte(`{` + config + `,"hidden_size":64,"intermediate_size":128,"num_attention_heads":4,
			"num_hidden_layers":2,"vocab_size":256,"head_dim":16}`))
		if (err == nil) != ok {
			t.Errorf("%s: %v; want it read: %t", config, err, ok)
		}
	}
}
