package llm

import (
	"cmp"
	"slices"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// Setup is a model and how it is trained: what one rank does in one step. The zero
// value of a field is what the comment says in brackets.
type Setup struct {
	Model *Model

	// Shape of the work.
	Batch      int64 // sequences of a micro batch [1]
	Seq        int64 // tokens of a sequence
	Accumulate int64 // micro batches of a step [1]

	// Precision: bytes of a number.
	Weight    int64  // of the stored weights [2]
	Grad      int64  // of the stored gradients [as the weights]
	Master    int64  // of a copy beside the weights [0]
	Moments   int64  // of all moments together [0]
	Compute   int64  // of activations and gathered weights [2]
	Reduce    int64  // of what is reduced [as the gradients]
	Optimizer string // how its step is written: foreach, fused, for-loop, muon, none [foreach]
	Base      string // of frozen products: same as the other weights, nf4, nf4-double [same]
	Float8    bool   // products of the blocks in 8 bits
	Gather    int64  // bytes of a weight of such a product while it is gathered [Compute]

	// Program.
	Norm       string   // eager, fused, layer, plain [eager]
	FusedGate  bool     // the activation and its product in one kernel
	RepeatKeys bool     // keys and values are copied to the width of the queries
	RotateTemp int64    // bytes of a number while positions are rotated
	FusedQKV   bool     // one product makes queries, keys and values
	PlainDQ    bool     // attention's backward has no fp32 sum of query gradients
	Compiled   bool     // blocks go through torch.compile
	Checkpoint string   // see checkpointKinds [none]
	Every      int64    // only every n-th of a rank's blocks is checkpointed [1]
	First      int64    // of a rank's blocks so many of the first alone are checkpointed [all]
	Group      int64    // blocks that are one checkpoint [1]
	Budget     int64    // of checkpointing by a budget: per cent of what a compiled block keeps
	OneGraph   bool     // and the compiler sees all blocks as one graph
	Keep       []string // values by name that a full checkpoint keeps all the same
	Recompute  []string // of checkpointing by modules: what is computed again
	OffloadX   bool     // block inputs wait in host memory
	Stash      bool     // and so does all else that blocks keep
	HostStep   bool     // moments, masters and the optimizer's step are the host's
	StepInBack bool     // the optimizer steps on each gradient as it appears
	Loss       string   // see lossKinds [fp32]
	LossChunk  int64    // tokens or words of a chunk [as the program's default]
	LogitsHeld int64    // bytes of a logit that a reference keeps through the backward
	LoRA       *LoRA

	// Ranks.
	Zero        int          // 1 to 3: states sharded as by ZeRO; 3 is FSDP [3 if Shard is set]
	Shard       int64        // [1]
	FSDPOne     bool         // the buffers of FSDP on a single rank
	NoReshard   bool         // gathered weights stay through the step
	ReduceAside bool         // what FSDP reduces lies in the reductions' stream: PyTorch before June 2024
	Static      bool         // gradients have a buffer that is never given back
	Tensor      int64        // tensor parallel degree [1]
	NoSP        bool         // norms and the residual stream are not split over it
	Context     int64        // context parallel degree [1]
	Expert      int64        // expert parallel degree [1]
	ExpertShard int64        // ranks that share an expert's states [Shard/Expert]
	Stages      int64        // pipeline stages [1]; with Schedule: ranks of the pipeline
	InFlight    int64        // micro batches of the fullest stage at once [1]; with Schedule it follows from the order
	Schedule    string       // order of the passes on the ranks, of engine/pipeline; empty: only the two ends are played
	Chunks      int64        // stages of a rank where the schedule lets them be chosen [2]
	Split       []int64      // layers of each stage of the pipeline [even, the first ones have one more]
	Workspace   engine.Bytes // of cuBLAS, once for each thread
	Buckets     bool         // gradients are copied into the buckets of DDP

	tally    *tally
	poll     *engine.Poll // ends what is played, see Ask.Until
	lateLoss bool         // the loss of a micro batch waits until its backward follows
}

// LoRA is a set of adapters beside frozen weights.
type LoRA struct {
	Rank    int64
	Bytes   int64    // of a number of what the adapters compute
	On      []string // q, k, v, o, gate, up, down; none: only norms train
	Dropout bool     // their input goes through a dropout
	Scale   bool     // their output is scaled by an operator of its own
	Params  int64    // all numbers of the adapters; 0: by the shapes
	Stored  int64    // bytes of a stored number [4]
	Moments int64    // of all moments of a number; -1: none [two of the stored type]
}

func (l *LoRA) has(name string) bool { return l != nil && slices.Contains(l.On, name) }

var (
	normKinds       = []string{"eager", "fused", "layer", "plain"}
	checkpointKinds = []string{"none", "full", "sac_op", "sac_op_all", "dots", "modules", "budget"}
	optimizerKinds  = []string{"foreach", "fused", "for-loop", "muon", "none"}
)

func orOne(n int64) int64 { return max(n, 1) }

// normal fills the defaults in; it ends with what cannot be, or is not understood.
func (s Setup) normal() Setup {
	s.check()
	s.defaults()
	s.checkTypes()
	s.checkPolicy()
	s.checkRanks()
	return s
}

// check ends with what cannot be, whatever the defaults.
func (s *Setup) check() {
	if s.Model == nil {
		refuse("no model")
	}
	profiles.End(s.Model.check())
	if s.Seq <= 0 || s.Seq > mostSeq || s.Batch > mostBatch {
		refuse("%d sequences of %d tokens; want 1 to %d of 1 to %d", s.Batch, s.Seq, mostBatch, mostSeq)
	}
	if w := s.Model.Window; w > 0 && s.Seq > w {
		refuse("sequences of %d tokens with a sliding window of %d are not understood; up to %d are", s.Seq, w, w)
	}
	s.checkNumbers()
	s.checkTokens()
}

// defaults fills in what is not chosen.
func (s *Setup) defaults() {
	for _, n := range []*int64{&s.Batch, &s.Accumulate, &s.Shard, &s.Tensor, &s.Context, &s.Expert, &s.Stages, &s.InFlight, &s.Every, &s.Group} {
		*n = orOne(*n)
	}
	word := func(v *string, known []string, otherwise string) {
		*v = cmp.Or(*v, otherwise)
		if !slices.Contains(known, *v) {
			refuse("%q is not known; want one of %q", *v, known)
		}
	}
	norm := "eager"
	if s.Model.Layer { // one kernel in every program
		norm, s.Norm = "layer", "layer"
	}
	word(&s.Norm, normKinds, norm)
	word(&s.Checkpoint, checkpointKinds, "none")
	word(&s.Loss, lossKinds, "fp32")
	word(&s.Optimizer, optimizerKinds, "foreach")
	word(&s.Base, baseKinds, "same")
	s.Weight = cmp.Or(s.Weight, 2)
	s.Compute = cmp.Or(s.Compute, 2)
	s.Gather = cmp.Or(s.Gather, s.Compute)
	s.Grad = cmp.Or(s.Grad, s.Weight)
	s.Reduce = cmp.Or(s.Reduce, s.Grad)
	if s.Zero == 0 && (s.Shard > 1 || s.FSDPOne) {
		s.Zero = 3
	}
	s.ExpertShard = cmp.Or(s.ExpertShard, orOne(s.Shard/s.Expert))
	if s.LoRA != nil {
		l := *s.LoRA
		l.Bytes = cmp.Or(l.Bytes, s.Compute)
		l.Stored = cmp.Or(l.Stored, 4)
		l.Moments = cmp.Or(l.Moments, 2*l.Stored)
		s.LoRA = &l
	}
}

// Most of what one rank computes with.
const (
	mostSeq   = 1 << 24
	mostBatch = 1 << 16
	mostRanks = 1 << 16
	mostBytes = 64 // of a number with all that belongs to it
)

// checkNumbers ends with numbers that cannot be.
func (s *Setup) checkNumbers() {
	for _, v := range []struct {
		name    string
		n, most int64
	}{
		{"sequences of a micro batch", s.Batch, mostBatch}, {"micro batches of a step", s.Accumulate, 1 << 20}, {"micro batches in flight", s.InFlight, 1 << 10},
		{"bytes of a weight", s.Weight, mostBytes}, {"bytes of a gradient", s.Grad, mostBytes}, {"bytes of a master weight", s.Master, mostBytes},
		{"bytes of the moments", s.Moments, mostBytes}, {"bytes of an activation", s.Compute, mostBytes}, {"bytes of what is reduced", s.Reduce, mostBytes},
		{"bytes of a weight that is gathered", s.Gather, mostBytes}, {"bytes of a logit that is held", s.LogitsHeld, mostBytes},
		{"bytes of scratch for positions", s.RotateTemp, mostBytes}, {"tokens or words of a chunk of the loss", s.LossChunk, mostSeq},
		{"ranks that share states", s.Shard, mostRanks}, {"tensor parallel ranks", s.Tensor, mostRanks}, {"context parallel ranks", s.Context, mostRanks},
		{"expert parallel ranks", s.Expert, mostRanks}, {"ranks that share an expert", s.ExpertShard, mostRanks},
		{"pipeline stages", s.Stages, mostRanks}, {"n of every n-th block", s.Every, mostRanks}, {"checkpointed blocks", s.First, mostRanks}, {"blocks of a checkpoint", s.Group, mostRanks},
	} {
		if v.n < 0 || v.n > v.most {
			refuse("%s: %d; want up to %d", v.name, v.n, v.most)
		}
	}
	if l := s.LoRA; l != nil && l.Rank > s.Model.Hidden {
		refuse("adapters of rank %d beside a width of %d; want %d at most", l.Rank, s.Model.Hidden, s.Model.Hidden)
	}
	if l := s.LoRA; l != nil && (l.Rank < 0 || l.Bytes < 0 || l.Bytes > mostBytes || l.Stored < 0 || l.Stored > mostBytes || l.Params < 0 || l.Params > 1<<40) {
		refuse("adapters of rank %d with %d numbers of %d bytes, stored in %d, cannot be", l.Rank, l.Params, l.Bytes, l.Stored)
	}
}

// checkTypes ends with types of states that are not understood.
func (s *Setup) checkTypes() {
	if s.Zero < 0 || s.Zero > 3 {
		refuse("ZeRO-%d is not known; want 1, 2 or 3", s.Zero)
	}
	if s.HostStep && s.Optimizer == "muon" {
		refuse("products of Muon on the host are not known")
	}
	if s.Base != "same" && s.LoRA == nil {
		refuse("weights in 4 bits are for frozen ones with adapters beside them; there are no adapters")
	}
	if s.Base != "same" && s.Float8 {
		refuse("products in 8 bits of weights in 4 bits are not known")
	}
	if s.Gather != s.Compute && (s.Gather != 1 || !s.Float8) {
		refuse("weights gathered in %d bytes are not known; want those of the compute type, or 1 for products in 8 bits", s.Gather)
	}
}

// checkPolicy ends with what policies do not do together.
func (s *Setup) checkPolicy() {
	switch {
	case s.Group > 1 && (s.Checkpoint != "full" || s.Every > 1 || s.First > 0 || len(s.Keep) > 0):
		refuse("several blocks are one checkpoint only where all blocks are checkpointed in full")
	case s.Stash && s.Checkpoint != "none":
		refuse("what blocks keep waits in host memory only where nothing is checkpointed; there is %q", s.Checkpoint)
	case s.Checkpoint == "budget" && !s.Compiled:
		refuse("a memory budget is the compiler's; the blocks are not compiled")
	case s.OneGraph && s.Checkpoint == "budget" && (s.gathers() || s.Tensor > 1 || s.Stages > 1 || s.LoRA != nil):
		refuse("blocks that are gathered, shared, in a pipeline or beside adapters are not compiled as one graph here")
	case s.Checkpoint == "budget" && (s.Budget < 0 || s.Budget > 100):
		refuse("a memory budget of %d %% is not known; want 0 to 100", s.Budget)
	}
}

// checkRanks ends with what does not divide among ranks, and names that are not known.
func (s *Setup) checkRanks() {
	for _, m := range s.Recompute {
		if modules[m] == nil {
			refuse("module %q to recompute is not known", m)
		}
	}
	if moe := s.Model.MoE; s.Expert > 1 && (moe == nil || moe.Experts%s.Expert != 0) {
		refuse("the experts of %s do not divide among %d ranks", s.Model.Name, s.Expert)
	}
	if s.Schedule == "" && s.Stages > s.Model.Layers {
		refuse("a pipeline of %d stages needs as many layers at least; %s has %d", s.Stages, s.Model.Name, s.Model.Layers)
	}
	if s.Schedule != "" && pipeline.Stages(s.Schedule, 1, 1) == 0 {
		refuse("schedule %q is not known; want one of %q", s.Schedule, pipeline.Names())
	}
	if s.Tensor > 1 && s.Model.Heads%s.Tensor != 0 {
		refuse("%d heads do not divide among %d ranks", s.Model.Heads, s.Tensor)
	}
}

// tokens of a rank: of the products, and of the residual stream.
func (s *Setup) tokens() (inner, outer int64) {
	inner = ceil(s.Batch*s.Seq, s.Context)
	if s.Tensor > 1 && !s.NoSP {
		return inner, ceil(inner, s.Tensor)
	}
	return inner, inner
}

// gathers says whether weights are gathered for each block: ZeRO-3 and FSDP.
func (s *Setup) gathers() bool { return s.Zero == 3 }

// trains says whether the weights of the model, not only adapters, have gradients.
func (s *Setup) trains() bool { return s.LoRA == nil }

func ceil(n, by int64) int64 { return (n + by - 1) / by }

// size is n numbers of so many bytes.
func size(n, bytes int64) engine.Bytes { return engine.Bytes(n) * engine.Bytes(bytes) }
