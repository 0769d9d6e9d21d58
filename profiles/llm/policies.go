package llm

import (
	"fmt"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/llm/ask"
)

// policy is a framework's way to keep less, as options instead of the question's own about checkpointing.
type policy struct {
	words string // the names that frameworks have for it
	args  engine.Args
	has   func(*Model) bool // whether the policy applies to a model; nil: it applies to all
}

// policies are the known policies of frameworks, with their switches in their own words [transformers:
// modeling_layers.py; torchtitan: distributed/activation_checkpoint.py; Megatron-LM: training/arguments.py,
// recompute-*; torch._functorch.config; jax.checkpoint_policies; unsloth, axolotl and torchtune: offloading of
// activations; DeepSpeed: activation_checkpointing].
var policies = []policy{
	{"JAX everything_saveable", nil, nil},
	{"Transformers gradient_checkpointing · torchtitan full · Megatron full, uniform 1 · JAX nothing_saveable", engine.Args{"ckpt": "full"}, nil},
	{"Transformers every_n_layers 2 · torchtitan selective 2", engine.Args{"ckpt": "full", "every": "2"}, nil},
	{"Megatron full, uniform 4", engine.Args{"ckpt": "full", "group": "4"}, nil},
	{"torchtitan selective op", engine.Args{"ckpt": "sac_op"}, nil},
	{"torchtitan graph trainer", engine.Args{"ckpt": "sac_op_all"}, nil},
	{"JAX dots_with_no_batch_dims_saveable", engine.Args{"ckpt": "dots"}, nil},
	{"Megatron selective core_attn", engine.Args{"ckpt": "modules", "recompute": "core_attn"}, nil},
	{"Megatron selective layernorm", engine.Args{"ckpt": "modules", "recompute": "layernorm"}, nil},
	{"Megatron selective mlp", engine.Args{"ckpt": "modules", "recompute": "mlp"},
		func(m *Model) bool { return m.MoE == nil || m.MoE.Dense > 0 }},
	{"Megatron selective moe_act",
		engine.Args{"ckpt": "modules", "recompute": "moe_act"}, func(m *Model) bool { return m.MoE != nil }},
	{"Megatron selective moe", engine.Args{"ckpt": "modules", "recompute": "moe"},
		func(m *Model) bool { return m.MoE != nil }},
	{"Megatron selective mla_up_proj",
		engine.Args{"ckpt": "modules", "recompute": "mla_up_proj"}, func(m *Model) bool { return m.MLA != nil }},
	{"torch.compile", engine.Args{"compile": "yes"}, nil},
	{"torch.compile, activation_memory_budget 0.5", engine.Args{"ckpt": "budget", "budget": "50"}, nil},
	{"torch.compile of the model, activation_memory_budget 0.5",
		engine.Args{"ckpt": "budget", "budget": "50", "graph": "model"}, nil},
	{"unsloth · axolotl gradient_checkpointing offload · DeepSpeed cpu_checkpointing",
		engine.Args{"ckpt": "full", "offload": "yes"}, nil},
	{"TRL and torchtune activation_offloading", engine.Args{"stash": "yes"},
		func(m *Model) bool { return m.At(0).Unet == nil }},
}

// aboutPolicy are the options that a policy chooses. A policy may also have blocks compiled.
var aboutPolicy = []string{"ckpt", "every", "first", "ranks", "group", "recompute", "budget", "graph", "stash",
	"offload", "swap-blocks"}

// under returns the question with a policy instead of its own. Blocks that are compiled stay so.
func (a Ask) under(args engine.Args) (Ask, error) {
	b := a
	b.Args = ask.Plain(a.Args)
	for _, name := range aboutPolicy {
		delete(b.Args, name)
	}
	return b.with(args)
}

// Policies returns the answer to the question under each policy of a framework, and under two that checkpoint as
// few blocks as fit.
func (a Ask) Policies() ([]Change, error) { return profiles.Try(a.policed) }

// policed is Policies. It ends if there is an error.
func (a Ask) policed() (out []Change) {
	add := func(words string, args engine.Args) {
		a.goOn()
		b, err := a.under(args)
		if err != nil {
			return // the policy does not apply to the setup
		}
		if answer, err := b.Estimate(); err == nil {
			out = append(out, Change{Names: []string{ask.Policy(args)}, Words: words, Args: b.Args, Estimate: answer,
				GPUs: b.GPUs, turned: b})
		}
	}
	for _, p := range policies {
		if p.has == nil || p.has(a.Setup.Model) {
			add(p.words, p.args)
		}
	}
	if n := a.fewestBlocks("full"); n > 0 {
		add(fmt.Sprintf("Megatron full, block %d, the fewest that fit", n),
			engine.Args{"ckpt": "full", "first": number(n)})
	}
	if n := a.fewestBlocks("sac_op"); n > 0 {
		add("torchtitan selective op, in the fewest blocks with which it fits", engine.Args{"ckpt": "sac_op", "first": number(n)})
	}
	for _, args := range a.swapped() {
		add("musubi-tuner, sd-scripts and diffusion-pipe block swap, the fewest with which it fits", args)
	}
	a.goOn()
	return out
}

// swapped returns policies that swap the fewest blocks with which the question fits: one that keeps everything and one
// that checkpoints all blocks or, if both need more memory with every block swapped, one that has the inputs of
// checkpoints in host memory, too. There are none for language models, since the programs train diffusion models.
func (a Ask) swapped() (out []engine.Args) {
	if a.Setup.Model.Latents == nil || a.Setup.RamTorch {
		return nil
	}
	for _, args := range []engine.Args{{"ckpt": "none"}, {"ckpt": "full"}, {"ckpt": "full", "offload": "yes"}} {
		if args["offload"] != "" && len(out) > 0 {
			break
		}
		b, err := a.under(args)
		if n := b.fewestSwapped(); err == nil && n > 0 {
			args["swap-blocks"] = number(n)
			out = append(out, args)
		}
	}
	return out
}

// fewestBlocks returns how many of a card's first blocks have to be checkpointed for the question to fit. It
// returns 0 if it fits without, or if it does not fit with all of them.
func (a Ask) fewestBlocks(ckpt string) int64 {
	return a.fewest(ceil(a.Setup.Model.Layers, orOne(a.Setup.Stages)), func(n int64) bool {
		args := engine.Args{}
		if n > 0 {
			args["ckpt"], args["first"] = ckpt, number(n)
		}
		return answersFits(a.under(args))
	})
}
