package all

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/preset"
)

// read decodes a file. It skips the test if the file does not exist.
func read(t *testing.T, file string) *profiles.Profile {
	t.Helper()
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is not here; the samples in testdata cover the rules", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Decode(file, profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestConfigsArePresets checks that the config.json of a model that is also a preset gives the same step, with
// the same sizes and times.
func TestConfigsArePresets(t *testing.T) {
	for _, c := range []struct{ ref, config string }{
		{"gpt2-xl-step-b2", `{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "n_positions": 1024, "n_inner": null, "vocab_size": 50257, "embd_pdrop": 0.1, "attn_pdrop": 0.1, "resid_pdrop": 0.1, "memtide": {"batch": 2}}`},
		{"bert-large-step-b8",
			`{"model_type": "bert", "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522, "memtide": {"batch": 8}}`},
		{"llama3-8b-step-b1", `{"model_type": "llama", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 8192, "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128256}`},
	} {
		got, err := profiles.Decode("config.json", profiles.Bytes(c.config), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, batch, err := preset.Parse(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Profile(batch)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Chain.Stages, want.Chain.Stages) || got.Chain.Resident != want.Chain.Resident ||
			got.Chain.Batch != want.Chain.Batch {
			t.Errorf("%s: the config is\n%+v, want\n%+v", c.ref, got.Chain, want.Chain)
		}
	}
}

// TestOnnxResNet50 compares the public model with the preset, stage by stage. They differ in two places. The
// model ends in a softmax, which keeps its result of 4000 bytes, so the 4000 bytes before it are not kept. The
// flattening is a view in the model, and has 8192 bytes of its own in the preset.
func TestOnnxResNet50(t *testing.T) {
	got := read(t, "../../../../shared/data/onnx/light_resnet50.onnx")
	want, err := preset.Lookup("resnet50").Profile(1)
	if err != nil {
		t.Fatal(err)
	}
	const flatten = 8192
	if g, w := got.Totals(), want.Totals(); g.Saved != w.Saved-flatten || g.Resident.Weights != w.Resident.Weights {
		t.Errorf("saved %d and weights %d, want %d and %d but for softmax and flattening", g.Saved,
			g.Resident.Weights, w.Saved, w.Resident.Weights)
	}
	for i := range 20 { // up to the pool
		g, w := got.Chain.Stages[i], want.Chain.Stages[i]
		if sizes(g) != sizes(w) {
			t.Errorf("stage %d: %d, want %d", i+1, sizes(g), sizes(w))
		}
		if d := g.Forward + g.Back - w.Forward - w.Back; max(d, -d) > 100 {
			t.Errorf("stage %d takes %v and %v, want %v and %v", i+1, g.Forward, g.Back, w.Forward, w.Back)
		}
	}
	if got.Source.Sizes != profiles.Exact || got.Chain.Len() != 23 || got.Batch != 1 {
		t.Errorf("sizes %s, %d stages, batch %d; want exact, 23 with the loss, 1", got.Source.Sizes, got.Chain.Len(),
			got.Batch)
	}
}

func sizes(s engine.Stage) [5]engine.Bytes {
	return [5]engine.Bytes{s.Out, s.Saved, s.Grad, s.FwdTemp, s.BwdTemp}
}
