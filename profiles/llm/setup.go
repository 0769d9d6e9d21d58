package llm

import (
	"slices"

	"memtide/engine"
	"memtide/profiles"
)

// Setup is a model and how it is trained: what one rank does in one step. Comments of fields have in brackets
// what their zero value means.
type Setup struct {
	Model *Model
	Work
	Precision
	Code
	Checkpointing
	Stepping
	HeadLoss
	LoRA *LoRA
	Layout

	encoder  *Setup // for blocks with Cross: the setup as the encoder sees it
	tally    *tally
	poll     *engine.Poll // stops the play, see Ask.Until
	lateLoss bool         // the loss of a micro batch runs right before its backward
	more     engine.Bytes // bytes that passes hold beside whole micro batches in flight
	outputs  engine.Bytes // logits, or gradients of logits, of micro batches that have ended
}

// LoRA is a set of adapters beside frozen weights.
type LoRA struct {
	Rank    int64
	Bytes   int64    // bytes of a number that the adapters compute [as the compute type]
	On      []string // products with adapters: q, k, v, o, gate, up, down; if empty, only norms train
	Latents bool     // products of a diffusion model's text alone have none
	Dropout bool     // the input of adapters has a dropout
	Dora    bool     // the adapters are DoRA's, as PEFT computes them
	Fused   bool     // products and their adapters are operators of unsloth or axolotl
	Scale   bool     // an operator of its own scales the output of adapters
	Params  int64    // parameters of all adapters; 0: by the shapes
	Stored  int64    // bytes of a stored number [4]
	Moments int64    // bytes of all moments of a number; -1: no moments [two of the stored type]
}

func (l *LoRA) has(name string) bool { return l != nil && slices.Contains(l.On, name) }

// normal returns the setup with defaults filled in. It ends by profiles.End if the setup is impossible or not known.
func (s Setup) normal() Setup {
	s.checkNumbers()
	if s.TE && s.Model.Megatron {
		s.Model = s.Model.ofMegatron()
	}
	s.defaults()
	s.checkParts()
	return s
}

// checkNumbers ends with an error for numbers that are impossible, whatever the defaults.
func (s *Setup) checkNumbers() {
	if s.Model == nil {
		refuse("no model")
	}
	profiles.End(s.Model.Check())
	if s.Seq <= 0 || s.Seq > mostSeq || s.Batch > mostBatch {
		refuse("%d sequences of %d tokens; want 1 to %d of 1 to %d", s.Batch, s.Seq, mostBatch, mostSeq)
	}
	for _, v := range s.bounds() {
		if v.n < 0 || v.n > v.most {
			refuse("%s: %d; want up to %d", v.name, v.n, v.most)
		}
	}
	s.LoRA.check(s.Model)
	if n := float64(orOne(s.Batch)) * float64(s.Seq) * float64(s.Model.widest()); n > mostValue {
		refuse("%d sequences of %d tokens make an activation of %.3g numbers; want 2^53 at most: lower batch or seq",
			s.Batch, s.Seq, n)
	}
}

func (l *LoRA) check(m *Model) {
	if l == nil {
		return
	}
	if l.Rank > m.Hidden {
		refuse("adapters of rank %d beside a width of %d; want %d at most", l.Rank, m.Hidden, m.Hidden)
	}
	if l.Rank < 0 || l.Bytes < 0 || l.Bytes > mostBytes || l.Stored < 0 || l.Stored > mostBytes || l.Params < 0 ||
		l.Params > 1<<40 {
		refuse("adapters of rank %d with %d numbers of %d bytes, stored in %d, cannot be", l.Rank, l.Params, l.Bytes,
			l.Stored)
	}
}

// checkParts ends with an error for options that are impossible or not known, alone or together.
func (s *Setup) checkParts() {
	s.checkFamily()
	s.checkWidened()
	budget := s.Checkpoint == CheckpointBudget
	switch o := s.Optimizer; {
	case s.Base != BaseSame && s.LoRA == nil:
		refuse("weights in 8 or 4 bits are for frozen ones with adapters beside them; there are no adapters")
	case s.DeepSpeed && (s.Flat || s.NoReshard || s.Stages > 1):
		refuse("DeepSpeed shares states by ZeRO, and its pipelines are not known: want -shard zero3 and -pp 1")
	case s.Paged && s.HostStep:
		refuse("a paged optimizer steps on the card: leave -host out, or take another optimizer")
	case budget && !s.Compiled:
		refuse("a memory budget is the compiler's; the blocks are not compiled")
	case s.OneGraph && budget && (s.gathers() || s.Tensor > 1 || s.Stages > 1 || s.LoRA != nil ||
		s.Model.has(func(k *Block) bool { return k.Cross || k.Own != (Own{}) })):
		refuse("blocks that are gathered, shared, in a pipeline or beside adapters, read an encoder or differ in width or tokens are not compiled as one graph here: want -graph block")
	case s.OneGraph && budget && s.Model.Layers > mostOneGraph:
		refuse("one graph of more than %d blocks takes minutes to divide: want -graph block", mostOneGraph)
	case s.HostStep && (o == StepMuon || o == StepAdafactor || o == StepGaLore):
		refuse("a step of %s on the host is not known", o)
	case s.HostWeights && (!s.HostStep || s.HostPart < 100 || !s.gathers()):
		refuse("weights wait in host memory where ranks share them and the host steps on all of them: want -host, -host-part 100 and -shard zero3")
	case s.StepInBack && (s.Accumulate > 1 || s.Stages > 1):
		refuse("the optimizer steps on each gradient as it is made; with several micro batches they are added up: leave -step-in-backward out, or take one micro batch and no pipeline")
	case s.Varied && (s.Stages > 1 || s.Height > 0):
		refuse("batches of varied lengths are played only for text, and without a pipeline; want -lengths equal")
	case s.NVMe > 0 && !s.HostStep:
		refuse("drives have what else the host has: want -host")
	case (o == StepAdafactor || o == StepGaLore) && (s.Zero > 0 || s.Tensor > 1):
		refuse("%s works on rows and columns of whole matrices: with shared states or tensor parallel ranks it is not known; want -shard none on several cards", o)
	case s.LoRA != nil && s.LoRA.Fused && (!s.Written || s.Compiled || s.LoRA.Dropout || s.LoRA.Dora || s.widened() ||
		s.Base == BaseInt8 || s.Model.Ends != nil || s.bitsandbytes() && s.widensNet(s.Model.At(0))):
		refuse("%s: adapters that are one operator with their products are known of Transformers' language models: want -program hf or deepspeed, and no -adapter-dropout, -dora, -kbit, -compile or -base int8, nor -base nf4 beside a net whose activation autocast widens, or leave -fused-adapters out", s.Model.Name)
	case s.LoRA != nil && s.LoRA.Latents && s.Model.Latents == nil:
		refuse("%s has no latents beside a text: want -targets attention", s.Model.Name)
	case o == StepGaLore && s.LoRA != nil:
		refuse("GaLore projects gradients of the model's own weights; there are adapters: leave -lora out, or take another optimizer")
	case s.Base != BaseSame && s.Float8:
		refuse("products in 8 bits of weights in %s are not known", s.Base)
	case s.Gather != s.Compute && (s.Gather != 1 || !s.Float8):
		refuse("weights gathered in %d bytes are not known; want those of the compute type, or 1 for products in 8 bits", s.Gather)
	case s.Group > 1 && (s.Checkpoint != CheckpointFull || s.Every > 1 || s.First > 0 || len(s.Keep) > 0):
		refuse("several blocks are one checkpoint only where all blocks are checkpointed in full")
	case s.Stash && s.Checkpoint != CheckpointNone:
		refuse("what blocks keep waits in host memory only where nothing is checkpointed; there is %q", s.Checkpoint)
	case budget && (s.Budget < 0 || s.Budget > 100):
		refuse("a memory budget of %d %% is not known; want 0 to 100", s.Budget)
	}
	for _, m := range s.Recompute {
		if modules[m] == nil {
			refuse("module %q to recompute is not known", m)
		}
	}
	s.Layout.check(s.Model)
	s.checkSwap()
	s.checkRamTorch()
	s.checkReference()
}

// checkFamily ends with an error for options that are not known for the model's blocks. Most families are known
// only as Transformers' or diffusers' own code has them.
func (s *Setup) checkFamily() {
	if m := s.Model; m.Written {
		own := !(m.Megatron && s.TE || m.Litgpt && s.Litgpt || m.Titan && s.Titan)
		for _, v := range []struct {
			is   bool
			what string
		}{{!s.Written && own, "another program than Transformers, by itself (hf) or under DeepSpeed (deepspeed)"},
			{!s.Written && s.Compiled, "torch.compile"},
			{s.Float8, "products in 8 bits"},
			{s.Tensor > 1 && !(m.Megatron && s.TE), "tensor parallel ranks"},
			{s.Context > 1 && own && !s.splits(), "context parallel ranks, which are known where all blocks have attention, by a kernel without a mask of pairs of tokens (-attention flash)"},
			{s.Expert > 1 && own, "expert parallel ranks: Transformers' own run one batch on all of these, and rows sent to experts are known of Mixtral, Qwen3 and DeepSeek V2 and V3"}} {
			if v.is {
				writer := "Transformers"
				if m.Latents != nil {
					writer = "diffusers"
				}
				refuse("%s: the blocks of %s are known as %s writes them, not with %s", m.Name, m.Family, writer, v.what)
			}
		}
	}
	if s.BatchFirst && (s.LoRA != nil || s.Model.has(func(k *Block) bool {
		return k.MoE != nil || !k.attends() || k.MLA != nil || !k.Gated || k.QGate
	})) {
		refuse("%s: nanotron is known of dense decoders with a gate, all of whose weights train", s.Model.Name)
	}
	plain := func(k *Block) bool { return k.MLA == nil && !k.Sinks && !k.Besides && (k.attends() || k.NoMixer) }
	if s.Local && (s.Attention != AttentionEager || s.Float8 || s.LoRA != nil || s.Context > 1 ||
		s.Model.has(func(k *Block) bool { return !plain(k) })) {
		refuse("%s: Megatron-LM's own layers are known of plain attention: want -attention eager, -cp 1 and no -fp8 and -lora, or leave -local-layers out", s.Model.Name)
	}
	if s.TE && s.Model.Ends != nil && (s.Stages > 1 || s.Context > 1 || s.LoRA != nil) { // [Megatron-LM: examples/t5]
		refuse("%s: Megatron-LM runs T5 without pipelines, context parallel ranks and adapters; want -pp 1, -cp 1 and no -lora", s.Model.Name)
	}
	if s.Model.At(0).Unet != nil && (s.Stages > 1 || s.Group > 1 || s.Swap > 0) {
		refuse("%s: skips join its two halves, so stages of a pipeline, checkpoints of several blocks and swapped blocks are not known; want -pp 1, -group 1 and -swap-blocks 0", s.Model.Name)
	}
	if s.Nexts > 0 && (!s.Model.At(s.Model.nextParts()[0]).attends() || s.gathers() || !s.Loss.Whole()) {
		refuse("%s: layers that predict later tokens are known of decoders whose last block has attention, with whole logits and no FSDP; want -shard none or zero1 and a -loss of whole logits, or -mtp 0", s.Model.Name)
	}
	if s.partitioned() && s.Model.has(func(k *Block) bool {
		return k.Scan != nil || k.LRU != nil || k.Hyper != nil || k.Unet != nil ||
			(k.Delta != nil || k.SSM != nil) && !s.Kernels
	}) {
		refuse("%s: what torch.compile keeps of loops over tokens or steps, and of UNets, is not known: leave -compile out, or of gated delta nets and Mamba 2 add -kernels", s.Model.Name)
	}
	if s.Kernels && s.Model.has(func(k *Block) bool { return k.Scan != nil }) {
		refuse("%s: what the kernels of Mamba 1 keep is not known; leave -kernels out", s.Model.Name)
	}
	if s.Attention == AttentionSDPA && s.Model.Sinks {
		refuse("%s: scaled_dot_product_attention has no sinks; want flash or eager", s.Model.Name)
	}
	if s.Attention == AttentionEager && s.Context > 1 {
		refuse("eager attention with context parallel ranks is not known")
	}
}

// splits reports whether context parallel ranks can share the sequences of blocks that are as Transformers or diffusers
// write them: of decoders and diffusion transformers in which all tokens but attention's operands are alone, and
// attention needs no mask of pairs of tokens.
func (s *Setup) splits() bool {
	return s.Written && (s.Model.Ends == nil || s.Model.Latents != nil) && !s.Model.has(func(k *Block) bool {
		d := k.Dit
		return !k.attends() || k.Hybrid != nil || k.Twin || k.Index != nil || k.Compressed != nil || k.Unet != nil ||
			k.OwnMask || s.Attention == AttentionSDPA && s.masked(k) ||
			d != nil && (d.Linear || d.Sound > 0 || d.Pairs && s.Attention == AttentionSDPA)
	})
}

// part returns the tokens of each sequence that a context parallel rank has.
func (s *Setup) part() int64 { return ceil(s.Seq, s.Context) }

// tokens returns a rank's tokens: of the products, and of the residual stream.
func (s *Setup) tokens() (inner, outer int64) {
	inner = s.Batch * s.part()
	if s.Tensor > 1 && !s.NoSP {
		return inner, ceil(inner, s.Tensor)
	}
	return inner, inner
}

// written reports whether blocks run as Transformers' modules are written. A compiler changes them.
func (s *Setup) written() bool { return s.Written && (!s.Compiled || s.partitioned()) }

// autocast reports whether modules of Transformers, or with weights in 4 bytes of litgpt, run under autocast. Products
// are then in the compute type, each with its own narrow copy of a wide input, and LayerNorms and powers are in 4
// bytes. Sharded states are stored in the compute type. Models in 16 bits and diffusion models are taken to run
// without autocast unless CastsAll is set.
func (s *Setup) autocast() bool {
	mixed := s.Litgpt && s.Weight > s.Compute && !s.Compiled // [lightning: fabric/plugins/precision/amp.py]
	if !s.Autocast || !s.written() && !mixed || s.Zero > 0 || s.Compute == 4 {
		return false
	}
	return s.CastsAll || s.Model.Latents == nil && (s.Weight > s.Compute || s.LoRA != nil)
}

// bitsandbytes reports whether the frozen products are those of bitsandbytes under autocast, which return the
// type of their input [bitsandbytes: nn/modules.py, Linear4bit].
func (s *Setup) bitsandbytes() bool {
	return s.autocast() && !s.Compiled && (s.Base == BaseInt8 || s.Base == BaseNF4 || s.Base == BaseNF4Double)
}

// widened reports whether frozen weights outside of products are stored in a wider type than the compute type.
func (s *Setup) widened() bool { return s.LoRA != nil && s.Base != BaseSame && s.Weight > s.Compute }

// checkWidened ends with an error for k-bit training and DoRA with blocks for which they are not known.
func (s *Setup) checkWidened() {
	dora := s.LoRA != nil && s.LoRA.Dora
	if dora && (s.Compiled || s.LoRA.Stored < 4 ||
		!s.autocast() && (s.LoRA.Bytes < 4 || s.Zero > 0 || s.Base != BaseSame)) {
		refuse("%s: adapters of DoRA are known as PEFT computes them: want -program hf, adapters in fp32, no shared states and no -compile, beside products in fewer bits no -no-autocast, and for a diffusion model -autocast or -no-autocast", s.Model.Name)
	}
	if s.Base == BaseInt8 && !s.bitsandbytes() {
		refuse("%s: products in INT8 are known under autocast: want -program hf, no shared states and no -compile, and for a diffusion model -autocast", s.Model.Name)
	}
	if !s.widened() && !dora || dora && s.Model.Latents != nil && s.Base == BaseSame {
		return
	}
	if !s.bitsandbytes() && !dora || s.Model.Ends != nil || s.Model.has(func(k *Block) bool {
		return k.MoE != nil || k.MLA != nil || !k.attends() || k.GateUp || k.QGate || k.Hyper != nil ||
			k.AltUp != nil || k.PerLayer != nil
	}) {
		refuse("%s: training in k bits (beside products in INT8 or 4 bits) and DoRA are known of dense decoders as Transformers writes them, with a product for gate and one for up: leave -kbit and -dora out", s.Model.Name)
	}
}

// wideWeights reports whether norms and tables have weights in 4 bytes beside products in the compute type.
func (s *Setup) wideWeights() bool {
	return s.autocast() && s.Weight > s.Compute && s.Model.At(0).Unet == nil
}

// wideStream reports whether the residual stream is in 4 bytes: if weights are, or with DoRA on products in 4 bits,
// whose sums are not narrowed [PEFT: lora/bnb.py], or if such a product reads an activation that autocast widened. In
// a diffusion transformer it is narrow, as products return it and what scales it, unless tables of scales or norms
// after its parts are added.
func (s *Setup) wideStream() bool {
	k := s.Model.At(0)
	return s.wideWeights() && (k.Dit == nil || k.Dit.Narrow || k.Dit.Around) ||
		s.bitsandbytes() && (s.LoRA != nil && s.LoRA.Dora || s.widensNet(k))
}

// widensNet reports whether autocast computes the activation of a block's net in 4 bytes, as it does powers.
func (s *Setup) widensNet(k *Block) bool {
	return k.attends() && k.MoE == nil && !k.Gated && s.Model.Ends == nil &&
		(k.Act == ActSquare || k.Act == ActNew || k.Act == ActXIELU && !s.Kernels)
}

// cachesFloat8 reports whether products in 8 bits are Transformer Engine's, as Megatron calls them: a product keeps its
// input in 8 bits, and two narrow copies of its weights stay through the step, one of them transposed.
func (s *Setup) cachesFloat8() bool { return s.Float8 && s.Static }

// keepsFloat8 reports whether products in 8 bits keep their input in 8 bits: Transformer Engine's do, and those of a
// block that is compiled, where the partitioner of the joint graph takes the narrow copy.
func (s *Setup) keepsFloat8() bool { return s.cachesFloat8() || s.Float8 && s.Compiled && s.keepsAll() }

// gathers reports whether weights are gathered for each block, as in ZeRO-3 and FSDP.
func (s *Setup) gathers() bool { return s.Zero == 3 }

// trains reports whether the weights of the model have gradients, not only adapters.
func (s *Setup) trains() bool { return s.LoRA == nil }

func ceil(n, by int64) int64 { return (n + by - 1) / by }

// size returns the bytes of n numbers with the given bytes each.
func size(n, bytes int64) engine.Bytes { return engine.Bytes(n) * engine.Bytes(bytes) }
