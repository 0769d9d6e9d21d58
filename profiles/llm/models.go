package llm

import (
	"slices"
	"strings"
)

// The sizes of the families below come from the config.json files of their authors.

func llama(name string, layers, h, heads, keys, wide, words int64, tied bool) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: words, Tied: tied,
		Block: Block{Heads: heads, Keys: keys, Head: h / heads, Wide: wide, Gated: true}}
}

func qwen3(name string, layers, h, heads, keys, wide int64, tied bool) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 151936, Tied: tied,
		Block: Block{Heads: heads, Keys: keys, Head: 128, Wide: wide, Gated: true, QKNorm: true}}
}

func qwen2(name string, layers, h, heads, keys, wide, words int64, tied bool) *Model {
	m := llama(name, layers, h, heads, keys, wide, words, tied)
	m.QKVBias = true
	return m
}

// mpt returns a configuration of LLM-foundry: no biases, a tied head, and 2048 learned positions where attention
// has no slopes.
func mpt(name string, layers, h, heads int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 50368, Tied: true,
		Block: Block{Heads: heads, Keys: heads, Head: h / heads, Wide: 4 * h, Layer: true, NoBias: true}}
}

func gpt2(name string, layers, h, heads int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 50257, Tied: true, Positions: 1024,
		Block: Block{Heads: heads, Keys: heads, Head: h / heads, Wide: 4 * h, Layer: true, Bias: true, Joined: true,
			Act: ActNew, Narrow: true, Dropout: true, DropAttn: true, NoIDs: true},
		Dropped: true, OwnIDs: true}
}

// bert returns a model that looks both ways, normalises its sums and guesses masked words. The prediction of the
// next sentence is left out.
func bert(name string, layers, h, heads int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 30522, Tied: true, Positions: 512, Types: 2,
		Block: Block{Heads: heads, Keys: heads, Head: h / heads, Wide: 4 * h, Layer: true, Bias: true, Both: true,
			Around: AroundSum,
			Act:    ActKernel, Narrow: true, Dropout: true, DropAttn: true, NoIDs: true},
		Dropped: true, FirstNorm: true, Masked: true, HeadBias: true, Written: true, Family: "BERT"}
}

func phi(name string, layers, h, wide int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 51200, HeadBias: true,
		Block: Block{Heads: 32, Keys: 32, Head: h / 32, Wide: wide, Layer: true, Bias: true, Parallel: true,
			OneNorm: true}}
}

// neox returns a GPT-NeoX network: StableLM-alpha or Pythia.
func neox(name string, layers, h, heads, words int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: words,
		Block: Block{Heads: heads, Keys: heads, Head: h / heads, Wide: 4 * h, Layer: true, Bias: true, Parallel: true}}
}

// gemma returns a model with a head width of its own, a tied head and RMS norms.
func gemma(name string, layers, h, heads, keys, wide int64) *Model {
	m := llama(name, layers, h, heads, keys, wide, 256000, true)
	m.Head, m.Form = 256, FormPlus
	return m
}

// falcon returns a model that has two norms where heads are in groups.
func falcon(name string, layers, h, heads, keys int64) *Model {
	return &Model{Name: name, Layers: layers, Hidden: h, Words: 65024, Tied: true,
		Block: Block{Heads: heads, Keys: keys, Head: 64, Wide: 4 * h, Layer: true, Parallel: true, OneNorm: keys == 1}}
}

func qwen3moe(name string, layers, h, heads, wide int64) *Model {
	m := qwen3(name, layers, h, heads, 4, 0, false)
	m.MoE = &MoE{Experts: 128, TopK: 8, Wide: wide}
	return m
}

func mixtral(name string, layers, h, heads, wide, words int64) *Model {
	m := llama(name, layers, h, heads, 8, wide, words, false)
	m.MoE = &MoE{Experts: 8, TopK: 2, Wide: wide}
	return m
}

// small16 returns a 16-billion network of DeepSeek's design: 64 experts of width 1408, two of them shared, six
// chosen, and queries that are not compressed.
func small16(name string, wide, words int64) *Model {
	m := llama(name, 27, 2048, 16, 16, wide, words, false)
	m.MLA = &MLA{KVRank: 512, Nope: 128, Rope: 64, Value: 128}
	m.MoE = &MoE{Experts: 64, TopK: 6, Wide: 1408, Shared: 2816, Dense: 1}
	return m
}

func deepseekV3(name string) *Model {
	m := llama(name, 61, 7168, 128, 128, 18432, 129280, false)
	m.MLA = &MLA{QRank: 1536, KVRank: 512, Nope: 128, Rope: 64, Value: 128}
	m.MoE = &MoE{Experts: 256, TopK: 8, Wide: 2048, Shared: 2048, Dense: 3}
	return m
}

var models = []*Model{
	llama("llama2-7b", 32, 4096, 32, 32, 11008, 32000, false),
	llama("llama2-13b", 40, 5120, 40, 40, 13824, 32000, false),
	llama("llama2-70b", 80, 8192, 64, 8, 28672, 32000, false),
	llama("llama3-8b", 32, 4096, 32, 8, 14336, 128256, false),
	llama("llama3-70b", 80, 8192, 64, 8, 28672, 128256, false),
	llama("llama3.1-405b", 126, 16384, 128, 8, 53248, 128256, false),
	llama("llama3.2-1b", 16, 2048, 32, 8, 8192, 128256, true),
	llama("llama3.2-3b", 28, 3072, 24, 8, 8192, 128256, true),
	llama("codellama-34b", 48, 8192, 64, 8, 22016, 32000, false),
	llama("tinyllama", 22, 2048, 32, 4, 5632, 32000, false),
	llama("mistral-7b", 32, 4096, 32, 8, 14336, 32000, false),
	llama("smollm2-1.7b", 24, 2048, 32, 32, 8192, 49152, true),
	qwen2("qwen2.5-0.5b", 24, 896, 14, 2, 4864, 151936, true),
	qwen2("qwen2.5-1.5b", 28, 1536, 12, 2, 8960, 151936, true),
	qwen2("qwen2.5-3b", 36, 2048, 16, 2, 11008, 151936, true),
	qwen2("qwen2.5-7b", 28, 3584, 28, 4, 18944, 152064, false),
	qwen2("qwen2.5-14b", 48, 5120, 40, 8, 13824, 152064, false),
	qwen2("qwen2.5-32b", 64, 5120, 40, 8, 27648, 152064, false),
	qwen2("qwen2.5-72b", 80, 8192, 64, 8, 29568, 152064, false),
	qwen3("qwen3-0.6b", 28, 1024, 16, 8, 3072, true),
	qwen3("qwen3-1.7b", 28, 2048, 16, 8, 6144, true),
	qwen3("qwen3-4b", 36, 2560, 32, 8, 9728, true),
	qwen3("qwen3-8b", 36, 4096, 32, 8, 12288, false),
	qwen3("qwen3-14b", 40, 5120, 40, 8, 17408, false),
	qwen3("qwen3-32b", 64, 5120, 64, 8, 25600, false),
	qwen3moe("qwen3-30b-a3b", 48, 2048, 32, 768),
	qwen3moe("qwen3-235b-a22b", 94, 4096, 64, 1536),
	mixtral("mixtral-8x7b", 32, 4096, 32, 14336, 32000),
	mixtral("mixtral-8x22b", 56, 6144, 48, 16384, 32768),
	gemma("gemma-2b", 18, 2048, 8, 1, 16384),
	gemma("gemma-7b", 28, 3072, 16, 16, 24576),
	gpt2("gpt2", 12, 768, 12),
	gpt2("gpt2-medium", 24, 1024, 16),
	gpt2("gpt2-large", 36, 1280, 20),
	gpt2("gpt2-xl", 48, 1600, 25),
	bert("bert-base", 12, 768, 12),
	bert("bert-large", 24, 1024, 16),
	phi("phi-1.5", 24, 2048, 8192),
	phi("phi-2", 32, 2560, 10240),
	// litgpt pads the words of StableLM-alpha and Pythia to a multiple of 512 and 128.
	neox("stablelm-3b", 16, 4096, 32, 50688),
	neox("stablelm-7b", 16, 6144, 48, 50432),
	neox("pythia-1b", 16, 2048, 8, 50304),
	neox("pythia-6.9b", 32, 4096, 32, 50432),
	falcon("falcon-7b", 32, 4544, 71, 1),
	falcon("falcon-40b", 60, 8192, 128, 8),
	mpt("mpt-125m", 12, 768, 12),
	mpt("mpt-350m", 24, 1024, 16),
	mpt("mpt-760m", 24, 1536, 12),
	mpt("mpt-1b", 24, 2048, 16),
	mpt("mpt-3b", 32, 2560, 20),
	mpt("mpt-7b", 32, 4096, 32),
	mpt("mpt-13b", 40, 5120, 40),
	mpt("mpt-30b", 48, 7168, 56),
	mpt("mpt-70b", 64, 8192, 64),
	small16("deepseek-v3-16b", 10944, 102400),
	small16("moonlight-16b", 11264, 163840),
	deepseekV3("deepseek-v3-671b"),
}

// aliases are other names of models with the same architecture.
var aliases = map[string]string{
	"llama3.1-8b": "llama3-8b", "llama-3-8b": "llama3-8b", "llama3.1-70b": "llama3-70b", "llama3.3-70b": "llama3-70b",
	"llama3-405b": "llama3.1-405b", "deepseek-v3": "deepseek-v3-671b", "llama2-7b-chat": "llama2-7b",
	"qwen2-7b": "qwen2.5-7b", "llama3-1b": "llama3.2-1b", "llama3-3b": "llama3.2-3b", "tinyllama-1.1b": "tinyllama",
	"smollm2": "smollm2-1.7b", "gpt2-small": "gpt2",
}

// Lookup returns the model with the name, in any case, or nil if it is not known. The model is shared and must
// not be changed.
func Lookup(name string) *Model {
	name = strings.ToLower(name)
	if to, ok := aliases[name]; ok {
		name = to
	}
	if i := slices.IndexFunc(models, func(m *Model) bool { return m.Name == name }); i >= 0 {
		return models[i]
	}
	return nil
}
