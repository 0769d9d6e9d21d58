package llm

import (
	"testing"

	"memtide/engine"
)

// The tests below are published observations on what changes a peak and what does not. The model has to agree
// with them, even if the bytes are not known.

// TestOffloadDoesNotLowerThePeak is axolotl#3776: with everything checkpointed, a 8B model and 8,192 tokens,
// moving the block inputs to the host does not lower the peak. The peak is at the end of the backward, where
// nearly all gradients exist and nearly all inputs are gone.
func TestOffloadDoesNotLowerThePeak(t *testing.T) {
	s := Setup{Model: Lookup("qwen3-8b"), Work: Work{Seq: 8192}, Precision: Precision{Weight: 2},
		Checkpointing: Checkpointing{Checkpoint: "full"}, Stepping: Stepping{Optimizer: "none"},
		HeadLoss: HeadLoss{Loss: "chunked"}}
	stay := run(t, s)
	s.OffloadX = true
	move := run(t, s)
	if d := float64(stay.Allocated-move.Allocated) / float64(stay.Allocated); d < 0 || d > 0.01 {
		t.Errorf("offloading block inputs lowers the peak from %d to %d bytes; want by no more than 1 %%",
			stay.Allocated, move.Allocated)
	}
	if stay.Phases[Forward]-move.Phases[Forward] < size(30*8192*4096, 2) {
		t.Errorf("the forward holds %d and %d bytes; want at least 30 block inputs fewer", stay.Phases[Forward],
			move.Phases[Forward])
	}
}

// TestRecomputedModulesComeInOrder is Moonlight under Megatron. Computing attention's core again frees nothing,
// since the product behind it keeps the core's result anyway. Its projections, the experts' activation and whole
// experts free more and more.
func TestRecomputedModulesComeInOrder(t *testing.T) {
	s := Setup{Model: Lookup("moonlight-16b"), Work: Work{Seq: 4096},
		Precision: Precision{Weight: 2, Grad: 2, Master: 4, Moments: 8},
		Code:      Code{Norm: "fused", FusedGate: true}, Stepping: Stepping{Optimizer: "fused"},
		HeadLoss: HeadLoss{Loss: "inplace"},
		Layout:   Layout{Static: true, Zero: 1, Shard: 4, Tensor: 2, Expert: 8, ExpertShard: 1}}
	none := run(t, s).Allocated
	peak := func(modules ...string) int64 {
		m := s
		m.Checkpoint, m.Recompute = "modules", modules
		return int64(none - run(t, m).Allocated)
	}
	core, act, up, moe := peak("core_attn"), peak("moe_act"), peak("mla_up_proj"), peak("moe")
	if core > 1<<20*16 || core < 0 {
		t.Errorf("computing attention's core again frees %d bytes; want next to nothing", core)
	}
	if !(core < act && core < up && act < moe && up < moe) {
		t.Errorf("freed: core %d, expert activation %d, projections %d, experts %d; want the core least and the experts most", core, act, up, moe)
	}
}

// TestKeptProductCostsItsSize is torchtitan#4153: keeping the output products of attention under full
// checkpointing costs tokens times width for each layer.
func TestKeptProductCostsItsSize(t *testing.T) {
	s := Setup{Model: Lookup("deepseek-v3-671b"), Work: Work{Batch: 8, Seq: 4096},
		Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4}, Code: Code{Norm: "fused"},
		Checkpointing: Checkpointing{Checkpoint: "full"}, HeadLoss: HeadLoss{Loss: "chunked"},
		Layout: Layout{Shard: 256, Expert: 64}}
	plain := run(t, s)
	s.Keep = []string{"o"}
	kept := run(t, s)
	want := size(8*4096*7168*61, 2)
	if d := kept.Phases[Forward] - plain.Phases[Forward]; d < want*98/100 || d > want*102/100 {
		t.Errorf("keeping the products costs %d bytes, want %d", d, want)
	}
}

// TestOffloadIsNeededFromALength is DeepSpeed#8255: Qwen3 14B over eight H200 needs no offloading at 2,048 tokens
// and runs out of memory without it at 3,328. The step must fit at the first length and not surely fit at the
// second.
func TestOffloadIsNeededFromALength(t *testing.T) {
	verdict := func(seq int64) Verdict {
		s := Setup{Model: Lookup("qwen3-14b"), Work: Work{Batch: 4, Seq: seq},
			Precision: Precision{Weight: 2, Grad: 2, Moments: 4}, Code: Code{Compiled: true},
			HeadLoss: HeadLoss{Loss: "fp32", LogitsHeld: 2}, Layout: Layout{Shard: 8}}
		a, err := Ask{Setup: s, Card: CardOf("H200"), GPUs: 8, Context: engine.GiB}.Estimate()
		if err != nil {
			t.Fatal(err)
		}
		return a.Verdict
	}
	if short, long := verdict(2048), verdict(3328); short != Fits || long == Fits {
		t.Errorf("2,048 tokens: %s; 3,328: %s; want that the first fits and the second does not", short, long)
	}
}
