package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memtide/engine"
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
	Model      string `json:"model"`
	Compute    string `json:"compute"`
	ParamBytes int64  `json:"param_bytes"`
	GradBytes  int64  `json:"grad_bytes"`
	OptBytes   int64  `json:"opt_bytes"`
	Reduce     int64  `json:"reduce_bytes"`
	Gather     int64  `json:"gather_bytes"`
	Master     int64  `json:"master_bytes"`

	Norm       string `json:"norm"`
	FusedGate  bool   `json:"fused_swiglu"`
	RepeatKV   bool   `json:"repeat_kv"`
	RopeTemp   int64  `json:"rope_tmp"`
	FusedQKV   bool   `json:"fused_qkv"`
	DQ         *bool  `json:"fa_dq_fp32"`
	Compile    bool   `json:"compile"`
	Checkpoint string `json:"ckpt"`
	OffloadX   bool   `json:"offload_x"`
	StepInBack bool   `json:"opt_in_bwd"`
	Optimizer  string `json:"optimizer"`
	OptImpl    string `json:"opt_impl"`
	Attention  string `json:"attention"`

	Loss       string `json:"loss"`
	LossImpl   string `json:"loss_impl"`
	LossChunk  int64  `json:"loss_chunk"`
	LogitsHeld int64  `json:"logits_held"`

	MicroBatch  int64  `json:"micro_batch"`
	Seq         int64  `json:"seq"`
	Accumulate  int64  `json:"grad_accum"`
	Zero        int    `json:"zero"`
	Shard       int64  `json:"shard"`
	GPUs        int64  `json:"gpus"`
	FSDPOne     bool   `json:"fsdp_one"`
	Reshard     *bool  `json:"reshard"`
	Static      bool   `json:"grads_static"`
	TP          int64  `json:"tp"`
	SP          *bool  `json:"sp"`
	CP          int64  `json:"cp"`
	EP          int64  `json:"ep"`
	ExpertShard int64  `json:"expert_shard"`
	PP          int64  `json:"pp"`
	InFlight    int64  `json:"in_flight"`
	Schedule    string `json:"schedule"`
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

// strict decodes JSON whose every field is known.
func strict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// setup is the Setup of a row.
func (c *rowConfig) setup() (Setup, error) {
	m := Lookup(c.Model)
	if m == nil {
		return Setup{}, fmt.Errorf("model %q is not known", c.Model)
	}
	if c.Compute != "" && c.Compute != "bf16" {
		return Setup{}, fmt.Errorf("compute type %q is not known", c.Compute)
	}
	s := Setup{Model: m, Batch: c.MicroBatch, Seq: c.Seq, Accumulate: c.Accumulate,
		Weight: c.ParamBytes, Grad: c.GradBytes, Master: c.Master, Moments: c.OptBytes, Reduce: c.Reduce, Optimizer: c.OptImpl,
		Norm: c.Norm, FusedGate: c.FusedGate, RepeatKeys: c.RepeatKV, RotateTemp: c.RopeTemp, FusedQKV: c.FusedQKV, PlainDQ: c.DQ != nil && !*c.DQ,
		Compiled: c.Compile, Checkpoint: c.Checkpoint, OffloadX: c.OffloadX, StepInBack: c.StepInBack,
		Loss: c.Loss, LossChunk: c.LossChunk, LogitsHeld: c.LogitsHeld,
		Zero: c.Zero, Shard: c.Shard, FSDPOne: c.FSDPOne, NoReshard: c.Reshard != nil && !*c.Reshard, Static: c.Static,
		Tensor: c.TP, NoSP: c.SP != nil && !*c.SP, Context: c.CP, Expert: c.EP, ExpertShard: c.ExpertShard,
		Stages: c.PP, InFlight: c.InFlight, Buckets: c.Buckets, Workspace: workspace(c.HW)}
	if c.LoRA != nil {
		l := &LoRA{Rank: c.LoRA.R, Bytes: c.LoRA.E, Dropout: c.LoRA.Dropout, Scale: c.LoRA.Scale, Params: c.LoRAParams, Stored: c.LoRAStored}
		for name, on := range c.LoRA.On {
			if on {
				l.On = append(l.On, name)
			}
		}
		slices.Sort(l.On)
		s.LoRA = l
	}
	return s, nil
}

// adamw says whether the optimizer's name is a kind of AdamW, and whether it is fused.
func adamw(name string) (known, fused bool) {
	name = strings.ToLower(name)
	return name == "" || strings.HasPrefix(name, "adamw"), strings.Contains(name, "fused")
}

// Workspaces of cuBLAS, which PyTorch takes from its allocator once for each thread
// [CublasHandlePool.cpp: 2 x 4 MiB + 8 x 16 KiB, and 32 MiB from Hopper on].
const (
	workspaceAmpere = 2*4*engine.MiB + 8*16*engine.KiB
	workspaceHopper = 32 * engine.MiB
)

// workspace is that of a card by its name.
func workspace(card string) engine.Bytes {
	for _, word := range []string{"H100", "H200", "B200", "B300"} {
		if strings.Contains(card, word) {
			return workspaceHopper
		}
	}
	return workspaceAmpere
}
