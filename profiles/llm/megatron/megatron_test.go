package megatron

import (
	"maps"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// TestRead checks that a script of Megatron-LM is read as the options that it gives, whatever the text around them.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		text string
		gpus int
		want engine.Args
		left string
	}{
		{"--pipeline-model-parallel-size 8 --micro-batch-size 2 --global-batch-size 128 --seq-length 4096 --bf16", 16,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "16", "pp": "8", "batch": "2",
				"accumulate": "32", "seq": "4096", "schedule": "1f1b"}, ""},
		{"torchrun --nproc_per_node 8 --nnodes=2 pretrain_gpt.py \\\n --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 \\\n --num-layers-per-virtual-pipeline-stage 4 --micro-batch-size 1 --global-batch-size 32 --use-distributed-optimizer --sequence-parallel --train-iters 500 --fp8-format hybrid", 0,
			engine.Args{"program": "megatron", "shard": "zero1", "gpus": "16", "tp": "2", "pp": "4", "batch": "1",
				"accumulate": "16", "schedule": "interleaved", "stages": "2", "fp8": "products"}, ""},
		{"PARALLEL=(--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 4)", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "2", "pp": "2", "accumulate": "1",
				"schedule": "interleaved", "stages": "4"}, ""},
		{"--pipeline-model-parallel-size 2 --decoder-last-pipeline-num-layers 15", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "2", "pp": "2", "accumulate": "1",
				"schedule": "1f1b", "split": "17+15"}, ""},
		{"--micro-batch-size 1 --recompute-granularity full --recompute-method block --recompute-num-layers 5", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"ckpt": "full", "first": "5"}, ""},
		{"--pipeline-model-parallel-size 2 --global-batch-size 8 --defer-embedding-wgrad-compute", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "2", "pp": "2", "accumulate": "8",
				"schedule": "1f1b", "defer-head": "8"}, ""},
		{"--micro-batch-size 1 --hidden-dropout 0.0 --recompute-activations --recompute-modules moe_act", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"ckpt": "modules", "recompute": "moe_act"}, ""},
		{"--micro-batch-size 1 --recompute-granularity selective --recompute-modules mlp moe_act --seq-length 64", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"seq": "64", "ckpt": "modules", "recompute": "mlp+moe_act"}, ""},
		{"--micro-batch-size 1 --mtp-num-layers 2 --no-gradient-accumulation-fusion", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"mtp": "2", "no-grad-fusion": "yes"}, ""},
		{"--micro-batch-size 1 --grad-reduce-in-bf16", 0, engine.Args{"program": "megatron", "shard": "none", "gpus": "1",
			"batch": "1", "accumulate": "1", "bf16-grads": "yes"}, ""},
		{"--micro-batch-size 1 --optimizer-cpu-offload --optimizer-offload-fraction 0.7 --use-precision-aware-optimizer", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"host": "yes", "host-part": "70"}, ""},
		{"--micro-batch-size 1 --optimizer-cpu-offload", 0, engine.Args{"program": "megatron", "shard": "none",
			"gpus": "1", "batch": "1", "accumulate": "1", "host": "yes", "host-part": "100",
			"keep-masters": "yes"}, ""},
		{"--micro-batch-size 1 --optimizer-cpu-offload --optimizer-offload-fraction 0", 0, engine.Args{
			"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1"}, ""},
		{"--micro-batch-size 1 --use-precision-aware-optimizer", 0, engine.Args{"program": "megatron", "shard": "none",
			"gpus": "1", "batch": "1", "accumulate": "1"}, "--use-precision-aware-optimizer"},
		{"--micro-batch-size 1 --cross-entropy-loss-fusion --cross-entropy-fusion-impl te", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"loss": "inplace"}, ""},
		{"--micro-batch-size 1 --cross-entropy-loss-fusion --cross-entropy-fusion-impl native", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "1", "accumulate": "1",
				"loss": "sharded_compiled"}, ""},
		{"--micro-batch-size 1 --num-layers 32 --attention-backend unfused", 0, engine.Args{"program": "megatron",
			"shard": "none", "gpus": "1", "batch": "1", "accumulate": "1", "dropout": "yes", "attention": "eager"}, ""},
		{"--micro-batch-size 1 --tensor-model-parallel-size 2", 0, engine.Args{"program": "megatron", "shard": "none",
			"gpus": "2", "tp": "2", "no-sp": "yes", "batch": "1", "accumulate": "1"}, ""},
		{"--micro-batch-size 1 --use-distributed-optimizer --num-distributed-optimizer-instances 2", 4,
			engine.Args{"program": "megatron", "shard": "zero1", "gpus": "4", "batch": "1", "accumulate": "1",
				"instances": "2"}, ""},
		{"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 7 --decoder-last-pipeline-num-layers 5 --transformer-impl local", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "4", "pp": "4", "accumulate": "1",
				"schedule": "1f1b", "split": "7+10+10+5", "local-layers": "yes", "attention": "eager"}, ""},
		{"--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 4 --global-batch-size 5 --microbatch-group-size-per-virtual-pipeline-stage 5",
			0, engine.Args{"program": "megatron", "shard": "none", "gpus": "4", "pp": "4", "accumulate": "5",
				"schedule": "interleaved-even", "stages": "2"}, "--microbatch-group-size-per-virtual-pipeline-stage"},
		{"--pipeline-model-parallel-size 3 --decoder-first-pipeline-num-layers 12 --decoder-last-pipeline-num-layers 12 --num-virtual-stages-per-pipeline-rank 2",
			0, engine.Args{"program": "megatron", "shard": "none", "gpus": "3", "pp": "3", "accumulate": "1",
				"schedule": "interleaved", "stages": "2", "split": "6+4+6+6+4+6"}, ""},
		{"--pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 17 --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split",
			0, engine.Args{"program": "megatron", "shard": "none", "gpus": "2", "pp": "2", "accumulate": "1",
				"schedule": "1f1b", "split": "16+16"}, ""},
		{"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout \"Et*3|(tt|)*13,t*3|L\" --mtp-num-layers 1", 0,
			engine.Args{"program": "megatron", "shard": "none", "gpus": "4", "pp": "4", "accumulate": "1", "mtp": "1",
				"schedule": "interleaved", "stages": "4", "split": "3+2+2+2+2+2+2+2+2+2+2+2+2+2+3+0"}, ""},
		{"--micro-batch-size 1 --num-experts 8 --moe-router-topk 2", 0, engine.Args{"program": "megatron", "shard": "none",
			"gpus": "1", "batch": "1", "accumulate": "1", "no-grouped": "yes"}, ""},
		{"--micro-batch-size 1 --num-experts 8 --moe-grouped-gemm --async-strategy mcore --decoupled-lr 1 --fp8-param-gather", 0, engine.Args{"program": "megatron", "shard": "none",
			"gpus": "1", "batch": "1", "accumulate": "1"}, "--fp8-param-gather"},
		{"--micro-batch-size 4 --encoder-num-layers 12 --decoder-num-layers 12 --encoder-seq-length 512 --decoder-seq-length 128",
			0, engine.Args{"program": "megatron", "shard": "none", "gpus": "1", "batch": "4", "seq": "512",
				"accumulate": "1", "dropout": "yes"}, ""},
	} {
		got, err := Read(c.text, 32, c.gpus)
		if err != nil || !maps.Equal(got.Args, c.want) || strings.Join(got.Left, " ") != c.left {
			t.Errorf("%s\n got %v, left %q, %v\nwant %v, left %q", c.text, got.Args, got.Left, err, c.want, c.left)
		}
		if _, err := ask.Parse(got.Args); err != nil {
			t.Errorf("%s: no options: %v", c.text, err)
		}
	}
}

// TestReadRefuses checks that errors name the flag and what was expected.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "no flag of Megatron-LM",
		"--pipeline-model-parallel-size $PP": `--pipeline-model-parallel-size is "$PP"; want a whole number`,
		"--micro-batch-size":                 "--micro-batch-size has no value",
		"--encoder-seq-length 512 --decoder-seq-length 512":                           "--decoder-seq-length is 512; the decoder of T5",
		"--micro-batch-size 3 --global-batch-size 64":                                 "64 does not divide by 3",
		"--micro-batch-size 1 --optimizer-offload-fraction 50":                        `--optimizer-offload-fraction is "50"`,
		"--micro-batch-size 1 --recompute-granularity half":                           `--recompute-granularity is "half"`,
		"--micro-batch-size 1 --recompute-granularity full --recompute-method random": `--recompute-method is "random"`,
		"--pipeline-model-parallel-size 3 --num-layers-per-virtual-pipeline-stage 5":  "32 does not divide by 15",
		"--pipeline-model-parallel-size 2 --pipeline-model-parallel-layout Et*32m|L":  "before its last stage",
		"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*9|L'":  "2 does not divide by 4",
		"--pipeline-model-parallel-size 4 --decoder-first-pipeline-num-layers 7":      "25 does not divide by 3",
	} {
		if _, err := Read(text, 32, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want %s", text, err, want)
		}
	}
}

// TestRoundTrip checks that flags that are written are read as the same options.
func TestRoundTrip(t *testing.T) {
	for _, args := range []engine.Args{
		{"program": "megatron", "gpus": "64", "pp": "8", "tp": "4", "ep": "4", "etp": "1", "batch": "2", "accumulate": "24",
			"seq": "4096", "schedule": "1f1b", "shard": "zero1", "instances": "2"},
		{"program": "megatron", "gpus": "8", "pp": "4", "accumulate": "8", "schedule": "interleaved", "stages": "4",
			"shard": "none", "ckpt": "full", "group": "2", "dropout": "yes", "defer-head": "2"},
		{"program": "megatron", "gpus": "8", "pp": "4", "accumulate": "8", "schedule": "1f1b", "shard": "none",
			"ckpt": "full", "first": "3", "split": "9+9+9+5", "loss": "inplace", "mtp": "1", "no-grad-fusion": "yes"},
		{"program": "megatron", "gpus": "8", "pp": "4", "accumulate": "8", "schedule": "1f1b", "shard": "none",
			"split": "7+9+9+7", "local-layers": "yes", "attention": "eager", "host": "yes", "keep-masters": "yes"},
		{"program": "megatron", "gpus": "8", "pp": "2", "accumulate": "4", "schedule": "interleaved", "shard": "none",
			"split": "12+10+10+0", "host": "yes", "host-part": "25"},
		{"program": "megatron", "gpus": "8", "shard": "none", "ckpt": "modules", "recompute": "layernorm+moe_act",
			"fp8": "products"},
	} {
		text, err := Flags(args, args["schedule"], 32)
		if err != nil {
			t.Fatal(err)
		}
		gpus := map[string]int{"64": 64, "8": 8}[args["gpus"]]
		got, err := Read(text, 32, gpus)
		if a, b := ask.Plain(got.Args), ask.Plain(args); err != nil || !maps.Equal(a, b) {
			t.Errorf("%s\nreads as %v (%v); want %v", text, a, err, b)
		}
	}
	text, err := Flags(engine.Args{"gpus": "2", "pp": "2", "lighter": "1"}, "1f1b", 32)
	if err != nil || !strings.Contains(text, "--decoder-last-pipeline-num-layers 15") {
		t.Errorf("a lighter last stage is written as %s (%v)", text, err)
	}
	for _, args := range []engine.Args{{"pp": "4", "gpus": "4"}, {"ckpt": "dots"},
		{"pp": "4", "gpus": "4", "lighter": "1"}} {
		if text, err := Flags(args, map[bool]string{true: "zb-v", false: "1f1b"}[args["lighter"] == ""],
			32); err == nil {
			t.Errorf("%v is written as %s; want an error", args, text)
		}
	}
}

// TestExpertTensor checks that the flags say what Megatron-LM would do otherwise: by default it shares each expert among
// tensor parallel ranks, other programs do not with expert parallel ranks.
func TestExpertTensor(t *testing.T) {
	for program, want := range map[string]bool{"torchtitan": true, "megatron": false} {
		text, err := Flags(engine.Args{"program": program, "gpus": "8", "tp": "2", "ep": "4"}, "", 32)
		if got := strings.Contains(text, "--expert-tensor-parallel-size 1"); err != nil || got != want {
			t.Errorf("%s: %q (%v); with --expert-tensor-parallel-size 1: want %v", program, text, err, want)
		}
	}
}
