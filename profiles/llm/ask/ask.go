// Package ask lists what can be asked about a training step of a language model: the known models, and one table
// of options, from which flags, links and the page are made. It is separate from package llm, which plays the
// step, so that the page can be built without that package.
package ask

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
)

// Known is a model that memtide knows by name.
type Known struct {
	ID    string // in links and on the command line
	Title string
	Usual bool // listed before a search text is entered
}

// Positions returns how many positions the model has learned, which is the longest sequence that it can read. It
// is 0 if the model can read sequences of any length.
func (m *Known) Positions() int {
	switch family, _, _ := strings.Cut(m.ID, "-"); family {
	case "gpt2":
		return 1024
	case "bert":
		return 512
	}
	return 0
}

// Lookup returns the model with the id, or nil if it is not known.
func Lookup(id string) *Known {
	return cmp.Or(in(Models, id), in(Diffusers, id))
}

func in(list []Known, id string) *Known {
	if i := slices.IndexFunc(list, func(k Known) bool { return k.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// IsConfig reports whether model is the text of a config.json instead of the id of a known model.
func IsConfig(model string) bool { return strings.HasPrefix(strings.TrimSpace(model), "{") }

// Pictures reports whether a model, given by its id or its config.json, makes pictures or videos: whether it is a
// model of diffusers.
func Pictures(model string) bool {
	return in(Diffusers, model) != nil || strings.Contains(model, "_class_name")
}

// Programs reports whether programs other than Transformers run a known model.
func Programs(id string) bool { return !Pictures(id) && !strings.HasPrefix(id, "bert") }

// Pictured reports whether an option describes the frames that tokens are made of, which replaces the option seq.
func Pictured(name string) bool { return name == "frames" || name == "height" || name == "width" }

// Auto is the value that leaves an option to the program that runs the step.
const Auto = "auto"

// Options are all options of a step, in the order of the sentence that describes it.
var Options = []engine.Param{
	{Name: "batch", Title: "sequences at once", Default: "1", Min: 1, Max: 1 << 16},
	{Name: "seq", Title: "tokens", Default: "8192", Min: 1, Max: 1 << 24},
	{Name: "frames", Title: "frames", Default: "1", Min: 1, Max: 1 << 16},
	{Name: "height", Title: "height in pixels", Default: "0", Max: 1 << 16},
	{Name: "width", Title: "width in pixels", Default: "0", Max: 1 << 16},
	{Name: "accumulate", Title: "micro batches of a step", Default: "1", Min: 1, Max: 1 << 16},
	{Name: "objective", Title: "objective", Default: "sft", Choices: []string{"sft", "dpo", "grpo"}},
	{Name: "rollout", Title: "GiB of an engine for rollouts", Default: "0", Max: 1 << 10},
	{Name: "program", Title: "program", Default: "hf",
		Choices: []string{"hf", "torchtitan", "torchtitan-2026", "torchtune", "litgpt", "megatron",
			"nanotron", "nanotron-2024"}},
	{Name: "towers", Title: "towers that train", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "dropout", Title: "dropout of the stream", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "attention", Title: "attention", Default: "flash", Choices: []string{"flash", "sdpa", "eager"}},
	{Name: "kernels", Title: "kernels for linear attention", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "optimizer", Title: "optimizer", Default: "adamw", Choices: []string{"adamw", "adamw-8bit", "sgd",
		"sgd-momentum", "muon", "adafactor", "galore"}},
	{Name: "states", Title: "states", Default: Auto, Choices: []string{Auto, "fp32", "bf16"}},
	{Name: "autocast", Title: "autocast", Default: Auto, Choices: []string{Auto, "yes"}},
	{Name: "no-autocast", Title: "no autocast", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "ckpt", Title: "checkpointing", Default: "none", Choices: []string{"none", "sac_op", "sac_op_all", "dots",
		"modules", "budget", "full"}},
	{Name: "gpus", Title: "cards", Default: "1", Min: 1, Max: 1 << 16},
	{Name: "device", Title: "card", Default: "h100", Choices: card.IDs()},
	{Name: "shard", Title: "sharing of states", Default: Auto,
		Choices: []string{Auto, "none", "zero1", "zero2", "zero3", "grad-op", "fsdp1", "fsdp1-grad-op"}},
	{Name: "loss", Title: "loss", Default: Auto, Choices: []string{Auto, "bf16", "fp32", "compiled", "chunked_ce",
		"compiled_chunks", "chunked", "vocab_chunked", "inplace", "sharded", "fused"}},
	{Name: "logits", Title: "logits in the backward", Default: Auto,
		Choices: []string{Auto, "deleted", "kept", "kept-fp32"}},
	{Name: "norm", Title: "norm", Default: Auto, Choices: []string{Auto, "eager", "fused", "plain"}},
	{Name: "fused-gate", Title: "fused gate", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "kernel", Title: "optimizer's kernel", Default: Auto,
		Choices: []string{Auto, "foreach", "fused", "for-loop"}},
	{Name: "lora", Title: "rank of adapters", Default: "0", Min: 0, Max: 1 << 12},
	{Name: "adapters", Title: "adapters", Default: "fp32", Choices: []string{"fp32", "bf16"}},
	{Name: "targets", Title: "products with adapters", Default: "all",
		Choices: []string{"all", "attention", "qv", "mlp"}},
	{Name: "adapter-dropout", Title: "dropout of adapters", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "dora", Title: "DoRA", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "base", Title: "frozen products", Default: "same",
		Choices: []string{"same", "fp8", "int8", "nf4", "nf4-double"}},
	{Name: "kbit", Title: "the rest in fp32 (k-bit training)", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "fp8", Title: "products in 8 bits", Default: "none", Choices: []string{"none", "products", "gathered"}},
	{Name: "step-in-backward", Title: "optimizer steps in the backward", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "compile", Title: "torch.compile of the blocks", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "non-reentrant", Title: "checkpoints are not reentrant", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "every", Title: "checkpoint every n-th block", Default: "1", Min: 1, Max: 1 << 10},
	{Name: "first", Title: "checkpoint the first n blocks", Default: "0", Min: 0, Max: 1 << 10},
	{Name: "group", Title: "blocks in one checkpoint", Default: "1", Min: 1, Max: 1 << 10},
	{Name: "recompute", Title: "module that is computed again", Default: "core_attn", Choices: []string{"core_attn",
		"layernorm", "mlp", "moe_act", "shared_experts", "mla_up_proj", "moe"}},
	{Name: "budget", Title: "memory budget in per cent", Default: "50", Min: 0, Max: 100},
	{Name: "graph", Title: "compiled as one graph", Default: "block", Choices: []string{"block", "model"}},
	{Name: "stash", Title: "all that blocks keep in host memory", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "offload", Title: "block inputs in host memory", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "swap-blocks", Title: "blocks swapped with the host", Default: "0", Max: 1 << 10},
	{Name: "host", Title: "optimizer in host memory", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "host-part", Title: "per cent of the optimizer there", Default: "100", Min: 1, Max: 100},
	{Name: "host-weights", Title: "weights in host memory", Default: "no", Choices: []string{"no", "yes"}},
	{Name: "nvme", Title: "GB/s of drives instead of host memory", Default: "0", Max: 1 << 10},
	{Name: "tp", Title: "tensor parallel", Default: "1", Min: 1, Max: 1 << 10},
	{Name: "cp", Title: "context parallel", Default: "1", Min: 1, Max: 1 << 10},
	{Name: "ep", Title: "expert parallel", Default: "1", Min: 1, Max: 1 << 10},
	{Name: "imbalance", Title: "per cent of rows on the busiest rank of experts beyond its share", Default: "0", Max: 1000},
	{Name: "pp", Title: "pipeline parallel", Default: "1", Min: 1, Max: 1 << 8},
	{Name: "schedule", Title: "pipeline's order", Default: Auto,
		Choices: []string{Auto, "gpipe", "1f1b", "interleaved", "interleaved-torch", "interleaved-even", "looped-bfs",
			"zb-h1", "zb-h2", "zb-1p", "zb-2p", "bf-pp", "zb-v", "v-half", "v-min", "dualpipe", "dualpipev"}},
	{Name: "stages", Title: "stages of a rank", Default: "2", Min: 1, Max: 1 << 6},
	{Name: "lighter", Title: "layers fewer on the last stage", Default: "0", Max: 1 << 8},
	{Name: "ranks", Title: "checkpoint on the first n ranks", Default: "0", Max: 1 << 8},
	{Name: Context, Title: "MiB for CUDA and collectives", Default: "1024", Max: 1 << 16},
}

// Context is the name of the option whose number is in MiB.
const Context = "context"

// Option returns the option with the name, or nil if there is none.
func Option(name string) *engine.Param {
	if i := slices.IndexFunc(Options, func(o engine.Param) bool { return o.Name == name }); i >= 0 {
		return &Options[i]
	}
	return nil
}

// Parse checks args and fills in the defaults.
func Parse(args engine.Args) (engine.Parsed, error) {
	if c := card.Lookup(args["device"]); c != nil && c.Kind == card.OfTheirOwner { // not one of the choices
		args = maps.Clone(args)
		delete(args, "device")
	}
	return engine.ParseArgs("a training step", Options, args)
}

// Value returns the value of an option in args, or its default.
func Value(args engine.Args, name string) string {
	if v, ok := args[name]; ok {
		return v
	}
	return Option(name).Default
}

// With returns a copy of args in which the option name has the value. Defaults are left out, so that equal steps
// have equal links. If the option needs a policy of checkpointing, With sets that policy too. It deletes options
// that have no meaning with the others, and weights in 4 bits get adapters.
func With(args engine.Args, name, value string) engine.Args {
	out := maps.Clone(args)
	if out == nil {
		out = engine.Args{}
	}
	out[name] = value
	maps.DeleteFunc(out, func(other, _ string) bool {
		return name == "seq" && Pictured(other) || Pictured(name) && other == "seq"
	})
	if policy, ok := policies[name]; ok && value != Option(name).Default {
		out["ckpt"] = policy
		if name == "every" || name == "first" || name == "ranks" {
			out["ckpt"] = cmp.Or(args["ckpt"], policy)
		}
		if name == "every" || name == "first" {
			delete(out, "group")
		}
	}
	maps.DeleteFunc(out, func(other, _ string) bool { return other != name && !Matters(out, other) })
	switch {
	case out["ckpt"] == "budget" && name == "compile":
		delete(out, "ckpt")
		delete(out, "budget")
		delete(out, "graph")
	case out["ckpt"] == "budget":
		out["compile"] = "yes"
	case name == "base" && value != "same", (name == "kbit" || name == "dora") && value == "yes":
		if name == "kbit" && !quantised(out) {
			out["base"] = "nf4"
		}
		if Value(out, "lora") == "0" {
			out["lora"] = "16"
		}
	case name == "lora" && value == "0":
		delete(out, "base")
		delete(out, "kbit")
	}
	return Plain(out)
}

// Plain returns a copy of args without options that have their default value, or nil if all have.
func Plain(args engine.Args) engine.Args {
	out := maps.Clone(args)
	maps.DeleteFunc(out, func(name, value string) bool {
		o := Option(name)
		return o != nil && o.Default == value
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// policies maps options about checkpointing to the value of ckpt that they need.
var policies = map[string]string{"offload": "full", "group": "full", "every": "full", "first": "full",
	"ranks": "full", "recompute": "modules", "budget": "budget", "graph": "budget", "stash": "none"}

// Matters reports whether an option has a meaning with the other options in args.
func Matters(args engine.Args, name string) bool {
	switch ckpt := Value(args, "ckpt"); name {
	case "every", "first":
		return ckpt != "none" && Value(args, "group") == "1"
	case "ranks":
		return ckpt != "none" && Value(args, "pp") != "1"
	case "dropout": // Transformers' families say it themselves
		return Value(args, "program") != "hf"
	case "autocast":
		return Value(args, "no-autocast") == "no"
	case "imbalance":
		return Value(args, "ep") != "1"
	case "non-reentrant":
		return strings.HasPrefix(Value(args, "shard"), "fsdp1") && Value(args, "lora") != "0" &&
			Value(args, "program") == "hf"
	case "rollout":
		return Value(args, "objective") == "grpo"
	case "towers":
		return Value(args, "lora") == "0"
	case "kbit":
		return quantised(args)
	case "host-part", "host-weights", "nvme":
		return Value(args, "host") == "yes"
	case "swap-blocks", "dora", "adapters", "targets", "adapter-dropout":
		return Value(args, "lora") != "0"
	case "lighter", "stages":
		return Value(args, "pp") != "1"
	case "offload", "group", "recompute", "budget", "graph", "stash":
		return ckpt == policies[name]
	}
	return true
}

// quantised reports whether the frozen products are stored as by bitsandbytes.
func quantised(args engine.Args) bool {
	return Value(args, "base") != "same" && Value(args, "base") != "fp8"
}
