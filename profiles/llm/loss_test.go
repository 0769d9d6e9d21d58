package llm

import (
	"maps"
	"testing"

	"memtide/engine"
)

// TestKeptLogits checks that logits that a variable holds are there in the backward of the blocks, too.
func TestKeptLogits(t *testing.T) {
	const n = 1024 * 50257
	run := func(logits string) *Estimate {
		a, err := New(Lookup("gpt2"), engine.Args{"seq": "1024", "ckpt": "full", "states": "bf16", "logits": logits})
		if err != nil {
			t.Fatal(err)
		}
		return answer(t, a)
	}
	without := run("deleted")
	for logits, each := range map[string]engine.Bytes{"kept": 2, "kept-fp32": 4} {
		got := run(logits).Phases[Backward] - without.Phases[Backward]
		if want := n * each; got < want || got > want+engine.MiB {
			t.Errorf("%s: the backward has %d bytes more; want %d", logits, got, want)
		}
	}
}

// TestOwnLoss checks that models of GPT-2's time copied their logits and kept a softmax in the compute type, where others
// widened both, until Transformers gave all of them one loss.
func TestOwnLoss(t *testing.T) {
	const n = 1024 * 50257
	run := func(args engine.Args) *Estimate {
		of := engine.Args{"seq": "1024", "ckpt": "full", "states": "bf16", "kernel": "foreach"}
		maps.Copy(of, args)
		a, err := New(Lookup("gpt2"), of)
		if err != nil {
			t.Fatal(err)
		}
		return answer(t, a)
	}
	for autocast, each := range map[string]engine.Bytes{"auto": 2, "yes": 6} { // a copy, and what Accelerate widens
		then := run(engine.Args{"program": "hf-2024", "autocast": autocast})
		without := run(engine.Args{"loss": "bf16", "autocast": autocast})
		got, want := then.Phases[LossForward]-without.Phases[LossForward], n*each
		if got < want || got > want+engine.MiB {
			t.Errorf("autocast %s: the loss has %d bytes more than of one that copies nothing; want %d", autocast, got, want)
		}
		if wide := run(engine.Args{"program": "hf-2024", "autocast": autocast, "loss": "shifted"}); wide.Phases[LossForward] <= then.Phases[LossForward] {
			t.Errorf("autocast %s: widened first, the loss has %d bytes; want more than %d", autocast,
				wide.Phases[LossForward], then.Phases[LossForward])
		}
	}
}
