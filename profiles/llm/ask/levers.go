package ask

import "memtide/engine"

// Lever is an option value that lowers the memory or the time of a step. The step does the same work, unless
// Trains reports otherwise.
type Lever struct {
	Name          string // for people
	Option, Value string
}

// Levers are the changes that are tried one at a time if a step does not fit or is slow.
var Levers = []Lever{
	{"loss in chunks of tokens", "loss", "chunked"},
	{"logits deleted before the backward", "logits", "deleted"},
	{"fused norm", "norm", "fused"},
	{"torch.compile of the blocks", "compile", "yes"},
	{"kernels for linear attention", "kernels", "yes"},
	{"bf16 weights, gradients and moments", "states", "bf16"},
	{"8-bit moments", "optimizer", "adamw-8bit"},
	{"optimizer in host memory", "host", "yes"},
	{"weights in host memory", "host-weights", "yes"},
	{"fused optimizer", "kernel", "fused"},
	{"LoRA, rank 16", "lora", "16"},
	{"frozen products in 4 bits", "base", "nf4"},
	{"checkpointing, every second product kept", "ckpt", "sac_op"},
	{"full checkpointing", "ckpt", "full"},
	{"all products and attention kept, the rest computed again", "ckpt", "sac_op_all"},
	{"block inputs in host memory", "offload", "yes"},
}

// Trains reports whether the lever changes what is trained: adapters beside frozen weights instead of all
// weights.
func (l *Lever) Trains(args engine.Args) bool {
	return Value(args, "lora") == "0" && Value(With(args, l.Option, l.Value), "lora") != "0"
}

// LeverOf returns the lever that sets option to value. It panics if Levers has no such lever.
func LeverOf(option, value string) *Lever {
	for i := range Levers {
		if l := &Levers[i]; l.Option == option && l.Value == value {
			return l
		}
	}
	panic("ask: no lever " + option + "=" + value)
}
