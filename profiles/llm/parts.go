package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// Work is the shape of the work of one step.
type Work struct {
	Batch      int64 // sequences of a micro batch [1]
	Seq        int64 // tokens of a sequence
	Accumulate int64 // micro batches of a step [1]

	// of the video, or the picture of one frame, that Seq is made of; Height 0: Seq was chosen
	Frames, Height, Width int64
}

// Precision says how many bytes numbers have.
type Precision struct {
	Weight  int64 // of the stored weights [2]
	Grad    int64 // of the stored gradients [as the weights]
	Master  int64 // of a copy beside the weights [0]
	Moments int64 // of all moments together [0]
	Compute int64 // of activations and gathered weights [2]

	Autocast bool     // Transformers' modules run under torch.autocast where weights are wider, or beside adapters
	CastsAll bool     // and with weights of the compute type, too
	Reduce   int64    // of what is reduced [as the gradients]
	Base     BaseKind // of frozen products [BaseSame]
	Float8   bool     // products of the blocks in 8 bits
	Gather   int64    // bytes of a weight of such a product while it is gathered [Compute]
}

// BaseKind is how frozen weights of products are stored.
type BaseKind string

// The kinds of Base: as the other weights, in 8 bits, or in 4. What is in FP8 is widened for each
// pass [musubi-tuner: --fp8_base; diffusion-pipe: transformer_dtype float8]. bitsandbytes has, in INT8, a
// scale of 4 bytes for each output, or half a byte of a
// number and a scale for each 64; the scales are 4 bytes, or, quantised themselves, one byte
// and 4 for each 256 of them [bitsandbytes: functional.py, quantize_4bit].
const (
	BaseSame      BaseKind = "same"
	BaseFP8       BaseKind = "fp8"
	BaseInt8      BaseKind = "int8"
	BaseNF4       BaseKind = "nf4"
	BaseNF4Double BaseKind = "nf4-double"
)

// Code is what the program's operators are.
type Code struct {
	Norm       NormKind      // [NormEager; of a LayerNorm NormLayer]
	FusedGate  bool          // the activation and its product in one kernel
	RepeatKeys bool          // keys and values are copied to the width of the queries
	RotateTemp int64         // bytes of a number while positions are rotated
	FusedQKV   bool          // one product makes queries, keys and values
	Attention  AttentionKind // [AttentionFlash]
	Written    bool          // blocks are the modules of Transformers as they are written
	Kernels    bool          // linear attention and state spaces run as kernels of fla and mamba_ssm
	PlainDQ    bool          // attention's backward has no fp32 sum of query gradients
	Compiled   bool          // blocks go through torch.compile
}

// NormKind is how a normalisation is written.
type NormKind string

// The kinds of Norm: RMS normalisation as Transformers writes it, as one kernel, LayerNorm
// as one kernel, and litgpt's in the compute type throughout.
const (
	NormEager NormKind = "eager"
	NormFused NormKind = "fused"
	NormLayer NormKind = "layer"
	NormPlain NormKind = "plain"
)

// Checkpointing says what is computed again in the backward, and what waits in host memory.
type Checkpointing struct {
	Checkpoint CheckpointKind // [CheckpointNone]
	Every      int64          // only every n-th of a rank's blocks is checkpointed [1]
	First      int64          // only the first of a rank's blocks, this many, are checkpointed [all]
	OnRanks    int64          // only the first ranks of a pipeline, this many, checkpoint [all]
	Group      int64          // blocks that are one checkpoint [1]
	Budget     int64          // of CheckpointBudget: per cent of what a compiled block keeps
	OneGraph   bool           // and the compiler sees all blocks as one graph
	Keep       []string       // values by name that a full checkpoint keeps all the same
	Recompute  []string       // of CheckpointModules: what is computed again
	OffloadX   bool           // block inputs wait in host memory
	Stash      bool           // and so does all else that blocks keep
	Swap       int64          // blocks whose frozen weights wait there, see swaps
}

// CheckpointKind is a policy of checkpointing.
type CheckpointKind string

// The kinds of Checkpoint: nothing is computed again; all of a block; all but every second
// product and attention; all but products and attention; all but products; the modules of
// Recompute; what the compiler's partitioner chooses within Budget.
const (
	CheckpointNone    CheckpointKind = "none"
	CheckpointFull    CheckpointKind = "full"
	CheckpointOp      CheckpointKind = "sac_op"
	CheckpointOpAll   CheckpointKind = "sac_op_all"
	CheckpointDots    CheckpointKind = "dots"
	CheckpointModules CheckpointKind = "modules"
	CheckpointBudget  CheckpointKind = "budget"
)

// Stepping says how and where the optimizer steps.
type Stepping struct {
	Optimizer  StepKind // [StepForeach]
	HostStep   bool     // moments, masters and the optimizer's step are the host's
	HostPart   int64    // per cent of each weight for which they are [100]
	StepInBack bool     // the optimizer steps on each gradient as it appears
}

// StepKind is how an optimizer's step is written.
type StepKind string

// The kinds of Optimizer: lists of tensors, one kernel, a loop over tensors, Muon's
// orthogonal updates of matrices, Adafactor's rows and columns of second moments, GaLore's projected
// gradients, and no step at all.
const (
	StepForeach StepKind = "foreach"
	StepFused   StepKind = "fused"
	StepForLoop StepKind = "for-loop"
	StepMuon    StepKind = "muon"
	StepNone    StepKind = "none"

	StepAdafactor StepKind = "adafactor"
	StepGaLore    StepKind = "galore"
)

// HeadLoss says how head and loss are written.
type HeadLoss struct {
	Loss       LossKind // [LossFP32]
	LossChunk  int64    // tokens or words of a chunk [as the program's default]
	LogitsHeld int64    // bytes of a logit that a reference keeps through the backward
}

// LossKind is an implementation of the loss; see lossKept for what each does.
type LossKind string

// The kinds of Loss.
const (
	LossBF16           LossKind = "bf16"
	LossFP32           LossKind = "fp32"
	LossCompiled       LossKind = "compiled"
	LossChunkedCE      LossKind = "chunked_ce"
	LossCompiledChunks LossKind = "compiled_chunks"
	LossChunked        LossKind = "chunked"
	LossVocabChunked   LossKind = "vocab_chunked"
	LossInPlace        LossKind = "inplace"
	LossFused          LossKind = "fused"
)

// whole reports whether a loss has all logits at once, and their gradient in its backward.
func (k LossKind) whole() bool {
	return !slices.Contains([]LossKind{LossChunkedCE, LossCompiledChunks, LossChunked, LossVocabChunked, LossFused}, k)
}

// Layout says how the work is spread over ranks.
type Layout struct {
	Zero      int   // 1 to 3: states sharded as by ZeRO; 3 is FSDP [3 if Shard is set]
	Shard     int64 // [1]
	FSDPOne   bool  // the buffers of FSDP on a single rank
	NoReshard bool  // gathered weights stay through the step
	// embedding and head are units of FSDP of their own, unless they are tied [torchtitan#1094, July 2025]
	EndsApart   bool
	ReduceAside bool  // what FSDP reduces lies in the reductions' stream: PyTorch before June 2024
	Static      bool  // gradients have a buffer that is never given back
	Tensor      int64 // tensor parallel degree [1]
	NoSP        bool  // norms and the residual stream are not split over it
	Context     int64 // context parallel degree [1]
	Expert      int64 // expert parallel degree [1]
	ExpertShard int64 // ranks that share an expert's states [Shard/Expert]
	Stages      int64 // pipeline stages [1]; with Schedule: ranks of the pipeline
	InFlight    int64 // micro batches of the fullest stage at once [1]; with Schedule it follows from the order
	// order of the passes on the ranks, of engine/pipeline; empty: only the two ends are played
	Schedule string
	Chunks   int64   // stages of a rank where the schedule lets them be chosen [2]
	Split    []int64 // layers of each stage of the pipeline [even, the first ones have one more]
	// instead: layers that the last stage has fewer, for it has the head too; the others have them [0]
	Lighter   int64
	Workspace engine.Bytes // of cuBLAS, once for each thread
	Buckets   bool         // gradients are copied into the buckets of DDP
}

// Most of what one rank computes with.
const (
	mostSeq   = 1 << 24
	mostBatch = 1 << 16
	mostRanks = 1 << 16
	mostBytes = 64 // of a number with all that belongs to it
)

// bound is a number of a setup, and the most that it can be.
type bound struct {
	name    string
	n, most int64
}

func (w *Work) bounds() []bound {
	return []bound{{"sequences of a micro batch", w.Batch, mostBatch},
		{"micro batches of a step", w.Accumulate, 1 << 20}}
}

func (w *Work) defaults() { atLeastOne(&w.Batch, &w.Accumulate) }

func (p *Precision) bounds() []bound {
	return []bound{{"bytes of a weight", p.Weight, mostBytes}, {"bytes of a gradient", p.Grad, mostBytes},
		{"bytes of a master weight", p.Master, mostBytes},
		{"bytes of the moments", p.Moments, mostBytes}, {"bytes of an activation", p.Compute, mostBytes},
		{"bytes of what is reduced", p.Reduce, mostBytes},
		{"bytes of a weight that is gathered", p.Gather, mostBytes}}
}

func (p *Precision) defaults() {
	mode(&p.Base, baseKinds, BaseSame)
	p.Weight = cmp.Or(p.Weight, 2)
	p.Compute = cmp.Or(p.Compute, 2)
	p.Gather = cmp.Or(p.Gather, p.Compute)
	p.Grad = cmp.Or(p.Grad, p.Weight)
	p.Reduce = cmp.Or(p.Reduce, p.Grad)
}

func (p *Precision) check() {
	if p.Base != BaseSame && p.Float8 {
		refuse("products in 8 bits of weights in %s are not known", p.Base)
	}
	if p.Gather != p.Compute && (p.Gather != 1 || !p.Float8) {
		refuse("weights gathered in %d bytes are not known; want those of the compute type, or 1 for products in 8 bits", p.Gather)
	}
}

func (c *Code) bounds() []bound {
	return []bound{{"bytes of scratch for positions", c.RotateTemp, mostBytes}}
}

// defaults fills the kind of norm in. A LayerNorm is one kernel in every program.
func (c *Code) defaults(layer bool) {
	if layer {
		c.Norm = NormLayer
	}
	mode(&c.Norm, normKinds, NormEager)
	mode(&c.Attention, attentionKinds, AttentionFlash)
}

func (c *Checkpointing) bounds() []bound {
	return []bound{{"ranks that checkpoint", c.OnRanks, mostRanks}, {"n of every n-th block", c.Every, mostRanks},
		{"checkpointed blocks", c.First, mostRanks}, {"blocks of a checkpoint", c.Group, mostRanks},
		{"blocks that are swapped", c.Swap, mostRanks}}
}

func (c *Checkpointing) defaults() {
	atLeastOne(&c.Every, &c.Group)
	mode(&c.Checkpoint, checkpointKinds, CheckpointNone)
}

// check ends with what policies do not do together.
func (c *Checkpointing) check() {
	switch {
	case c.Group > 1 && (c.Checkpoint != CheckpointFull || c.Every > 1 || c.First > 0 || len(c.Keep) > 0):
		refuse("several blocks are one checkpoint only where all blocks are checkpointed in full")
	case c.Stash && c.Checkpoint != CheckpointNone:
		refuse("what blocks keep waits in host memory only where nothing is checkpointed; there is %q", c.Checkpoint)
	case c.Checkpoint == CheckpointBudget && (c.Budget < 0 || c.Budget > 100):
		refuse("a memory budget of %d %% is not known; want 0 to 100", c.Budget)
	}
	for _, m := range c.Recompute {
		if modules[m] == nil {
			refuse("module %q to recompute is not known", m)
		}
	}
}

func (o *Stepping) defaults() {
	mode(&o.Optimizer, stepKinds, StepForeach)
	o.HostPart = cmp.Or(o.HostPart, 100)
}

func (o *Stepping) bounds() []bound {
	return []bound{{"per cent of the optimizer in host memory", o.HostPart, 100}}
}

func (o *Stepping) check() {
	if o.HostStep && slices.Contains([]StepKind{StepMuon, StepAdafactor, StepGaLore}, o.Optimizer) {
		refuse("a step of %s on the host is not known", o.Optimizer)
	}
}

func (l *HeadLoss) bounds() []bound {
	return []bound{{"bytes of a logit that is held", l.LogitsHeld, mostBytes},
		{"tokens or words of a chunk of the loss", l.LossChunk, mostSeq}}
}

func (l *HeadLoss) defaults() {
	mode(&l.Loss, lossKinds, LossFP32)
}

func (y *Layout) bounds() []bound {
	return []bound{{"micro batches in flight", y.InFlight, 1 << 10},
		{"ranks that share states", y.Shard, mostRanks}, {"tensor parallel ranks", y.Tensor, mostRanks},
		{"context parallel ranks", y.Context, mostRanks},
		{"expert parallel ranks", y.Expert, mostRanks}, {"ranks that share an expert", y.ExpertShard, mostRanks},
		{"pipeline stages", y.Stages, mostRanks},
		{"layers that the last stage has fewer", y.Lighter, mostRanks}}
}

func (y *Layout) defaults() {
	atLeastOne(&y.Shard, &y.Tensor, &y.Context, &y.Expert, &y.Stages, &y.InFlight)
	if y.Zero == 0 && (y.Shard > 1 || y.FSDPOne) {
		y.Zero = 3
	}
	y.ExpertShard = cmp.Or(y.ExpertShard, orOne(y.Shard/y.Expert))
}

// check ends with what does not divide among ranks, and orders that are not known.
func (y *Layout) check(m *Model) {
	if y.Zero < 0 || y.Zero > 3 {
		refuse("ZeRO-%d is not known; want 1, 2 or 3", y.Zero)
	}
	if moe := m.MoE; y.Expert > 1 && (moe == nil || moe.Experts%y.Expert != 0) {
		refuse("the experts of %s do not divide among %d ranks", m.Name, y.Expert)
	}
	if y.Schedule == "" && y.Stages > m.Layers {
		refuse("a pipeline of %d stages needs as many layers at least; %s has %d", y.Stages, m.Name, m.Layers)
	}
	if y.Schedule != "" && y.Schedule != ScheduleAuto && pipeline.Stages(y.Schedule, 1, 1) == 0 {
		refuse("schedule %q is not known; want one of %q", y.Schedule, pipeline.Names())
	}
	if y.Tensor > 1 && m.Heads%y.Tensor != 0 {
		refuse("%d heads do not divide among %d ranks", m.Heads, y.Tensor)
	}
}

// Kinds of the modes, in the order in which messages name them.
var (
	baseKinds       = []BaseKind{BaseSame, BaseFP8, BaseInt8, BaseNF4, BaseNF4Double}
	attentionKinds  = []AttentionKind{AttentionFlash, AttentionSDPA, AttentionEager}
	normKinds       = []NormKind{NormEager, NormFused, NormLayer, NormPlain}
	checkpointKinds = []CheckpointKind{CheckpointNone, CheckpointFull, CheckpointOp, CheckpointOpAll, CheckpointDots,
		CheckpointModules, CheckpointBudget}
	stepKinds = []StepKind{StepForeach, StepFused, StepForLoop, StepMuon, StepAdafactor, StepGaLore, StepNone}
	lossKinds = []LossKind{LossBF16, LossFP32, LossCompiled, LossChunkedCE, LossCompiledChunks, LossChunked,
		LossVocabChunked, LossInPlace, LossFused}
)

// mode fills in the usual kind where none is chosen, and ends with one that is not known.
func mode[K ~string](v *K, known []K, usual K) {
	*v = cmp.Or(*v, usual)
	if !slices.Contains(known, *v) {
		refuse("%q is not known; want one of %q", *v, known)
	}
}

func orOne(n int64) int64 { return max(n, 1) }

func atLeastOne(numbers ...*int64) {
	for _, n := range numbers {
		*n = orOne(*n)
	}
}
