package ask

import (
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
)

// words are the names of option values for people. A key is an option and its value.
var words = map[string]string{
	"program hf": "Transformers", "program torchtitan": "torchtitan", "program torchtune": "torchtune",
	"program litgpt":          "litgpt",
	"program torchtitan-2026": "torchtitan of 2026", "program nanotron-2024": "nanotron until July 2024",
	"program megatron": "Megatron", "objective sft": "the next token", "objective dpo": "DPO", "objective grpo": "GRPO",
	"attention flash": "flash attention", "attention sdpa": "scaled_dot_product_attention",
	"attention eager": "attention operator by operator",
	"optimizer adamw": "AdamW", "optimizer adamw-8bit": "8-bit AdamW", "optimizer sgd": "SGD",
	"optimizer sgd-momentum": "SGD with momentum", "optimizer muon": "Muon", "optimizer adafactor": "Adafactor",
	"optimizer galore": "GaLore",
	"base same":        "in bf16", "base int8": "in 8 bits (LLM.int8)", "base fp8": "in 8 bits (FP8)",
	"base nf4":        "in 4 bits (NF4)",
	"base nf4-double": "in 4 bits, scales in 8",
	"fp8 none":        "none", "fp8 products": "the products", "fp8 gathered": "the products, gathered so",
	"states fp32": "fp32 states", "states bf16": "bf16 states",
	"ckpt none": "no checkpointing", "ckpt sac_op": "selective checkpointing", "ckpt sac_op_all": "all products kept",
	"ckpt full": "full checkpointing",
	"ckpt dots": "products alone kept", "ckpt modules": "a module computed again",
	"ckpt budget": "the compiler's memory budget",
	"policy none": "nothing is computed again", "policy full": "full checkpointing",
	"policy sac_op": "every second product kept", "policy sac_op_all": "all products and attention kept",
	"policy dots": "all products kept", "every 2": "every second block",
	"graph block": "each block", "graph model": "the model",
	"recompute core_attn": "attention (core_attn)", "recompute layernorm": "norms (layernorm)",
	"recompute mlp": "feed-forward net (mlp)", "recompute moe_act": "experts' activation (moe_act)",
	"recompute shared_experts": "shared experts (shared_experts)",
	"recompute mla_up_proj":    "projections of MLA (mla_up_proj)", "recompute moe": "experts (moe)",
	"shard none": "states not shared", "shard zero1": "ZeRO-1", "shard zero2": "ZeRO-2", "shard zero3": "FSDP (ZeRO-3)",
	"shard grad-op": "FSDP, weights gathered once", "shard fsdp1": "FSDP1",
	"shard fsdp1-grad-op": "FSDP1, SHARD_GRAD_OP",
	"loss bf16":           "bf16 logits", "loss fp32": "fp32 logits", "loss compiled": "compiled",
	"loss chunked_ce": "logits in chunks", "loss compiled_chunks": "compiled, logits in chunks",
	"loss chunked": "chunks of tokens", "loss vocab_chunked": "chunks of words", "loss inplace": "in place",
	"loss sharded":   "in fp32, in place",
	"loss fused":     "one fused kernel",
	"logits deleted": "deleted before it", "logits kept": "kept through it", "autocast yes": "with bf16 weights, too",
	"targets all": "all products", "targets attention": "attention alone",
	"targets qv": "queries and values", "targets mlp": "the feed-forward net",
	"norm eager": "operator by operator", "norm fused": "one fused kernel", "norm plain": "without widening",
	"schedule auto": "the fastest order that fits", "schedule gpipe": "GPipe", "schedule 1f1b": "1F1B",
	"schedule interleaved": "interleaved 1F1B", "schedule zb-h1": "ZB-H1", "schedule zb-h2": "ZB-H2",
	"schedule interleaved-torch": "interleaved, torch's rounds",
	"schedule interleaved-even":  "interleaved, even rounds", "schedule looped-bfs": "breadth first",
	"schedule bf-pp": "breadth first in groups", "schedule zb-1p": "ZB-1p", "schedule zb-2p": "ZB-2p",
	"schedule zb-v": "ZB-V", "schedule v-half": "V-Half", "schedule v-min": "V-Min",
	"schedule dualpipe": "DualPipe", "schedule dualpipev": "DualPipeV",
	"kernel foreach": "foreach", "kernel fused": "fused", "kernel for-loop": "one tensor at a time",
}

// Words returns the name of an option's value for people.
func Words(name, value string) string {
	if w, ok := words[name+" "+value]; ok {
		return w
	}
	if name == "device" {
		if d := card.Lookup(value); d != nil {
			return d.Name
		}
	}
	if value == Auto {
		return "as the program does"
	}
	return value
}

// Policy says what the blocks of a step keep, compute again or move: "norms computed again".
func Policy(args engine.Args) string {
	is := func(name, value string) bool { return Value(args, name) == value }
	text, of := Words("policy", Value(args, "ckpt")), " of "
	switch every, first := Value(args, "every"), Value(args, "first"); {
	case is("stash", "yes"):
		text = Option("stash").Title
	case is("ckpt", "none") && is("compile", "yes"):
		text = "what the compiler keeps"
	case is("ckpt", "budget") && is("budget", "50"):
		text = "half of what the compiler keeps"
	case is("ckpt", "budget"):
		text = Value(args, "budget") + " % of what the compiler keeps"
	case is("ckpt", "modules"):
		module, _, _ := strings.Cut(Words("recompute", Value(args, "recompute")), " (")
		text = module + " computed again"
	case !is("group", "1"):
		text = Value(args, "group") + " blocks in one checkpoint"
	default:
		if !is("ckpt", "full") {
			of = " in "
		}
		if first != "0" {
			text += of + "the first " + first + " blocks"
		}
		if w, known := words["every "+every]; known {
			text += of + w
		} else if every != "1" {
			text += of + "every " + every + "th block"
		}
	}
	if is("offload", "yes") {
		text += ", " + Option("offload").Title
	}
	if swap := Value(args, "swap-blocks"); swap != "0" && is("ckpt", "none") {
		text = "block swap of " + swap
	} else if swap != "0" {
		text += ", block swap of " + swap
	}
	if is("graph", "model") {
		text += ", the model as one graph"
	}
	return text
}

// usual are the values that programs choose for options that are left to them, if they differ between programs.
var usual = map[string]string{
	"states hf": "fp32 states", "states torchtitan": "fp32 states", "states torchtitan-2026": "fp32 states",
	"states torchtune": "bf16 states", "states litgpt": "bf16 states", "shard litgpt": "FSDP (ZeRO-3)",
	"states megatron": "bf16 states, fp32 copy", "states nanotron": "bf16 states, fp32 copy",
	"states nanotron-2024": "bf16 states, fp32 copy", "shard nanotron": "ZeRO-1", "shard nanotron-2024": "ZeRO-1",
	"shard hf": "FSDP (ZeRO-3)", "shard torchtitan": "FSDP (ZeRO-3)",
	"shard torchtitan-2026": "FSDP (ZeRO-3)", "shard torchtune": "FSDP (ZeRO-3)",
	"shard megatron": "ZeRO-1",
}

// WordsIn is like Words for an option of a step with args. For an option that is left to the program, WordsIn
// returns what that program chooses.
func WordsIn(args engine.Args, name, value string) string {
	if w := usual[name+" "+Value(args, "program")]; value == Auto && w != "" {
		return w + ", as usual"
	}
	return Words(name, value)
}

// Title returns the title of a model, or "config.json" if model is the text of one.
func Title(model string) string {
	if m := Lookup(model); m != nil {
		return m.Title
	}
	if IsConfig(model) {
		return "config.json"
	}
	return strings.TrimSpace(model)
}
