package llm

import (
	"cmp"
	"math"
	"slices"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// Published is a published measurement, with everything that the model needs to know about the run. No byte of
// the model is fitted to it.
type Published struct {
	Model string
	Args  engine.Args  // the options of the run
	Bytes engine.Bytes // reserved memory
	Rate  float64      // tokens per second on each card; 0: not published
	Where string
	URL   string
}

const (
	titanTables = "https://github.com/pytorch/torchtitan/blob/main/benchmarks/llama3_h100_202412_torchtitan.md"
	titanCommit = "https://github.com/pytorch/torchtitan/pull/"
)

func gib(n float64) engine.Bytes { return engine.Bytes(engine.Int64(n * float64(engine.GiB))) }

// published are the published runs. Memory is the peak of reserved memory that torchtitan logs, and PEFT's
// cuda_memory_max. Cards have 96 GB, or 48 GB for PEFT; reserved memory below that does not depend on the card.
var published = []Published{
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "8", "batch": "2", "ckpt": "sac_op", "norm": "eager"},
		gib(82.4), 5762, "torchtitan's benchmarks of December 2024, table 1", titanTables},
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "8", "batch": "2", "ckpt": "sac_op", "norm": "eager",
		"compile": "yes"}, gib(77.0), 6667, "torchtitan's benchmarks of December 2024, table 1", titanTables},
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "128", "batch": "2", "ckpt": "sac_op",
		"norm": "eager"}, gib(67.0), 5605, "torchtitan's benchmarks of December 2024, table 3", titanTables},
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "128", "batch": "2", "ckpt": "sac_op", "norm": "eager",
		"compile": "yes"}, gib(62.0), 6514, "torchtitan's benchmarks of December 2024, table 3", titanTables},
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "8", "ckpt": "sac_op", "norm": "eager"}, gib(49.59),
		5605, "torchtitan#822, default", titanCommit + "822"},
	{"llama3-8b", engine.Args{"program": "torchtitan", "gpus": "8", "ckpt": "sac_op", "loss": "chunked_ce"},
		gib(42.26), 5948, "torchtitan#996, with the change", titanCommit + "996"},
	{"qwen3-32b", engine.Args{"program": "torchtitan", "gpus": "32", "tp": "8", "batch": "16", "seq": "4096",
		"ckpt": "full"}, gib(43.45), 876, "torchtitan#1690, FSDP 4 and TP 8", titanCommit + "1690"},
	{"qwen3-32b", engine.Args{"program": "torchtitan", "gpus": "64", "tp": "8", "batch": "32", "seq": "4096",
		"ckpt": "full"}, gib(63.27), 873, "torchtitan#1690, FSDP 8 and TP 8", titanCommit + "1690"},
	{"qwen3-32b", engine.Args{"program": "torchtitan", "gpus": "32", "tp": "4", "batch": "16", "seq": "4096",
		"ckpt": "full"}, gib(70.20), 1139, "torchtitan#1690, FSDP 8 and TP 4", titanCommit + "1690"},
	{"llama3.2-3b", engine.Args{"program": "hf", "states": "bf16", "batch": "4", "seq": "769", "logits": "kept",
		"kernel": "foreach"}, 37241225216, 0, "PEFT's comparison of methods on MetaMathQA, full fine-tuning, June 2025",
		"https://github.com/huggingface/peft/blob/main/method_comparison/MetaMathQA/results/full-finetuning--llama-3.2-3B-lr_0.00001.json"},
}

// Compared is a published run with the model's answer about it.
type Compared struct {
	*Published
	Estimate *Estimate
	Percent  float64  // deviation of the middle of Low and High from the figure, in per cent
	Differs  []string // the options in which the question differs from the run; "model" if the model does
}

// Nearest returns the published run that differs least from the question, played.
func (a Ask) Nearest() (*Compared, error) {
	best, least := &published[0], math.Inf(1)
	for i := range published {
		if d := a.distance(&published[i]); d < least {
			best, least = &published[i], d
		}
	}
	run, err := New(Lookup(best.Model), best.Args)
	if err != nil {
		return nil, err
	}
	run.Setup.tally, run.Setup.poll = a.Setup.tally, a.Setup.poll
	out := &Compared{Published: best, Differs: a.differs(best)}
	if out.Estimate, err = run.Estimate(); err != nil {
		return nil, err
	}
	out.Percent = 100 * (float64(out.Estimate.Low+out.Estimate.High)/2/float64(best.Bytes) - 1)
	return out, nil
}

// unlike are options that do not count when runs are compared, since reserved memory does not depend on them.
var unlike = []string{"device", ask.Context}

// differs returns the options in which a run differs from the question, in their order.
func (a Ask) differs(p *Published) (out []string) {
	if m := Lookup(p.Model); m.Params() != a.Setup.Model.Params() || m.Layers != a.Setup.Model.Layers {
		out = append(out, "model")
	}
	for _, o := range ask.Options {
		if !slices.Contains(unlike, o.Name) && ask.Value(a.Args, o.Name) != ask.Value(p.Args, o.Name) {
			out = append(out, o.Name)
		}
	}
	return out
}

// distance returns how much a run differs from the question: 2 for each option with words, and the logarithm of
// the ratio for numbers.
func (a Ask) distance(p *Published) (d float64) {
	ratio := func(x, y float64) float64 { return math.Abs(math.Log2(cmp.Or(x, 1) / cmp.Or(y, 1))) }
	for _, name := range a.differs(p) {
		o := ask.Option(name)
		switch {
		case name == "model":
			d += 2 + ratio(float64(Lookup(p.Model).Params()), float64(a.Setup.Model.Params()))
		case o.Choices != nil:
			d += 2
		default:
			d += ratio(float64(whole(ask.Value(p.Args, name))), float64(whole(ask.Value(a.Args, name))))
		}
	}
	return d
}
