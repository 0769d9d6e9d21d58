package hf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
)

// gpt is a config of GPT-2's family with one layer, whose memtide object is given.
func gpt(h, a int64, choice string) []byte {
	return fmt.Appendf(nil, `{"model_type":"gpt2","n_embd":%d,"n_head":%d,"n_layer":2,"n_positions":4096,"vocab_size":1000,"memtide":{%s}}`, h, a, choice)
}

// layerSaved is what the first layer of a config keeps.
func layerSaved(t *testing.T, data []byte) engine.Bytes {
	t.Helper()
	return formattest.MustDecode(t, "config.json", data).Chain.Stages[1].Saved
}

// TestConfigFormulas checks a layer against the formulas of Korthikanti et al.
// (arXiv:2205.05198, equations 1 and 2), with the statistics of two normalisations,
// which they neglect. The layer's input is kept by the stage before, its output by
// the layer: together they are what the formula counts as one input.
func TestConfigFormulas(t *testing.T) {
	for _, c := range []struct{ s, b, h, a, split int64 }{
		{1024, 1, 1600, 25, 1}, {128, 4, 256, 8, 1}, {2048, 1, 6144, 64, 8}, {2048, 2, 12288, 96, 8}, {512, 3, 1024, 16, 4},
	} {
		choice := fmt.Sprintf(`"batch":%d,"seq":%d,"tp":%d`, c.b, c.s, c.split)
		sbh, statistics := c.s*c.b*c.h, 16*c.b*c.s
		want := 10*sbh + 24*sbh/c.split + 5*c.a*c.s*c.s*c.b/c.split + statistics
		if got := layerSaved(t, gpt(c.h, c.a, choice)); got != engine.Bytes(want) {
			t.Errorf("%+v: a layer keeps %d bytes, want %d", c, got, want)
		}
		// Fused attention: no square of the sequence, 4abs instead.
		fused := want - 5*c.a*c.s*c.s*c.b/c.split + 4*c.a*c.b*c.s/c.split
		if got := layerSaved(t, gpt(c.h, c.a, choice+`,"flash":true`)); got != engine.Bytes(fused) {
			t.Errorf("%+v, fused: a layer keeps %d bytes, want %d", c, got, fused)
		}
	}
}

// TestConfigChoices: what a config does not say can be added, and shows.
func TestConfigChoices(t *testing.T) {
	plain := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128`))
	if n := plain.Source.Notes; !strings.Contains(n[0], `"memtide": {"batch":4, "seq":128, "precision":"bf16", "flash":false, "tp":1, "mfu":40}`) {
		t.Errorf("the notes do not say what was chosen: %q", n[0])
	}
	half := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128,"mfu":20`))
	if got, want := half.Chain.Stages[1].Forward, 2*plain.Chain.Stages[1].Forward; got < want-50 || got > want+50 {
		t.Errorf("at half the share of the peak, a layer takes %v, want %v", got, want)
	}
	fast := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128,"tflops":224`))
	if got, want := 2*fast.Chain.Stages[1].Forward, plain.Chain.Stages[1].Forward; got < want-50 || got > want+50 || fast.Source.Times != profiles.Estimated {
		t.Errorf("with twice the peak, a layer takes %v / 2, want %v; times %s", got, want, fast.Source.Times)
	}
	own := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128,"bytes_per_sbh":34.5`))
	if got, want := own.Chain.Stages[2].Saved, engine.Bytes(345*4*128*256/10); got != want || own.Graph != nil || own.Source.Sizes != profiles.Estimated {
		t.Errorf("with 34.5 bytes a number, a layer keeps %d, want %d, estimated and without a graph", got, want)
	}
	if got := formattest.MustDecode(t, "c", gpt(256, 8, `"precision":"f32"`)).Chain.Resident; got.Optimizer != 2*got.Weights || got.Weights != got.Grads {
		t.Errorf("in 32 bits, resident %+v; want two moments", got)
	}
	typo := formattest.MustDecode(t, "c", gpt(256, 8, `"batchsize":4`))
	if len(typo.Warnings) == 0 || !strings.Contains(typo.Warnings[0], `"batchsize"`) {
		t.Errorf("warnings %q, want one about batchsize", typo.Warnings)
	}
}

// TestConfigFamilies: the parameters of published models, by their model cards.
func TestConfigFamilies(t *testing.T) {
	for _, c := range []struct {
		name, config string
		params       int64 // as the model cards or libraries count them
	}{
		{"GPT-2 small", `"model_type":"gpt2","n_embd":768,"n_layer":12,"n_head":12,"n_positions":1024,"vocab_size":50257`, 124_439_808},
		{"Llama 3 8B", `"model_type":"llama","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":128256`, 8_030_261_248},
		{"Mistral 7B", `"model_type":"mistral","hidden_size":4096,"intermediate_size":14336,"num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":32000`, 7_241_732_096},
		{"Qwen2 7B", `"model_type":"qwen2","hidden_size":3584,"intermediate_size":18944,"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"vocab_size":152064`, 7_615_616_512},
		{"Qwen3 8B", `"model_type":"qwen3","hidden_size":4096,"intermediate_size":12288,"num_hidden_layers":36,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"vocab_size":151936,"tie_word_embeddings":false`, 8_190_735_360},
		{"Gemma 2B", `"model_type":"gemma","hidden_size":2048,"intermediate_size":16384,"num_hidden_layers":18,"num_attention_heads":8,"num_key_value_heads":1,"head_dim":256,"vocab_size":256000`, 2_506_172_416},
		{"BERT base, masked words", `"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":512,"type_vocab_size":2,"vocab_size":30522`, 109_514_298},
		{"RoBERTa base, masked words", `"model_type":"roberta","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":514,"type_vocab_size":1,"vocab_size":50265`, 124_697_433},
	} {
		p := formattest.MustDecode(t, c.name, []byte("{"+c.config+"}"))
		if got := int64(p.Chain.Resident.Weights / 2); got != c.params {
			t.Errorf("%s has %d parameters, want %d", c.name, got, c.params)
		}
		if len(p.Warnings) > 0 {
			t.Errorf("%s: warnings %q, want none", c.name, p.Warnings)
		}
		formattest.CompareWithWeights(t, p)
	}
}

// TestConfigRefusals: what is wrong is said, with a remedy.
func TestConfigRefusals(t *testing.T) {
	const rest = `"num_attention_heads":4,"vocab_size":100`
	for _, c := range []struct{ input, want string }{
		{`{"model_type":"resnet"}`, "num_hidden_layers is missing or 0."},
		{`{"model_type":"resnet","hidden_sizes":[256,512],"depths":[3,4]}`, "This is the config of a network for images."},
		{`{"model_type":"vit","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"image_size":224,"patch_size":16}`, "This is the config of a network for images."},
		{`{"model_type":"whisper","d_model":512,"encoder_layers":6,"decoder_layers":6,"vocab_size":51865,"num_mel_bins":80}`, "This is the config of a network for speech."},
		{`{"model_type":"llama","hidden_size":10,"num_hidden_layers":2,` + rest + `}`, "A width of 10 does not divide among 4 heads."},
		{`{"model_type":"llama","hidden_size":-8,"num_hidden_layers":2,` + rest + `}`, "hidden_size is -8. Sizes of a network cannot be negative."},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":301,` + rest + `}`, "There are 301 layers."},
		{`{"model_type":"mixtral","num_local_experts":8,"hidden_size":8,"num_hidden_layers":2,` + rest + `}`, "The layers of this network choose among experts."},
		{`{"model_type":"falcon","hidden_size":8,"num_hidden_layers":2,` + rest + `}`, "The blocks of Falcon share one head of keys and values and one normalisation."},
		{`{"model_type":"mllama","vision_config":{},"hidden_size":8,"num_hidden_layers":2,` + rest + `}`, "This network has a tower for pictures, its vision_config."},
		{`{"model_type":"t5","is_encoder_decoder":true,"d_model":8,"num_layers":2,` + rest + `}`, "This network has an encoder and a decoder."},
		{`{"model_type":"bert","hidden_size":8,"num_hidden_layers":2,"max_position_embeddings":16,"memtide":{"seq":32},` + rest + `}`, "The sequence length is 32. This network learns 16 positions."},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"tp":3},` + rest + `}`, "4 heads cannot be split over 3 devices."},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"mfu":400},` + rest + `}`, "mfu is 400 %."},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"precision":"int4"},` + rest + `}`, `memtide.precision: precision is "int4".`},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"batch":0},` + rest + `}`, `memtide.batch: batch is 0.`},
		{`{"model_type":"llama","hidden_size":1048576,"num_hidden_layers":300,"memtide":{"seq":67108864,"batch":256},"head_dim":256,"intermediate_size":1024,"intermediate_size":1024,` + rest + `}`, "A layer would keep more than 2^53 bytes."},
	} {
		_, err := profiles.Decode("config.json", profiles.Bytes(c.input), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Decode(%s) = %v, want %s", c.input, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestConfigUnknownFamily: enough sizes are a decoder, with a warning.
func TestConfigUnknownFamily(t *testing.T) {
	p := formattest.MustDecode(t, "c", []byte(`{"model_type":"newest","rms_norm_eps":1e-6,"hidden_size":512,"num_hidden_layers":4,"num_attention_heads":8,"vocab_size":1000}`))
	if len(p.Warnings) == 0 || !strings.Contains(p.Warnings[0], `"newest", which is not known: the sizes are read as those of a decoder like Llama`) {
		t.Errorf("warnings %q, want one about newest", p.Warnings)
	}
}

// FuzzHFConfig mutates configs: sizes that do not fit together, families, choices.
func FuzzHFConfig(f *testing.F) {
	keys := slices.Concat(hidden, layers, hfHeads, hfWide, positions, experts, []string{"model_type", "vocab_size", "head_dim", "num_key_value_heads", "text_config", "memtide", "batch", "seq",
		"precision", "flash", "tp", "mfu", "tflops", "bytes_per_sbh", "hidden_act", "rms_norm_eps", "attn_pdrop", "type_vocab_size", "tie_word_embeddings", "is_encoder_decoder", "_name_or_path"})
	texts := []string{"gpt2", "llama", "qwen3", "bert", "roberta", "f32", "f16", "bf16", "silu", "other", "../x"}
	formattest.FuzzSamples(f, []string{"gpt.config.json", "qwen.config.json"}, func(sample []byte, s *formattest.Script) []byte {
		return formattest.MutateJSON(sample, s, keys, texts)
	})
}
