package llm

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm/ask"
)

// TestPolicies checks that every policy of a framework is a question that changes nothing else. A policy that
// moves or recomputes values needs no more memory than keeping everything, and no less time.
func TestPolicies(t *testing.T) {
	a := asked(engine.Args{"gpus": "2", "seq": "2048", "ckpt": "full", "offload": "yes", "loss": "chunked"})
	list := a.policed()
	if len(list) < 13 {
		t.Fatalf("%d policies, want at least 13", len(list))
	}
	all := list[0].Estimate
	for _, p := range list {
		if p.Words == "" || p.GPUs != 2 || ask.Value(p.Args, "loss") != "chunked" ||
			ask.Value(p.Args, "seq") != "2048" {
			t.Errorf("%q, %q: %v; want the words of a framework and the rest of the question", p.Names, p.Words, p.Args)
		}
		if strings.Contains(p.Words, "torch.compile") { // these have other kernels
			continue
		}
		if p.Estimate.Allocated > all.Allocated || p.Estimate.Time < all.Time {
			t.Errorf("%q: %d bytes in %v; keeping everything %d in %v", p.Names, p.Estimate.Allocated, p.Estimate.Time,
				all.Allocated, all.Time)
		}
		same, err := New(a.Setup.Model, p.Args)
		if err != nil {
			t.Errorf("%q: %v; want that its options can be asked for", p.Names, err)
			continue
		}
		if got := answer(t, same); got.High != p.Estimate.High || got.Time != p.Estimate.Time {
			t.Errorf("%q: asked for by its options %d bytes in %v, here %d in %v", p.Names, got.High, got.Time,
				p.Estimate.High, p.Estimate.Time)
		}
	}
}

// TestPoliciesOfCompiledBlocks checks that policies of a step whose blocks are compiled are compiled, too, whatever
// its own policy is, and that others are not.
func TestPoliciesOfCompiledBlocks(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{{engine.Args{"compile": "yes", "seq": "1024"}, "yes"},
		{engine.Args{"compile": "yes", "ckpt": "budget", "seq": "1024"}, "yes"}, {engine.Args{"seq": "1024"}, "no"}} {
		b, err := asked(c.args).under(engine.Args{"ckpt": "full"})
		if got := ask.Value(b.Args, "compile"); err != nil || got != c.want {
			t.Errorf("%v under full checkpointing: compile %s, %v; want %s", c.args, got, err, c.want)
		}
	}
}

// Policies about experts and about MLA appear only for models that have them.
func TestPoliciesOfModels(t *testing.T) {
	for model, want := range map[string]string{"moonlight-16b": "moe_act mla_up_proj mlp", "qwen3-30b-a3b": "moe_act",
		"llama3.2-1b": "mlp"} {
		m := Lookup(model)
		var got []string
		for _, p := range policies {
			if module := p.args["recompute"]; p.has != nil && p.has(m) && module != "moe" && module != "" {
				got = append(got, module)
			}
		}
		for _, w := range strings.Fields(want) {
			if !strings.Contains(strings.Join(got, " "), w) {
				t.Errorf("%s: modules %q, want %q", model, got, want)
			}
		}
		if len(got) != len(strings.Fields(want)) {
			t.Errorf("%s: modules %q, want %q", model, got, want)
		}
	}
}

// TestFewestBlocks checks that the fewest blocks to checkpoint do fit, and that one fewer does not.
func TestFewestBlocks(t *testing.T) {
	a := asked(engine.Args{"lora": "8", "seq": "8192", "device": "v100-pcie-16gb", "loss": "chunked"})
	n := a.fewestBlocks("full")
	if n == 0 {
		t.Fatalf("%d blocks, want some: keeping everything %s", n, answer(t, a).Verdict)
	}
	for blocks, want := range map[int64]bool{n: true, n - 1: false} {
		b, err := a.under(engine.Args{"ckpt": "full", "first": number(blocks)})
		if err != nil {
			t.Fatal(err)
		}
		if got := answer(t, b).Verdict; blocks > 0 && (got == Fits) != want {
			t.Errorf("%d blocks were found; with %d: %s", n, blocks, got)
		}
	}
}

// TestPoliciesAsChains checks that the blocks under a policy of checkpointing are a chain whose step, with everything
// kept that the policy leaves, has the peak and the time of the step that was played under the policy. Only steps of
// several micro batches take longer than the chain's one.
func TestPoliciesAsChains(t *testing.T) {
	for _, c := range []struct {
		model string
		args  engine.Args
	}{
		{"llama3-8b", engine.Args{"program": "torchtune", "lora": "16", "device": "rtx-4090"}},
		{"llama3-8b", engine.Args{"gpus": "8", "program": "torchtitan"}},
		{"qwen3-30b-a3b", engine.Args{"gpus": "8", "lora": "8", "seq": "2048"}},
		{"gpt2", engine.Args{"program": "megatron", "seq": "1024"}},
		{"gpt2", engine.Args{"step-in-backward": "yes", "states": "bf16", "seq": "1024"}},
		{"gpt2", engine.Args{"no-autocast": "yes", "logits": "kept", "seq": "1024"}},
		{"llama3.2-1b", engine.Args{"lora": "16", "targets": "qv", "adapter-dropout": "yes", "no-autocast": "yes", "logits": "kept", "seq": "2048"}},
		{"gpt2", engine.Args{"host": "yes", "host-part": "40", "seq": "1024"}},
		{"llama3-8b", engine.Args{"gpus": "4", "lora": "16", "shard": "fsdp1", "loss": "fused"}},
		{"qwen2.5-7b", engine.Args{"gpus": "8", "program": "deepspeed"}},
		{"qwen2.5-7b", engine.Args{"gpus": "8", "shard": "zero2"}},
		{"llama3-8b", engine.Args{"lora": "16", "swap-blocks": "20", "seq": "2048", "device": "rtx-4090"}},
		{"llama3.2-1b", engine.Args{"lora": "16", "states": "fp32", "seq": "2048"}},
		{"qwen2.5-7b", engine.Args{"gpus": "8", "program": "deepspeed", "shard": "zero2", "host": "yes"}},
	} {
		a, err := New(Lookup(c.model), c.args)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range a.policed() {
			if p.turned.Setup.OneGraph {
				continue // no chain of blocks
			}
			out, err := p.turned.profile(asChain)
			if err != nil {
				t.Errorf("%s %v: %v", c.model, p.Args, err)
				continue
			}
			problem := engine.NewChainProblem(out.Chain, *out.Device, engine.Whole, engine.NoLimit)
			if err := problem.Validate(); err != nil {
				t.Errorf("%s %v: %v", c.model, p.Args, err)
			}
			got, err := engine.Lookup(engine.KeepAll).Solve(problem, nil, nil)
			if err != nil {
				t.Fatalf("%s %v: %v", c.model, p.Args, err)
			}
			if want := p.Estimate; got.Peak != want.Allocated || (got.Makespan-want.Time).Abs() > want.Time/1000 {
				t.Errorf("%s %v: %d bytes in %v as a chain, %d in %v as it is played (%+.2f %%)", c.model, p.Args, got.Peak,
					got.Makespan, want.Allocated, want.Time, 100*(float64(got.Peak)/float64(want.Allocated)-1))
			}
		}
	}
}
