package llm

import (
	"reflect"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
	"memtide/profiles/preset"
)

// TestPresetIsThePlan checks that the preset of a model, in each of the layouts, is the step that plan plays. The
// chain or the operations are equal in every size and time. See TestOneStep.
func TestPresetIsThePlan(t *testing.T) {
	for i, m := range ask.Models {
		args := layouts[i%len(layouts)]
		p := preset.Lookup(m.ID + "-step")
		o := p.Options()
		o.Tokens = min(2048, int(longestOf(m.ID)))
		args = ask.With(args, "seq", number(int64(o.Tokens)))
		text, err := preset.StepText(ask.With(args, "seq", ask.Option("seq").Default))
		if err != nil {
			t.Fatal(err)
		}
		o.Step, o.Graph = text, i%2 == 0
		got, err := p.Build(o)
		if err != nil {
			t.Errorf("%s %v: %v", m.ID, args, err)
			continue
		}
		a, err := New(Lookup(m.ID), args)
		if err != nil {
			t.Fatal(err)
		}
		want, err := a.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if o.Graph && !reflect.DeepEqual(got.Graph, want.Graph) || !o.Graph &&
			!reflect.DeepEqual(got.Chain.Stages, want.Chain.Stages) {
			t.Errorf("%s %v: the preset %s is not the step", m.ID, args, preset.Ref(p.ID, o.Batch))
		}
	}
}

// longestOf returns the longest sequence of a model, given by its learned positions.
func longestOf(id string) int64 {
	if n := Lookup(id).Positions; n > 0 {
		return n
	}
	return mostTokens
}

// Package ask and the models have the same learned positions.
func TestPositions(t *testing.T) {
	for i := range ask.Models {
		m := &ask.Models[i]
		if got, want := int64(m.Positions()), Lookup(m.ID).Positions; got != want {
			t.Errorf("%s: %d positions, want %d", m.ID, got, want)
		}
	}
}

// The chosen options of a step appear in the reference, are read back, and change the step as in plan.
func TestPresetParts(t *testing.T) {
	p, batch, err := preset.Parse("llama3.2-1b-step-states.bf16-optimizer.adamw_8bit-lora.8-1024tok-f32-b2")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := preset.Ref(p.ID, batch),
		"llama3.2-1b-step-1024tok-f32-optimizer.adamw_8bit-states.bf16-lora.8-b2"; got != want {
		t.Errorf("it is written %s, want %s", got, want)
	}
	if p.Optimizer != "LoRA, rank 8, 8-bit AdamW" {
		t.Errorf("what trains is %q", p.Optimizer)
	}
	profile, err := p.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	// Frozen weights of 2 bytes, adapters of 4 with two moments of 1.
	if r := profile.Chain.Resident; r.Weights < 2*engine.Bytes(Lookup("llama3.2-1b").Params()) ||
		r.Optimizer*2 != r.Weights-2*engine.Bytes(Lookup("llama3.2-1b").Params()) {
		t.Errorf("resident %+v", r)
	}
	for ref, want := range map[string]string{
		"llama3-8b-step-ckpt.full-b1":         `preset "llama3-8b-step-ckpt.full-b1": ckpt is no choice about a preset: a strategy chooses what is kept`,
		"llama3-8b-step-seq.512-b1":           `preset "llama3-8b-step-seq.512-b1": seq is a part of its own: write -b1, -8192tok, -on-h100`,
		"llama3-8b-step-lora.8-lora.16-b1":    `preset "llama3-8b-step-lora.8-lora.16-b1": lora appears twice; name it once`,
		"gpt2-step-2048tok":                   `preset "gpt2-step": sequence length of 2048 tokens; 1 to 1024 are possible, for example gpt2-step-1024tok-b1`,
		"resnet50-optimizer.adamw_8bit-b1":    "",
		"llama3-8b-step-optimizer.adamax-b1":  "",
		"llama3-8b-step-optimizers.adamax-b1": "",
	} {
		if _, _, err := preset.Parse(ref); err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v, want %s", ref, err, want)
		}
	}
}
