package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/pipeline"
)

// Work is the shape of the work of one step. The JSON names of its fields, and of the fields of the other parts,
// are the names in rows of published figures, see Row.
type Work struct {
	Batch      int64 `json:"micro_batch"` // sequences of a micro batch [1]
	Seq        int64 `json:"seq"`         // tokens of a sequence
	Accumulate int64 `json:"grad_accum"`  // micro batches of a step [1]
	Varied     bool  `json:"varied"`      // batches are as long as their own longest sequence, Seq at most

	Objective string `json:"objective"` // ObjectiveDPO or ObjectiveGRPO [the next token]
	Prompt    int64  `json:"prompt"`    // tokens of a sequence without logits
	Beside    int64  `json:"beside"`    // MiB of a card that frozen models have beside the trained one
	Rollout   int64  `json:"rollout"`   // GiB of a card that an engine for rollouts has beside the step

	// frames and sides in pixels of the video or picture that Seq counts the tokens of; Height 0: Seq was chosen
	Frames, Height, Width int64
	References            int64 // pictures beside the one that is made, as large
}

// Precision is the number of bytes of the numbers of each kind.
type Precision struct {
	Weight  int64 // stored weights [2]
	Grad    int64 `json:"grad_bytes"`   // stored gradients [as the weights]
	Master  int64 `json:"master_bytes"` // a second copy of the weights [0: no copy]
	Moments int64 `json:"opt_bytes"`    // all moments together [0: no moments]
	Compute int64 // activations and gathered weights [2]

	Autocast bool     // Transformers' modules run under torch.autocast if weights are wider, or with adapters
	CastsAll bool     // with Autocast: also with weights of the compute type
	Reduce   int64    `json:"reduce_bytes"` // gradients while they are reduced [as the gradients]
	Base     BaseKind // frozen weights of products [BaseSame]
	Float8   bool     `json:"float8"`       // products of the blocks in 8 bits
	Gather   int64    `json:"gather_bytes"` // weights of such products while they are gathered [Compute]
}

// BaseKind is how frozen weights of products are stored.
type BaseKind string

// The kinds of Base: as the other weights, in 8 bits, or in 4. Weights in FP8 are widened for each
// pass [musubi-tuner: --fp8_base; diffusion-pipe: transformer_dtype float8]. bitsandbytes has a scale of
// 4 bytes for each output in INT8. In 4 bits it has half a byte for each
// number and a scale for each 64 numbers; a scale is 4 bytes, or, if scales are quantised too, one byte
// with 4 bytes for each 256 scales [bitsandbytes: functional.py, quantize_4bit].
const (
	BaseSame      BaseKind = "same"
	BaseFP8       BaseKind = "fp8"
	BaseInt8      BaseKind = "int8"
	BaseNF4       BaseKind = "nf4"
	BaseNF4Double BaseKind = "nf4-double"
)

// Code is how the program's operators are written.
type Code struct {
	Norm       NormKind      `json:"norm"`         // [NormEager, or NormLayer for a LayerNorm]
	FusedGate  bool          `json:"fused_swiglu"` // the activation and its product in one kernel
	RepeatKeys bool          `json:"repeat_kv"`    // keys and values are copied to the width of the queries
	RotateTemp int64         `json:"rope_tmp"`     // bytes of a number while positions are rotated
	FusedQKV   bool          `json:"fused_qkv"`    // one product makes queries, keys and values
	Attention  AttentionKind // [AttentionFlash]
	Written    bool          // blocks are the modules of Transformers as they are written
	Litgpt     bool          // blocks are those of litgpt
	Buffered   bool          // products in 4 bits keep their input [bitsandbytes before 0.44: MatMul4Bit]
	Titan      bool          // blocks are those of torchtitan
	Tune       bool          // and of torchtune
	Kernels    bool          // kernels of fla, mamba_ssm and xielu run in place of torch code
	// the softmax of eager attention keeps its result alone [Megatron-LM: core/fusions/fused_softmax.py]
	SoftmaxFused bool
	PlainDQ      bool // attention's backward sums the gradients of queries without an fp32 buffer
	Compiled     bool `json:"compile"` // blocks go through torch.compile
	// queries, keys and values are copied to have the sequence behind the batch [nanotron: models/llama.py]
	BatchFirst bool `json:"batch_first"`
	Linears    bool `json:"linears"` // experts are linear layers, or stored as these are
	Towers     bool `json:"towers"`  // towers beside the language part train, too: they have states
	Dropout    bool `json:"dropout"` // what is added to the stream has a dropout, in every program
}

// NormKind is how a norm is written.
type NormKind string

// The kinds of Norm: an RMS norm as Transformers writes it, or as one kernel; a LayerNorm
// as one kernel; and litgpt's RMS norm, in 4 bytes throughout, or as it was until October
// 2023 in the compute type [litgpt: model.py, rmsnorm.py].
const (
	NormEager NormKind = "eager"
	NormFused NormKind = "fused"
	NormLayer NormKind = "layer"
	NormPlain NormKind = "plain"
	NormWide  NormKind = "wide"
)

// Checkpointing says what is computed again in the backward, and what waits in host memory.
type Checkpointing struct {
	Checkpoint CheckpointKind `json:"ckpt"` // [CheckpointNone]
	Every      int64          // only every n-th block of a rank is checkpointed [1]
	First      int64          // only the first n blocks of a rank are checkpointed [all]
	OnRanks    int64          // only the first n ranks of a pipeline checkpoint [all]
	Group      int64          // number of blocks in one checkpoint [1]
	// full checkpoints are not reentrant, see program.hooked
	NonReentrant bool
	// full checkpoints run whole blocks again and hold their output [torch.utils.checkpoint, CheckpointFunction]
	Reentrant bool
	Budget    int64    // for CheckpointBudget: per cent of what a compiled block keeps
	OneGraph  bool     // for CheckpointBudget: the compiler sees all blocks as one graph
	Keep      []string // names of values that a full checkpoint keeps nevertheless
	Recompute []string // for CheckpointModules: the modules that are computed again
	OffloadX  bool     `json:"offload_x"` // block inputs wait in host memory
	Stash     bool     // everything that blocks keep waits in host memory
	Swap      int64    // blocks whose frozen weights wait in host memory, see swaps
	RamTorch  bool     // frozen products of blocks wait in host memory one by one, see ramPlaces
}

// CheckpointKind is a policy of checkpointing.
type CheckpointKind string

// The kinds of Checkpoint, by what is computed again: nothing; all of a block; all but every second product and
// attention; all but products and attention; all but products; the modules of Recompute; what the compiler's
// partitioner chooses within Budget.
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
	Optimizer StepKind `json:"opt_impl"` // [StepForeach]
	Paged     bool     // the driver moves moments between card and host [bitsandbytes: optim/optimizer.py, get_paged]
	HostStep  bool     `json:"opt_on_host"` // the host has moments and masters, and runs the optimizer's step
	HostPart  int64    // with HostStep: per cent of each weight on the host [100]
	// with HostStep: masters of the host's part stay on the card, too [Megatron-LM: hybrid_optimizer.py clones them]
	KeepMasters bool
	// the host has a rank's share of the weights, too, and gets gradients as they are reduced [torch: FSDP2's
	// CPUOffloadPolicy; DeepSpeed: offload_param]
	HostWeights bool  `json:"weights_on_host"`
	NVMe        int64 `json:"nvme"`       // GB/s at which a card's share of drives, not the host, has all this [none]
	StepInBack  bool  `json:"opt_in_bwd"` // the optimizer steps on each gradient as it appears
	GaLoreRank  int64 // of GaLore's projections [128, as transformers has it: trainer_optimizer.py]
}

// StepKind is how an optimizer's step is written.
type StepKind string

// The kinds of Optimizer: operators on lists of tensors, one kernel, a loop over tensors, Muon's
// orthogonal updates of matrices, no step at all, Adafactor's rows and columns of second moments, and
// GaLore's projected gradients.
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
	Loss       LossKind `json:"loss"`        // [LossFP32]
	LossChunk  int64    `json:"loss_chunk"`  // tokens or words of a chunk [the program's default]
	LogitsHeld int64    `json:"logits_held"` // bytes of a logit that a reference keeps through the loss's backward
	LogitsStay bool     // and through that of the blocks, too
	Copies     bool     // LossBF16 reads a copy of the logits without the last token
	Nexts      int64    // layers that predict later tokens, each with the head and a loss of its own
	// losses whose gradient of logits and head's input stay until the step, when those of the head's weight are made
	// [Megatron: core/tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication]
	LateHead int64
}

// LossKind is an implementation of the loss. See lossKept for what each does.
type LossKind string

// The kinds of Loss.
const (
	LossBF16 LossKind = "bf16"
	LossFP32 LossKind = "fp32"
	// of a contiguous copy without the last token [transformers 4.46 to 4.49: loss/loss_utils.py, ForCausalLMLoss]
	LossShifted LossKind = "shifted"
	// a slice of the logits is divided in place, whose gradient is copied [trl 1.0 to 1.9: trainer/grpo_trainer.py,
	// trl#5254 and trl#6554; torch: csrc/autograd/functions/tensor.cpp, CopySlices]
	LossDivided        LossKind = "divided"
	LossCompiled       LossKind = "compiled"
	LossChunkedCE      LossKind = "chunked_ce"
	LossCompiledChunks LossKind = "compiled_chunks"
	LossChunked        LossKind = "chunked"
	LossVocabChunked   LossKind = "vocab_chunked"
	LossInPlace        LossKind = "inplace"
	LossSharded        LossKind = "sharded"
	// the backward is compiled, which changes a copy of the softmax, since a graph's inputs stay
	// [Megatron-LM: core/fusions/fused_cross_entropy.py; torch: _inductor/fx_passes/reinplace.py, lowering.py]
	LossShardedCompiled LossKind = "sharded_compiled"
	LossFused           LossKind = "fused"
)

// Whole reports whether a loss has all logits at once, and their gradient in its backward.
func (k LossKind) Whole() bool {
	return !slices.Contains([]LossKind{LossChunkedCE, LossCompiledChunks, LossChunked, LossVocabChunked, LossFused}, k)
}

// Layout says how the work is divided among ranks.
type Layout struct {
	Zero      int   `json:"zero"`     // level of ZeRO, 1 to 3; 3 is FSDP [3 if Shard is set]
	Shard     int64 `json:"shard"`    // ranks that share states [1]
	FSDPOne   bool  `json:"fsdp_one"` // a single rank has the buffers of FSDP
	NoReshard bool  // gathered weights stay until the end of the step
	Deferred  bool  // FSDP reduces gradients after the last micro batch alone, and until then they are whole
	Outputs   bool  // a pipeline keeps the logits of all micro batches [torch: pipelining/stage.py, output_chunks]
	// FSDP1, whose units have one flat parameter each [torch: distributed/fsdp/_flat_param.py]
	Flat bool
	// embedding and head are separate units of FSDP unless they are tied [torchtitan#1094, July 2025]
	EndsApart    bool
	ReduceAside  bool  // the input of FSDP's reductions is in the reductions' stream: PyTorch before June 2024
	Static       bool  `json:"grads_static"` // gradients have a buffer that is never freed
	TE           bool  // products are Transformer Engine's, or with Local Megatron-LM's own
	Local        bool  // with TE: layers are Megatron-LM's own, without Transformer Engine
	Sequential   bool  // with TE: experts run one after the other [Megatron-LM: core/transformer/moe/experts.py]
	Adds         bool  // products add gradients of weights to the stored ones, without tensors of their own
	Gathered     bool  `json:"gathered"` // with Static: products keep what was gathered for them, see builder.share
	Tensor       int64 `json:"tp"`       // tensor parallel degree [1]
	NoSP         bool  // tensor parallel ranks do not split norms and the residual stream
	Context      int64 `json:"cp"`        // context parallel degree [1]
	Expert       int64 `json:"ep"`        // expert parallel degree [1]
	Imbalance    int64 `json:"imbalance"` // per cent of rows that the busiest of them gets beyond its share
	ExpertTensor int64 `json:"etp"`       // tensor parallel ranks that share an expert's products [1]
	// ranks that share an expert's states [Shard*Tensor/Expert/ExpertTensor]
	ExpertShard int64 `json:"expert_shard"`
	Stages      int64 `json:"pp"` // pipeline stages, or with Schedule ranks of the pipeline [1]
	// micro batches that the fullest stage holds at once [1]; with Schedule it follows from the order
	InFlight int64 `json:"in_flight"`
	// order of the passes on the ranks, a name of engine/pipeline; if empty, only the two ends are played
	Schedule string  `json:"schedule"`
	Chunks   int64   `json:"vpp"` // stages per rank, for schedules that let it be chosen [2]
	Split    []int64 // layers of each stage [even; the first stages have one more]
	// without Split: a layer goes to the first stage whose layers do not exceed its part of the cost of all products
	// yet, the head's included [nanotron: models/base.py, build_model]
	ByCost bool `json:"by_cost"`
	// without Split: how many layers fewer the last stage has, since it has the head; the others have them [0]
	Lighter      int64
	LighterFirst int64        // how many the first stage has fewer [0]
	Workspace    engine.Bytes // workspace of cuBLAS, for each thread
	room         engine.Bytes // of the card for the caching allocator [any]
	Buckets      bool         `json:"ddp_buckets"` // gradients are copied into the buckets of DDP
	DeepSpeed    bool         // states and gradients are those of its engine, see deepspeed
	Bucket       int64        // gradients of its buckets together [500 million, of ZeRO-3 the squared hidden size]
}

// The largest numbers of a setup.
const (
	mostOneGraph = 256 // blocks of one compiled graph, whose division takes time by their number squared
	mostSeq      = 1 << 24
	mostBatch    = 1 << 16
	mostRanks    = 1 << 16
	mostBytes    = 64 // bytes per number
)

// bound is a number of a setup and its largest value.
type bound struct {
	name    string
	n, most int64
}

func (s *Setup) bounds() []bound {
	return []bound{{"sequences of a micro batch", s.Batch, mostBatch},
		{"micro batches of a step", s.Accumulate, 1 << 20},
		{"bytes of a weight", s.Weight, mostBytes}, {"bytes of a gradient", s.Grad, mostBytes},
		{"bytes of a master weight", s.Master, mostBytes},
		{"bytes of the moments", s.Moments, mostBytes}, {"bytes of an activation", s.Compute, mostBytes},
		{"bytes of what is reduced", s.Reduce, mostBytes},
		{"bytes of a weight that is gathered", s.Gather, mostBytes},
		{"bytes of a logit that is held", s.LogitsHeld, mostBytes},
		{"tokens or words of a chunk of the loss", s.LossChunk, mostSeq},
		{"per cent of the optimizer in host memory", s.HostPart, 100}, {"GB/s of drives", s.NVMe, 1 << 10},
		{"bytes of scratch for positions", s.RotateTemp, mostBytes},
		{"micro batches in flight", s.InFlight, 1 << 10},
		{"ranks that share states", s.Shard, mostRanks}, {"tensor parallel ranks", s.Tensor, mostRanks},
		{"context parallel ranks", s.Context, mostRanks},
		{"expert parallel ranks", s.Expert, mostRanks}, {"per cent of rows beyond a share", s.Imbalance, 1000},
		{"ranks of an expert's products", s.ExpertTensor, mostRanks},
		{"ranks that share an expert", s.ExpertShard, mostRanks},
		{"pipeline stages", s.Stages, mostRanks},
		{"layers that the last stage has fewer", s.Lighter, mostRanks},
		{"layers that the first stage has fewer", s.LighterFirst, mostRanks},
		{"ranks that checkpoint", s.OnRanks, mostRanks}, {"n of every n-th block", s.Every, mostRanks},
		{"checkpointed blocks", s.First, mostRanks}, {"blocks of a checkpoint", s.Group, mostRanks},
		{"blocks that are swapped", s.Swap, mostRanks}, {"rank of GaLore", s.GaLoreRank, mostRanks},
		{"MiB of frozen models beside", s.Beside, 1 << 20}, {"gradients of buckets", s.Bucket, 1 << 36}}
}

// defaults fills in what is not chosen. A LayerNorm is one kernel in every program.
func (s *Setup) defaults() {
	atLeastOne(&s.Batch, &s.Accumulate, &s.Every, &s.Group)
	if s.Model.Layer {
		s.Norm = NormLayer
	}
	mode(&s.Norm, normKinds, NormEager)
	mode(&s.Attention, attentionKinds, AttentionFlash)
	if s.Model.OnlyEager {
		s.Attention = AttentionEager
	}
	mode(&s.Checkpoint, checkpointKinds, CheckpointNone)
	mode(&s.Loss, lossKinds, LossFP32)
	mode(&s.Optimizer, stepKinds, StepForeach)
	s.HostPart, s.GaLoreRank = cmp.Or(s.HostPart, 100), cmp.Or(s.GaLoreRank, 128)
	mode(&s.Base, baseKinds, BaseSame)
	s.Weight, s.Compute = cmp.Or(s.Weight, 2), cmp.Or(s.Compute, 2)
	s.Gather, s.Grad = cmp.Or(s.Gather, s.Compute), cmp.Or(s.Grad, s.Weight)
	s.Reduce = cmp.Or(s.Reduce, s.Grad)
	s.Layout.defaults()
	if s.LoRA != nil {
		l := *s.LoRA
		l.Bytes, l.Stored = cmp.Or(l.Bytes, s.Compute), cmp.Or(l.Stored, 4)
		l.Moments = cmp.Or(l.Moments, 2*l.Stored)
		s.LoRA = &l
	}
}

func (y *Layout) defaults() {
	atLeastOne(&y.Shard, &y.Tensor, &y.Context, &y.Expert, &y.ExpertTensor, &y.Stages, &y.InFlight)
	if y.Zero == 0 && (y.Shard > 1 || y.FSDPOne) {
		y.Zero = 3
	}
	y.ExpertShard = cmp.Or(y.ExpertShard, orOne(y.Shard*y.Tensor/(y.Expert*y.ExpertTensor)))
}

// check ends with an error for work that does not divide among ranks, and for unknown schedules.
func (y *Layout) check(m *Model) {
	switch {
	case y.Zero < 0 || y.Zero > 3:
		refuse("ZeRO-%d is not known; want 1, 2 or 3", y.Zero)
	case y.Expert > 1 && m.MoE == nil:
		refuse("%s has no experts that ranks could share; want -ep 1", m.Name)
	case y.Expert > 1 && m.MoE.Experts%y.Expert != 0:
		refuse("the experts of %s do not divide among %d ranks", m.Name, y.Expert)
	case m.MoE != nil && y.Tensor%y.ExpertTensor != 0:
		refuse("the experts' products are shared by %d of %d tensor parallel ranks; want a divisor", y.ExpertTensor,
			y.Tensor)
	case y.Schedule == "" && y.Stages > m.Layers:
		refuse("a pipeline of %d stages needs as many layers at least; %s has %d", y.Stages, m.Name, m.Layers)
	case y.Schedule != "" && y.Schedule != ScheduleAuto && pipeline.Stages(y.Schedule, 1, 1) == 0:
		refuse("schedule %q is not known; want one of %q", y.Schedule, pipeline.Names())
	case y.Tensor > 1 && m.has(func(k *Block) bool { return k.SSM != nil && k.SSM.Groups%y.Tensor != 0 }):
		refuse("groups of a state space of %s do not divide among %d ranks", m.Name, y.Tensor)
	case m.has(func(k *Block) bool { return k.Delta != nil && k.Delta.KeyHeads%(y.Tensor*y.Context) != 0 }):
		refuse("heads of a gated delta net of %s do not divide among %d ranks", m.Name, y.Tensor*y.Context)
	case y.Tensor > 1 && m.Heads%y.Tensor != 0:
		refuse("%d heads do not divide among %d ranks", m.Heads, y.Tensor)
	}
}

// The kinds of each mode, in the order of messages.
var (
	baseKinds       = []BaseKind{BaseSame, BaseFP8, BaseInt8, BaseNF4, BaseNF4Double}
	attentionKinds  = []AttentionKind{AttentionFlash, AttentionSDPA, AttentionEager}
	normKinds       = []NormKind{NormEager, NormFused, NormLayer, NormPlain, NormWide}
	checkpointKinds = []CheckpointKind{CheckpointNone, CheckpointFull, CheckpointOp, CheckpointOpAll, CheckpointDots,
		CheckpointModules, CheckpointBudget}
	stepKinds = []StepKind{StepForeach, StepFused, StepForLoop, StepMuon, StepAdafactor, StepGaLore, StepNone}
	lossKinds = []LossKind{LossBF16, LossFP32, LossShifted, LossDivided, LossCompiled, LossChunkedCE,
		LossCompiledChunks, LossChunked, LossVocabChunked, LossInPlace, LossSharded, LossShardedCompiled, LossFused}
)

// mode sets *v to usual if it is empty, and ends with an error if it is not in known.
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
