// Package ask is what can be asked about a training step of a language model: the known
// models and one table of options, which flags, links and the page take from here. It is
// apart from package llm, which plays the step, so that the page can do without that.
package ask

import (
	"maps"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/preset"
)

// Model is a known model.
type Model struct {
	ID    string // in links and on the command line
	Title string
	Usual bool // listed where nobody has typed what to look for
}

// Lookup finds a model; nil if it is not known.
func Lookup(id string) *Model {
	for i := range Models {
		if Models[i].ID == id {
			return &Models[i]
		}
	}
	return nil
}

// IsConfig says that what is asked about is no known model but the text of a
// config.json.
func IsConfig(model string) bool { return strings.HasPrefix(strings.TrimSpace(model), "{") }

// Auto leaves an option to the program that runs the step.
const Auto = "auto"

// Options are all that can be chosen about a step, in the order of its sentence. The
// back quotes in Doc are those of a flag's help.
var Options = append([]engine.Param{
	count("batch", "sequences at once", "`N` sequences of a micro batch", 1, 1<<16),
	count("seq", "tokens", "`N` tokens of a sequence", 8192, 1<<24),
	count("accumulate", "micro batches of a step", "`N` micro batches of a step", 1, 1<<16),
	word("program", "program", "`NAME` of what runs the step", "hf", "torchtitan", "torchtune", "megatron"),
	word("optimizer", "optimizer", "`NAME` of the optimizer", "adamw", "adamw-8bit", "sgd"),
	word("states", "states", "`TYPE` of weights, gradients and moments", Auto, "fp32", "bf16"),
	word("ckpt", "checkpointing", "`POLICY` of checkpointing (sac_op: every second product kept)", "none", "sac_op", "sac_op_all", "full"),
	count("gpus", "cards", "`N` cards", 1, 1<<16),
}, engine.Param{Name: "device", Title: "card", Doc: "`DEVICE` that each of the cards is; memtide help devices lists them", Default: "h100-sxm-80gb", Choices: devices()},
	word("shard", "sharing of states", "`HOW` states are shared (zero3: FSDP), by itself zero3 on several cards", Auto, "none", "zero1", "zero2", "zero3"),
	word("loss", "loss", "`NAME` of the loss", Auto, "bf16", "fp32", "compiled", "chunked_ce", "compiled_chunks", "chunked", "vocab_chunked", "inplace", "fused"),
	word("logits", "logits in the backward", "`WHAT` of the logits a variable keeps through the backward", Auto, "deleted"),
	word("norm", "norm", "`NAME` of the norm's kernel", Auto, "eager", "fused", "plain"),
	word("kernel", "optimizer's kernel", "`NAME` of the optimizer's kernel", Auto, "foreach", "fused", "for-loop"),
	count("lora", "rank of adapters", "`RANK` of adapters beside frozen bf16 weights; 0 trains everything", 0, 1<<12),
	word("compile", "torch.compile of the blocks", "blocks go through torch.compile", "no", "yes"),
	word("offload", "block inputs in host memory", "block inputs wait in host memory; needs -ckpt full", "no", "yes"),
	word("host", "optimizer in host memory", "moments and the optimizer's step are the host's", "no", "yes"),
	count("tp", "tensor parallel", "`N` ranks that share each product", 1, 1<<10),
	count("cp", "context parallel", "`N` ranks that share each sequence", 1, 1<<10),
	count("ep", "expert parallel", "`N` ranks that share the experts of a block", 1, 1<<10),
	engine.Param{Name: Context, Title: "MiB for CUDA and collectives", Doc: "`SIZE` of CUDA's context and the collectives' buffers on each card: an assumption", Default: "1024", Max: 1 << 16})

// Context is the option that is a number of MiB.
const Context = "context"

func word(name, title, doc string, choices ...string) engine.Param {
	return engine.Param{Name: name, Title: title, Doc: doc, Default: choices[0], Choices: choices}
}

func count(name, title, doc string, usual, most int) engine.Param {
	return engine.Param{Name: name, Title: title, Doc: doc, Default: strconv.Itoa(usual), Min: min(usual, 1), Max: most}
}

// tensorCores is the rate of 16-bit products, in operations a second, from which on a
// device has units for them; for others the step has no times.
const tensorCores = 100e12

func devices() (out []string) {
	for _, d := range preset.Devices() {
		if float64(d.Peak("f16")) >= tensorCores {
			out = append(out, d.ID)
		}
	}
	return out
}

// Option is that of a name; nil if there is none.
func Option(name string) *engine.Param {
	for i := range Options {
		if Options[i].Name == name {
			return &Options[i]
		}
	}
	return nil
}

// Parse checks args and fills the defaults in.
func Parse(args engine.Args) (engine.Parsed, error) {
	return engine.ParseArgs("a training step", Options, args)
}

// Value is that of an option, its default if args do not say.
func Value(args engine.Args, name string) string {
	if v, ok := args[name]; ok {
		return v
	}
	return Option(name).Default
}

// With is a copy of args in which an option has a value; defaults are left out, so that
// equal steps have equal links. Inputs of blocks are in host memory only under full
// checkpointing: either brings the other along.
func With(args engine.Args, name, value string) engine.Args {
	out := maps.Clone(args)
	if out == nil {
		out = engine.Args{}
	}
	out[name] = value
	switch {
	case name == "offload" && value == "yes":
		out["ckpt"] = "full"
	case name == "ckpt" && value != "full":
		delete(out, "offload")
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
