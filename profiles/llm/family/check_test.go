package family_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	_ "memtide/profiles/formats/hf"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// object is the content of a config.json.
type object map[string]any

// These are configs of one model for each kind of description.
var (
	configOfLlama = object{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
		"num_attention_heads": 32, "num_key_value_heads": 8,
		"intermediate_size": 14336, "vocab_size": 128256}
	configOfDeepSeek = object{"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
		"num_attention_heads": 128, "intermediate_size": 18432, "vocab_size": 129280,
		"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
		"n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "n_shared_experts": 1,
		"first_k_dense_replace": 3}
	configOfQwen = object{"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48,
		"num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
		"intermediate_size": 6144, "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8,
		"moe_intermediate_size": 768}
	configOfMPT = object{"model_type": "mpt", "d_model": 4096, "n_layers": 32, "n_heads": 32, "expansion_ratio": 4,
		"max_seq_len": 2048, "vocab_size": 50432}
	configOfGPT2 = object{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
		"vocab_size": 50257}
)

// with returns the config.json with the keys of more added.
func (o object) with(more object) []byte {
	all := maps.Clone(o)
	maps.Copy(all, more)
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return text
}

// checkParams checks the parameters of the model that config describes, and that the part of the config that links contain
// reads as the same model, with the same notes.
func checkParams(t *testing.T, name string, config []byte, want int64) {
	t.Helper()
	m, err := family.Read(config)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got := m.Params(); got != want {
		t.Errorf("%s: %d parameters, want %d (%+d)", name, got, want, got-want)
	}
	again, err := family.Read([]byte(m.Config))
	if err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("%s: passed on as %s it reads as %+v (%v), want %+v", name, m.Config, again, err, m)
	}
}

// Every number that describes a model has a range. A number outside of it is refused by its key.
func TestRanges(t *testing.T) {
	for _, c := range []struct {
		of   object
		key  string
		n    any
		want string // what the error names; empty means the key
	}{
		{configOfLlama, "intermediate_size", -5, ""}, {configOfLlama, "intermediate_size", int64(1) << 62, ""},
		{configOfLlama, "head_dim", -1, ""},
		{configOfLlama, "num_hidden_layers", 100000, ""}, {configOfLlama, "num_hidden_layers", 1025, ""},
		{configOfLlama, "num_hidden_layers", 0, ""}, {configOfLlama, "hidden_size", -4096, ""},
		{configOfLlama, "hidden_size", 1 << 21, ""}, {configOfLlama, "hidden_size", 4097, ""},
		{configOfLlama, "num_attention_heads", -32, ""}, {configOfLlama, "num_attention_heads", 1 << 15, ""},
		{configOfLlama, "num_key_value_heads", -8, ""}, {configOfLlama, "num_key_value_heads", 5, ""},
		{configOfLlama, "num_key_value_heads", 64, ""}, {configOfLlama, "vocab_size", 1<<20 + 1, ""},
		{configOfLlama, "vocab_size", 0, ""}, {configOfLlama, "max_position_embeddings", -1, ""},
		{configOfLlama, "hidden_size", "4096", ""},
		{configOfLlama, "hidden_size", 4096.5, ""},
		{configOfLlama, "hidden_size", json.Number("9223372036854775808"), ""},
		{configOfDeepSeek, "v_head_dim", -128, ""}, {configOfDeepSeek, "v_head_dim", 0, ""},
		{configOfDeepSeek, "q_lora_rank", -5, ""}, {configOfDeepSeek, "q_lora_rank", 1 << 21, ""},
		{configOfDeepSeek, "kv_lora_rank", -1, ""}, {configOfDeepSeek, "kv_lora_rank", 1 << 21, ""},
		{configOfDeepSeek, "qk_rope_head_dim", -64, ""}, {configOfDeepSeek, "qk_nope_head_dim", -64, ""},
		{configOfDeepSeek, "n_shared_experts", -2, ""}, {configOfDeepSeek, "n_shared_experts", int64(1) << 53, ""},
		{configOfDeepSeek, "first_k_dense_replace", -3, ""},
		{configOfDeepSeek, "first_k_dense_replace", 62, ""}, {configOfDeepSeek, "n_routed_experts", -256, ""},
		{configOfDeepSeek, "moe_intermediate_size", -1, ""},
		{configOfQwen, "num_experts", int64(1) << 40, ""}, {configOfQwen, "num_experts_per_tok", int64(1) << 60, ""},
		{configOfQwen, "num_experts_per_tok", 129, ""}, {configOfQwen, "moe_intermediate_size", 1 << 21, ""},
		{configOfQwen, "num_experts_per_tok", -8, ""}, {configOfQwen, "num_experts", 0, "experts"},
		{configOfMPT, "expansion_ratio", -4, ""}, {configOfMPT, "expansion_ratio", int64(1) << 52, ""},
		{configOfMPT, "d_model", -4096, ""}, {configOfMPT, "n_heads", 31, ""},
		{configOfMPT, "n_layers", 5000, ""}, {configOfMPT, "max_seq_len", -1, ""},
		{configOfGPT2, "n_layer", 5000, ""}, {configOfGPT2, "n_embd", -768, ""}, {configOfGPT2, "n_inner", -1, ""},
		{configOfGPT2, "n_positions", int64(1) << 40, ""},
	} {
		text := c.of.with(object{c.key: c.n})
		m, err := family.Read(text)
		want := c.want
		if want == "" {
			want = c.key
		}
		all := ""
		for _, p := range profiles.Problems(err) {
			all += p.Error() + " " + p.Remedy
		}
		if err == nil || !strings.Contains(all, want) || !strings.Contains(strings.ToLower(all), "correct") &&
			c.want == "" || strings.Contains(all, "\n") {
			t.Errorf("%s %v: read as %+v with %q; want one line that names %q and says what to do", c.key, c.n, m,
				all, want)
		}
	}
}

// Sizes that are possible alone are refused if they are not possible together.
func TestRangesTogether(t *testing.T) {
	for _, c := range []struct {
		what   string
		config []byte
	}{
		{"dense", configOfLlama.with(object{"hidden_size": 1 << 20, "intermediate_size": 1 << 20, "head_dim": 128,
			"num_hidden_layers": 1024})},
		{"heads", configOfLlama.with(object{"hidden_size": 1 << 20, "num_attention_heads": 1 << 14,
			"num_key_value_heads": 1 << 14, "head_dim": 1 << 14})},
		{"experts", configOfQwen.with(object{"num_experts": 1 << 14, "moe_intermediate_size": 1 << 20,
			"hidden_size": 1 << 20})},
		{"latent", configOfDeepSeek.with(object{"hidden_size": 1 << 20, "q_lora_rank": 1 << 20,
			"num_attention_heads": 1 << 14, "qk_nope_head_dim": 1 << 14})},
	} {
		if m, err := family.Read(c.config); err == nil ||
			!strings.Contains(err.Error(), "parameters; want 2^45 at most") || strings.Contains(err.Error(), "make -") {
			t.Errorf("%s: read as %+v with %v; want a refusal that counts the parameters", c.what, m, err)
		}
	}
}

// Opening a file as a chain refuses the same sizes as the step does, and both accept the largest published
// vocabularies and windows.
func TestRangesOfBoth(t *testing.T) {
	for _, c := range []struct {
		key string
		n   any
		ok  bool
	}{
		{"hidden_size", 1 << 21, false}, {"num_hidden_layers", 100000, false},
		{"num_attention_heads", 1 << 15, false}, {"intermediate_size", -5, false},
		{"intermediate_size", int64(1) << 62, false},
		{"vocab_size", 1<<20 + 1, false}, {"head_dim", -1, false}, {"num_key_value_heads", -8, false},
		{"max_position_embeddings", int64(1) << 40, false},
		{"vocab_size", 262144, true}, {"vocab_size", 901629, true}, {"max_position_embeddings", 10485760, true},
		{"intermediate_size", 53248, true},
	} {
		text := configOfLlama.with(object{c.key: c.n})
		_, step := family.Read(text)
		_, chain := profiles.Decode("config.json", profiles.Bytes(text), nil)
		if (step == nil) != c.ok || (chain == nil) != c.ok {
			t.Errorf("%s %v: the step says %v, the chain %v; want both to take it: %v", c.key, c.n, step, chain, c.ok)
		}
	}
}

// TestAllGradients checks that all weights get gradients: a second micro batch begins with those of all, and what else
// is there is as much as before the first.
func TestAllGradients(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(smallConfigs)) {
		if name == "deepseek_v4" { // its choice of tokens passes no gradient to the weights that make it
			continue
		}
		m, err := family.Read(smallConfig(name).with(nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var fixed [2]engine.Bytes
		for i := range fixed {
			a, err := llm.New(m.Model, engine.Args{"accumulate": strconv.Itoa(i + 1)})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			p, err := a.Profile()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			fixed[i] = p.Graph.Fixed
		}
		if fixed[0] != fixed[1] {
			t.Errorf("%s: beside the states there are %d bytes, with gradients of a micro batch before %d", name,
				fixed[0], fixed[1])
		}
	}
}
