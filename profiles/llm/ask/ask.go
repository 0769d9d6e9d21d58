// Package ask lists what can be asked about a training step of a language model: the known models, and one table
// of options, from which flags, links and the page are made. It is separate from package llm, which plays the
// step, so that the page can be built without that package.
package ask

import (
	"cmp"
	_ "embed" // options.txt
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
)

// Known is a model that memtide knows by name.
type Known struct {
	ID      string // in links and on the command line
	Title   string
	Also    []string // titles of other models of the same architecture
	Usual   bool     // listed before a search text is entered
	Experts bool
	Videos  bool // it makes videos, not only pictures
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
func Lookup(id string) *Known { return cmp.Or(in(Models, id), in(Diffusers, id), in(Others, id)) }

func in(list []Known, id string) *Known {
	if i := slices.IndexFunc(list, func(k Known) bool { return k.ID == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

// IsConfig reports whether model is the text of a config.json instead of the id of a known model.
func IsConfig(model string) bool { return strings.HasPrefix(strings.TrimSpace(model), "{") }

// Configured reports whether a model, given by its id or its config.json, is one whose blocks package family knows.
func Configured(model string) bool {
	return IsConfig(model) || in(Others, model) != nil || in(Diffusers, model) != nil
}

// Pictures reports whether a model, given by its id or its config.json, makes pictures or videos: whether it is a
// model of diffusers.
func Pictures(model string) bool {
	return in(Diffusers, model) != nil || strings.Contains(model, "_class_name")
}

// Edits reports whether a model, given by its id or its config.json, reads reference pictures beside the one it makes.
func Edits(model string) bool {
	known := []string{"flux1-", "flux2-", "qwen-image", `"Flux`, `"QwenImage`}
	return slices.ContainsFunc(known, func(part string) bool { return strings.Contains(model, part) })
}

// Videos reports whether a model, given by its id or its config.json, makes videos.
func Videos(model string) bool {
	m := Lookup(model)
	return m != nil && m.Videos || strings.Contains(model, "3DModel")
}

// Experts reports whether a model, given by its id or its config.json, has experts.
func Experts(model string) bool {
	m := Lookup(model)
	return m != nil && m.Experts || IsConfig(model) && strings.Contains(model, "experts")
}

// Programs reports whether programs other than Transformers run a known model.
func Programs(id string) bool { return !Pictures(id) && !strings.HasPrefix(id, "bert") }

// Pictured reports whether an option describes the frames that tokens are made of, which replaces the option seq.
func Pictured(name string) bool { return name == "frames" || name == "height" || name == "width" }

// Auto is the value that leaves an option to the program that runs the step.
const Auto = "auto"

// table has the options of a step. It says itself what its columns are.
//
//go:embed options.txt
var table string

// Options are all options of a step, in the order of the sentence that describes it.
var Options = func() (out []engine.Param) {
	for _, f := range Rows(table) {
		o := engine.Param{Name: f[0], Title: f[1], Default: f[2]}
		least, most, number := strings.Cut(f[3], "..")
		switch {
		case number:
			o.Min, _ = strconv.Atoi(least)
			o.Max, _ = strconv.Atoi(most)
		case f[3] == "cards":
			o.Choices = card.IDs()
		default:
			o.Choices = strings.Fields(f[3])
		}
		out = append(out, o)
	}
	return out
}()

// Rows returns the rows of a table, whose columns are divided by bars. Lines that begin with # are comments.
func Rows(table string) (out [][]string) {
	for line := range strings.Lines(table) {
		if line[0] != '#' {
			out = append(out, strings.Split(strings.TrimSpace(line), " | "))
		}
	}
	return out
}

// Context and Beside are the names of the options whose numbers are in MiB.
const (
	Context = "context"
	Beside  = "beside"
)

// Option returns the option with the name, or nil if there is none.
func Option(name string) *engine.Param {
	for i := range Options { // without copies: a page asks this hundreds of times for each drawing
		if Options[i].Name == name {
			return &Options[i]
		}
	}
	return nil
}

// Parse checks args and fills in the defaults.
func Parse(args engine.Args) (engine.Parsed, error) {
	args = maps.Clone(args)
	if name := args["device"]; name != "" { // it need not be one of the choices
		if card.Lookup(name) == nil {
			return engine.Parsed{}, fmt.Errorf("there is no device %q; %s", name, card.Like(name))
		}
		delete(args, "device")
	}
	if Split(args) != nil { // nor need these numbers
		if text := args["split"]; strings.Trim(text, "0123456789+") != "" {
			return engine.Parsed{}, fmt.Errorf("split is %q; expected the layers of each stage, such as 3+4+4+3", text)
		}
		delete(args, "split")
	}
	if modules := Modules(args); len(modules) > 1 { // each is a choice
		for _, m := range modules {
			args["recompute"] = m
			if _, err := engine.ParseArgs("a training step", Options, args); err != nil {
				return engine.Parsed{}, err
			}
		}
	}
	return engine.ParseArgs("a training step", Options, args)
}

// Modules returns the modules that -ckpt modules computes again, which + joins.
func Modules(args engine.Args) []string { return strings.Split(Value(args, "recompute"), "+") }

// Split returns how many layers each stage of a pipeline has. It returns nil if the layers are laid out evenly.
func Split(args engine.Args) (counts []int64) {
	for _, count := range strings.FieldsFunc(args["split"], func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.ParseUint(count, 10, 10) // 1023 if it is larger
		counts = append(counts, int64(n))
	}
	return counts
}

// Value returns the value of an option in args, or its default.
func Value(args engine.Args, name string) string {
	if v, ok := args[name]; ok {
		return v
	}
	return Option(name).Default
}

// Sized returns args with a usual size of what a diffusion model makes, if args say none of its kind: of pictures, or
// of videos. Reference pictures are left out if the model reads none, and sequences end where a model has no position.
func Sized(args engine.Args, model string) engine.Args {
	m := Lookup(model)
	if !Pictures(model) {
		if seq, _ := strconv.Atoi(Value(args, "seq")); m != nil && m.Positions() > 0 && m.Positions() < seq {
			args = With(args, "seq", strconv.Itoa(m.Positions()))
		}
		return args
	}
	if !Edits(model) {
		args = With(args, "references", "0")
	}
	frames, height, width, unit := "1", "512", "512", "pictures"
	if Videos(model) {
		frames, height, width, unit = "81", "480", "832", "videos"
	}
	if Unit(args) == unit {
		return args
	}
	return With(With(With(args, "frames", frames), "height", height), "width", width)
}

// Sample returns the word for one of a batch: "picture" or "video" if its sides are chosen, or "sequence".
func Sample(args engine.Args) string {
	switch {
	case args["height"] == "": // of pictures the tokens follow from the sides
		return "sequence"
	case Value(args, "frames") == "1":
		return "picture"
	}
	return "video"
}

// Unit returns what the speed of a step counts: "pictures", "videos" or "tokens".
func Unit(args engine.Args) string {
	if sample := Sample(args); sample != "sequence" {
		return sample + "s"
	}
	return "tokens"
}

// With returns a copy of args in which the option name has the value. Defaults are left out, so that equal steps
// have equal links. If the option needs a policy of checkpointing, With sets that policy too. It deletes options
// that have no meaning with the others, and ranks that a number of cards does not divide among; weights in 4 bits get
// adapters.
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
	if n, _ := strconv.Atoi(value); name == "gpus" {
		for _, ranks := range []string{"tp", "cp", "pp", "ep", "instances"} {
			if each, _ := strconv.Atoi(Value(out, ranks)); each > 1 && n%each > 0 {
				delete(out, ranks)
			}
		}
		if Value(out, "pp") == "1" {
			delete(out, "schedule")
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

// Plain returns a copy of args with the id of the card, whatever it is called, and without options that have their
// default value, or nil if all have.
func Plain(args engine.Args) engine.Args {
	out := maps.Clone(args)
	if d := card.Lookup(out["device"]); d != nil {
		out["device"] = d.ID
	}
	maps.DeleteFunc(out, func(name, value string) bool {
		o := Option(name)
		return o != nil && o.Default == value
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// Transformers reports whether Transformers runs a step, of any version.
func Transformers(args engine.Args) bool { return strings.HasPrefix(Value(args, "program"), "hf") }

// Program returns the program that runs a step: DeepSpeed's engine, too, where Transformers shares states by ZeRO-1 or
// ZeRO-2, which it does by no other.
func Program(args engine.Args) string {
	program, shard := Value(args, "program"), Value(args, "shard")
	if Transformers(args) && (shard == "zero1" || shard == "zero2") && args["states"] == "" {
		return "deepspeed"
	}
	return program
}

// policies maps options about checkpointing to the value of ckpt that they need.
var policies = map[string]string{"offload": "full", "group": "full", "every": "full", "first": "full",
	"ranks": "full", "recompute": "modules", "budget": "budget", "graph": "budget", "stash": "none"}

// Needs returns the option beside an option that has to differ from its default, or "" if any value does.
func Needs(name string) string { return needs[name] }

var needs = map[string]string{"logits": "loss", "etp": "tp", "no-sp": "tp", "imbalance": "ep", "lighter": "pp",
	"lighter-first": "pp", "split": "pp", "stages": "pp", "swap-blocks": "lora", "dora": "lora", "adapters": "lora",
	"targets": "lora", "adapter-dropout": "lora", "fused-adapters": "lora", "ramtorch": "lora", "host-part": "host",
	"host-weights": "host", "nvme": "host", "references": "height"}

// Matters reports whether an option has a meaning with the other options in args.
func Matters(args engine.Args, name string) bool {
	switch ckpt := Value(args, "ckpt"); name {
	case "every", "first":
		return ckpt != "none" && Value(args, "group") == "1"
	case "ranks":
		return ckpt != "none" && Value(args, "pp") != "1"
	case "dropout": // Transformers' families say it themselves
		return !Transformers(args) && Program(args) != "deepspeed"
	case "defer-head":
		return Program(args) == "megatron" && Value(args, "pp") != "1" && Value(args, "no-grad-fusion") == "no"
	case "instances":
		return Program(args) == "megatron" && Value(args, "gpus") != "1" && Value(args, "shard") != "none"
	case "no-grad-fusion", "bf16-grads", "mtp", "local-layers", "no-grouped":
		return Program(args) == "megatron"
	case "keep-masters":
		return Program(args) == "megatron" && Value(args, "host") != "no"
	case "bucket":
		return Program(args) == "deepspeed" && Value(args, "gpus") != "1" && Value(args, "shard") != "none"
	case "states":
		all := args["states"] == "bf16" && Value(args, "lora") == "0" && Value(args, "gpus") != "1" && // by ZeRO alone
			Value(args, "shard") != "none"
		return Value(args, "program") != "deepspeed" || all || args["states"] == "fp32" && Value(args, "base") == "same"
	case "autocast":
		return Value(args, "no-autocast") == "no"
	case "non-reentrant":
		return strings.HasPrefix(Value(args, "shard"), "fsdp1") && Value(args, "lora") != "0" && Transformers(args) ||
			Program(args) == "hf-2024" && Value(args, "ckpt") == "full" && Value(args, "group") == "1"
	case "galore-rank":
		return strings.HasPrefix(Value(args, "optimizer"), "galore")
	case "rollout":
		return Value(args, "objective") == "grpo"
	case "lengths":
		return Value(args, "pp") == "1" && Value(args, "height") == "0"
	case "logits": // of losses that have all of them at once, not compiled
		switch loss, program := Value(args, "loss"), Value(args, "program"); loss {
		case Auto:
			return Transformers(args) || program == "deepspeed" || program == "torchtitan" ||
				strings.HasPrefix(program, "litgpt")
		default:
			return loss == "bf16" || loss == "fp32" || loss == "shifted"
		}
	case "towers":
		return Value(args, "lora") == "0"
	case "kbit", "base-experts":
		return quantised(args)
	case "offload", "group", "recompute", "budget", "graph", "stash":
		return ckpt == policies[name]
	}
	other := Needs(name)
	return other == "" || Value(args, other) != Option(other).Default
}

// quantised reports whether the frozen products are stored as by bitsandbytes.
func quantised(args engine.Args) bool {
	return Value(args, "base") != "same" && Value(args, "base") != "fp8"
}
