package llm

import (
	"fmt"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// titan returns torchtitan's Llama 3 8B of February 2025 with one sequence of 8,192 tokens.
func titan() Setup {
	return Setup{Model: Lookup("llama3-8b"), Work: Work{Batch: 1, Seq: 8192},
		Precision: Precision{Weight: 4, Grad: 4, Moments: 8, Reduce: 4},
		Code:      Code{Norm: "eager", RepeatKeys: true, RotateTemp: 8}, HeadLoss: HeadLoss{Loss: "fp32"},
		Layout: Layout{Shard: 8}}
}

func normal(t *testing.T, s Setup) Setup {
	t.Helper()
	s, err := profiles.Try(s.normal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keepsOf returns the bytes that a block holds between forward and backward, without its input.
func keepsOf(s Setup) engine.Bytes {
	b := newPlayed(newBlock(&s, 0, true, nil), &s, s.Checkpoint, false)
	l := &ledger{}
	x := l.take(b.values[0].bytes, Saved)
	y, _ := b.forward(l, x)
	l.give(x)
	l.give(y)
	return l.live
}

// TestBlockKeeps checks what a block keeps, worked out by hand in MiB for T = 8192, h = 4096 (64), k = 1024 (16)
// and f = 14336 (224). An RMS norm in steps keeps 128 + 64 and a statistic of 1/32, and its result takes 64.
// Attention keeps the rotated queries, 64, keys and values at the width of the queries, 128, its result, 64, and
// its statistics, 1. The gate, its activation, the other product and their product take 4 x 224.
func TestBlockKeeps(t *testing.T) {
	const mib = engine.MiB
	stat := 8192 * engine.Bytes(4) // of a norm
	for _, c := range []struct {
		name string
		set  func(*Setup)
		want engine.Bytes
	}{
		{"eager", func(*Setup) {}, 2*(128+64+64)*mib + 2*stat + (64+128+64+1)*mib + 4*224*mib},
		{"fused norm: the residual sum instead of its copy", func(s *Setup) { s.Norm = "fused" },
			(64+64+64)*mib + 2*stat + (64+128+64+1)*mib + 4*224*mib},
		{"fused gate", func(s *Setup) { s.FusedGate = true },
			2*(128+64+64)*mib + 2*stat + (64+128+64+1)*mib + 3*224*mib},
		{"keys as they are", func(s *Setup) { s.RepeatKeys = false },
			2*(128+64+64)*mib + 2*stat + (64+32+64+1)*mib + 4*224*mib},
		{"compiled", func(s *Setup) { s.Compiled = true }, (64+64+64)*mib + 2*stat + (64+128+64+1)*mib + 3*224*mib},
		// section 16 of the text about the model: 497 including the input of 64
		{"every second product", func(s *Setup) { s.Checkpoint = "sac_op" }, (497 - 64) * mib},
		{"every second product, compiled: not the last one",
			func(s *Setup) { s.Checkpoint, s.Compiled = "sac_op", true }, (497 - 64 - 64) * mib},
		{"all products", func(s *Setup) { s.Checkpoint = "sac_op_all" },
			(64 + 16 + 16 + 65 + 64 + 224 + 224 + 64) * mib},
		{"dots", func(s *Setup) { s.Checkpoint = "dots" }, (64 + 16 + 16 + 64 + 224 + 224 + 64) * mib},
		{"a budget of all that a compiled block keeps",
			func(s *Setup) { s.Checkpoint, s.Compiled, s.Budget = "budget", true, 100 },
			(64+64+64)*mib + 2*stat + (64+128+64+1)*mib + 3*224*mib},
		{"a budget of nothing", func(s *Setup) { s.Checkpoint, s.Compiled, s.Budget = "budget", true, 0 }, 0},
		{"full", func(s *Setup) { s.Checkpoint = "full" }, 0},
		{"full, one product kept by name", func(s *Setup) { s.Checkpoint, s.Keep = "full", []string{"o"} }, 64 * mib},
		{"norms again", func(s *Setup) { s.Checkpoint, s.Recompute = "modules", []string{"layernorm"} },
			2*(128+64)*mib + 2*stat + (64+128+64+1)*mib + 4*224*mib},
		{"frozen with adapters: what only frozen products read is gone", func(s *Setup) {
			s.LoRA = &LoRA{Rank: 8, On: []string{"q", "v"}}
		}, 128*mib + 64*mib + 128*mib + 2*stat + (64+128+64+1)*mib + 3*224*mib + 2*8192*8*2},
	} {
		s := titan()
		c.set(&s)
		if got := keepsOf(normal(t, s)); got != c.want {
			t.Errorf("%s: a block keeps %d bytes, want %d (%+d)", c.name, got, c.want, got-c.want)
		}
	}
}

// TestBackwardGivesEverythingBack checks that a backward frees everything except the gradient of its input,
// whatever is kept and recomputed.
func TestBackwardGivesEverythingBack(t *testing.T) {
	for _, mode := range checkpointKinds {
		for _, name := range []string{"llama3-8b", "phi-2", "qwen3-30b-a3b", "deepseek-v3-671b", "gpt2"} {
			for _, compiled := range []bool{false, true} {
				s := normal(t, Setup{Model: Lookup(name), Work: Work{Seq: 512},
					Code: Code{Compiled: compiled || mode == "budget"},
					Checkpointing: Checkpointing{Checkpoint: mode, Budget: 50,
						Recompute: []string{"moe", "layernorm", "mla_up_proj"}}})
				layer := s.Model.Layers - 1
				b := newPlayed(newBlock(&s, layer, true, nil), &s, s.Checkpoint, false)
				l := &ledger{}
				x := l.take(b.values[0].bytes, Saved)
				y, k := b.forward(l, x)
				grads := 0
				g := b.backward(l, x, y, k, func(weight) { grads++ })
				l.give(x)
				if want := b.values[0].grad; l.live != want {
					t.Errorf("%s, %s, compiled %v: %d bytes are left, want the gradient of the input, %d", name, mode,
						compiled, l.live, want)
				}
				l.give(g)
				var weights int64
				for _, o := range b.ops {
					for _, w := range o.weights {
						weights += w.n
					}
				}
				if want := s.Model.block(layer); weights != want && s.Model.MoE == nil {
					t.Errorf("%s: the block reads %d weights, want %d", name, weights, want)
				}
				if grads == 0 {
					t.Errorf("%s, %s: no gradient of a weight was made", name, mode)
				}
			}
		}
	}
}

// TestMegatronKeepsShares checks that Megatron's products keep their share of gathered values. GPT 22B on eight
// tensor parallel ranks keeps 32 bytes for each number of the stream, shared by all. These are the 34 of
// arXiv:2205.05198 (table 2, with attention computed again) without the masks of dropout, and with statistics of
// rows.
func TestMegatronKeepsShares(t *testing.T) {
	m := *Lookup("gpt2-xl")
	m.Layers, m.Hidden, m.Heads, m.Keys, m.Head, m.Wide = 48, 6144, 64, 64, 96, 4*6144
	s := Setup{Model: &m, Work: Work{Seq: 2048, Batch: 4}, Layout: Layout{Tensor: 8}}
	FindProgram("megatron").Apply(&s)
	keeps := func() engine.Bytes { // with the block's input
		s := normal(t, s)
		return newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false).keeps()
	}
	want := engine.Bytes(32 * 2048 * 4 * 6144 / 8)
	if got := keeps(); got < want || got > want+want/500 {
		t.Errorf("a block keeps %d bytes, want %d and statistics", got, want)
	}
	s.Static = false // like torchtitan, which keeps what was gathered
	if got, whole := keeps(), want+2*2*(8-1)*want/32; got < whole || got > whole+whole/500 {
		t.Errorf("with all that was gathered a block keeps %d bytes, want %d and statistics", got, whole)
	}
}

// TestNanotron checks what nanotron's blocks keep on two tensor parallel ranks, in widths of the stream for each
// token, and that a stage has the layers of nanotron's build_model.
func TestNanotron(t *testing.T) {
	m := *Lookup("llama3.2-1b")
	m.Layers, m.Hidden, m.Heads, m.Head, m.Wide, m.Words = 24, 2048, 32, 64, 4096, 50257
	for _, c := range []struct {
		program     string
		batch, keys int64
		widths      float64
	}{
		// the block's input, the middle, two shares of norms; queries in a copy of all three; keys and values;
		// attention and its copy; gate, up, activation, product
		{"nanotron", 4, 32, 0.5*4 + 1.5 + 1 + 0.5*2 + 4},
		{"nanotron", 1, 32, 0.5*4 + 1.5 + 1 + 0.5 + 4},            // a batch of one is not copied
		{"nanotron", 4, 8, 0.5*4 + 0.5 + 0.25 + 0.5*2 + 4},        // queries in a copy of their own
		{"nanotron-2024", 4, 32, 0.5*2 + 2 + 1.5 + 1 + 0.5*2 + 4}, // what was gathered, instead of the shares
	} {
		m.Keys = c.keys
		s := Setup{Model: &m, Work: Work{Seq: 4096, Batch: c.batch}, Layout: Layout{Tensor: 2}}
		FindProgram(c.program).Apply(&s)
		s = normal(t, s)
		got := newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false).keeps()
		want := engine.Bytes(c.widths * float64(4096*c.batch*2048*2))
		if got < want || got > want+want/100 {
			t.Errorf("%s, %d sequences, %d keys: a block keeps %d bytes, want %d and statistics", c.program, c.batch,
				c.keys, got, want)
		}
		for stages, want := range map[int64]string{2: "[14 10]", 4: "[7 7 6 4]"} {
			if got := fmt.Sprint(s.byCost(stages)); got != want {
				t.Errorf("%d stages have %s layers; want %s", stages, got, want)
			}
		}
	}
}

// TestTransformerEngine checks that Megatron's products in 8 bits keep their input in 8 bits, once for those that read the
// same, except what attention keeps itself, and that two narrow copies of their weights stay.
func TestTransformerEngine(t *testing.T) {
	s := Setup{Model: Lookup("llama3-8b"), Work: Work{Seq: 1024}}
	FindProgram("megatron").Apply(&s)
	keeps := func(s Setup) engine.Bytes {
		s = normal(t, s)
		return newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false).keeps()
	}
	wide, whole := keeps(s), run(t, s)
	s.Float8 = true
	if got, want := wide-keeps(s), engine.Bytes(1024*(2*4096+14336)); got != want {
		t.Errorf("a block keeps %d bytes less, want %d: a byte of two norms' results and one of the gated net's", got, want)
	}
	var weights int64
	for _, run := range s.Model.BlockParams() {
		weights += run[0] * (run[1] - 2*4096) // without its norms
	}
	if got := run(t, s).Phases[Load] - whole.Phases[Load]; got != size(weights, 2) {
		t.Errorf("%d bytes of weights more, want %d", got, size(weights, 2))
	}
}
