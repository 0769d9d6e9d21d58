package view

import (
	"slices"
	"testing"

	"memtide/profiles/llm/ask"
)

func TestPickerMatches(t *testing.T) {
	for _, c := range []struct {
		query string
		want  []string // some of what is found; nil means nothing
		not   []string
		best  string
	}{
		{"", []string{"resnet50", "larger-pool", "step/llama3-8b"}, []string{"step/phi-2"}, "step/llama3-8b"},
		{"llm", []string{"step/gpt2-xl", "step/llama3-8b", "step/bert-large", "step/phi-2"},
			[]string{"resnet50", "gpt2-xl", "llama3-8b-hf", "llama3-8b-step"}, "step/llama3-8b"},
		{"phi", []string{"step/phi-2", "step/phi-1.5"}, []string{"step/llama3-8b", "gpt2"}, "step/phi-1.5"},
		{"whole step", []string{"step/gpt2-xl"}, []string{"gpt2-xl"}, "step/llama3-8b"},
		{"video", []string{"step/wan2.1-14b", "step/hunyuanvideo"}, []string{"step/llama3-8b"}, "step/flux1-dev"},
		{"unet", []string{"step/sd-1.5", "step/sdxl-base-1.0"}, []string{"step/sd-3.5-large", "step/sd-3.5-medium"}, "step/sdxl-base-1.0"},
		{"llama 3.1", []string{"step/llama3-8b", "step/llama3-70b"}, []string{"step/llama2-7b"}, "step/llama3.1-405b"},
		{"llama3.1-8b", []string{"step/llama3-8b"}, []string{"step/llama3-70b"}, "step/llama3-8b"},
		{"deepseek r1", []string{"step/qwen2.5-7b", "step/deepseek-v3-671b"}, []string{"step/gpt2"}, "step/llama3-8b"},
		{"mistral 7b instruct", []string{"step/mistral-7b"}, []string{"step/gemma-7b"}, "step/mistral-7b"},
		{"llama3.1 8b instruct", []string{"step/llama3-8b"}, []string{"step/llama3-70b"}, "step/llama3-8b"},
		{"bert base", []string{"step/bert-base"}, []string{"step/gpt2"}, "step/bert-base"},
		{"instruct", nil, []string{"step/llama3-8b"}, ""},
		{"dense", []string{"densenet121", "densenet201"}, []string{"resnet50"}, "densenet121"},
		{"DENSE 201", []string{"densenet201"}, []string{"densenet121"}, "densenet201"},
		{"resnet 1001", []string{"resnet1001"}, []string{"resnet101"}, "resnet1001"},
		{"vgg", []string{"vgg16", "alexnet"}, []string{"resnet50"}, "vgg16"},
		{"counterex", []string{"lemma3", "fragmented"}, []string{"vgg16"}, "lemma3"},
		{"zebra", nil, []string{"resnet50"}, ""},
	} {
		p := Picker{Query: c.query}
		got := p.Entries()
		for _, id := range c.want {
			if !slices.Contains(got, id) {
				t.Errorf("%q finds %v; want %s, too", c.query, got, id)
			}
		}
		for _, id := range c.not {
			if slices.Contains(got, id) {
				t.Errorf("%q finds %v; want no %s", c.query, got, id)
			}
		}
		if best := p.Best(); best != c.best {
			t.Errorf("%q: %q is active; want %q", c.query, best, c.best)
		}
	}
}

// TestPickerBeside checks that models whose titles have the words of a search side by side come first.
func TestPickerBeside(t *testing.T) {
	for query, want := range map[string]string{"llama 4": "llama4-scout", "gemma 2": "gemma2-2b", "llama 8b": "llama3-8b",
		"qwen3 coder": "qwen3-30b-a3b"} {
		if got := (Picker{Query: query}).Steps(); len(got) == 0 || got[0].ID != want {
			t.Errorf("%q finds %v first; want %s", query, got, want)
		}
	}
}

// TestPickerReadsRepositories checks that the name of a repository finds its model.
func TestPickerReadsRepositories(t *testing.T) {
	steps := Picker{Query: "meta-llama/Llama-3.2-1B-Instruct"}.Steps()
	if len(steps) != 1 || steps[0].ID != "llama3.2-1b" {
		t.Errorf("the search finds %+v; want the model alone", steps)
	}
	for query, want := range map[string]string{"llama": "", "Llama 3.1": "Llama 3.1 8B", "distill llama": "DeepSeek R1 Distill Llama 8B"} {
		p := Picker{Query: query}
		if got := p.Called(ask.Lookup("llama3-8b")); got != want || !slices.Contains(p.Entries(), "step/llama3-8b") {
			t.Errorf("%q finds Llama 3 8B as %q; want %q", query, got, want)
		}
	}
}
