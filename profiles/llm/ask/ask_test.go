package ask

import (
	"maps"
	"strings"
	"testing"

	"memtide/engine"
)

// TestOptions checks that every default is valid, and that options and their choices have descriptions.
func TestOptions(t *testing.T) {
	if _, err := Parse(nil); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for _, o := range Options {
		if o.Title == "" || Doc(o.Name) == "" {
			t.Errorf("%s: title %q, help %q; want both", o.Name, o.Title, Doc(o.Name))
		}
		for _, v := range o.Choices {
			if Words(o.Name, v) == "" {
				t.Errorf("%s=%s has no words", o.Name, v)
			}
		}
	}
}

// TestWith checks that equal steps have equal arguments, and that setting an option also sets the options that it
// requires.
func TestWith(t *testing.T) {
	for _, c := range []struct {
		args        engine.Args
		name, value string
		want        engine.Args
	}{
		{nil, "gpus", "8", engine.Args{"gpus": "8"}},
		{engine.Args{"gpus": "8"}, "gpus", "1", nil},
		{nil, "offload", "yes", engine.Args{"offload": "yes", "ckpt": "full"}},
		{engine.Args{"offload": "yes", "ckpt": "full", "seq": "1024"}, "ckpt", "none", engine.Args{"seq": "1024"}},
		{engine.Args{"ckpt": "full", "offload": "yes"}, "stash", "yes", engine.Args{"stash": "yes"}},
		{engine.Args{"ckpt": "full", "every": "2"}, "group", "4", engine.Args{"ckpt": "full", "group": "4"}},
		{engine.Args{"ckpt": "full", "group": "4"}, "every", "2", engine.Args{"ckpt": "full", "every": "2"}},
		{engine.Args{"ckpt": "sac_op"}, "first", "8", engine.Args{"ckpt": "sac_op", "first": "8"}},
		{nil, "every", "2", engine.Args{"ckpt": "full", "every": "2"}},
		{engine.Args{"ckpt": "full", "first": "2"}, "ckpt", "none", nil},
		{nil, "budget", "30", engine.Args{"ckpt": "budget", "budget": "30", "compile": "yes"}},
		{engine.Args{"ckpt": "budget", "budget": "30", "compile": "yes"}, "compile", "no", nil},
		{nil, "recompute", "mlp", engine.Args{"ckpt": "modules", "recompute": "mlp"}},
		{nil, "base", "nf4", engine.Args{"base": "nf4", "lora": "16"}},
		{engine.Args{"base": "nf4", "lora": "16"}, "lora", "0", nil},
		{engine.Args{"frames": "81", "height": "480", "width": "832", "lora": "8"}, "seq", "1024",
			engine.Args{"seq": "1024", "lora": "8"}},
		{engine.Args{"seq": "1024"}, "height", "512", engine.Args{"height": "512"}},
		{engine.Args{"zz": "1"}, "seq", "8192", engine.Args{"zz": "1"}},
		{engine.Args{"device": "RTX 4090"}, "gpus", "2", engine.Args{"device": "rtx-4090", "gpus": "2"}},
		{nil, "device", "H100 SXM", nil},
	} {
		before := maps.Clone(c.args)
		if got := With(c.args, c.name, c.value); !maps.Equal(got, c.want) || (got == nil) != (c.want == nil) ||
			!maps.Equal(c.args, before) {
			t.Errorf("%v with %s=%s: %v, want %v and the first unchanged", before, c.name, c.value, got, c.want)
		}
	}
}

// TestRefused checks that the error for an invalid value or an unknown option names the option.
func TestRefused(t *testing.T) {
	for _, args := range []engine.Args{{"gpus": "0"}, {"loss": "magic"}, {"cards": "2"}, {"device": "gtx-9700"},
		{"device": "1mib"}, {"device": "a100"}, {"seq": "many"}, {"recompute": "mlp+all"}} {
		for name := range args {
			if _, err := Parse(args); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v: error %v, want one that names %s", args, err, name)
			}
		}
	}
}

// TestLevers checks that every lever sets an option to a valid value. Callers leave out invalid levers without a
// message.
func TestLevers(t *testing.T) {
	for _, l := range Levers {
		if _, err := Parse(With(nil, l.Option, l.Value)); err != nil || l.Name == "" {
			t.Errorf("lever %q, %s=%s: %v; want a name, and a value of the option", l.Name, l.Option, l.Value, err)
		}
	}
}

// TestInWords checks that a refusal names no option of the command line on the page.
func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"blocks are swapped beside adapters: want -lora.": "blocks are swapped beside adapters: want “rank of adapters”.",
		"want -shard none, -pp 1 and no -host (-base nf4)": "want “sharing of states” " + Words("shard", "none") +
			", “pipeline parallel” 1 and no “optimizer in host memory” (“frozen products” " + Words("base", "nf4") + ")",
		"-12 % of -none is a - b": "-12 % of -none is a - b",
		"1f1b":                    "1f1b",
		"A family is expected; memtide help models lists them.": "A family is expected; the first word of the sentence has a list.",
		"want all sides, for example -side 480x832":             "want all sides, for example a height of 480 and a width of 832",
	} {
		if got := InWords(text); got != want {
			t.Errorf("%q is %q in words; want %q", text, got, want)
		}
	}
}

// TestSetting checks which option a note names, with which value.
func TestSetting(t *testing.T) {
	for text, want := range map[string]string{
		"Before it was foreach: -kernel foreach, or -program hf-2024 with all else.": "kernel foreach",
		"keeps more than the kernels of fla: -kernels.":                              "kernels yes",
		"-attention changes nothing; -seq says the tokens - -none":                   " ",
	} {
		if name, value := Setting(text); name+" "+value != want {
			t.Errorf("%q names %q with %q; want %q", text, name, value, want)
		}
	}
}

// TestProgram checks that ZeRO-1 and ZeRO-2 of Transformers are DeepSpeed's, unless the states are chosen.
func TestProgram(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{{nil, "hf"}, {engine.Args{"shard": "zero3"}, "hf"}, {engine.Args{"shard": "zero1"}, "deepspeed"},
		{engine.Args{"shard": "zero2"}, "deepspeed"}, {engine.Args{"shard": "zero2", "states": "bf16"}, "hf"},
		{engine.Args{"shard": "zero1", "program": "megatron"}, "megatron"}} {
		if got := Program(c.args); got != c.want {
			t.Errorf("%v is run by %q; want %q", c.args, got, c.want)
		}
	}
}

// TestNamed checks that repositories of Hugging Face and other names mean the models that have their architecture, that
// a name means no more than one, and that unlike names mean none.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"meta-llama/Llama-3.1-8B-Instruct": "llama3-8b", "meta-llama/Meta-Llama-3-8B": "llama3-8b",
		"mistralai/Mistral-7B-v0.1": "mistral-7b", "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b-v0.3",
		"Qwen/Qwen2.5-7B-Instruct": "qwen2.5-7b", "google/gemma-2-9b-it": "gemma2-9b", "openai/gpt-oss-20b": "gpt-oss-20b",
		"black-forest-labs/FLUX.1-dev": "flux1-dev", "Wan-AI/Wan2.1-T2V-14B-Diffusers": "wan2.1-14b",
		"stabilityai/stable-diffusion-xl-base-1.0": "sdxl-base-1.0", "LLAMA3-8B": "llama3-8b", "deepseek-ai/DeepSeek-V3": "deepseek-v3-671b",
		"TinyLlama/TinyLlama-1.1B-Chat-v1.0": "tinyllama", "Qwen/Qwen3-30B-A3B-Instruct-2507": "qwen3-30b-a3b",
		"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": "qwen2.5-7b", "Qwen/Qwen3-4B-Thinking-2507": "qwen3-4b",
		"mistralai/Mistral-Nemo-Instruct-2407": "mistral-nemo-12b", "llama 3.1 8b": "llama3-8b",
		"Qwen/Qwen3.6-27B": "qwen3.5-27b", "Qwen/Qwen3.5-9B-Base": "qwen3.5-9b", "google/gemma-4-31B-it": "gemma4-31b",
		"zai-org/GLM-4.6": "glm4.5", "mistralai/Mistral-Small-3.2-24B-Instruct-2506": "mistral-small-3.1-24b",
		"mistralai/Ministral-3-8B-Instruct-2512": "ministral3-8b", "allenai/Olmo-3-1125-32B": "olmo3-32b",
		"meta-llama/Llama-4-Maverick-17B-128E-Instruct": "llama4-maverick", "lodestones/Chroma1-Base": "chroma",
		"black-forest-labs/FLUX.2-klein-base-4B": "flux2-klein-4b", "stabilityai/sdxl-turbo": "sdxl-base-1.0",
		"Wan-AI/Wan2.1-I2V-14B-480P-Diffusers": "wan2.1-i2v-14b", "Qwen/Qwen3-Coder-Next": "qwen3-next-80b-a3b",
		"google/medgemma-27b-it": "gemma3-27b", "google/medgemma-27b-text-it": "", "meta-llama/Llama-9-8B": "", "": ""} {
		got := ""
		if k := Named(name); k != nil {
			got = k.ID
		}
		if got != want {
			t.Errorf("%q means %q; want %q", name, got, want)
		}
	}
	for _, list := range [][]Known{Models, Diffusers, Others} {
		for _, k := range list {
			for _, name := range append([]string{k.ID, k.Title}, k.Also...) {
				if got := Named(name); got == nil || got.ID != k.ID {
					t.Errorf("%q means %+v; want %s", name, got, k.ID)
				}
			}
		}
	}
}

// TestFewerCards checks that ranks which a smaller number of cards does not divide among are gone with what belongs to
// them, and that others stay.
func TestFewerCards(t *testing.T) {
	args := engine.Args{"gpus": "8", "pp": "4", "schedule": "1f1b", "tp": "2", "seq": "4096"}
	if got := With(args, "gpus", "1"); !maps.Equal(got, engine.Args{"seq": "4096"}) {
		t.Errorf("one card: %v; want the length alone", got)
	}
	if got := With(args, "gpus", "2"); got["tp"] != "2" || got["pp"] != "" {
		t.Errorf("two cards: %v; want two tensor ranks and no pipeline", got)
	}
}

// TestTitle checks the names of models, and of a config.json without one that of its family.
func TestTitle(t *testing.T) {
	for model, want := range map[string]string{
		"llama3-8b": "Llama 3 8B",
		` {"hidden_size": 1, "model_type" : "qwen2"}`: "qwen2.config.json",
		`{"_class_name":"FluxTransformer2DModel"}`:    "FluxTransformer2DModel.config.json",
		`{"model_type": 3, "hidden_act": "silu"}`:     "config.json",
		" no such ": "no such",
	} {
		if got := Title(model); got != want {
			t.Errorf("Title(%q) is %q; want %q", model, got, want)
		}
	}
}

// TestSized checks that another model that makes pictures keeps their sides, and references only if it reads them.
func TestSized(t *testing.T) {
	args := engine.Args{"height": "768", "width": "512", "references": "2"}
	for model, want := range map[string]engine.Args{
		"flux2-klein-4b": args,
		"sd-1.5":         {"height": "768", "width": "512"},
		"wan2.1-14b":     {"frames": "81", "height": "480", "width": "832"},
	} {
		if got := Sized(args, model); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}

// TestPolicyWords checks that a policy of several modules names each, and that every third block is called so.
func TestPolicyWords(t *testing.T) {
	for want, args := range map[string]engine.Args{
		"norms computed again":                      {"ckpt": "modules", "recompute": "layernorm"},
		"feed-forward net and norms computed again": {"ckpt": "modules", "recompute": "mlp+layernorm"},
		"full checkpointing of every third block":   {"ckpt": "full", "every": "3"},
		"full checkpointing of every 4th block":     {"ckpt": "full", "every": "4"},
	} {
		if got := Policy(args); got != want {
			t.Errorf("%v: %q; want %q", args, got, want)
		}
	}
}
