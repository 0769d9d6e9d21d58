package llm

import (
	"testing"

	"memtide/engine"
	"memtide/engine/caching"
)

// TestLateStorages checks storages that another stream uses when they are freed. They do not count as allocated, but
// serve no request before the program has waited for the event behind them.
func TestLateStorages(t *testing.T) {
	const block = 32 * engine.MiB
	var l ledger
	reserved := func() engine.Bytes { return l.replay(caching.Rules{}, 0, nil) / block }
	for unit, want := range []engine.Bytes{1, 2, 2, 2} { // the third waits for the first
		l.limit()
		h := l.takeLate(gather, block, Gathered)
		if got := reserved(); got != want {
			t.Errorf("%d blocks are reserved when unit %d is gathered, want %d", got, unit, want)
		}
		l.give(h)
		l.mark()
	}
	if l.peak != block {
		t.Errorf("%d bytes are allocated, want %d", l.peak, block)
	}
	l.wait()
	for range 2 {
		l.takeIn(gather, block, Gathered)
	}
	if got := reserved(); got != 2 || len(l.waiting) > 0 {
		t.Errorf("%d blocks are reserved after all events, %d entries wait; want 2 and none", got, len(l.waiting))
	}
}

// TestReentrant checks a full checkpoint of Transformers 4, which holds the output of the block that runs again. Under
// FSDP1 no block is gathered early within it, and each is gathered twice.
func TestReentrant(t *testing.T) {
	run := func(args engine.Args) *Result {
		for name, value := range map[string]string{"program": "hf-2024", "lora": "16", "targets": "attention", "loss": "fused",
			"ckpt": "full", "seq": "4096"} {
			args[name] = value
		}
		r, err := Run(asked(args).Setup)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const output = 4096 * 2048 * 2
	held, not := run(engine.Args{}), run(engine.Args{"non-reentrant": "yes"})
	if got := held.Phases[Backward] - not.Phases[Backward]; got != output {
		t.Errorf("reentrant checkpoints need %d bytes more, want an output of %d", got, output)
	}
	flat := run(engine.Args{"gpus": "2", "shard": "fsdp1"})
	gathered := func(phase Phase) (n engine.Bytes) {
		for _, p := range flat.PartsOf(phase) {
			if p.Class == Gathered {
				n += p.Bytes
			}
		}
		return n
	}
	const root, block = 2 * (128_256*2048 + 2048), 2 * 60_821_504 // gathered, of Llama 3.2 1B
	if back, loss := gathered(Backward), gathered(LossBackward); back < root+block || back > root+block*3/2 || loss != root {
		t.Errorf("%d bytes are gathered in the backward of blocks, %d in that of the loss; want %d with adapters, and %d",
			back, loss, root+block, root)
	}
}
