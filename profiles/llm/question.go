package llm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/profiles/llm/ask"
)

// products are the products of a block that have adapters, by the option targets.
var products = map[string][]string{"all": {"q", "k", "v", "o", "gate", "up", "down"},
	"attention": {"q", "k", "v", "o"}, "latents": {"q", "k", "v", "o"}, "qv": {"q", "v"},
	"mlp": {"gate", "up", "down"}}

// New returns the question that options ask about a model. The setup is what the program does by default, changed
// by the chosen options. New does not keep args.
func New(m *Model, args engine.Args) (Ask, error) {
	p, err := ask.Parse(args)
	if err != nil {
		return Ask{}, err
	}
	n := func(name string) int64 { return int64(p.Int(name)) }
	a := Ask{GPUs: n("gpus"), Context: engine.Bytes(n(ask.Context))*engine.MiB + engine.Bytes(n("rollout"))*engine.GiB,
		Card: cardOf(card.Lookup(ask.Value(args, "device"))),
		Setup: Setup{Model: m, Work: Work{Seq: n("seq"), Batch: n("batch"), Accumulate: n("accumulate"),
			Prompt: min(n("prompt"), n("seq")-1), Frames: n("frames"), Height: n("height"), Width: n("width"),
			References: n("references")},
			HeadLoss: HeadLoss{Nexts: n("mtp"), LateHead: n("defer-head")},
			Layout:   Layout{Tensor: n("tp"), Context: n("cp"), Expert: n("ep"), Imbalance: n("imbalance")}}}
	if a.Context >= a.Card.Memory {
		return a, fmt.Errorf("CUDA and an engine for rollouts take %s of a card of %s: want -context and -rollout below that",
			a.Context.Text(), a.Card.Memory.Text())
	}
	a.Args, a.Setup.Recompute = ask.Plain(args), ask.Modules(args)
	if err := a.Setup.pictured(a.Args["seq"] != ""); err != nil {
		return a, err
	}
	if seq := a.Setup.Seq; m.Positions > 0 && seq > m.Positions {
		if a.Args["seq"] != "" {
			return a, fmt.Errorf("seq is %d; %s has learned %d positions: want at most those", seq, m.Name, m.Positions)
		}
		a.Setup.Seq = m.Positions
	}
	for _, o := range ask.Options {
		if v, chosen := a.Args[o.Name]; chosen && !ask.Matters(a.Args, o.Name) &&
			o.Name != "swap-blocks" && o.Name != "non-reentrant" { // checkSwap has a better message
			return a, fmt.Errorf("%s is %s, which means nothing %s", o.Name, v, barring(a.Args, o.Name))
		}
	}
	y := &a.Setup.Layout
	each := y.Tensor // cards among which no states are shared
	if pp := n("pp"); pp > 1 {
		y.Stages, y.Schedule, y.Lighter, y.Chunks = pp, p.Word("schedule"), n("lighter"), n("stages")
		y.LighterFirst = n("lighter-first")
		y.Split = ask.Split(args)
		each *= pp
	}
	if y.ExpertTensor = orOne(n("etp")); n("etp") == 0 && (p.Is("program", "megatron") || y.Expert == 1) {
		y.ExpertTensor = y.Tensor
	}
	if ranks := each * y.Context; a.GPUs%ranks != 0 {
		return a, fmt.Errorf("the number of cards is %d, which does not divide among %d tensor, %d context and %d pipeline ranks: want a multiple of %d",
			a.GPUs, y.Tensor, y.Context, each/y.Tensor, ranks)
	}
	if ranks := each / y.Tensor * y.Expert * y.ExpertTensor; a.GPUs%ranks != 0 {
		return a, fmt.Errorf("the number of cards is %d, which does not divide among %d pipeline and %d expert ranks, each with %d tensor ranks: want a multiple of %d",
			a.GPUs, each/y.Tensor, y.Expert, y.ExpertTensor, ranks)
	}
	data, groups := a.GPUs/each, n("instances")
	of := a.GPUs / (each / y.Tensor * y.Expert * y.ExpertTensor) // ranks that have an expert
	if data%groups != 0 || of%groups != 0 {
		return a, fmt.Errorf("%d data parallel ranks, and %d of each expert, do not divide among %d instances of the optimizer: want -instances to divide both", data, of, groups)
	}
	if data > 1 {
		y.Zero, y.Shard = 3, data/groups
	}
	FindProgram(ask.Program(args)).Apply(&a.Setup)
	a.Setup.choose(p)
	return a, nil
}

// barring says which of args make the option name meaningless: each that would give it a meaning if it alone had
// another value.
func barring(args engine.Args, name string) string {
	var out []string
	for _, o := range ask.Options {
		b := maps.Clone(args)
		if o.Name != name && slices.ContainsFunc(append([]string{"0", "1", "2"}, o.Choices...), func(v string) bool {
			b[o.Name] = v
			return ask.Matters(b, name)
		}) {
			out = append(out, o.Name+" is "+ask.Value(args, o.Name))
		}
	}
	if len(out) == 0 {
		return "beside the others"
	}
	return "while " + strings.Join(out, " and ")
}

// choose overrides the program's defaults with the chosen options.
func (s *Setup) choose(p engine.Parsed) {
	if level := slices.Index([]string{"none", "zero1", "zero2", "zero3"}, p.Word("shard")); level >= 0 {
		s.Zero = level
	}
	switch shard := p.Word("shard"); shard {
	case "none":
		// DDP's buckets are no views of the gradients [torch: nn/parallel/distributed.py, gradient_as_bucket_view];
		// torchtitan replicates by FSDP2 since March 2026 [torchtitan#2458]; experts are no replicas [accelerate]
		s.Buckets = s.Shard > 1 && s.Expert < 2 && !s.Static && !s.DeepSpeed && !p.Is("program", "torchtitan-2026")
		s.Shard = 1
	case "grad-op", "fsdp1", "fsdp1-grad-op":
		s.Zero, s.Flat = 3, shard != "grad-op"
		s.NoReshard = shard != "fsdp1"
	}
	// a pipeline gathers weights once, not for each micro batch [torch: pipelining/stage.py]
	s.NoReshard = s.NoReshard || s.Stages > 1 && (s.Zero == 0 || s.Zero == 3)
	switch p.Word("states") {
	case "fp32":
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Master = 4, 4, 8, 4, 0
		if s.DeepSpeed { // ZeRO copies fp32 weights, too
			s.Widen()
			s.Master = given(s.Zero > 0, 4)
		}
	case "bf16":
		s.Weight, s.Grad, s.Moments, s.Reduce, s.Master = 2, 2, 4, 2, given(s.DeepSpeed, 2)
	}
	if p.Is("bf16-grads", "yes") {
		s.Grad, s.Reduce = 2, 2
	}
	// as the type of autocast [accelerate: utils/dataclasses.py, set_mixed_precision]
	if s.Zero == 3 && transformed(p) && (s.Weight == 2 || !p.Is("no-autocast", "yes")) {
		s.Reduce = 2
	}
	s.stepBy(p)
	if loss := p.Word("loss"); loss != ask.Auto {
		s.Loss, s.LogitsHeld = LossKind(loss), 0
	}
	s.CastsAll = p.Is("autocast", "yes")
	if held, chosen := map[string]int64{"deleted": 0, "kept": 2, "kept-fp32": 4}[p.Word("logits")]; chosen {
		s.LogitsHeld, s.LogitsStay = held, held == 2
	}
	if norm := p.Word("norm"); norm != ask.Auto {
		s.Norm = NormKind(norm)
	}
	if s.Float8 = !p.Is("fp8", "none"); p.Is("fp8", "gathered") {
		s.Gather = 1
	}
	s.Kernels, s.FusedGate = p.Is("kernels", "yes"), s.FusedGate || p.Is("fused-gate", "yes")
	s.Attention = AttentionKind(p.Word("attention"))
	s.Base, s.Linears = BaseKind(p.Word("base")), s.Linears || p.Is("base-experts", "yes")
	s.Every, s.First, s.Group, s.Budget = int64(p.Int("every")), int64(p.Int("first")), int64(p.Int("group")),
		int64(p.Int("budget"))
	s.OneGraph, s.OnRanks, s.Swap = p.Is("graph", "model"), int64(p.Int("ranks")), int64(p.Int("swap-blocks"))
	s.Stash, s.RamTorch = p.Is("stash", "yes"), p.Is("ramtorch", "yes")
	s.Checkpoint, s.OffloadX, s.Compiled, s.HostStep = CheckpointKind(p.Word("ckpt")), p.Is("offload", "yes"),
		p.Is("compile", "yes"), p.Is("host", "yes")
	s.Dropout, s.Towers, s.Adds = p.Is("dropout", "yes"), p.Is("towers", "yes"), s.Adds && p.Is("no-grad-fusion", "no")
	s.Varied, s.Local = p.Is("lengths", "varied"), p.Is("local-layers", "yes")
	s.Sequential = p.Is("no-grouped", "yes")
	s.Objective, s.Beside, s.Rollout = p.Word("objective"), int64(p.Int("beside")), int64(p.Int("rollout"))
	s.HostPart, s.HostWeights, s.NVMe = int64(p.Int("host-part")), p.Is("host-weights", "yes"), int64(p.Int("nvme"))
	s.Bucket, s.KeepMasters = 1_000_000*int64(p.Int("bucket")), p.Is("keep-masters", "yes")
	s.StepInBack, s.NoSP = p.Is("step-in-backward", "yes"), p.Is("no-sp", "yes")
	s.NonReentrant = !transformed(p) || p.Is("non-reentrant", "yes")
	s.Reentrant = !s.NonReentrant && p.Is("program", "hf-2024") && s.Checkpoint == CheckpointFull && s.Group == 1
	s.adapt(p)
	if s.Autocast && p.Is("no-autocast", "yes") {
		s.uncast()
	}
}

// stepBy sets the chosen optimizer and its kernel.
func (s *Setup) stepBy(p engine.Parsed) {
	optimizer, paged := strings.CutPrefix(p.Word("optimizer"), "paged-")
	s.Paged, s.GaLoreRank = paged, int64(p.Int("galore-rank"))
	if n, is := moments[optimizer]; is {
		s.Moments = max(n, 0)
	}
	switch optimizer {
	case "sgd-momentum":
		s.Moments = s.Weight
	case "prodigy": // two moments, a sum and the first weights [prodigyopt/prodigy.py]
		s.Moments = 4 * s.Weight
	}
	if kernel := p.Word("kernel"); kernel != ask.Auto {
		s.Optimizer = StepKind(kernel)
	}
	switch {
	case strings.HasPrefix(optimizer, "sgd"): // it has no temporaries in any kernel [torch/optim/sgd.py]
		s.Optimizer = StepFused
	case slices.Contains([]string{"adamw-8bit", "lion", "lion-8bit"}, optimizer): // kernels of bitsandbytes
		s.Optimizer = StepFused
	case optimizer == "prodigy", optimizer == "adamw-4bit": // weight by weight
		s.Optimizer = StepForLoop
	case slices.Contains(stepKinds, StepKind(strings.TrimSuffix(optimizer, "-8bit"))):
		s.Optimizer = StepKind(strings.TrimSuffix(optimizer, "-8bit"))
	}
}

// transformed reports whether Transformers runs the step, of any version.
func transformed(p engine.Parsed) bool {
	return ask.Transformers(engine.Args{"program": p.Word("program")})
}

// uncast leaves autocast out. Then fp32 weights compute in 4 bytes, and so do fp32 adapters beside narrow weights.
func (s *Setup) uncast() {
	s.Autocast = false
	switch {
	case s.Weight == 4 && s.Base == BaseSame:
		s.Widen()
	case s.LoRA != nil && s.LoRA.Stored == 0:
		s.LoRA.Bytes, s.LoRA.Scale = 4, true
	}
}

// moments are the bytes of an optimizer's moments of a number, -1 for none [bitsandbytes/optim/lion.py;
// torchao/optim/adam.py]. Of those of adapters, SGD's momentum and Prodigy's states have 4 bytes each.
var moments = map[string]int64{"adamw-8bit": 2, "adamw-4bit": 1, "lion": 4, "lion-8bit": 1, "sgd": -1,
	"adafactor": -1, "galore-8bit": 2, "sgd-momentum": 4, "prodigy": 16}

func (s *Setup) adapt(p engine.Parsed) {
	rank := p.Int("lora")
	if rank == 0 {
		return
	}
	optimizer := strings.TrimPrefix(p.Word("optimizer"), "paged-")
	moments := moments[optimizer]
	s.LoRA = &LoRA{Rank: int64(rank), On: products[p.Word("targets")], Moments: moments,
		Latents: p.Is("targets", "latents"), Dora: p.Is("dora", "yes"), Dropout: p.Is("adapter-dropout", "yes"),
		Fused: p.Is("fused-adapters", "yes")}
	if p.Is("adapters", "bf16") {
		s.LoRA.Stored, s.LoRA.Moments = 2, min(moments, 2)
	}
	if s.Model.At(0).Unet != nil && p.Is("targets", "all") { // as in diffusers' trainer
		s.LoRA.On = products["attention"]
	}
	if s.DeepSpeed { // the engine narrows adapters, too, and has fp32 copies
		s.LoRA.Stored, s.LoRA.Moments = s.Weight, cmp.Or(moments, 8)
	} else {
		s.Master = 0
	}
	s.Weight, s.Moments = 2, 0
	if p.Is("kbit", "yes") || p.Is("states", "fp32") && s.Base == BaseSame {
		s.Weight = 4
	}
}

// with returns the question with some options changed. For a pipeline it asks for the fullest rank only.
func (a Ask) with(changes engine.Args) (Ask, error) {
	args := a.Args
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		args = ask.With(args, name, changes[name])
	}
	b, err := New(a.Setup.Model, args)
	b.Setup.tally, b.Setup.poll, b.known, b.fullest = a.Setup.tally, a.Setup.poll, a.known, true
	if b.Setup.Schedule == ScheduleAuto {
		b.order = a.order
	}
	return b, err
}
