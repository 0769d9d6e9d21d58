package family_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/profiles"
	"memtide/profiles/formats/native"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
)

// rotated has the sizes of a small decoder with rotary positions.
var rotated = object{"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
	"intermediate_size": 48, "vocab_size": 64, "max_position_embeddings": 512}

// mixed has the sizes of a mixture of experts, latent those of DeepSeek's attention, and the others those of
// other kinds.
var (
	mixed = object{"num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2,
		"moe_intermediate_size": 16}
	sparseLatent = object{"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"n_shared_experts": 1, "first_k_dense_replace": 1, "num_key_value_heads": 4,
		"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
		"index_n_heads": 2, "index_head_dim": 8, "index_topk": 32}
	smallT5 = object{"d_model": 32, "num_layers": 2, "num_decoder_layers": 1, "num_heads": 4, "d_kv": 8,
		"d_ff": 64, "feed_forward_proj": "gated-gelu"}
	smallTowers = object{"text_config": smallTower, "vision_config": smallTower, "hidden_size": nil}
	smallTower  = object{"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 64,
		"vocab_size": 64, "max_position_embeddings": 16,
		"image_size": 32, "patch_size": 8}
	smallUnet = object{"block_out_channels": []int{8, 16},
		"down_block_types": []string{"DownBlock2D", "CrossAttnDownBlock2D"},
		"up_block_types":   []string{"CrossAttnUpBlock2D", "UpBlock2D"},
		"layers_per_block": 1, "attention_head_dim": 1, "cross_attention_dim": 8, "norm_num_groups": 4,
		"in_channels": 4, "out_channels": 4, "num_attention_heads": nil}
	smallZ = object{"dim": 32, "n_heads": 2, "n_layers": 1, "n_refiner_layers": 1, "in_channels": 4,
		"cap_feat_dim": 16, "all_patch_size": []int{2}, "all_f_patch_size": []int{1}}
	smallDit = object{"num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 4, "num_layers": 2,
		"num_single_layers": 1, "joint_attention_dim": 16, "pooled_projection_dim": 8,
		"text_embed_dim": 16, "text_embed_2_dim": 16, "image_embed_dim": 16, "approximator_hidden_dim": 16,
		"caption_channels": 16, "num_cross_attention_heads": 4,
		"cross_attention_head_dim": 8, "audio_num_attention_heads": 2, "audio_attention_head_dim": 8,
		"audio_in_channels": 4, "rope_type": "split",
		"cross_attention_dim": 32, "audio_cross_attention_dim": 16, "caption_projection_dim": 32}
	smallPixArt = object{"num_attention_heads": 2, "attention_head_dim": 24, "num_layers": 2, "caption_channels": 16,
		"cross_attention_dim": 48, "attention_bias": true, "norm_type": "ada_norm_single", "sample_size": 128,
		"norm_elementwise_affine": false, "in_channels": 4}
	smallWan = object{"num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 4, "ffn_dim": 64,
		"num_layers": 2, "text_dim": 16, "patch_size": []int{1, 2, 2}}
	latentAlone = object{"num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
		"qk_rope_head_dim": 4, "v_head_dim": 8}
	latent = object{"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"n_shared_experts": 1, "first_k_dense_replace": 1, "num_key_value_heads": 4,
		"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4, "v_head_dim": 8,
		"rms_norm_eps": 1e-6}
)

// smallConfigs has a config for every family, with different values for different sizes.
var smallConfigs = map[string]object{
	"llama": {"attention_bias": true}, "mistral": {"sliding_window": 256}, "phi3": {"sliding_window": nil},
	"smollm3": {}, "qwen2": {"use_sliding_window": false, "sliding_window": 128},
	"qwen3": {"head_dim": 16}, "gemma": {"head_dim": 16, "tie_word_embeddings": true}, "mixtral": mixed,
	"qwen3_moe": mixed, "deepseek_v2": latent, "deepseek_v3": latent, "phi": {}, "gpt_neox": {},
	"gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512, "hidden_size": nil,
		"num_hidden_layers": nil, "num_attention_heads": nil},
	"falcon": {"multi_query": true, "new_decoder_architecture": false, "bias": false, "num_kv_heads": 2},
	"mpt": {"d_model": 32, "n_layers": 2, "n_heads": 4, "expansion_ratio": 4, "max_seq_len": 512, "no_bias": true,
		"attn_config": object{"alibi": true}},
	"bert": {"type_vocab_size": 2}, "roberta": {"type_vocab_size": 1}, "xlm-roberta": {}, "camembert": {},
	"kimi_k2": latent, "glm4_moe_lite": latent, "mistral4": latent,
	"qwen2_moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"shared_expert_intermediate_size": 32, "mlp_only_layers": []int{0}},
	"olmoe": mixed, "dots1": mixed, "minimax_m2": mixed, "granitemoe": mixed, "qwen3_vl_moe_text": mixed,
	"glm4_moe": {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"n_shared_experts": 1, "first_k_dense_replace": 1},
	"ernie4_5_moe": {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 16, "moe_num_shared_experts": 1},
	"ministral":    {"sliding_window": 32}, "ministral3": {}, "granite": {}, "arcee": {}, "apertus": {},
	"seed_oss": {}, "ernie4_5": {}, "hunyuan_v1_dense": {}, "exaone4": {"sliding_window": 32},
	"olmo2": {}, "olmo3": {"sliding_window": 32}, "glm": {}, "glm4": {}, "glm4v_text": {}, "nanochat": {}, "qwen3_vl_text": {},
	"qwen2_vl_text": {}, "qwen2_5_vl_text": {}, "qwen2_vl": {}, "qwen2_5_vl": {},
	"gemma2": {"head_dim": 16, "sliding_window": 32}, "gemma3_text": {"head_dim": 16, "sliding_window": 32},
	"gemma3": {"head_dim": 16}, "cohere": {}, "cohere2": {"sliding_window": 32},
	"gpt_oss": mixed, "phimoe": mixed, "llama4": mixed, "llama4_text": mixed, "modernbert": {},
	"falcon_h1":  {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16},
	"starcoder2": {}, "stablelm": {}, "nemotron": {}, "qwen3_5_text": {"head_dim": 16},
	"olmo_hybrid": {"layer_types": []string{"linear_attention", "full_attention"}},
	"qwen3_next": {"head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"shared_expert_intermediate_size": 16},
	"qwen3_5_moe_text": {"head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"shared_expert_intermediate_size": 16},
	"nemotron_h": {"hybrid_override_pattern": "M*", "mamba_num_heads": 4, "mamba_head_dim": 16, "n_groups": 2,
		"ssm_state_size": 16, "conv_kernel": 4},
	"bamba": {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16, "attn_layer_indices": []int{1}},
	"granitemoehybrid": {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 16, "shared_intermediate_size": 32,
		"layer_types": []string{"mamba", "attention"}},
	"lfm2":  {"layer_types": []string{"conv", "full_attention"}},
	"mamba": {"state_size": 8}, "falcon_mamba": {"state_size": 8}, "internlm3": {},
	"mllama_text_model": {"cross_attention_layers": []int{1}}, "glm4v_moe_text": mixed,
	"mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 2, "state_size": 16, "chunk_size": 32},
	"jamba":  {"num_experts": 4, "mamba_d_state": 8, "attn_layer_period": 2, "attn_layer_offset": 1},
	"recurrent_gemma": {"lru_width": 32, "block_types": []string{"recurrent", "attention"},
		"attention_window_size": 32},
	"deepseek_v32": sparseLatent, "glm_moe_dsa": sparseLatent,
	"zamba2": {"layers_block_type": []string{"linear_attention", "hybrid"}, "n_mamba_heads": 4, "mamba_d_state": 8,
		"chunk_size": 32, "adapter_rank": 4},
	"deepseek_v4": {"layer_types": []string{"compressed_sparse_attention", "heavily_compressed_attention"},
		"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
		"head_dim": 16, "q_lora_rank": 16, "qk_rope_head_dim": 4, "o_groups": 2, "o_lora_rank": 8, "index_n_heads": 2,
		"index_head_dim": 8, "hc_mult": 2,
		"compress_rates": object{"compressed_sparse_attention": 4, "heavily_compressed_attention": 16}},
	"deberta-v2":  {"type_vocab_size": 0},
	"gpt_bigcode": {"multi_query": true}, "gptj": {"rotary_dim": 4}, "codegen": {"rotary_dim": 4}, "gpt_neo": {},
	"opt": {"do_layer_norm_before": true}, "bloom": {"n_head": 4}, "olmo": {}, "exaone": {}, "internlm2": {"bias": false},
	"mimo":     {"attention_bias": true},
	"baichuan": {}, "chatglm": {"multi_query_attention": true, "multi_query_group_num": 2, "padded_vocab_size": 64},
	"qwen": {"no_bias": true}, "minicpm": {}, "qwen2_5_omni_text": {}, "deepseek": {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 1},
	"qwen3_omni_moe_text": mixed, "umt5": smallT5,
	"cwm": {"sliding_window": 32}, "helium": {}, "hyperclovax": {}, "eurobert": {}, "jais2": {}, "minicpm3": latentAlone,
	"youtu": latentAlone, "granitemoeshared": mixed, "solar_open": mixed, "mellum": mixed, "flex_olmo": mixed,
	"exaone_moe": mixed, "hy_v3": mixed, "vaultgemma": {"head_dim": 16, "sliding_window": 32},
	"gpt-sw3": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512}, "biogpt": {}, "persimmon": {},
	"hunyuan_v1_moe": {"num_experts": 4, "moe_topk": 2},
	"distilbert":     {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
	"lfm2_moe": {"layer_types": []string{"conv", "full_attention"}, "num_experts": 4, "num_experts_per_tok": 2,
		"moe_intermediate_size": 16, "num_dense_layers": 1},
	"t5": smallT5, "mt5": smallT5, "vit": {"image_size": 32, "patch_size": 8},
	"deit":                  {"image_size": 32, "patch_size": 8},
	"dinov2_with_registers": {"image_size": 32, "patch_size": 8, "mlp_ratio": 4, "num_register_tokens": 2},
	"dinov2":                {"image_size": 32, "patch_size": 8, "mlp_ratio": 4},
	"whisper": {"d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 4,
		"decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
		"max_source_positions": 32, "max_target_positions": 64},
	"clip": smallTowers, "siglip": smallTowers,
	"FluxTransformer2DModel": smallDit, "ChromaTransformer2DModel": smallDit, "SD3Transformer2DModel": smallDit,
	"QwenImageTransformer2DModel": smallDit,
	"Flux2Transformer2DModel":     smallDit, "PixArtTransformer2DModel": smallPixArt, "Transformer2DModel": smallPixArt,
	"CogVideoXTransformer3DModel": smallDit, "ZImageTransformer2DModel": smallZ,
	"SanaTransformer2DModel": smallDit, "UNet2DConditionModel": smallUnet, "LTXVideoTransformer3DModel": smallDit,
	"LTX2VideoTransformer3DModel":    smallDit,
	"HunyuanVideoTransformer3DModel": smallDit, "HunyuanVideo15Transformer3DModel": smallDit,
	"WanTransformer3DModel": smallWan, "ChronoEditTransformer3DModel": smallWan,
	"gemma3n_text": {"head_dim": 16, "num_kv_shared_layers": 0, "hidden_size_per_layer_input": 8,
		"vocab_size_per_layer_input": 64, "laurel_rank": 4, "intermediate_size": []int{48, 32}},
	"gemma4_text": {"head_dim": 16, "global_head_dim": 32, "num_kv_shared_layers": 0,
		"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 64,
		"enable_moe_block": true, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 16},
}

// smallConfig returns the config of a family.
func smallConfig(family string) object {
	c := maps.Clone(rotated)
	maps.Copy(c, smallConfigs[family])
	c["model_type"] = family
	return c
}

// oddValues are values of a config.json that result from mistakes or malice.
var oddValues = []any{0, 1, -1, -5, 2, 3, 7, 64, 255, 512, 1024, 1025, 4097, 65536, 1 << 20, 1<<20 + 1, 1 << 26,
	1 << 31, 1 << 40, 1 << 53, 1 << 60, 1 << 62, -1 << 63, 1.5, 1e3, 1e300,
	json.Number("9223372036854775808"), "4", "", true, false, nil, []int{}, []int{0}, object{},
	object{"alibi": false}, []string{"full_attention"}}

// mutant returns a config.json of a family with one to four changes.
func mutant(r *rand.Rand, families []string) object {
	c := smallConfig(families[r.IntN(len(families))])
	for range 1 + r.IntN(4) {
		keys := slices.Sorted(maps.Keys(c))
		key := keys[r.IntN(len(keys))]
		switch n, whole := c[key].(int); r.IntN(6) {
		case 0:
			delete(c, key)
		case 1: // keys of another family
			maps.Copy(c, smallConfigs[families[r.IntN(len(families))]])
		case 2:
			if whole {
				c[key] = n * []int{-1, 2, 3, 16, 1000, 1 << 20}[r.IntN(6)]
			}
		case 3:
			if whole {
				c[key] = n + r.IntN(5) - 2
			}
		default:
			c[key] = oddValues[r.IntN(len(oddValues))]
		}
	}
	return c
}

// oddArgs returns up to three options of a step, most of them possible.
func oddArgs(r *rand.Rand) engine.Args {
	args := engine.Args{"seq": []string{"1", "64", "256"}[r.IntN(3)]}
	for range r.IntN(4) {
		o := &ask.Options[r.IntN(len(ask.Options))]
		value := strconv.Itoa(o.Min + r.IntN(8))
		switch {
		case o.Choices != nil:
			value = o.Choices[r.IntN(len(o.Choices))]
		case r.IntN(8) == 0:
			value = strconv.Itoa([]int{o.Min - 1, o.Max, o.Max + 1, 1 << 10}[r.IntN(4)])
		case o.Name == "gpus":
			value = []string{"2", "4", "8", "64"}[r.IntN(4)]
		}
		args = ask.With(args, o.Name, value)
	}
	return args
}

// These limit what one mutant may take: the calls of a poll, each for a block or an event of the allocator, and
// the bytes that its answer, its plan or its chain allocates, garbage included.
const (
	mostCalls     = 1 << 23
	mostAllocated = 300 << 20
)

// allocated returns the number of bytes that the program has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// spending records the largest allocation by one part of the processing of a mutant.
type spending struct {
	at, most uint64
	of       string
}

// end ends the part called of.
func (p *spending) end(of string) {
	now := allocated()
	if spent := now - p.at; spent > p.most {
		p.most, p.of = spent, of
	}
	p.at = now
}

// answerMutant takes a config.json to the verdict, a part of the plan, the step as a chain, and the chain of the
// opened file, with schedules of both chains. It reports whether the step was answered and whether the file was
// opened.
func answerMutant(t *testing.T, text []byte, args engine.Args, whole bool, spent *spending) (answered, opened bool) {
	spent.at = allocated()
	poll := func(calls int) *engine.Poll { return engine.NewPoll(engine.LimitCalls(t.Context(), calls), nil) }
	solve := func(p *profiles.Profile) {
		for _, name := range []string{"keepall", "rotor"} {
			problem := engine.NewChainProblem(p.Chain, engine.Device{ToHost: 1e10, ToDev: 1e10}, engine.Whole,
				p.Chain.KeepAllPeak())
			sol, err := engine.Lookup(name).Solve(problem, nil, poll(1<<16))
			if (sol == nil) == (err == nil) {
				t.Errorf("%s finds %v and says %v; want exactly one", name, sol, err)
			}
		}
	}
	if p, err := profiles.Decode("config.json", profiles.Bytes(text), nil); err == nil && p.Chain != nil {
		opened = true
		solve(p)
	}
	spent.end("opening it")
	m, err := family.Read(text)
	if err != nil {
		return false, opened
	}
	a, err := llm.New(m.Model, args)
	if err != nil {
		return false, opened
	}
	limit := poll(mostCalls)
	if answer, err := a.Until(limit).Estimate(); err != nil {
		if limit.Err() != nil {
			t.Errorf("the answer takes more than %d calls of its poll", mostCalls)
		}
		return false, opened
	} else if answer.High < answer.Low || answer.Low < 0 || answer.Time < 0 || answer.States < 0 || m.Params() <= 0 {
		t.Errorf("%d to %d bytes, states of %d, %v, %d parameters; want none below 0", answer.Low, answer.High,
			answer.States, answer.Time, m.Params())
	}
	spent.end("the answer")
	calls := 1 << 13
	if whole {
		calls = 1 << 19
	}
	if _, err := a.Plan(poll(calls), func(*llm.Answer) {}); err != nil && !errors.Is(err, poll(0).Err()) {
		t.Errorf("there is an answer, and the plan says %v", err)
	}
	spent.end("the plan")
	if p, err := a.Profile(); err == nil {
		var out bytes.Buffer
		if err := native.Encode(&out, p); err == nil {
			if _, err := profiles.Decode("", profiles.Bytes(out.Bytes()), nil); err != nil {
				t.Errorf("the step is written as a profile that cannot be read: %v", err)
			}
		}
		solve(p)
	}
	spent.end("the chain")
	return true, opened
}

// The small config.json of every family is understood, so that mutants of it test something.
func TestSmallConfigs(t *testing.T) {
	for _, name := range family.Names() {
		if _, known := smallConfigs[name]; !known {
			t.Errorf("%s has no small config; the mutants leave it out", name)
		}
	}
	for name := range smallConfigs {
		answered, opened := answerMutant(t, smallConfig(name).with(nil), engine.Args{"seq": "64"}, false, &spending{})
		if !answered || !opened {
			_, err := family.Read(smallConfig(name).with(nil))
			t.Errorf("%s: answered %v, opened as a chain %v (%v); want both", name, answered, opened, err)
		}
	}
}

// TestSmallConfigsOnRanks checks that the blocks of any family can be distributed over two ranks of a pipeline.
// The last rank may have a head without weights.
func TestSmallConfigsOnRanks(t *testing.T) {
	answered := 0
	for name := range smallConfigs {
		a, _ := answerMutant(t, smallConfig(name).with(nil),
			engine.Args{"seq": "64", "gpus": "2", "pp": "2", "accumulate": "2"}, false, &spending{})
		if a {
			answered++
		}
	}
	if answered < len(smallConfigs)/2 {
		t.Errorf("%d of %d families are answered on two ranks; want half of them at least", answered, len(smallConfigs))
	}
}

// No config.json panics on its way to an answer, or takes more work or memory than the limits above.
// MEMTIDE_LONG=1 tries 100,000 mutants; MEMTIDE_MUTANT=n tries only one.
func TestMutants(t *testing.T) {
	families := slices.Sorted(maps.Keys(smallConfigs))
	first, count := 0, 400
	if os.Getenv("MEMTIDE_LONG") != "" {
		count = 100_000
	}
	if n, err := strconv.Atoi(os.Getenv("MEMTIDE_MUTANT")); err == nil {
		first, count = n, n+1
	}
	var answered, opened int
	var largest uint64
	var large int
	for i := first; i < count; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 17))
		text, args := mutant(r, families).with(nil), oddArgs(r)
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("mutant %d, %s, %v: panic: %v", i, text, args, p)
				}
			}()
			spent := spending{}
			a, o := answerMutant(t, text, args, i%64 == 0, &spent)
			if spent.most > largest {
				largest, large = spent.most, i
			}
			if spent.most > mostAllocated {
				t.Errorf("mutant %d, %s, %v: %s allocates %d MiB; want %d at most", i, text, args, spent.of,
					spent.most>>20, mostAllocated>>20)
			}
			if a {
				answered++
			}
			if o {
				opened++
			}
		}()
		if t.Failed() {
			t.Fatalf("mutant %d: %s, %v", i, text, args)
		}
		if i%10000 == 9999 {
			t.Logf("%d mutants, %d answered, %d opened; most %d MiB (%d)", i+1, answered, opened, largest>>20, large)
		}
	}
	if t.Logf("%d answered, %d opened; most %d MiB (%d)", answered, opened, largest>>20, large); count > first+1 &&
		(answered < count/8 || opened < count/16) {
		t.Errorf("%d of %d are answered, %d opened as a chain; want an eighth and a sixteenth, else the mutants show little", answered, count, opened)
	}
}
