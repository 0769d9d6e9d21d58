package hf

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/formats/formattest"
	"memtide/profiles/llm"
	"memtide/profiles/llm/family"
)

// gpt returns a config of GPT-2's family with two layers, width h and a heads. choice is the content of its
// memtide object.
func gpt(h, a int64, choice string) []byte {
	return fmt.Appendf(nil, `{"model_type":"gpt2","n_embd":%d,"n_head":%d,"n_layer":2,"n_positions":4096,"vocab_size":1000,"memtide":{%s}}`, h, a, choice)
}

// layerSaved returns the bytes that the first layer of a config keeps.
func layerSaved(t *testing.T, data []byte) engine.Bytes {
	t.Helper()
	return blocks(formattest.MustDecode(t, "config.json", data))[0].Saved
}

// blocks returns the stages of a chain that are blocks.
func blocks(p *profiles.Profile) (out []engine.Stage) {
	for _, s := range p.Chain.Stages {
		if s.Kind == "block" {
			out = append(out, s)
		}
	}
	return out
}

// TestConfigPlayed checks that a block keeps what a block of memtide plan's training step keeps.
func TestConfigPlayed(t *testing.T) {
	for _, attention := range []string{"flash", "eager"} {
		text := gpt(256, 8, fmt.Sprintf(`"batch":2,"seq":128,"attention":%q`, attention))
		m, err := family.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		s := llm.Setup{Model: m.Model, Work: llm.Work{Batch: 2, Seq: 128}}
		llm.FindProgram("hf").Apply(&s)
		s.Attention = llm.AttentionKind(attention)
		kept, err := s.Kept()
		if err != nil {
			t.Fatal(err)
		}
		// The chain counts the input with the stage that makes it, and counts the output here.
		if got, want := layerSaved(t, text), engine.Bytes(kept.Blocks[0][1]); got != want {
			t.Errorf("%s: a layer keeps %d bytes, want %d", attention, got, want)
		}
	}
}

// TestConfigChoices checks the effects of options that are added to a config.
func TestConfigChoices(t *testing.T) {
	plain := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128`))
	if n := plain.Source.Notes; !strings.Contains(n[0], `4 sequences of 128 tokens`) ||
		!strings.Contains(n[0], `"memtide": {"seq": 128}`) || plain.Batch != 4 {
		t.Errorf("batch %d; the notes do not say what was chosen: %q", plain.Batch, n[0])
	}
	slow := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128,"device":"rtx-4090","compile":false`))
	if got, least := blocks(slow)[0].Forward, blocks(plain)[0].Forward; got <= least ||
		slow.Source.Device != "RTX 4090" {
		t.Errorf("on %s, a layer takes %v, want more than %v", slow.Source.Device, got, least)
	}
	narrow := formattest.MustDecode(t, "c", gpt(256, 8, `"states":"bf16"`)).Chain.Resident
	if wide := plain.Chain.Resident; 2*narrow.Weights != wide.Weights || 2*narrow.Optimizer != wide.Optimizer {
		t.Errorf("in 16 bits, resident %+v; want half of %+v", narrow, wide)
	}
	kept := formattest.MustDecode(t, "c", gpt(256, 8, `"batch":4,"seq":128,"ckpt":"full"`))
	if len(kept.Warnings) == 0 || kept.Step["ckpt"] != "" || blocks(kept)[0].Saved != blocks(plain)[0].Saved {
		t.Errorf("full checkpointing: options %v, warnings %q; want those without it, and a warning", kept.Step,
			kept.Warnings)
	}
	typo := formattest.MustDecode(t, "c", gpt(256, 8, `"batchsize":4`))
	if len(typo.Warnings) == 0 || !strings.Contains(typo.Warnings[0], `"batchsize"`) {
		t.Errorf("warnings %q, want one about batchsize", typo.Warnings)
	}
}

// TestConfigFamilies checks the number of parameters of published models.
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
		{"BERT base, masked words",
			`"model_type":"bert","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":512,"type_vocab_size":2,"vocab_size":30522`, 109_514_298},
		{"RoBERTa base, masked words",
			`"model_type":"roberta","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"intermediate_size":3072,"max_position_embeddings":514,"type_vocab_size":1,"vocab_size":50265`, 124_697_433},
	} {
		p := formattest.MustDecode(t, c.name, []byte("{"+c.config+"}"))
		if got := int64(p.Chain.Resident.Weights / 4); got != c.params {
			t.Errorf("%s has %d parameters, want %d", c.name, got, c.params)
		}
		if len(p.Warnings) > 0 {
			t.Errorf("%s: warnings %q, want none", c.name, p.Warnings)
		}
	}
}

// TestConfigRefusals checks the errors for invalid configs.
func TestConfigRefusals(t *testing.T) {
	const rest = `"num_attention_heads":4,"vocab_size":100`
	for _, c := range []struct{ input, want string }{
		{`{"model_type":"resnet"}`, `model_type "resnet" is not understood.`},
		{`{"model_type":"resnet","hidden_sizes":[256,512],"depths":[3,4]}`, "model_type"},
		{`{"model_type":"swin","hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,"image_size":224,"patch_size":16}`, "model_type"},
		{`{"model_type":"wav2vec2","d_model":512,"encoder_layers":6,"decoder_layers":6,"vocab_size":51865,"num_mel_bins":80}`, "model_type"},
		{`{"model_type":"llama","hidden_size":10,"num_hidden_layers":2,` + rest + `}`,
			"hidden_size is 10, which does not divide among the 4 of num_attention_heads."},
		{`{"model_type":"llama","hidden_size":-8,"num_hidden_layers":2,` + rest + `}`,
			"hidden_size is -8. A number of 0 to 1048576 is expected."},
		{`{"model_type":"mixtral","num_local_experts":8,"hidden_size":8,"num_hidden_layers":2,` + rest + `}`,
			"num_experts_per_tok is missing or 0."},
		{`{"model_type":"mllama","vision_config":{},"hidden_size":8,"num_hidden_layers":2,` + rest + `}`, "model_type"},
		{`{"model_type":"bart","is_encoder_decoder":true,"d_model":8,"num_layers":2,` + rest + `}`,
			`model_type "bart"`},
		{`{"_class_name":"AuraFlowTransformer2DModel","num_layers":2}`, `_class_name "AuraFlowTransformer2DModel"`},
		{`{"model_type":"t5","is_encoder_decoder":true,"d_model":8,"num_layers":2,"num_heads":0,` + rest + `}`,
			"num_heads is missing"},
		{`{"model_type":"bert","hidden_size":8,"num_hidden_layers":2,"max_position_embeddings":16,"memtide":{"seq":32},` + rest + `}`, "The sequence length is 32. This network learns 16 positions."},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"tp":3,"gpus":3},` + rest + `}`,
			"This step is not played: 4 heads do not divide among 3 ranks"},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"lora":-1},` + rest + `}`,
			"lora "},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"states":"int4"},` + rest + `}`,
			"states "},
		{`{"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"memtide":{"batch":0},` + rest + `}`,
			"batch "},
		{`{"model_type":"llama","hidden_size":1048576,"num_hidden_layers":300,"memtide":{"seq":16777216,"batch":256},"head_dim":256,"intermediate_size":1024,"intermediate_size":1024,` + rest + `}`, "This step is not played"},
	} {
		_, err := profiles.Decode("config.json", profiles.Bytes(c.input), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Decode(%s) = %v, want %s", c.input, err, c.want)
		}
		formattest.CheckProblems(t, err)
	}
}

// TestConfigUnknownFamily checks that an unknown family is refused, whatever its sizes.
func TestConfigUnknownFamily(t *testing.T) {
	_, err := profiles.Decode("c",
		profiles.Bytes(`{"model_type":"newest","rms_norm_eps":1e-6,"hidden_size":512,"num_hidden_layers":4,"num_attention_heads":8,"vocab_size":1000}`), nil)
	if err == nil || !strings.Contains(err.Error(), `model_type "newest" is not understood`) {
		t.Errorf("got %v, want a refusal that names it", err)
	}
}
