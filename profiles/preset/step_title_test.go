package preset

import (
	"strconv"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// TestStepTitle checks that the title of a step names its options in plain words.
func TestStepTitle(t *testing.T) {
	for ref, want := range map[string]string{
		"llama3-8b-step-b1": "Llama 3 8B",
		"llama3-8b-step-optimizer.adamw_8bit-states.bf16-b1":  "Llama 3 8B, 8-bit AdamW, bf16 states",
		"llama3-8b-step-6144tok-program.torchtune-lora.16-b1": "Llama 3 8B, 6144 tokens, torchtune, LoRA, rank 16",
		"llama3-8b-step-gpus.8-loss.chunked-b1":               "Llama 3 8B, 8 cards, loss chunks of tokens",
	} {
		p, _, err := Parse(ref)
		if err != nil {
			t.Fatal(err)
		}
		if p.Title != want {
			t.Errorf("%s is called %q, want %q", ref, p.Title, want)
		}
	}
}

// TestRenamed checks that references of older links to networks that are steps now are those of the steps.
func TestRenamed(t *testing.T) {
	for old, want := range map[string]string{
		"llama3-8b-on-a100-sxm-80gb-4096tok-b2":              "llama3-8b-step-4096tok-on-a100-sxm-80gb-b2",
		"llama3-8b-step-host.yes-gpus.8-host_weights.yes-b1": "llama3-8b-step-gpus.8-host.yes-host_weights.yes-b1",
		"llama3-8b-hf-b1": "llama3-8b-step-optimizer.adamw_8bit-states.bf16-b1",
	} {
		p, batch, err := Parse(old)
		if err != nil || Ref(p.ID, batch) != want {
			t.Errorf("%s: %v, %v; want %s", old, p, err, want)
		}
	}
}

// TestEveryOptionInReference checks that every option with which a strategy can plan a step is in the step's reference.
func TestEveryOptionInReference(t *testing.T) {
	for _, o := range ask.Options {
		for _, value := range append(o.Choices, "2") {
			args := ask.With(engine.Args{"gpus": "8", "ep": "2", "host": "yes", "program": "megatron", "objective": "grpo",
				"lora": "8", "base": "nf4"}, o.Name, value)
			if _, err := ask.Parse(args); err != nil || args[o.Name] != value || len(Unplanned(args)) < len(args) || o.Name == "device" || o.Name == "height" ||
				o.Name == "width" || o.Name == "frames" {
				continue
			}
			ref, ok := StepRef("llama3-8b", args)
			p, batch, err := Parse(ref)
			if !ok || err != nil {
				t.Errorf("%s=%s: reference %q: %v", o.Name, value, ref, err)
				continue
			}
			got := StepArgs(p.Options().Step)
			got["batch"], got["seq"], got["device"] = strconv.Itoa(batch), strconv.Itoa(p.Options().Tokens), p.Options().Device
			if got := ask.Plain(got); got[o.Name] != args[o.Name] {
				t.Errorf("%s=%s: %s has %v", o.Name, value, ref, got)
			}
		}
	}
}
