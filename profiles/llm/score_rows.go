package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"memtide/engine"
	"memtide/engine/pipeline"
	"memtide/profiles"
)

// Row is a published figure with its configuration.
type Row struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Group    string          `json:"group"`
	Config   json.RawMessage `json:"config"`
	Measured Measured        `json:"measured"`
	Complete bool            `json:"complete"`
	Missing  []string        `json:"missing"` // what the row does not tell, or no model had when it was written

	// what some rows say beside their configuration: sizes of the model, as fields of Model, instead of its name; the
	// order of a pipeline and its stages per rank; whether the peak is that of its last rank; an optimizer on the host
	Arch   json.RawMessage `json:"arch"`
	Sched  string          `json:"sched"`
	Chunks int64           `json:"chunks"`
	Last   bool            `json:"last"`
	Host   bool            `json:"host"`
}

func (r *Row) config() (c rowConfig) {
	strict(r.Config, &c)
	if r.Arch != nil {
		c.sizes = &Model{Name: c.Model}
		strict(r.Arch, c.sizes)
		profiles.End(c.sizes.Check())
	}
	c.Schedule, c.Layout.Chunks = cmp.Or(c.Schedule, r.Sched), cmp.Or(c.Layout.Chunks, r.Chunks)
	if last := c.Stages - 1; r.Last && last > 0 {
		c.Rank = &last
	}
	c.HostStep = c.HostStep || r.Host
	missed := func(what string) bool { return strings.HasPrefix(what, "dropout ") }
	c.Dropout = c.Dropout || slices.ContainsFunc(r.Missing, missed) // the run had it, which no model had then
	c.program(r.Group)
	return c
}

// program sets what the code of a group's runs is known to do and rows do not say.
func (c *rowConfig) program(group string) {
	switch {
	case strings.HasPrefix(group, "nanotron"): // of early 2024
		c.BatchFirst, c.Gathered, c.ByCost, c.Loss = true, true, true, LossSharded
	case c.Loss == LossInPlace && group == "megatron-golden": // not Transformer Engine's
		c.Loss = LossSharded
	case c.Loss == LossInPlace && group == "ms-swift": // which fuses it [megatron/arguments/megatron_args.py]
		c.Loss = LossShardedCompiled
	case group == "fms-acceleration" && c.LoRA != nil: // PEFT has adapters in fp32 [0.13: autocast_adapter_dtype]
		if c.ParamBytes < 1 { // with scales that are quantised, too [framework_plugin_bnb.py: BitsAndBytesConfig]
			c.ParamBytes = 0.516
			if c.LoRAStored == 4 { // prepared by TRL 0.13, which leaves norms in fp32, not by the plugin
				c.Weight, c.Autocast, c.Written = 4, true, true
			}
		}
		c.LoRAStored = 4
		c.Flat = c.Zero == 3 // accelerate's FSDP1
	}
	// their scripts say expandable_segments [ms-swift: examples/megatron; torchtitan: run_train.sh]
	c.segments = group == "ms-swift" || group == "torchao"
}

// reserved returns what a row's allocator reserves: by its default and with expandable segments, if it is not known
// which. ROCm had none before 2026 [pytorch#177974].
func (c *rowConfig) reserved(r *Result) (low, high engine.Bytes) {
	switch {
	case c.segments && strings.HasPrefix(c.HW, "MI"):
		return r.Reserved, r.Reserved
	case c.segments:
		return r.Expandable, r.Expandable
	}
	return min(r.Reserved, r.Expandable), max(r.Reserved, r.Expandable)
}

// Measured is what was measured for a row.
type Measured struct {
	Peak    int64   `json:"peak_bytes"`
	Metric  string  `json:"metric"`
	Step    float64 `json:"step_s"`
	Tokens  float64 `json:"tokens_per_s_per_gpu"`
	Percent float64 `json:"percent_of_none"`
}

// rowConfig is the configuration of a step: fields of a Setup, and fields that setup reads.
type rowConfig struct {
	Model   string `json:"model"`
	Compute string `json:"compute"`

	JSON json.RawMessage `json:"config_json"` // name or contents of a config.json, instead of Model

	sizes    *Model // from Row.Arch
	segments bool   // the allocator was told to have expandable segments

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
	Rank       *int64  `json:"rank"` // rank of the pipeline with this peak, counted from 0; all ranks are played
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

// strict decodes JSON, and ends with an error if it has unknown fields.
func strict(data []byte, into any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	profiles.End(dec.Decode(into))
}

// heldPred marks runs in which the loop of torchtitan still held its logits in the backward. It no longer did
// from 2024-06-12 on [torchtitan#391]. Such runs used PyTorch of that time, which had the input of reductions in
// a stream of its own until 2024-06-27 [pytorch#129721].
const heldPred = "pred is fp32 and still referenced in the backward"

func (c *rowConfig) model(read ReadModel) *Model {
	switch m := Lookup(c.Model); {
	case c.sizes != nil:
		return c.sizes
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

// play plays the step of a row, and returns the result of its rank if the row names one, else of the fullest rank.
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

func (c *rowConfig) setup(read ReadModel) Setup {
	m := c.model(read)
	if c.Compute != "" && c.Compute != "bf16" {
		refuse("compute type %q is not known", c.Compute)
	}
	s := Setup{Model: m, Work: c.Work, Precision: c.Precision, Code: c.Code, Checkpointing: c.Checkpointing,
		Stepping: c.Stepping, HeadLoss: c.HeadLoss, Layout: c.Layout}
	told := func(is *bool) bool { return is != nil && !*is }
	s.Attention, s.Written, s.PlainDQ = "", m.Written || c.Written, told(c.DQ)
	s.NoReshard, s.NoSP, s.ReduceAside = told(c.Reshard), told(c.SP), c.LossImpl == heldPred
	s.Schedule, s.Chunks = "", 0 // see ranks
	// torchtitan since July 2025, where the row does not say so, has repeated keys and a compiled loss
	if s.EndsApart = c.RepeatKeys && c.Loss == LossCompiled; c.EndsApart != nil {
		s.EndsApart = *c.EndsApart
	}
	s.Linears = true // rows are older than Transformers 5
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
			if on && !slices.Contains(products["all"], name) {
				refuse("product %q of an adapter is not known; want some of %q", name, products["all"])
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

// selectors are the graph trainer's names of values that are kept [torchtitan#4153].
var selectors = map[string]string{"wo": "o", "gate": "experts.scores"}

func isPlus(r rune) bool { return r == '+' || r == ',' }

// narrow sets the type of weights, which may have less than 16 bits.
func (c *rowConfig) narrow(s *Setup) {
	switch n := c.ParamBytes; {
	case n >= 0.5 && n < 0.6 && c.LoRA != nil: // frozen products with their scales
		s.Weight, s.Base = cmp.Or(c.Weight, 2), BaseNF4
		if n < 0.55 {
			s.Base = BaseNF4Double
		}
	case n != math.Trunc(n):
		refuse("weights of %g bytes are not known", n)
	default:
		s.Weight = engine.Int64(n)
	}
}

// ranks checks the number of cards, and sets the micro batches in flight of a pipeline whose row names only an
// order, as its first rank holds them [zero-bubble#36]. If the row names a rank, layers by cost, or an order other
// than GPipe and 1F1B, all ranks are played.
func (c *rowConfig) ranks(s *Setup) {
	if c.GPUs < 0 {
		refuse("gpus is %d; want at least 1", c.GPUs)
	}
	if c.Stages < 2 || c.InFlight != 0 {
		return
	}
	name := strings.ToLower(c.Schedule)
	if c.Rank != nil || c.ByCost || name != "gpipe" && name != "1f1b" && slices.Contains(pipeline.Names(), name) {
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

// flash reports whether a kernel of attention keeps a statistic of each row instead of its scores: a kernel of
// PyTorch, Transformer Engine or FlashAttention. The empty name counts as such.
func flash(attention string) bool {
	words := strings.FieldsFunc(strings.ToLower(attention), func(r rune) bool { return r == ' ' || r == '_' })
	kernels := []string{"flash", "sdpa", "flex", "cudnn", "fused", "te", "xformers", "ring"}
	known := attention == "" || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(kernels, w) })
	return known && !slices.Contains(words, "math") && !slices.Contains(words, "eager")
}

// adamw reports whether the optimizer's name is known, as a kind of Adam or SGD, and whether it has no
// temporaries. A fused Adam has none, and neither has SGD [torch/optim/sgd.py].
func adamw(name string) (known, fused bool) {
	name = strings.ToLower(name)
	sgd := strings.HasPrefix(name, "sgd")
	return name == "" || strings.HasPrefix(name, "adam") || sgd, sgd || strings.Contains(name, "fused")
}

// Formula is the memory of activations that arXiv:2205.05198 computes for a network whose blocks keep what its
// equations 1 to 5 say. It is exact only for that program.
type Formula struct {
	S          int64  `json:"s"`
	B          int64  `json:"b"`
	H          int64  `json:"h"`
	Layers     int64  `json:"L"`
	Heads      int64  `json:"a"`
	Tensor     int64  `json:"t"`
	Stages     int64  `json:"p"`
	Interleave int64  `json:"interleave"`
	Mode       string `json:"mode"` // none, seq, sel, seqsel, full
}

// named is a number of a row with the name of its field.
type named struct {
	field string
	n     int64
}

// checkSizes ends with an error for the first number that is not a size.
func checkSizes(list []named) {
	for _, v := range list {
		if v.n <= 0 || v.n > 1<<24 {
			refuse("%s is %d; want 1 to 2^24", v.field, v.n)
		}
	}
}

// perToken returns what a block keeps for each of its sbh numbers, in bytes.
func (f *Formula) perToken() float64 {
	t := float64(f.Tensor)
	scores := 5 * float64(f.Heads) * float64(f.S) / float64(f.H)
	switch f.Mode {
	case "none": // equation 2
		return 10 + 24/t + scores/t
	case "seq": // equation 4
		return (34 + scores) / t
	case "sel": // equation 2 without what selective recomputation drops
		return 10 + 24/t
	case "seqsel": // equation 6
		return 34 / t
	case "full": // table 2: the input of each block
		return 2
	}
	refuse("mode %q of the formula is not known", f.Mode)
	return 0
}

// bytes returns what the first stage keeps: L blocks, and more for the interleaved schedule (section 4.2.3).
func (f *Formula) bytes() float64 {
	checkSizes([]named{{"s", f.S}, {"b", f.B}, {"h", f.H}, {"L", f.Layers}, {"a", f.Heads}, {"t", f.Tensor},
		{"p", f.Stages}, {"interleave", f.Interleave + 1}})
	layers := float64(f.Layers)
	if f.Interleave > 1 {
		layers *= 1 + float64(f.Stages-1)/float64(f.Stages*f.Interleave)
	}
	return f.perToken() * float64(f.S) * float64(f.B) * float64(f.H) * layers
}

// percent returns bytes in per cent of what the same network keeps without recomputation.
func (f *Formula) percent() float64 {
	plain := *f
	plain.Mode = "none"
	return 100 * f.bytes() / plain.bytes()
}

// LossKernel is a benchmark of one loss [Liger-Kernel, benchmark/scripts]. It repeats forward and backward, so
// that gradients of the previous run exist.
type LossKernel struct {
	Kind   string `json:"kind"`
	Tokens int64  `json:"tokens"`
	Words  int64  `json:"V"`
	Hidden int64  `json:"h"`
}

// aside is the number of bytes per token beside the logits, at most 0.2 % of any figure: the target and a copy of
// it, a mask, and the loss in fp32. That there are two targets is inferred.
const aside = 8 + 8 + 1 + 4

func (k *LossKernel) bytes() int64 {
	n := k.Tokens * k.Words
	head, x := k.Words*k.Hidden*2, k.Tokens*k.Hidden*2
	blas := 2 * int64(workspaceAmpere) // for the forward's thread and autograd's
	list := []named{{"tokens", k.Tokens}, {"V", k.Words}}
	if strings.HasPrefix(k.Kind, "flce") { // with the head
		list = append(list, named{"h", k.Hidden})
	}
	checkSizes(list)
	switch k.Kind {
	case "ce_liger": // fp32 logits; the gradient is written over them
		return 4*n + aside*k.Tokens
	case "ce_torch": // logits, their gradient of the previous run, log_softmax, its two gradients
		return 20*n + aside*k.Tokens
	case "flce_torch": // weights and gradient, x and gradient; log_softmax and its two gradients in bf16
		return 2*head + 2*x + 6*n + aside*k.Tokens + blas
	case "flce_liger":
		// The head's weight, its gradient of the previous run, the sum of this run and a chunk's product; x, and
		// its gradients of the previous run and of this run; a chunk of logits in bf16 and in fp32, and its
		// gradient in bf16. This is how releases with the upcast and without an accumulation type do it.
		chunk := fusedChunk(k.Tokens, k.Hidden, k.Words)
		return 4*head + 3*x + 8*chunk*k.Words + aside*k.Tokens + blas
	}
	refuse("loss kernel %q is not known", k.Kind)
	return 0
}
