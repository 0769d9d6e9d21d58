// Package megatron reads and writes the flags of Megatron-LM that say how the work of a step is laid out, as
// options of package ask.
package megatron

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// Layout is a command line of Megatron-LM, as far as package ask has options for its flags [Megatron-LM:
// training/arguments.py].
type Layout struct {
	Args engine.Args
	Left []string // flags about the step for which there is no option
}

// numbers maps flags to the options that have the same value.
var numbers = map[string]string{
	"--pipeline-model-parallel-size": "pp", "--tensor-model-parallel-size": "tp", "--context-parallel-size": "cp",
	"--expert-model-parallel-size": "ep", "--expert-tensor-parallel-size": "etp",
	"--micro-batch-size": "batch", "--seq-length": "seq", "--encoder-seq-length": "seq", "--mtp-num-layers": "mtp",
	"--num-distributed-optimizer-instances": "instances",
}

// together are the other flags with a value that are read. An option follows from several of them.
var together = []string{"--global-batch-size", "--num-layers-per-virtual-pipeline-stage",
	"--num-virtual-stages-per-pipeline-rank", "--fp8-format",
	"--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers", "--transformer-impl",
	"--recompute-granularity", "--recompute-method", "--recompute-num-layers",
	"--recompute-modules",
	"--nproc-per-node", "--nnodes", "--hidden-dropout", "--cross-entropy-fusion-impl", "--attention-backend",
	"--num-layers", "--wgrad-deferral-limit", "--encoder-num-layers", "--decoder-seq-length", "--num-experts",
	fractionFlag}

// The flags of the optimizer on the host, of its part there, and of the optimizer that leaves no masters of that part
// on the card, which Megatron-LM demands beside the first. Other programs on its core do not.
const (
	offloadFlag   = "--optimizer-cpu-offload"
	fractionFlag  = "--optimizer-offload-fraction"
	precisionFlag = "--use-precision-aware-optimizer"
)

// ends are the flags about a pipeline's first and last ranks, those that count what else these have as a layer, and the
// options where they have fewer layers.
var ends = []struct{ flag, counts, option string }{
	{"--decoder-first-pipeline-num-layers", "--account-for-embedding-in-pipeline-split", "lighter-first"},
	{"--decoder-last-pipeline-num-layers", "--account-for-loss-in-pipeline-split", "lighter"}}

// written are flags that Flags writes where the option differs from its default, with its value unless that is yes.
var written = []struct{ flag, option string }{{"--mtp-num-layers", "mtp"},
	{"--num-distributed-optimizer-instances", "instances"}, {"--no-gradient-accumulation-fusion", "no-grad-fusion"},
	{"--grad-reduce-in-bf16", "bf16-grads"},
	{"--fp8-format hybrid", "fp8"}, {"--hidden-dropout 0.1", "dropout"}, {"--transformer-impl local", "local-layers"},
	{"--defer-embedding-wgrad-compute --wgrad-deferral-limit", "defer-head"}}

// switches are the flags without a value that are read.
var switches = []string{"--recompute-activations", "--use-distributed-optimizer", "--sequence-parallel",
	"--cross-entropy-loss-fusion", "--no-gradient-accumulation-fusion", "--defer-embedding-wgrad-compute",
	"--grad-reduce-in-bf16", "--moe-grouped-gemm", offloadFlag, precisionFlag, ends[0].counts, ends[1].counts}

// silent are flags that do not change what is played, or that describe the model. A name that ends in a hyphen is
// a prefix, for flags about data, logs and checkpoints.
var silent = []string{"--bf16", "--hidden-size", "--num-attention-heads", "--kv-channels", "--mscale-all-dim",
	"--ffn-hidden-size", "--max-position-embeddings", "--add-qkv-bias", "--apply-layernorm-1p", "--squared-relu",
	"--qk-", "--multi-latent-attention", "--q-lora-rank", "--kv-lora-rank", "--v-head-dim", "--mscale",
	"--moe-ffn-hidden-size", "--moe-shared-expert-intermediate-size", "--moe-layer-freq", "--decoupled-", "--ckpt-",
	"--moe-router-", "--moe-aux-", "--moe-z-", "--norm-epsilon", "--make-vocab-", "--verify-integrity", "--fim-",
	"--lr", "--min-lr", "--lr-", "--weight-decay", "--clip-grad", "--train-", "--data-", "--save", "--save-",
	"--load", "--log-", "--logging-", "--eval-", "--tokenizer-", "--vocab-", "--merge-", "--mock-data", "--num-workers",
	"--tensorboard-", "--wandb-", "--seed", "--init-method", "--init-", "--adam-", "--split", "--distributed-",
	"--master", "--node-rank", "--use-mcore-models", "--use-tp-pp-dp-mapping", "--use-persistent-ckpt-worker",
	"--dist-ckpt-", "--deterministic-mode", "--manual-", "--check-", "--no-check-", "--no-mmap-bin-files", "--no-ckpt-",
	"--use-flash-attn", "--no-load", "--no-load-", "--no-save", "--attention-softmax-in-fp32", "--use-checkpoint-",
	"--no-save-", "--exit-", "--timing-", "--overlap-", "--group-query-attention", "--num-query-groups", "--async-",
	"--swiglu", "--normalization", "--position-embedding-type", "--rotary-", "--disable-bias-linear", "--untie-",
	"--attention-dropout", "--enable-experimental", "--decoder-num-layers", "--calculate-per-token-loss"}

// wholeLayout is the flag that says the layers of all stages [Megatron-LM: pipeline_parallel_layer_layout.py], and
// between what parts words, beside parentheses.
const wholeLayout, between = "--pipeline-model-parallel-layout", " \t\r\n\\\"'="

// Read reads a command line of Megatron-LM, or a script that contains one, for a model with the given number of
// layers. The order of passes is 1F1B, or the interleaved one if ranks have virtual stages. gpus is the number of
// cards. If gpus is 0, Read takes it from the flags of torchrun on the same line, or else assumes one card for
// each pipeline, tensor and context parallel rank.
func Read(text string, layers, gpus int) (Layout, error) {
	m := Layout{Args: engine.Args{"program": "megatron", "shard": "none"}}
	value := map[string]string{}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between+"()", r) })
	if _, after, ok := strings.Cut(text, wholeLayout); ok { // which has parentheses of its own
		after = strings.TrimLeft(after, between)
		value[wholeLayout] = after[:max(0, strings.IndexAny(after+" ", between))]
	}
	for i, flag := range words {
		if !strings.HasPrefix(flag, "--") {
			continue
		}
		flag = strings.ReplaceAll(flag, "_", "-")
		option, number := numbers[flag]
		switch {
		case number || slices.Contains(together, flag):
			if i+1 == len(words) || strings.HasPrefix(words[i+1], "--") {
				return m, fmt.Errorf("%s has no value", flag)
			}
			value[flag] = words[i+1]
			for _, w := range words[i+2:] { // modules are a list
				if flag != "--recompute-modules" || strings.HasPrefix(w, "--") {
					break
				}
				value[flag] += "+" + w
			}
			if number {
				m.Args[option] = words[i+1]
			}
		case slices.Contains(switches, flag):
			value[flag] = "1"
		case flag == wholeLayout && value[flag] != "":
		case !slices.ContainsFunc(silent, func(s string) bool {
			return flag == s || strings.HasSuffix(s, "-") && strings.HasPrefix(flag, s)
		}):
			m.Left = append(m.Left, flag)
		}
	}
	if value[offloadFlag] == "" && value[precisionFlag] != "" { // it narrows masters then, for which there is no option
		m.Left = append(m.Left, precisionFlag)
	}
	if len(value) == 0 {
		return m, fmt.Errorf("there is no flag of Megatron-LM that says how a step is laid out; expected some such as --pipeline-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64")
	}
	n := counts{value: value, layers: layers}
	n.read(m.Args, gpus)
	return m, n.err
}

// counts derives options that follow from several flags. It keeps its first error.
type counts struct {
	value  map[string]string
	layers int
	err    error
}

// number returns the value of a flag, or otherwise if the flag is not given.
func (n *counts) number(flag string, otherwise int) int {
	text, ok := n.value[flag]
	if !ok {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if (err != nil || v < 1 || v > 1<<20) && n.err == nil {
		n.err = fmt.Errorf("%s is %q; want a whole number from 1 on, not a variable of the script", flag, text)
	}
	return max(v, 1)
}

// divided returns a / by. If by does not divide a, it records an error that begins with what.
func (n *counts) divided(a, by int, what string) int {
	if n.err == nil && (by < 1 || a%by != 0) {
		n.err = fmt.Errorf("%s: %d does not divide by %d", what, a, by)
	}
	return a / max(by, 1)
}

// read sets the options that follow from several flags.
func (n *counts) read(args engine.Args, gpus int) {
	pp, tp, cp := n.number("--pipeline-model-parallel-size", 1), n.number("--tensor-model-parallel-size", 1),
		n.number("--context-parallel-size", 1)
	each := pp * tp * cp
	gpus = cmp.Or(gpus, n.number("--nproc-per-node", 1)*n.number("--nnodes", 1))
	if gpus == 1 {
		gpus = each
	}
	args["gpus"] = strconv.Itoa(gpus)
	batch := n.number("--micro-batch-size", 1)
	n.number("--seq-length", 1)
	encoder := n.number("--encoder-seq-length", 1)
	if decoder := n.number("--decoder-seq-length", encoder/4); n.err == nil && encoder > 1 && decoder != encoder/4 {
		n.err = fmt.Errorf("--decoder-seq-length is %d; the decoder of T5 is known with a quarter of the encoder's tokens, %d", decoder, encoder/4)
	}
	n.number("--expert-model-parallel-size", 1)
	data := n.divided(gpus, each, "cards by ranks of pipeline, products and sequences")
	args["accumulate"] = strconv.Itoa(n.divided(n.number("--global-batch-size", batch*data), batch*data,
		"--global-batch-size by --micro-batch-size and the copies of the model"))
	if n.value["--use-distributed-optimizer"] != "" && data*cp > 1 {
		args["shard"] = "zero1"
	}
	// a whole command line, which says the layers, has Megatron-LM's defaults where it says nothing
	text, whole := n.value["--hidden-dropout"], n.value["--num-layers"]+n.value["--encoder-num-layers"] != ""
	if whole && text == "" || strings.Trim(text, "0.") != "" {
		args["dropout"] = "yes"
	}
	switch backend := n.value["--attention-backend"]; {
	case n.value["--transformer-impl"] == "local":
		args["local-layers"], args["attention"] = "yes", "eager"
	case backend == "unfused", backend == "local":
		args["attention"] = "eager"
	}
	switch fused := n.value["--cross-entropy-loss-fusion"] != ""; {
	case n.value["--cross-entropy-fusion-impl"] == "te": // which leaves the gradient in the logits
		args["loss"] = "inplace"
	case fused:
		args["loss"] = "sharded_compiled"
	}
	if tp > 1 && n.value["--sequence-parallel"] == "" {
		args["no-sp"] = "yes"
	}
	if n.value["--fp8-format"] != "" {
		args["fp8"] = "products"
	}
	if n.value["--num-experts"] != "" && n.value["--moe-grouped-gemm"] == "" {
		args["no-grouped"] = "yes"
	}
	for flag, option := range map[string]string{"--no-gradient-accumulation-fusion": "no-grad-fusion",
		"--grad-reduce-in-bf16": "bf16-grads"} {
		if n.value[flag] != "" {
			args[option] = "yes"
		}
	}
	n.offload(args)
	n.pipeline(args, pp)
	n.recompute(args)
}

// offload sets the options of the optimizer on the host. All of it is there if no flag says the part.
func (n *counts) offload(args engine.Args) {
	part, err := strconv.ParseFloat(cmp.Or(n.value[fractionFlag], "1"), 64)
	if (err != nil || !(part >= 0 && part <= 1)) && n.err == nil {
		n.err = fmt.Errorf("%s is %q; want a number from 0 to 1", fractionFlag, n.value[fractionFlag])
	}
	percent := engine.Int64(math.Round(part * 100))
	if n.value[offloadFlag] == "" || percent == 0 {
		return
	}
	args["host"], args["host-part"] = "yes", strconv.FormatInt(percent, 10)
	if n.value[precisionFlag] == "" {
		args["keep-masters"] = "yes"
	}
}

// pipeline sets the options of the pipeline with pp ranks.
func (n *counts) pipeline(args engine.Args, pp int) {
	if pp == 1 {
		return
	}
	args["schedule"] = "1f1b"
	switch limit := n.value["--wgrad-deferral-limit"]; {
	case n.value["--defer-embedding-wgrad-compute"] == "":
	case limit == "" || limit == "0":
		args["defer-head"] = args["accumulate"]
	default:
		args["defer-head"] = strconv.Itoa(n.number("--wgrad-deferral-limit", 1))
	}
	chunks := n.number("--num-virtual-stages-per-pipeline-rank", 1)
	if each, ok := n.value["--num-layers-per-virtual-pipeline-stage"]; ok {
		chunks = n.divided(n.layers+n.number(ends[0].counts, 0)+n.number(ends[1].counts, 0),
			pp*n.number("--num-layers-per-virtual-pipeline-stage", 1),
			"layers by ranks and --num-layers-per-virtual-pipeline-stage "+each)
	}
	if text := n.value[wholeLayout]; text != "" {
		chunks = n.whole(args, pp, text)
	} else {
		n.ends(args, pp, chunks)
	}
	if chunks > 1 {
		args["schedule"], args["stages"] = "interleaved", strconv.Itoa(chunks)
		if micro, _ := strconv.Atoi(args["accumulate"]); micro > pp && micro%pp > 0 { // in rounds of more than pp
			args["schedule"] = "interleaved-even"
		}
	}
}

// ends sets the option of the layers of each stage by flags about the first and the last rank, and about what stands
// at the ends [Megatron-LM: core/transformer/transformer_block.py, get_num_layers_to_build].
func (n *counts) ends(args engine.Args, pp, chunks int) {
	first, last := n.number(ends[0].flag, 0), n.number(ends[1].flag, 0)
	embedding, loss := n.number(ends[0].counts, 0), n.number(ends[1].counts, 0)
	if first+last+embedding+loss == 0 {
		return
	}
	each := n.divided(n.layers+embedding+loss-first-last, max(1, pp-min(first, 1)-min(last, 1)),
		"layers by the ranks of which no flag says them")
	ranks := slices.Repeat([]int{each}, pp)
	ranks[0], ranks[pp-1] = cmp.Or(first, each), cmp.Or(last, each)
	all := slices.Repeat(ranks, chunks)
	for i := range all {
		all[i] = n.divided(all[i], chunks, "layers of a rank by its stages")
	}
	all[0] -= embedding
	all[len(all)-1] -= loss
	args["split"] = strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", "+"), "[]")
}

// whole sets the option of the layers of each stage by a layout of all of them, and returns the stages of a rank.
func (n *counts) whole(args engine.Args, pp int, layout string) (chunks int) {
	stages := strings.Split(unroll(layout), "|")
	for i, stage := range stages {
		if n.err == nil && i < len(stages)-1 && strings.Contains(stage, "m") {
			n.err = fmt.Errorf("%s %s has layers that predict later tokens before its last stage; they are known there alone", wholeLayout, layout)
		}
		stages[i] = strconv.Itoa(strings.Count(stage, "t"))
	}
	args["split"] = strings.Join(stages, "+")
	return n.divided(len(stages), pp, "stages of "+wholeLayout+" by ranks")
}

// unroll writes out the repetitions of a layout, such as Et*3|(tt|)*29L.
func unroll(layout string) (out string) {
	for layout != "" {
		part, rest := layout[:1], layout[1:]
		if end := strings.Index(layout, ")"); part == "(" && end > 0 {
			part, rest = unroll(layout[1:end]), layout[end+1:]
		}
		if after, ok := strings.CutPrefix(rest, "*"); ok {
			rest = strings.TrimLeft(after, "0123456789")
			times, _ := strconv.Atoi(strings.TrimSuffix(after, rest))
			part = strings.Repeat(part, min(times, 1<<10))
		}
		out, layout = out+part, rest
	}
	return out
}

// recompute sets the options of checkpointing.
func (n *counts) recompute(args engine.Args) {
	granularity := n.value["--recompute-granularity"]
	if n.value["--recompute-activations"] != "" {
		granularity = "selective"
	}
	layers := strconv.Itoa(n.number("--recompute-num-layers", 1))
	method := n.value["--recompute-method"]
	switch {
	case granularity == "":
	case granularity == "selective":
		args["ckpt"], args["recompute"] = "modules", cmp.Or(n.value["--recompute-modules"], "core_attn")
	case granularity != "full" && n.err == nil:
		n.err = fmt.Errorf("--recompute-granularity is %q; want full or selective", granularity)
	case method == "block":
		args["ckpt"], args["first"] = "full", layers
	case method == "" || method == "uniform":
		args["ckpt"], args["group"] = "full", layers
	case n.err == nil:
		n.err = fmt.Errorf("--recompute-method is %q; want uniform or block", method)
	}
}

// offloaded returns the flags of the optimizer on the host, none if all of it is on the card.
func offloaded(args engine.Args) []string {
	percent, _ := strconv.ParseFloat(ask.Value(args, "host-part"), 64)
	out := []string{offloadFlag, fmt.Sprint(fractionFlag, " ", percent/100), precisionFlag}
	switch {
	case ask.Value(args, "host") == "no":
		return nil
	case ask.Value(args, "keep-masters") == "yes":
		return out[:2]
	}
	return out
}

// Flags returns the layout of a step as flags of Megatron-LM. schedule is the order of passes that was chosen.
// The error names an option for which Megatron-LM has no flag.
func Flags(args engine.Args, schedule string, layers int) (string, error) {
	number := func(name string) int {
		n, _ := strconv.Atoi(ask.Value(args, name))
		return n
	}
	var out []string
	put := func(flag string, n int) { out = append(out, flag+" "+strconv.Itoa(n)) }
	pp, tp, cp := number("pp"), number("tp"), number("cp")
	put("--pipeline-model-parallel-size", pp)
	put("--tensor-model-parallel-size", tp)
	put("--context-parallel-size", cp)
	put("--expert-model-parallel-size", number("ep"))
	if etp := number("etp"); etp > 0 || number("ep") > 1 && ask.Value(args, "program") != "megatron" {
		put("--expert-tensor-parallel-size", max(etp, 1))
	}
	put("--micro-batch-size", number("batch"))
	put("--global-batch-size", number("batch")*number("accumulate")*max(1, number("gpus")/max(1, pp*tp*cp)))
	put("--seq-length", number("seq"))
	for _, o := range written {
		if v := ask.Value(args, o.option); v != ask.Option(o.option).Default {
			out = append(out, strings.TrimSuffix(strings.TrimSuffix(o.flag+" "+v, " yes"), " products"))
		}
	}
	switch {
	case pp > 1 && schedule == "interleaved" && ask.Split(args) == nil: // else the layout tells the stages
		put("--num-virtual-stages-per-pipeline-rank", number("stages"))
	case pp == 1, schedule == "1f1b", schedule == "interleaved":
	default:
		return "", fmt.Errorf("Megatron-LM runs pipelines by 1f1b and interleaved; %s is none of them: ask with -schedule 1f1b or -schedule interleaved", schedule)
	}
	left, between := layers, pp
	for _, end := range ends {
		if lighter := number(end.option); lighter > 0 {
			put(end.flag, layers/pp-lighter)
			left, between = left-layers/pp+lighter, between-1
		}
	}
	if between < pp && (schedule == "interleaved" || left%max(1, between) != 0) {
		return "", fmt.Errorf("Megatron-LM lays out what the first or the last stage has fewer evenly, and without virtual stages; %d layers do not divide among %d ranks, or there are some", left, between)
	}
	if split := args["split"]; ask.Split(args) != nil {
		out = append(out, fmt.Sprintf("%s \"Et*%s%sL\"", wholeLayout, strings.ReplaceAll(split, "+", "|t*"),
			strings.Repeat("m", number("mtp"))))
	}
	if tp > 1 && ask.Value(args, "no-sp") == "no" {
		out = append(out, "--sequence-parallel")
	}
	out = append(out, offloaded(args)...)
	switch ask.Value(args, "loss") {
	case "inplace":
		out = append(out, "--cross-entropy-loss-fusion --cross-entropy-fusion-impl te")
	case "sharded_compiled":
		out = append(out, "--cross-entropy-loss-fusion")
	}
	if shard := ask.Value(args, "shard"); shard != "none" {
		out = append(out, "--use-distributed-optimizer")
	}
	switch ckpt := ask.Value(args, "ckpt"); {
	case number("ranks") > 0 || number("every") > 1 || !slices.Contains([]string{"none", "full", "modules"}, ckpt):
		return "", fmt.Errorf("Megatron-LM has no flags for checkpointing of some ranks or every n-th block, nor for %s", ckpt)
	case ckpt == "modules":
		out = append(out, "--recompute-granularity selective --recompute-modules "+
			strings.Join(ask.Modules(args), " "))
	case ckpt == "full" && number("first") > 0:
		out = append(out, "--recompute-granularity full --recompute-method block --recompute-num-layers "+ask.Value(args, "first"))
	case ckpt == "full":
		out = append(out, "--recompute-granularity full --recompute-method uniform --recompute-num-layers "+ask.Value(args, "group"))
	}
	return strings.Join(out, " "), nil
}
