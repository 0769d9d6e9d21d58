package llm

import (
	"strings"
	"testing"

	"memtide/engine"
)

// asks returns the answer about a model's step.
func asks(t *testing.T, m *Model, args engine.Args) *Estimate {
	t.Helper()
	a, err := New(m, args)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return answer(t, a)
}

// TestExpertRanks checks what the last rank of Mixtral 8x22B holds where tensor parallel ranks share each expert, as
// Megatron-LM has it by default, and where they do not. The number of cards is not told with the golden value
// [tests/functional_tests/test_cases/mixtral: mixtral_8x22b_tp2pp8ep8vpp1_release].
func TestExpertRanks(t *testing.T) {
	of := func(etp string) *Estimate {
		return asks(t, Lookup("mixtral-8x22b"), engine.Args{"program": "megatron", "gpus": "128", "tp": "2", "pp": "8",
			"ep": "8", "etp": etp, "schedule": "1f1b", "accumulate": "32", "seq": "4096"})
	}
	const experts = 7 * 3 * 6144 * 16384 // numbers of the one expert of each of seven layers
	shared, whole := of("0"), of("1")
	within(t, "last rank", shared.Ranks.List[7].Allocated, 26.57, 4)
	// half the weights and gradients of experts; ranks without -etp share master weights and moments instead
	if got := whole.States - shared.States; got != experts/2*(2+4) {
		t.Errorf("whole experts take %d bytes more, want %d", got, experts/2*(2+4))
	}
	fsdp := engine.Args{"program": "torchtitan", "gpus": "8", "tp": "2", "seq": "1024", "etp": "2"}
	got := asks(t, Lookup("mixtral-8x7b"), fsdp).States
	fsdp["etp"] = "1"
	if want := asks(t, Lookup("mixtral-8x7b"), fsdp).States; got != want {
		t.Errorf("FSDP of experts: %d bytes of states with half an expert of 4 cards, %d with a whole one of 8; want the same",
			got, want)
	}
	_, err := New(Lookup("mixtral-8x22b"), engine.Args{"program": "megatron", "gpus": "8", "tp": "2", "ep": "8"})
	if err == nil || !strings.Contains(err.Error(), "want a multiple of 16") {
		t.Errorf("8 expert ranks with 2 tensor ranks each on 8 cards: error %v; want a multiple of 16", err)
	}
}

// TestWithoutDDP checks that ranks whose experts differ have no buckets of DDP, which others without shared states have.
func TestWithoutDDP(t *testing.T) {
	for ranks, want := range map[string]bool{"1": true, "8": false} {
		got := asks(t, Lookup("mixtral-8x7b"), engine.Args{"gpus": "8", "shard": "none", "ep": ranks, "seq": "1024"})
		if buckets := partOf(got.Result, Backward, Buffers) > 0; buckets != want {
			t.Errorf("%s ranks of experts: buckets %v, want %v", ranks, buckets, want)
		}
	}
}

// TestTiedEnds checks that the last stage has a copy of a tied embedding, with its gradient and states.
func TestTiedEnds(t *testing.T) {
	tied := *Lookup("gpt2")
	tied.Tied = true
	apart := tied
	apart.Tied = false
	args := engine.Args{"program": "megatron", "gpus": "4", "pp": "4", "schedule": "1f1b", "accumulate": "4", "seq": "1024"}
	got, want := asks(t, &tied, args).Ranks, asks(t, &apart, args).Ranks
	for i, rank := range got.List {
		if rank.Allocated != want.List[i].Allocated {
			t.Errorf("rank %d takes %d bytes, want %d, as with a head of its own", i, rank.Allocated, want.List[i].Allocated)
		}
	}
}

// TestWideBeside checks that adapters beside fp32 weights without autocast compute in fp32: no copy of a weight, and
// all that is kept twice as large as in bf16.
func TestWideBeside(t *testing.T) {
	args := engine.Args{"lora": "8", "states": "fp32", "no-autocast": "yes", "seq": "1024", "attention": "sdpa"}
	got := asks(t, Lookup("llama3.2-1b"), args)
	if n := partOf(got.Result, LossForward, Gathered); n > 0 {
		t.Errorf("%d bytes of copies of weights, want none", n)
	}
	bf16 := asks(t, Lookup("llama3.2-1b"), engine.Args{"lora": "8", "adapters": "bf16", "seq": "1024", "attention": "sdpa"})
	wide, narrow := partOf(got.Result, LossForward, Saved), partOf(bf16.Result, LossForward, Saved)
	if ratio := float64(wide) / float64(narrow); ratio < 1.6 || ratio > 2 {
		t.Errorf("%d bytes are kept, %.2f times those of bf16; want nearly twice, for norms are in fp32 anyhow", wide, ratio)
	}
}

// TestKeptOfDPO checks that what autograd keeps is known of a model whose loss asks a reference, too: as much as without.
func TestKeptOfDPO(t *testing.T) {
	of := func(objective string) Kept {
		a, err := New(Lookup("llama3.2-1b"), engine.Args{"objective": objective, "seq": "1024"})
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Setup.Kept()
		if err != nil {
			t.Fatalf("%s: %v", objective, err)
		}
		return k
	}
	if got, want := of("dpo").Outside, of("sft").Outside; got != want {
		t.Errorf("%d bytes outside the blocks, want %d", got, want)
	}
}

// TestExpertsOfTransformers checks that a step with experts over ranks says how rows reach them where Transformers' own
// code, which the step is of, would do otherwise.
func TestExpertsOfTransformers(t *testing.T) {
	for program, want := range map[string]bool{"hf": true, "torchtitan": false} {
		a, err := New(Lookup("qwen3-30b-a3b"), engine.Args{"program": program, "gpus": "8", "ep": "8"})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(a.Setup.Said(), " "); strings.Contains(said, "one batch on all ranks") != want {
			t.Errorf("%s says %q; want one batch on all ranks in it: %t", program, said, want)
		}
	}
}
