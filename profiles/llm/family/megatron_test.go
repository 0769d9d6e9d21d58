package family_test

import (
	"fmt"
	"maps"
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

// TestDeltaUnderMegatron checks what a block with a gated delta net keeps under Megatron, which tensor and context
// parallel ranks share by heads, and that they share its weights.
func TestDeltaUnderMegatron(t *testing.T) {
	r, err := family.Read([]byte(`{"model_type":"qwen3_5_text","hidden_size":1024,"num_hidden_layers":4,"vocab_size":32000,` +
		`"num_attention_heads":16,"num_key_value_heads":4,"head_dim":64,"intermediate_size":2048}`))
	if err != nil {
		t.Fatal(err)
	}
	const keyHeads, heads, h = 16, 32, 1024
	const keys, values = keyHeads * 128, heads * 128
	// of each token: norms with what they read, and the net
	const around, net = 2 * (2*h + 2*h + 4), 3 * 2 * 2048
	// one product; normed queries and keys; both beside values; weights, decays, norms, chunks; the norm and the gate
	const delta = 2*(2*keys+2*values+2*heads) + 2*2*keys + 2*(2*values+values) + (2+4+4+12+2*64)*heads +
		2*values + 4*heads + 2*values + 2*values + 2*values
	for _, c := range []struct {
		args           engine.Args
		tokens, tp, sp int64
	}{
		{nil, 4096, 1, 1},
		{engine.Args{"gpus": "4", "tp": "4"}, 4096, 4, 4},
		{engine.Args{"gpus": "4", "tp": "4", "no-sp": "yes"}, 4096, 4, 1},
		{engine.Args{"gpus": "4", "tp": "2", "cp": "2"}, 2048, 2, 2},
		{engine.Args{"ckpt": "modules", "recompute": "gdn_norm_out"}, 4096, 1, 1},
		{engine.Args{"gpus": "32", "tp": "16", "cp": "2"}, 0, 0, 0},
	} {
		args := engine.Args{"program": "megatron", "seq": "4096"}
		maps.Copy(args, c.args)
		var kept [][2]int64
		a, err := llm.New(r.Model, args)
		if err == nil {
			var k llm.Kept
			k, err = a.Setup.Kept()
			kept = k.Blocks
		}
		if c.tokens == 0 {
			if err == nil || !strings.Contains(err.Error(), "do not divide among 32 ranks") {
				t.Errorf("%v: %v", args, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		want := c.tokens*(around/c.sp+(delta+net)/c.tp) + 4*2*heads/c.tp
		if args["recompute"] != "" {
			want -= c.tokens * (4*heads + 2*values + 2*values)
		}
		if kept[0][1] != want {
			t.Errorf("%v: a block keeps %d bytes, want %d", args, kept[0][1], want)
		}
		e, err := a.Estimate()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		for _, p := range e.PartsOf(llm.Forward) {
			if p.Class == llm.Backwards {
				t.Errorf("%v: the forward has %d bytes of gradients", args, p.Bytes)
			}
		}
	}
}

// TestT5UnderMegatron checks Megatron-LM's own T5 against golden values of its functional tests (t5_mcore_te_* and
// t5_11b_mcore_tp4_pp1, H100), which nothing is fitted to, and that it has no pipelines there.
func TestT5UnderMegatron(t *testing.T) {
	const (
		small = `{"model_type":"t5","d_model":768,"d_ff":3072,"num_layers":12,"num_heads":12,"vocab_size":29184,"feed_forward_proj":"gelu"}`
		large = `{"model_type":"t5","d_model":4096,"d_ff":10240,"num_layers":24,"num_heads":64,"vocab_size":29184,"feed_forward_proj":"gelu"}`
	)
	for _, c := range []struct {
		model  string
		more   engine.Args
		golden float64 // GiB
	}{
		{small, engine.Args{"attention": "eager"}, 5.781},
		{small, engine.Args{"attention": "eager", "tp": "2", "accumulate": "2"}, 3.012},
		{small, engine.Args{"attention": "eager", "tp": "4", "no-sp": "yes", "accumulate": "4"}, 1.734},
		{small, engine.Args{"attention": "eager", "tp": "4", "no-sp": "yes", "batch": "32"}, 6.515},
		{large, engine.Args{"tp": "4", "no-sp": "yes"}, 41.90},
		{small, engine.Args{"pp": "2"}, 0},
	} {
		r, err := family.Read([]byte(c.model))
		if err != nil {
			t.Fatal(err)
		}
		args := engine.Args{"program": "megatron", "gpus": "8", "dropout": "yes", "batch": "4", "seq": "512", "shard": "none"}
		maps.Copy(args, c.more)
		a, err := llm.New(r.Model, args)
		if err != nil {
			t.Fatal(err)
		}
		e, err := a.Estimate()
		if c.golden == 0 {
			if err == nil || !strings.Contains(err.Error(), "without pipelines") {
				t.Errorf("%v: %v", c.more, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", c.more, err)
		}
		if off := 100 * (float64(e.Allocated)/(c.golden*(1<<30)) - 1); off < -3 || off > 3 {
			t.Errorf("%v: %d bytes, want %g GiB: %+.1f %%", c.more, e.Allocated, c.golden, off)
		}
	}
}

// TestPaddingUnderMegatron checks what attention without a kernel keeps of an encoder's block: scores, scores after
// the dropout, its mask, and the mask of the padding, which the layer makes [TE: attention, backends.py]; and queries,
// keys and values once, as parts of one product.
func TestPaddingUnderMegatron(t *testing.T) {
	r, err := family.Read([]byte(`{"model_type":"bert","hidden_size":1024,"num_hidden_layers":4,"num_attention_heads":16,` +
		`"intermediate_size":4096,"vocab_size":30720}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := llm.New(r.Model, engine.Args{"program": "megatron", "dropout": "yes", "batch": "4", "seq": "512",
		"attention": "eager"})
	if err != nil {
		t.Fatal(err)
	}
	k, err := a.Setup.Kept()
	if err != nil {
		t.Fatal(err)
	}
	const tokens, h = 4 * 512, 1024
	// both norms' inputs, results and statistics, the product, attention's result, the net, and masks of dropouts
	want := int64(tokens * (2*(2*h+2*h+8) + 6*h + 2*h + 2*8*h + 2*h + 16*512*5 + 512))
	if got := k.Blocks[len(k.Blocks)-1][1]; got != want {
		t.Errorf("a block keeps %d bytes, want %d", got, want)
	}
}

// TestGemmaUnderMegatron checks what Gemma 3 keeps beside a decoder without its norms after each part and with a fused
// gate, and all of what a block of Gemma 4 with experts keeps [Megatron-Bridge: models/gemma]: norms of Transformer
// Engine before and after attention, those of the nets operator by operator, GELU on a half of the product's result
// beside a copy of the other, and rows that are weighted in 4 bytes after it.
func TestGemmaUnderMegatron(t *testing.T) {
	const n, h, wide, heads, keys, head = 1024, 1024, 2048, 16, 4, 64
	got := keptByBlock(t, "gemma3_text", `"head_dim":64`, nil)
	want := keptByBlock(t, "qwen3", `"head_dim":64`, nil) + n*(2*(2*h+4)+2*2*wide)
	if got != want {
		t.Errorf("a block of Gemma 3 keeps %d bytes, want %d", got, want)
	}
	const experts, top, own = 16, 4, 512
	const moe = `"head_dim":64,"global_head_dim":64,"hidden_size_per_layer_input":0,"enable_moe_block":true,` +
		`"num_experts":16,"top_k_experts":4,"moe_intermediate_size":512`
	norm := int64(n*(4*h+4*h+4*h+8) + 4*h) // two copies in 4 bytes, the product, two numbers, and a weight in 4 bytes
	attention := n * (2*h + 4 + 2*h + 2*(heads+2*keys)*head + 4*(heads+keys) + keys*(4*head+8) +
		2*(2*heads+2*keys)*head + 4*heads + 2*h + 4)
	dense := n * (2*h + 2*wide*(2+2+1))
	router := n * (8*h + 8 + 2*h + 2*h + 4*experts + 8*top)
	rows := n * top * (2*h + 2*own*(2+2+1+1) + 4)
	want = 5*norm + int64(attention+dense+router+rows)
	if got = keptByBlock(t, "gemma4_text", moe, nil); got != want {
		t.Errorf("a block of Gemma 4 keeps %d bytes, want %d", got, want)
	}
	scores := keptByBlock(t, "gemma4_text", strings.Replace(moe, `"global_head_dim":64`, `"global_head_dim":512`, 1), nil)
	if scores < want+2*heads*n*n {
		t.Errorf("with heads of 512 it keeps %d bytes, want scores of all pairs of tokens beside %d", scores, want)
	}
}
