package family_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
)

// TestLookup checks that known models have the parameters of the published ones, according to their model cards and
// the sizes of their files, without buffers and without the parts for several tokens at once. The hub's counts of
// GLM-4.5 and 5 and of Qwen3.5 are these and such a part, to the digit, those of Ministral 3 8B and 14B and of
// Devstral Small 2 these and the scales of 8 bits. Chroma, Flux.2 klein, Wan 2.1 I2V, DeepSeek-V3.2, Granite 4.0 H
// tiny and Nemotron 3 Nano 4B are as their classes build them.
func TestLookup(t *testing.T) {
	want := map[string]int64{
		"cogvideox-2b": 1_693_783_872, "cogvideox-5b": 5_570_283_072, "flux1-dev": 11_901_408_320,
		"flux1-schnell": 11_891_178_560, "flux2-dev": 32_223_281_152, "hunyuanvideo": 12_821_012_544,
		"hunyuanvideo-1.5": 8_326_608_160, "ltx-2": 18_876_174_592, "ltx-2.3": 18_988_838_144,
		"cogvideox-1.5-5b": 5_570_676_352, "cogvideox-1.5-5b-i2v": 5_571_594_880,
		"ltx-video-2b": 1_923_385_472, "pixart-sigma": 610_856_096, "qwen-image": 20_430_401_088,
		"qwen-image-edit-2511": 20_430_401_088,
		"sana-1.6b":            1_604_462_752, "sd-1.5": 859_520_964, "sd-3.5-large": 8_056_627_520,
		"sd-3.5-medium": 2_243_171_520, "sdxl-base-1.0": 2_567_463_684, "wan2.1-1.3b": 1_418_996_800,
		"wan2.1-14b": 14_288_491_584, "wan2.2-5b": 4_999_787_712, "z-image": 6_154_908_736,
		"deepseek-v2-lite": 15_706_484_224, "gemma2-2b": 2_614_341_888, "gemma2-9b": 9_241_705_984,
		"gemma2-27b": 27_227_128_320, "gemma3-270m": 268_098_176, "gemma3-1b": 999_885_952,
		"gemma3-4b": 4_300_079_472, "gemma3-12b": 12_187_325_040, "gemma3-27b": 27_432_406_640,
		"glm4-9b": 9_400_279_040, "glm4.5-air": 106_852_245_504, "gpt-oss-20b": 20_914_757_184,
		"gpt-oss-120b": 116_829_156_672, "granite3.1-8b": 8_170_848_256, "kimi-k2": 1_026_408_209_408,
		"llama4-scout": 108_641_793_536, "mistral-nemo-12b": 12_247_782_400, "mistral-small-24b": 23_572_403_200,
		"nemotron3-nano-30b-a3b": 31_577_937_344, "olmo2-7b": 7_298_617_344, "olmo2-13b": 13_716_198_400,
		"phi-3-mini": 3_821_079_552, "phi-4-mini": 3_836_021_760, "phi-4": 14_659_507_200,
		"qwen2.5-vl-3b": 3_754_622_976, "qwen2.5-vl-7b": 8_292_166_656, "qwen3-vl-4b": 4_437_815_808,
		"qwen3-vl-8b": 8_767_123_696, "qwen3-next-80b-a3b": 79_674_391_296, "qwen3.5-35b-a3b": 35_107_181_936,
		"smollm3-3b": 3_075_098_624,
		"chroma":     8_899_983_424, "flux2-klein-4b": 3_875_544_576, "flux2-klein-9b": 9_078_581_248,
		"wan2.1-i2v-14b": 16_394_878_784, "wan2.2-i2v-a14b": 14_288_901_184, "deepseek-v3.2": 671_877_929_216,
		"devstral-small-2-24b": 24_011_361_280, "gemma4-e2b": 5_104_297_504, "gemma4-e4b": 7_941_100_832,
		"gemma4-26b-a4b": 25_805_933_872, "gemma4-31b": 31_273_086_512, "glm4.5": 352_797_814_784,
		"glm4.7-flash": 29_943_390_976, "glm5": 743_911_199_232, "granite3.3-8b": 8_170_864_640,
		"granite4-micro": 3_402_836_480, "granite4-h-tiny": 6_939_037_248, "lfm2-1.2b": 1_170_340_608,
		"lfm2-8b-a1b": 8_339_929_856, "llama4-maverick": 401_583_781_376, "minimax-m2.5": 228_689_748_992,
		"ministral3-3b": 3_849_090_048, "ministral3-8b": 8_918_026_240, "ministral3-14b": 13_945_031_680,
		"mistral-small-3.1-24b": 24_011_361_280, "nemotron3-nano-4b": 3_973_556_832, "olmo3-7b": 7_298_011_136,
		"olmo3-32b": 32_233_522_176, "qwen2-vl-7b": 8_291_375_616, "qwen2.5-vl-32b": 33_452_718_336,
		"qwen3-coder-480b-a35b": 480_154_875_392, "qwen3-vl-2b": 2_127_532_032, "qwen3-vl-32b": 33_357_390_064,
		"qwen3-vl-30b-a3b": 31_070_754_032, "qwen3-vl-235b-a22b": 235_670_022_896, "qwen3.5-0.8b": 852_985_920,
		"qwen3.5-2b": 2_213_241_664, "qwen3.5-4b": 4_539_265_536, "qwen3.5-9b": 9_409_813_744,
		"qwen3.5-27b": 27_356_728_560, "qwen3.5-122b-a10b": 122_562_817_776, "qwen3.5-397b-a17b": 396_802_360_816,
		"seed-oss-36b": 36_151_104_512, "smolvlm2-2.2b": 2_246_784_880,
	}
	for _, known := range slices.Concat(ask.Diffusers, ask.Others) {
		name := known.ID
		m := family.Lookup(name)
		if m == nil || m.Params() != want[name] || m.Name != name || (m.Latents != nil) != ask.Pictures(name) {
			t.Errorf("%s is %v; want %d parameters, and latents only of a model of pictures", name, m, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("no model of the lists is %v", want)
	}
	for _, name := range []string{"wan9", "#"} {
		if m := family.Lookup(name); m != nil {
			t.Errorf("%s is %v; want none", name, m)
		}
	}
	if m := family.Lookup("GPT-OSS-20B"); m == nil || m != nil && m.Name != "gpt-oss-20b" {
		t.Errorf("GPT-OSS-20B is %v; want gpt-oss-20b", m)
	}
}

// TestDual checks what the second attention of a block of Stable Diffusion 3.5 Medium keeps, of n latents of width h in
// heads of width d: the scaled norm, values, queries and keys with what their norms keep, attention's result and
// statistics, which lies as the product reads it, the product's result, and three more vectors of scales.
func TestDual(t *testing.T) {
	const n, h, d = 1024, 1536, 64
	a, err := llm.New(family.Lookup("sd-3.5-medium"), engine.Args{"height": "512"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := a.Setup.Kept()
	norm := 4*n*h + 4*n*h/d + 2*n*h + 2*n*h // widened, its statistics, its input and its result before the weight
	want := int64(6*2*n*h + 2*norm + 4*n*h/d + 2*h + 3*2*h)
	if err != nil || len(kept.Blocks) != 4 || kept.Blocks[1][1]-kept.Blocks[2][1] != want {
		t.Errorf("blocks keep %v (%v); want those that attend twice to keep %d more", kept.Blocks, err, want)
	}
}

// TestNothingStays checks that at the optimizer's step nothing of a batch is left: with adapters on checkpointed blocks
// twice the sequences allocate the same there. An ordinary run tries every third model, one with MEMTIDE_LONG=1 all.
func TestNothingStays(t *testing.T) {
	for i, known := range slices.Concat(ask.Diffusers, ask.Others) {
		if i%3 != 0 && os.Getenv("MEMTIDE_LONG") == "" {
			continue
		}
		var left []engine.Bytes
		for _, batch := range []string{"1", "2"} {
			args := engine.Args{"batch": batch, "lora": "8", "ckpt": "full", "seq": "256"}
			if ask.Pictures(known.ID) {
				args = engine.Args{"batch": batch, "lora": "8", "ckpt": "full", "height": "512"}
			}
			a, err := llm.New(family.Lookup(known.ID), args)
			if err != nil {
				t.Fatalf("%s: %v", known.ID, err)
			}
			r, err := a.Estimate()
			if err != nil {
				t.Fatalf("%s: %v", known.ID, err)
			}
			left = append(left, r.Result.Phases[llm.Step])
		}
		if left[0] != left[1] {
			t.Errorf("%s: the optimizer's step has %d bytes after one sequence, %d after two", known.ID, left[0], left[1])
		}
	}
}

// TestPrompt checks published runs of TRL's GRPO: the tokens of the prompt have no logits, and a completion has one more
// than tokens. QLoRA of rank 8 with eight completions beside prompts of about 11 tokens [jsboige/CoursIA: pull requests
// 15634, 15640 and 15643 by TRL 1.12, 17366 by TRL 1.9.2; of those of 14B, vram_probe_results_2026-10-06_9b14b_4090.jsonl,
// the version is not told].
func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		model, loss string
		completion  int
		want        float64
	}{
		{"qwen3-8b", "auto", 96, 7.406}, {"qwen3-4b", "auto", 96, 4.096}, {"qwen3-1.7b", "auto", 96, 2.744},
		{"qwen3-8b", "divided", 96, 7.850}, {"qwen3-8b", "divided", 160, 9.155}, {"qwen3-8b", "divided", 224, 10.465},
		{"qwen3-8b", "divided", 288, 11.773}, {"qwen3-14b", "divided", 96, 11.638},
		{"qwen3-14b", "divided", 160, 13.001}, {"qwen3-14b", "divided", 288, 15.73},
	} {
		args := engine.Args{"batch": "8", "accumulate": "4", "seq": strconv.Itoa(11 + c.completion), "prompt": "10",
			"lora": "8", "adapters": "bf16", "adapter-dropout": "yes", "base": "nf4-double", "ckpt": "full",
			"attention": "sdpa", "device": "rtx-4090", "loss": c.loss}
		a, err := llm.New(family.Lookup(c.model), args)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(r.Allocated) / float64(engine.GiB); got < c.want*0.995 || got > c.want*1.005 {
			t.Errorf("%s, %d tokens, loss %s: %.3f GiB allocated; published %.3f", c.model, c.completion, c.loss, got,
				c.want)
		}
	}
}

// TestFusedSoftmax checks that Megatron's attention without a kernel keeps 2 bytes of each score, its softmax, where
// Transformers' keeps 6.
func TestFusedSoftmax(t *testing.T) {
	for program, want := range map[string]float64{"megatron": 2, "hf": 6} {
		var kept [2]int64
		for i, attention := range []string{"eager", "flash"} {
			a, err := llm.New(family.Lookup("llama3.2-1b"), engine.Args{"program": program, "attention": attention})
			if err != nil {
				t.Fatal(err)
			}
			k, err := a.Setup.Kept()
			if err != nil {
				t.Fatal(err)
			}
			kept[i] = k.Blocks[len(k.Blocks)-1][1]
		}
		scores := 32. * 8192 * 8192
		if got := float64(kept[0]-kept[1]) / scores; got < want*0.98 || got > want*1.02 {
			t.Errorf("%s: %.2f bytes of a score; want %g", program, got, want)
		}
	}
}

// TestGemma2UnderLitgpt checks that litgpt's Gemma 2 writes attention out whatever its kernel is, and keeps 8 bytes of
// each score (a tanh, the softmax in 4 bytes, its narrow copy) and a tanh of each logit, and that VaultGemma, which
// litgpt does not have, is refused.
func TestGemma2UnderLitgpt(t *testing.T) {
	const seq, heads, words, uncapped = 4096, 4, 8192, `,"attn_logit_softcapping":0,"final_logit_softcapping":0}`
	config := func(kind, more string) *llm.Model {
		read, err := family.Read([]byte(`{"model_type":"` + kind + `","hidden_size":512,"head_dim":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":2048,"vocab_size":8192` + more))
		if err != nil {
			t.Fatal(err)
		}
		return read.Model
	}
	kept := func(m *llm.Model) llm.Kept {
		a, err := llm.New(m, engine.Args{"program": "litgpt", "seq": "4096", "attention": "sdpa"})
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	with, without := kept(config("gemma2", "}")), kept(config("gemma2", uncapped))
	got := float64(with.Blocks[0][1]-without.Blocks[0][1]) / (seq * seq * heads)
	if got < 7.8 || got > 8 {
		t.Errorf("%.2f bytes of a score; want 8 less what a kernel keeps", got)
	}
	if got := with.Outside - without.Outside; got != 2*seq*words {
		t.Errorf("%d bytes more outside the blocks; want 2 for each logit, %d", got, 2*seq*words)
	}
	a, err := llm.New(config("vaultgemma", "}"), engine.Args{"program": "litgpt"})
	if err == nil {
		_, err = a.Estimate()
	}
	if err == nil {
		t.Error("VaultGemma is answered; want a refusal")
	}
}

// TestRowsUnderTorchtitan checks what a row of an expert keeps under torchtitan: 6 bytes of each number of the stream,
// since it is weighted in fp32, before the experts of Llama 4 and behind those of others, 8 of each number of the net,
// its score and its place. Compiled blocks weight narrow rows, and those of Llama 4 are refused.
func TestRowsUnderTorchtitan(t *testing.T) {
	const seq, hidden, wide = 1024, 512, 256
	kept := func(kind, top, compile string) int64 {
		read, err := family.Read([]byte(`{"model_type":"` + kind + `","hidden_size":512,"head_dim":128,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":256,"moe_intermediate_size":256,"num_experts":8,"num_experts_per_tok":` + top + `,"vocab_size":8192}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := llm.New(read.Model, engine.Args{"program": "torchtitan", "seq": "1024", "compile": compile})
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			return 0
		}
		if kind == "llama4_text" && len(k.Blocks) != 1 {
			t.Errorf("%s: blocks keep %v; want the same of each", kind, k.Blocks)
		}
		return k.Blocks[len(k.Blocks)-1][1]
	}
	for kind, want := range map[string]int64{"llama4_text": 6*hidden + 8*wide + 12, "qwen3_moe": 6*hidden + 8*wide + 12} {
		if got := (kept(kind, "3", "no") - kept(kind, "2", "no")) / seq; got != want {
			t.Errorf("%s: a row keeps %d bytes, want %d", kind, got, want)
		}
	}
	if got, want := (kept("qwen3_moe", "3", "yes")-kept("qwen3_moe", "2", "yes"))/seq, int64(4*hidden+6*wide+12); got != want {
		t.Errorf("compiled: a row keeps %d bytes, want %d", got, want)
	}
	if kept("llama4_text", "1", "yes") != 0 {
		t.Error("compiled blocks of Llama 4 are answered; want a refusal")
	}
}
