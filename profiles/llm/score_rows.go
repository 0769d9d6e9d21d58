package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// Row is a published figure with the configuration that it belongs to.
type Row struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Config   json.RawMessage `json:"config"`
	Measured Measured        `json:"measured"`
	Complete bool            `json:"complete"`
}

// Measured is what a row says was measured.
type Measured struct {
	Peak    int64   `json:"peak_bytes"`
	Metric  string  `json:"metric"`
	Step    float64 `json:"step_s"`
	Tokens  float64 `json:"tokens_per_s_per_gpu"`
	Percent float64 `json:"percent_of_none"`
}

// rowConfig are the fields of a step's configuration.
type rowConfig struct {
	Model   string `json:"model"`
	Compute string `json:"compute"`

	JSON json.RawMessage `json:"config_json"` // instead of Model: the name of a config.json, or what stands in it

	ParamBytes float64 `json:"param_bytes"`
	GradBytes  int64   `json:"grad_bytes"`
	OptBytes   int64   `json:"opt_bytes"`
	Reduce     int64   `json:"reduce_bytes"`
	Gather     int64   `json:"gather_bytes"`
	Master     int64   `json:"master_bytes"`

	Norm       NormKind       `json:"norm"`
	FusedGate  bool           `json:"fused_swiglu"`
	RepeatKV   bool           `json:"repeat_kv"`
	RopeTemp   int64          `json:"rope_tmp"`
	FusedQKV   bool           `json:"fused_qkv"`
	DQ         *bool          `json:"fa_dq_fp32"`
	Compile    bool           `json:"compile"`
	Checkpoint CheckpointKind `json:"ckpt"`
	OffloadX   bool           `json:"offload_x"`
	StepInBack bool           `json:"opt_in_bwd"`
	Optimizer  string         `json:"optimizer"`
	OptImpl    StepKind       `json:"opt_impl"`
	OnHost     bool           `json:"opt_on_host"`
	Attention  string         `json:"attention"`

	Loss       LossKind `json:"loss"`
	LossImpl   string   `json:"loss_impl"`
	LossChunk  int64    `json:"loss_chunk"`
	LogitsHeld int64    `json:"logits_held"`

	MicroBatch  int64  `json:"micro_batch"`
	Seq         int64  `json:"seq"`
	Accumulate  int64  `json:"grad_accum"`
	Zero        int    `json:"zero"`
	Shard       int64  `json:"shard"`
	GPUs        int64  `json:"gpus"`
	FSDPOne     bool   `json:"fsdp_one"`
	Reshard     *bool  `json:"reshard"`
	EndsApart   *bool  `json:"ends_apart"`
	Static      bool   `json:"grads_static"`
	TP          int64  `json:"tp"`
	SP          *bool  `json:"sp"`
	CP          int64  `json:"cp"`
	EP          int64  `json:"ep"`
	ExpertShard int64  `json:"expert_shard"`
	PP          int64  `json:"pp"`
	InFlight    int64  `json:"in_flight"`
	Schedule    string `json:"schedule"`
	Rank        *int64 `json:"rank"` // of the pipeline, counted from 0, whose peak it is: all ranks are played
	Chunks      int64  `json:"vpp"`
	Buckets     bool   `json:"ddp_buckets"`
	HW          string `json:"hw"`
	Delta       bool   `json:"delta"`
	Float8      bool   `json:"float8"`
	Modules     string `json:"recompute_modules"`
	Selectors   string `json:"saved_selectors"`

	LoRA       *rowLoRA `json:"lora"`
	LoRAParams int64    `json:"lora_params"`
	LoRAStored int64    `json:"lora_pe"`
}

type rowLoRA struct {
	R       int64           `json:"r"`
	E       int64           `json:"e"`
	On      map[string]bool `json:"on"`
	Dropout bool            `json:"dropout"`
	Scale   bool            `json:"scale"`
}

// strict decodes JSON; it ends if a field is not known.
func strict(data []byte, into any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	profiles.End(dec.Decode(into))
}

// heldPred says that the loop of torchtitan still held its logits in the backward. It let
// them go on 2024-06-12 [torchtitan#391], and ran on PyTorch of the day: what is reduced
// was then in a stream of its own, until 2024-06-27 [pytorch#129721].
const heldPred = "pred is fp32 and still referenced in the backward"

// model returns the model of a row.
func (c *rowConfig) model(read ReadModel) *Model {
	switch m := Lookup(c.Model); {
	case c.JSON == nil && m == nil:
		refuse("model %q is not known", c.Model)
	case c.JSON == nil:
		return m
	case c.Model != "":
		refuse("the model is %q and a config.json; want one of them", c.Model)
	case read == nil:
		refuse("no config.json is read here")
	}
	m, err := read(c.JSON)
	profiles.End(err)
	return m
}

// play plays a row's step: of its rank, if it names one, or of the fullest one.
func (c *rowConfig) play(s Setup, card *Card) (*Result, error) {
	if c.Rank == nil {
		return Run(s)
	}
	if *c.Rank < 0 || *c.Rank >= s.Stages {
		refuse("rank %d of a pipeline of %d; want 0 to %d", *c.Rank, s.Stages, s.Stages-1)
	}
	ranks, err := PlayRanks(s, card)
	if err != nil {
		return nil, err
	}
	return ranks.List[*c.Rank].Result, nil
}

// late reports whether a row is of torchtitan since July 2025. Where it does not say so itself, it is
// known by keys that are repeated and a loss that is compiled.
func (c *rowConfig) late() bool {
	if c.EndsApart != nil {
		return *c.EndsApart
	}
	return c.RepeatKV && c.Loss == LossCompiled
}

// setup returns the Setup of a row.
func (c *rowConfig) setup(read ReadModel) Setup {
	m := c.model(read)
	if c.Compute != "" && c.Compute != "bf16" {
		refuse("compute type %q is not known", c.Compute)
	}
	s := Setup{Model: m, Work: Work{Batch: c.MicroBatch, Seq: c.Seq, Accumulate: c.Accumulate},
		Precision: Precision{Grad: c.GradBytes, Master: c.Master, Moments: c.OptBytes, Reduce: c.Reduce},
		Code: Code{Norm: c.Norm, FusedGate: c.FusedGate, RepeatKeys: c.RepeatKV, RotateTemp: c.RopeTemp,
			FusedQKV: c.FusedQKV, PlainDQ: c.DQ != nil && !*c.DQ, Compiled: c.Compile, Written: m.Written},
		Checkpointing: Checkpointing{Checkpoint: c.Checkpoint, OffloadX: c.OffloadX},
		Stepping:      Stepping{Optimizer: c.OptImpl, StepInBack: c.StepInBack, HostStep: c.OnHost},
		HeadLoss:      HeadLoss{Loss: c.Loss, LossChunk: c.LossChunk, LogitsHeld: c.LogitsHeld},
		Layout: Layout{Zero: c.Zero, Shard: c.Shard, FSDPOne: c.FSDPOne, NoReshard: c.Reshard != nil &&
			!*c.Reshard, Static: c.Static, Tensor: c.TP, NoSP: c.SP != nil && !*c.SP, Context: c.CP, Expert: c.EP,
			ExpertShard: c.ExpertShard, Stages: c.PP, InFlight: c.InFlight, Buckets: c.Buckets}}
	s.ReduceAside = c.LossImpl == heldPred
	s.EndsApart = c.late()
	if card := CardOf(c.HW); card != nil {
		s.Workspace = card.Workspace
	}
	c.narrow(&s)
	c.ranks(&s)
	if !flash(c.Attention) {
		refuse("attention %q is not known: only what keeps no scores is", c.Attention)
	}
	for _, name := range strings.FieldsFunc(c.Selectors, isPlus) {
		value, ok := selectors[name]
		if !ok {
			refuse("selector %q is not known", name)
		}
		s.Keep = append(s.Keep, value)
	}
	if m := c.Modules; m != "" && m != "none" {
		s.Checkpoint, s.Recompute = CheckpointModules, strings.FieldsFunc(m, isPlus)
	}
	if known, fused := adamw(c.Optimizer); !known {
		refuse("optimizer %q is not known", c.Optimizer)
	} else if fused && s.Optimizer == "" {
		s.Optimizer = StepFused
	}
	if c.LoRA != nil {
		l := &LoRA{Rank: c.LoRA.R, Bytes: c.LoRA.E, Dropout: c.LoRA.Dropout, Scale: c.LoRA.Scale,
			Params: c.LoRAParams, Stored: c.LoRAStored}
		for name, on := range c.LoRA.On {
			if on && !slices.Contains(everyProduct, name) {
				refuse("product %q of an adapter is not known; want some of %q", name, everyProduct)
			}
			if on {
				l.On = append(l.On, name)
			}
		}
		slices.Sort(l.On)
		s.LoRA = l
	}
	return s
}

// selectors are the graph trainer's names of what is kept [torchtitan#4153].
var selectors = map[string]string{"wo": "o", "gate": "experts.scores"}

func isPlus(r rune) bool { return r == '+' || r == ',' }

// narrow sets types of less than 16 bits.
func (c *rowConfig) narrow(s *Setup) {
	s.Float8, s.Gather = c.Float8, c.Gather
	switch n := c.ParamBytes; {
	case n >= 0.5 && n < 0.6 && c.LoRA != nil: // of frozen products, with their scales
		s.Weight, s.Base = 2, BaseNF4
		if n < 0.55 {
			s.Base = BaseNF4Double
		}
	case n != math.Trunc(n):
		refuse("weights of %g bytes are not known", n)
	default:
		s.Weight = engine.Int64(n)
	}
}

// ranks checks the cards, and sets the micro batches in flight of a
// pipeline that tells its order alone: that of its first rank [zero-bubble#36]. Of one whose rank is
// told, and of orders that are not GPipe's or 1F1B, all ranks are played.
func (c *rowConfig) ranks(s *Setup) {
	if c.GPUs < 0 {
		refuse("gpus is %d; want at least 1", c.GPUs)
	}
	if c.PP < 2 || c.InFlight != 0 {
		return
	}
	name := strings.ToLower(c.Schedule)
	if c.Rank != nil || name != "gpipe" && name != "1f1b" && slices.Contains(pipeline.Names(), name) {
		s.Schedule, s.Chunks = name, c.Chunks
		return
	}
	switch name {
	case "gpipe":
		s.InFlight = orOne(c.Accumulate)
	case "1f1b":
		s.InFlight = c.PP
		if c.Accumulate > 0 {
			s.InFlight = min(s.InFlight, c.Accumulate)
		}
	default:
		refuse("a pipeline by schedule %q does not say its micro batches in flight", c.Schedule)
	}
}

// flash reports whether a kernel of attention keeps a statistic of each row instead of its
// scores: one of PyTorch's, Transformer Engine's or FlashAttention's; the first is usual.
func flash(attention string) bool {
	words := strings.FieldsFunc(strings.ToLower(attention), func(r rune) bool { return r == ' ' || r == '_' })
	known := attention == ""
	for _, w := range words {
		known = known || slices.Contains([]string{"flash", "sdpa", "flex", "cudnn", "fused", "te", "xformers",
			"ring"}, w)
	}
	return known && !slices.Contains(words, "math") && !slices.Contains(words, "eager")
}

// adamw reports whether the optimizer's name is a kind of Adam, and whether it is fused. SGD is
// known as well and has no temporaries, like a fused one [torch/optim/sgd.py].
func adamw(name string) (known, fused bool) {
	name = strings.ToLower(name)
	sgd := strings.HasPrefix(name, "sgd")
	return name == "" || strings.HasPrefix(name, "adam") || sgd, sgd || strings.Contains(name, "fused")
}
