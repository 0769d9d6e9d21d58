package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// Program is a training program, with the choices that its code makes.
type Program struct {
	Name   string // value of the option program
	Source string // the code that makes the choices
	set    func(*Setup)
}

// Programs are the known programs. The first one is the default.
var Programs = []Program{
	{"hf",
		"transformers: models/llama/modeling_llama.py, loss_utils.py; flash attention, fp32 weights under FSDP2",
		transformers},
	{"hf-2024", "transformers 4.46 to 4.49 (until March 2025), whose default AdamW has PyTorch's foreach kernel",
		func(s *Setup) {
			if transformers(s); s.Loss == LossFP32 {
				s.Loss = LossShifted
				if s.Model != nil && s.Model.OwnLoss {
					s.Loss, s.Copies = LossBF16, true
				}
			}
			s.Optimizer = StepForeach
			s.Linears = s.Model == nil || !strings.HasPrefix(s.Model.Family, "granitemoe")
		}},
	{"deepspeed", "deepspeed: runtime/engine.py, runtime/zero; Transformers' modules in bf16, states in fp32", deepspeed},
	{"torchtitan", "torchtitan: models/llama3/model.py, parallelize.py, components/optimizer.py", torchtitan},
	{"torchtitan-2026", "torchtitan: distributed/fsdp.py, components/loss.py", func(s *Setup) {
		torchtitan(s)
		s.EndsApart, s.Loss, s.FusedQKV = true, LossChunked, true // fused since June 2026 [torchtitan#3714]
		s.Outputs = false                                         // since October 2025 [torchtitan#1922]
	}},
	{"litgpt", "litgpt: model.py, finetune/full.py, by Lightning in bf16-true", litgpt},
	{"litgpt-2024", "litgpt until March 2025, with bitsandbytes 0.42", func(s *Setup) {
		litgpt(s)
		s.Buffered = true
	}},
	{"torchtune", "torchtune: recipes/full_finetune_single_device.py, modules/rms_norm.py, modules/loss",
		func(s *Setup) {
			s.Norm, s.Loss, s.RepeatKeys, s.RotateTemp, s.Tune = NormEager, LossCompiledChunks, true, 8, true
			s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 2, 2, 4, 2, StepFused
		}},
	{"megatron", "Megatron-LM: core/distributed, core/optimizer, core/fusions", func(s *Setup) {
		s.Norm, s.FusedGate, s.SoftmaxFused, s.FusedQKV, s.Loss = NormFused, true, true, true, LossSharded
		s.Weight, s.Grad, s.Master, s.Moments, s.Reduce, s.Static, s.Optimizer = 2, 4, 4, 8, 4, true, StepFused
		s.Zero, s.TE, s.Adds = 1, true, true
	}},
	{"nanotron", "nanotron: models/llama.py, optim/gradient_accumulator.py, parallel/tensor_parallel", nanotron},
	{"nanotron-2024", "nanotron until July 2024, without tp_recompute_allgather", func(s *Setup) {
		nanotron(s)
		s.Gathered = true
	}},
}

func litgpt(s *Setup) {
	s.Norm, s.Loss, s.RotateTemp, s.FusedQKV = NormWide, LossBF16, 4, true
	s.LogitsHeld, s.LogitsStay, s.Deferred = 2, true, true // no_backward_sync
	s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 2, 2, 4, 2, StepForeach
	s.Litgpt, s.RepeatKeys, s.Autocast = true, true, true
	if s.Model != nil && s.Model.Words > 1 { // its head is a copy [convert_hf_checkpoint.py]
		m := *s.Model
		m.Tied = false
		m.OnlyEager = m.OnlyEager || m.ScoreCap // masks of windows are made in each layer, and not kept [model.py]
		s.Model = &m
	}
}

func transformers(s *Setup) {
	s.Norm, s.Loss, s.RotateTemp, s.Written, s.Autocast = NormEager, LossFP32, 4, true, true
	if s.Model != nil && (s.Model.Masked && !s.Model.Fp32Loss || s.Model.NarrowLoss) {
		s.Loss = LossBF16
	}
	s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 4, 4, 8, 4, StepFused
	s.Deferred = true // no_sync, under FSDP2 since Accelerate 1.11 [trainer.py; accelerate: accelerator.py]
	s.Outputs = true
}

func nanotron(s *Setup) {
	s.Norm, s.FusedQKV, s.BatchFirst, s.Loss, s.ByCost = NormFused, true, true, LossSharded, true
	s.Weight, s.Grad, s.Master, s.Moments, s.Reduce, s.Static, s.Optimizer = 2, 4, 4, 8, 4, true, StepFused
	s.Zero = 1
}

func torchtitan(s *Setup) {
	s.Titan = true
	if s.Model != nil && s.Model.Titan {
		s.Model = s.Model.titan()
	}
	s.Norm, s.Loss, s.RepeatKeys, s.RotateTemp, s.Outputs = NormFused, LossFP32, true, 8, true
	s.Weight, s.Grad, s.Moments, s.Reduce, s.Optimizer = 4, 4, 8, 4, StepFused
}

// titan returns Llama 4 as torchtitan has it by default: without towers, windows, norms of heads and scaled queries,
// and rotated in every layer [torchtitan: experiments/llama4/model/model.py].
func (m *Model) titan() *Model {
	own := *m
	own.Beside, own.Pattern = nil, slices.Clone(m.Pattern)
	for i, b := range own.Pattern {
		plain := *b
		plain.QKNorm, plain.NoRope, plain.Window, plain.Scale = false, false, 0, 0
		own.Pattern[i] = &plain
	}
	return &own
}

// FindProgram returns the program with the name, or nil if it is not known.
func FindProgram(name string) *Program {
	if i := slices.IndexFunc(Programs, func(p Program) bool { return p.Name == name }); i >= 0 {
		return &Programs[i]
	}
	return nil
}

// Apply sets the program's choices.
func (p *Program) Apply(s *Setup) { p.set(s) }

// knob is one change of a question that saves memory or time.
type knob struct {
	name  string
	set   func(*Ask) engine.Args // returns the options that change, or nil if the knob changes nothing
	card  func(*Card)            // changes the card, instead of set
	words func(*Ask) string      // returns the name for the changed question, instead of name
}

// turns returns the knob of a lever of package ask. changes reports whether the lever changes anything.
func turns(option, value string, changes func(*Setup) bool) knob {
	return knob{name: ask.LeverOf(option, value).Name, set: func(a *Ask) engine.Args {
		return where(changes(&a.Setup), engine.Args{option: value})
	}}
}

// keepsAll reports whether nothing is computed again.
func (s *Setup) keepsAll() bool { return s.Checkpoint == "" || s.Checkpoint == CheckpointNone }

// knobs are the single changes that a plan tries.
var knobs = []knob{
	turns("loss", "chunked", func(s *Setup) bool { return !slices.Contains(withoutLogits, s.Loss) }),
	turns("logits", "deleted", func(s *Setup) bool { return s.LogitsHeld != 0 }),
	turns("norm", "fused", func(s *Setup) bool { return !s.Model.Layer && !s.Compiled && s.Norm != NormFused }),
	turns("compile", "yes", func(s *Setup) bool { return !s.Compiled }),
	turns("ckpt", "sac_op", (*Setup).keepsAll),
	turns("kernels", "yes", func(s *Setup) bool { return !s.Kernels && s.Model.has((*Block).hasKernels) }),
	turns("ckpt", "full", func(s *Setup) bool { return s.Checkpoint != CheckpointFull }),
	turns("ckpt", "sac_op_all", (*Setup).keepsAll),
	turns("offload", "yes", func(s *Setup) bool { return !s.OffloadX }),
	turns("states", "bf16", func(s *Setup) bool { return s.LoRA == nil && s.Weight+s.Grad+s.Moments+s.Master > 8 }),
	turns("optimizer", "adamw-8bit", func(s *Setup) bool { return s.Moments > 2 }),
	turns("host", "yes", func(s *Setup) bool { return !s.HostStep && s.Moments > 0 }),
	turns("host-weights", "yes", func(s *Setup) bool { return s.gathers() && s.HostStep && !s.HostWeights }),
	turns("kernel", "fused", func(s *Setup) bool { return s.Optimizer == "" || s.Optimizer == StepForeach }),
	turns("lora", "16", func(s *Setup) bool { return s.LoRA == nil }),
	turns("base", "nf4", func(s *Setup) bool {
		return s.LoRA != nil && (s.Base == "" || s.Base == BaseSame) && !s.Float8
	}),
	{name: "swap blocks", set: func(a *Ask) engine.Args {
		if a.Setup.Model.Latents == nil || a.Setup.Swap > 0 || a.Setup.RamTorch {
			return nil
		}
		n := a.fewestSwapped()
		return where(n > 0, engine.Args{"swap-blocks": number(n)})
	}, words: func(b *Ask) string { return fmt.Sprintf("swap %d blocks", b.Setup.Swap) }},
	{name: "FSDP over the same cards", set: func(a *Ask) engine.Args {
		return where(a.GPUs > orOne(a.Setup.Tensor) && a.Setup.Zero != 3, engine.Args{"shard": "zero3"})
	}},
	spread(2), spread(4), spread(8),
	{set: func(a *Ask) engine.Args {
		return where(a.Setup.Schedule != "" && a.Setup.Schedule != ScheduleAuto, engine.Args{"schedule": ScheduleAuto})
	}, words: func(*Ask) string { return "the fastest order of passes that fits" }},
	{name: "twice as many micro batches", set: func(a *Ask) engine.Args {
		return where(a.Setup.Schedule != "", engine.Args{"accumulate": number(2 * orOne(a.Setup.Accumulate))})
	}},
	{set: func(a *Ask) engine.Args {
		return where(a.Setup.Stages > 1 && a.Setup.Split == nil, engine.Args{"lighter": number(a.Setup.Lighter + 1)})
	}, words: func(b *Ask) string {
		if b.Setup.Lighter == 1 {
			return "one layer fewer on the last stage, beside the head"
		}
		return fmt.Sprintf("%d layers fewer on the last stage, beside the head", b.Setup.Lighter)
	}},
	{set: func(a *Ask) engine.Args {
		n := a.lacking()
		return where(n > 0 && n < a.Setup.Stages && n != a.Setup.OnRanks,
			engine.Args{"ckpt": "full", "ranks": number(n)})
	}, words: func(b *Ask) string {
		return fmt.Sprintf("full checkpointing on the first %d ranks alone", b.Setup.OnRanks)
	}},
	{name: "1 GiB more on each card", card: func(c *Card) { c.Memory += engine.GiB }},
	{name: "a link to the host twice as fast", card: func(c *Card) { c.Link, c.Back = 2*c.Link, 2*c.Back }},
	{name: "half the sequences of a micro batch, twice as many micro batches", set: func(a *Ask) engine.Args {
		return where(a.Setup.Batch >= 2,
			engine.Args{"batch": number(ceil(a.Setup.Batch, 2)), "accumulate": number(2 * orOne(a.Setup.Accumulate))})
	}},
	{name: "sequences of half the length", set: func(a *Ask) engine.Args {
		return where(a.Setup.Seq >= 2*shortest && a.Setup.Height == 0, engine.Args{"seq": number(ceil(a.Setup.Seq, 2))})
	}},
}

func where(changes bool, args engine.Args) engine.Args {
	if !changes {
		return nil
	}
	return args
}

// shortest is the length below which sequences are not halved.
const shortest = 512

// spread returns the knob that multiplies the number of cards and shares the states over them.
func spread(times int64) knob {
	return knob{name: fmt.Sprintf("FSDP over %d times the cards", times), set: func(a *Ask) engine.Args {
		out := engine.Args{"gpus": number(a.GPUs * times)}
		if a.Setup.Zero == 0 {
			out["shard"] = "zero3"
		}
		return out
	}}
}

// whole returns the number of an option value that was checked.
func whole(v string) int64 {
	n, _ := strconv.ParseInt(v, 10, 64)
	return n
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
