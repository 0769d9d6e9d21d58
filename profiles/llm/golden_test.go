package llm

import (
	"testing"

	"memtide/engine"
)

// megatron returns a step as Megatron-LM's functional tests run it, on ranks that share their states in twos.
func megatron(m *Model, batch, tensor int64) Setup {
	s := Setup{Model: m, Work: Work{Batch: batch, Seq: 8192, Accumulate: 2}, Code: Code{FusedQKV: true},
		Layout: Layout{Shard: 2, Tensor: tensor}}
	FindProgram("megatron").Apply(&s)
	return s
}

// TestMegatronGolden compares with golden values of Megatron-LM's functional tests, the most bytes that the last
// rank allocates [tests/functional_tests/test_cases/gpt, 2026-08-22: gpt3_7b_tp4_pp1_memory_speed,
// gpt3_7b_tp1_pp4_memory_speed, gpt3_15b_8t_release].
func TestMegatronGolden(t *testing.T) {
	small := Model{Layers: 32, Hidden: 4096, Words: 131584, Positions: 8192, Block: Block{Heads: 32, Keys: 8, Head: 128,
		Wide: 16384, Layer: true, Bias: true}}
	large := Model{Layers: 32, Hidden: 6144, Words: 256000, Block: Block{Heads: 48, Keys: 8, Head: 128, Wide: 24576,
		Layer: true}}
	products := megatron(&small, 2, 4)
	products.Dropout, products.NoSP, products.Adds = true, true, false
	piped := small
	piped.Words = 131200
	stages := megatron(&piped, 1, 1)
	stages.Accumulate, stages.Dropout, stages.Adds = 4, true, false
	stages.Stages, stages.Schedule, stages.Chunks = 4, "interleaved", 8
	wide := megatron(&large, 4, 8)
	wide.Seq, wide.Shard = 4096, 32 // by mem-allocated-bytes, which are exact with them
	for _, c := range []struct {
		name, card string
		s          Setup
		want       float64
	}{
		{"7B over 4 ranks, FlashAttention", "A100", products, 54.192},
		{"7B over 4 ranks, cuDNN", "H100", products, 53.219},
		{"7B in 32 stages", "A100", stages, 56.335},
		{"15B over 8 ranks", "H100", wide, 26.226},
	} {
		c.s.Workspace = CardOf(c.card).Workspace
		var got engine.Bytes
		if c.s.Schedule == "" {
			got = run(t, c.s).Allocated
		} else {
			got = playRanks(t, c.s).List[3].Allocated
		}
		within(t, c.name, got, c.want, 1)
	}
}

// TestMegatronValues checks what a block keeps of its joint product: the values alone where queries and keys are
// rotated, and all of it where attention runs again, or where nothing is rotated.
func TestMegatronValues(t *testing.T) {
	plain := &Model{Layers: 2, Hidden: 256, Words: 1000, Block: Block{Heads: 4, Keys: 2, Head: 64, Wide: 512, Gated: true}}
	learned := *plain
	learned.Positions = 8192
	for _, c := range []struct {
		name  string
		model *Model
		again bool
		want  bool
	}{{"rotated", plain, false, false}, {"rotated, core_attn", plain, true, true}, {"learned", &learned, false, true}} {
		s := megatron(c.model, 1, 1)
		if c.again {
			s.Checkpoint, s.Recompute = CheckpointModules, []string{"core_attn"}
		}
		s = normal(t, s)
		b := newProgram(&s, s.end(true, true)).units[0].block
		for root, v := range b.values {
			if got := b.keepers[root] > 0; v.name == "qkv" && got != c.want {
				t.Errorf("%s: the joint product is kept: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// TestNextsTakeTime checks that layers that predict later tokens take time, and memory on the last stage alone.
func TestNextsTakeTime(t *testing.T) {
	args := engine.Args{"program": "megatron", "gpus": "4", "pp": "4", "accumulate": "8", "seq": "2048",
		"schedule": "1f1b"}
	plain := pipedAsk(t, args)
	args["mtp"] = "2"
	more := pipedAsk(t, args)
	a, b := answer(t, plain).Ranks, answer(t, more).Ranks
	if b.Time <= a.Time {
		t.Errorf("with two layers for later tokens a step takes %v, without %v", b.Time, a.Time)
	}
	for i := range a.List {
		if x, y := a.List[i].Allocated, b.List[i].Allocated; x < y != (i == 3) {
			t.Errorf("rank %d: %d bytes, with two layers for later tokens %d", i, x, y)
		}
	}
}

// TestNextsHaveAdapters checks that a layer that predicts later tokens stands beside adapters as the other layers do:
// it takes its frozen weights, and adapters of its own.
func TestNextsHaveAdapters(t *testing.T) {
	m := Lookup("moonlight-16b")
	states := func(mtp, lora string) engine.Bytes {
		a, err := New(m, engine.Args{"program": "megatron", "lora": lora, "targets": "attention", "mtp": mtp, "seq": "512"})
		if err != nil {
			t.Fatal(err)
		}
		return answer(t, a).States
	}
	one, two := states("1", "8")-states("0", "8"), states("1", "16")-states("0", "16")
	block := engine.Bytes(m.At(m.Layers-1).MoE.Experts * 3 * m.Hidden * m.At(m.Layers-1).MoE.Wide * 2)
	if one < block || one > block*6/5 || two <= one {
		t.Errorf("a layer for later tokens takes %d bytes at rank 8 and %d at rank 16; its experts alone have %d",
			one, two, block)
	}
}
