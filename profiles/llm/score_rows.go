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

// rowConfig are the fields of a step's configuration: those of a Setup, and what is read otherwise.
type rowConfig struct {
	Model   string `json:"model"`
	Compute string `json:"compute"`

	JSON json.RawMessage `json:"config_json"` // instead of Model: the name of a config.json, or what stands in it

	Work
	Precision
	Code
	Checkpointing
	Stepping
	HeadLoss
	Layout

	ParamBytes float64 `json:"param_bytes"`
	DQ         *bool   `json:"fa_dq_fp32"`
	Reshard    *bool   `json:"reshard"`
	EndsApart  *bool   `json:"ends_apart"`
	SP         *bool   `json:"sp"`
	Optimizer  string  `json:"optimizer"`
	Attention  string  `json:"attention"`
	LossImpl   string  `json:"loss_impl"`
	GPUs       int64   `json:"gpus"`
	Rank       *int64  `json:"rank"` // of the pipeline, counted from 0, whose peak it is: all ranks are played
	HW         string  `json:"hw"`
	Delta      bool    `json:"delta"`
	Modules    string  `json:"recompute_modules"`
	Selectors  string  `json:"saved_selectors"`

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
	return c.RepeatKeys && c.Loss == LossCompiled
}

// setup returns the Setup of a row.
func (c *rowConfig) setup(read ReadModel) Setup {
	m := c.model(read)
	if c.Compute != "" && c.Compute != "bf16" {
		refuse("compute type %q is not known", c.Compute)
	}
	s := Setup{Model: m, Work: c.Work, Precision: c.Precision, Code: c.Code, Checkpointing: c.Checkpointing,
		Stepping: c.Stepping, HeadLoss: c.HeadLoss, Layout: c.Layout}
	told := func(is *bool) bool { return is != nil && !*is }
	s.Attention, s.Written, s.PlainDQ = "", m.Written, told(c.DQ)
	s.NoReshard, s.NoSP, s.ReduceAside = told(c.Reshard), told(c.SP), c.LossImpl == heldPred
	s.Schedule, s.Chunks = "", 0 // see ranks
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
	if c.Stages < 2 || c.InFlight != 0 {
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
		s.InFlight = c.Stages
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
