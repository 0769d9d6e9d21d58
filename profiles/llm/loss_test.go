package llm

import (
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
