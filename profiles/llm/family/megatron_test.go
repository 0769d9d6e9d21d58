package family_test

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// keptByBlock returns what the last block of a model keeps under Megatron.
func keptByBlock(t *testing.T, kind, keys string, args engine.Args) int64 {
	t.Helper()
	r, err := family.Read([]byte(fmt.Sprintf(`{"model_type":%q,"hidden_size":1024,"num_hidden_layers":4,`+
		`"num_attention_heads":16,"num_key_value_heads":4,"intermediate_size":2048,"vocab_size":32000,%s}`, kind, keys)))
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	all := engine.Args{"program": "megatron", "seq": "1024", "gpus": "8"}
	for k, v := range args {
		all[k] = v
	}
	a, err := llm.New(r.Model, all)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	k, err := a.Setup.Kept()
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return k.Blocks[len(k.Blocks)-1][1]
}

// TestUnderMegatron checks families whose blocks are Megatron-LM's own, as mcore-bridge maps them: each keeps what a
// family with the same parts keeps. A gate of shared experts keeps its input, which others keep too, its result and a
// number of each token, a gate of attention itself and its result [mcore-bridge: model/gpts/llm.py, mm_gpts/qwen.py;
// Megatron-LM: moe/shared_experts.py, transformer/attention.py].
func TestUnderMegatron(t *testing.T) {
	const (
		experts = `"n_routed_experts":16,"num_experts":16,"num_experts_per_tok":4,"moe_intermediate_size":512,`
		plain   = experts + `"n_shared_experts":1,"first_k_dense_replace":1,"head_dim":64,"partial_rotary_factor":1`
		latent  = experts + `"n_shared_experts":1,"first_k_dense_replace":1,"q_lora_rank":256,"kv_lora_rank":128,` +
			`"qk_nope_head_dim":64,"qk_rope_head_dim":32,"v_head_dim":64`
		shared = `"shared_expert_intermediate_size":512`
		delta  = `"partial_rotary_factor":1,"linear_num_value_heads":8,"linear_num_key_heads":8,"linear_key_head_dim":64,` +
			`"linear_value_head_dim":64,"linear_conv_kernel_dim":4,"full_attention_interval":4`
		ernie = `"moe_num_experts":16,"moe_k":4,"moe_num_shared_experts":1,"moe_intermediate_size":512`
	)
	ranks := engine.Args{"tp": "2", "ep": "4", "etp": "1"}
	for _, c := range []struct {
		kind, keys, like, same string
		args                   engine.Args
		more                   int64
	}{
		{"qwen2_vl_text", `"head_dim":64`, "qwen2", `"head_dim":64`, engine.Args{"tp": "2"}, 0},
		{"qwen2_5_vl_text", `"head_dim":64`, "qwen2", `"head_dim":64`, nil, 0},
		{"dots1", plain, "glm4_moe", plain + `,"use_qk_norm":true`, ranks, 0},
		{"glm4_moe_lite", latent, "deepseek_v3", latent, ranks, 0},
		{"ernie4_5_moe", ernie, "glm4_moe", plain, ranks, 0},
		{"qwen2_moe", experts + shared, "glm4_moe", plain + `,"attention_bias":true`, engine.Args{"ep": "4"},
			1024 * (2*1024 + 2)},
		{"qwen3_5_text", `"head_dim":64,` + delta, "qwen3", `"head_dim":64`, nil, 1024 * (2*1024 + 2*1024)},
	} {
		got, want := keptByBlock(t, c.kind, c.keys, c.args), keptByBlock(t, c.like, c.same, c.args)+c.more
		if got != want {
			t.Errorf("%s: a block keeps %d bytes, want %d as %s", c.kind, got, want, c.like)
		}
	}
}

// TestSinksUnderMegatron checks gpt-oss: its experts keep a clamped copy of what they keep, and attention without a
// kernel a softmax in 4 bytes, a column longer, beside that in 2 [TE: attention, softmax.py, is_kernel_available].
func TestSinksUnderMegatron(t *testing.T) {
	const (
		experts = `"num_local_experts":16,"n_routed_experts":16,"num_experts_per_tok":4,"head_dim":64`
		plain   = `,"moe_intermediate_size":2048,"n_shared_experts":0,"first_k_dense_replace":0,"partial_rotary_factor":1`
	)
	for attention, of := range map[string]int64{"flash": 0, "eager": 16 * 1025 * 4} {
		args := engine.Args{"ep": "4", "attention": attention}
		want := keptByBlock(t, "glm4_moe", experts+plain+`,"attention_bias":true`, args) + 1024*(4*2*2048*2+of)
		if got := keptByBlock(t, "gpt_oss", experts, args); got != want {
			t.Errorf("%s: a block keeps %d bytes, want %d", attention, got, want)
		}
	}
}

// TestDeltaUnderMegatron checks that a gated delta net keeps under Megatron what it keeps with fla's kernels, and is
// not known over tensor parallel ranks.
func TestDeltaUnderMegatron(t *testing.T) {
	r, err := family.Read([]byte(`{"model_type":"qwen3_5_text","hidden_size":1024,"num_hidden_layers":4,"vocab_size":32000,` +
		`"num_attention_heads":16,"num_key_value_heads":4,"head_dim":64,"intermediate_size":2048}`))
	if err != nil {
		t.Fatal(err)
	}
	var kept [2]int64
	for i, args := range []engine.Args{{"program": "megatron"}, {"kernels": "yes", "norm": "fused", "fused-gate": "yes",
		"states": "bf16"}} {
		a, err := llm.New(r.Model, args)
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			t.Fatal(err)
		}
		kept[i] = k.Blocks[0][1]
	}
	if kept[0] == 0 || kept[0] != kept[1] {
		t.Errorf("a block keeps %d bytes; with fla's kernels alone %d", kept[0], kept[1])
	}
	a, err := llm.New(r.Model, engine.Args{"program": "megatron", "gpus": "2", "tp": "2"})
	if err == nil {
		_, err = a.Setup.Kept()
	}
	if err == nil || !strings.Contains(err.Error(), "share products") {
		t.Errorf("over two tensor parallel ranks: %v", err)
	}
}
