package llm

// Program is what people run: the choices that its code makes, as a start.
type Program struct {
	Name   string // in commands
	Title  string
	Source string // where the choices stand
	set    func(*Setup)
}

// Programs are the presets, the first one the default.
var Programs = []Program{
	{"hf", "Transformers with accelerate", "transformers: models/llama/modeling_llama.py, loss_utils.py; flash attention, fp32 weights under FSDP2", func(s *Setup) {
		s.Norm, s.Loss, s.LogitsHeld, s.RotateTemp = "eager", "fp32", 2, 4
		s.Weight, s.Grad, s.Moments, s.Reduce = 4, 4, 8, 4
	}},
	{"torchtitan", "torchtitan", "torchtitan: models/llama3/model.py, parallelize.py, components/optimizer.py", func(s *Setup) {
		s.Norm, s.Loss, s.RepeatKeys, s.RotateTemp = "fused", "fp32", true, 8
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 4, 4, 8, 4, "fused"
	}},
	{"torchtune", "torchtune", "torchtune: recipes/full_finetune_single_device.py, modules/rms_norm.py, modules/loss", func(s *Setup) {
		s.Norm, s.Loss, s.RepeatKeys, s.RotateTemp = "eager", "compiled_chunks", true, 8
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 2, 2, 4, 2, "fused"
	}},
	{"megatron", "Megatron Core with Transformer Engine", "Megatron-LM: core/distributed, core/optimizer, core/fusions", func(s *Setup) {
		s.Norm, s.FusedGate, s.Loss = "fused", true, "inplace"
		s.Weight, s.Grad, s.Master, s.Moments, s.Reduce, s.Static, s.Optimizer = 2, 4, 4, 8, 4, true, "fused"
		s.Zero = 1
	}},
}

// FindProgram finds a preset by its name; nil if it is not known.
func FindProgram(name string) *Program {
	for i := range Programs {
		if Programs[i].Name == name {
			return &Programs[i]
		}
	}
	return nil
}

// Apply sets what the program chooses.
func (p *Program) Apply(s *Setup) { p.set(s) }

// knob is one change of a setup that costs something and frees something.
type knob struct {
	name  string
	apply func(*Ask) bool // false: it changes nothing here
}

// knobs are the single changes that a plan tries.
var knobs = []knob{
	{"loss in chunks of tokens", func(a *Ask) bool {
		was := a.Setup.Loss
		a.Setup.Loss, a.Setup.LogitsHeld = "chunked", 0
		return was != "chunked" && was != "vocab_chunked" && was != "fused"
	}},
	{"logits deleted before the backward", func(a *Ask) bool {
		was := a.Setup.LogitsHeld
		a.Setup.LogitsHeld = 0
		return was != 0
	}},
	{"fused norm", func(a *Ask) bool {
		was := a.Setup.Norm
		a.Setup.Norm = "fused"
		return !a.Setup.Model.Layer && !a.Setup.Compiled && was != "fused"
	}},
	{"torch.compile of the blocks", func(a *Ask) bool {
		was := a.Setup.Compiled
		a.Setup.Compiled = true
		return !was
	}},
	{"checkpointing, every second product kept", func(a *Ask) bool {
		was := a.Setup.Checkpoint
		a.Setup.Checkpoint = "sac_op"
		return was == "" || was == "none"
	}},
	{"full checkpointing", func(a *Ask) bool {
		was := a.Setup.Checkpoint
		a.Setup.Checkpoint = "full"
		return was != "full"
	}},
	{"block inputs in host memory", func(a *Ask) bool {
		was := a.Setup.OffloadX
		a.Setup.Checkpoint, a.Setup.OffloadX = "full", true
		return !was
	}},
	{"bf16 weights, gradients and moments", func(a *Ask) bool {
		s := &a.Setup
		was := s.Weight + s.Grad + s.Moments + s.Master
		s.Weight, s.Grad, s.Reduce, s.Moments, s.Master = 2, 2, 2, 4, 0
		return was > 8
	}},
	{"8-bit moments", func(a *Ask) bool {
		was := a.Setup.Moments
		a.Setup.Moments = 2
		return was > 2
	}},
	{"optimizer in host memory", func(a *Ask) bool {
		was := a.Setup.HostStep
		a.Setup.HostStep = true
		return !was && a.Setup.Moments > 0
	}},
	{"fused optimizer", func(a *Ask) bool {
		was := a.Setup.Optimizer
		a.Setup.Optimizer = "fused"
		return was == "" || was == "foreach"
	}},
	{"adapters of rank 16 beside frozen bf16 weights", func(a *Ask) bool {
		was := a.Setup.LoRA
		a.Setup.LoRA = &LoRA{Rank: 16, On: []string{"q", "k", "v", "o", "gate", "up", "down"}}
		a.Setup.Weight, a.Setup.Master, a.Setup.Moments = 2, 0, 0
		return was == nil
	}},
	{"FSDP over 2 times the cards", func(a *Ask) bool { return a.spread(2) }},
	{"FSDP over 4 times the cards", func(a *Ask) bool { return a.spread(4) }},
	{"FSDP over 8 times the cards", func(a *Ask) bool { return a.spread(8) }},
	{"half the sequences of a micro batch, twice as many micro batches", func(a *Ask) bool {
		if a.Setup.Batch < 2 {
			return false
		}
		a.Setup.Batch = ceil(a.Setup.Batch, 2)
		a.Setup.Accumulate = 2 * orOne(a.Setup.Accumulate)
		return true
	}},
}

// spread shares the states over so many times the cards.
func (a *Ask) spread(times int64) bool {
	a.GPUs *= times
	a.Setup.Shard = orOne(a.Setup.Shard) * times
	if a.Setup.Zero == 0 {
		a.Setup.Zero = 3
	}
	return true
}
