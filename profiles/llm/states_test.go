package llm

import (
	"strings"
	"testing"

	"memtide/engine"
)

// one returns the setup of a network of one block with products of 64 x 64 and 64 x 128 numbers.
func one() Setup {
	m := &Model{Name: "one", Layers: 1, Hidden: 64, Words: 256, Tied: true,
		Block: Block{Heads: 1, Keys: 1, Head: 64, Wide: 128, Gated: true}}
	return Setup{Model: m, Work: Work{Batch: 1, Seq: 128}, Precision: Precision{Weight: 2},
		HeadLoss: HeadLoss{Loss: "inplace"}}
}

const oneMatrices = 4*64*64 + 3*64*128 // numbers in its products

// TestWeightsInFourBits checks weights in 4 bits by hand: half a byte for each number and 4 bytes for each 64 of
// them, or 1 byte for each 64 and 4 for each 256 of these. Norms and the embedding are not quantized. Each of
// several ranks has its share of the numbers and all scales, and gathers numbers in 4 bits.
func TestWeightsInFourBits(t *testing.T) {
	rest := engine.Bytes(2 * (256*64 + 3*64))
	for _, c := range []struct {
		base  BaseKind
		shard int64
		want  engine.Bytes
	}{
		{"same", 1, 2*oneMatrices + rest},
		{"nf4", 1, oneMatrices/2 + oneMatrices/64*4 + rest},
		{"nf4-double", 1, oneMatrices/2 + oneMatrices/64 + 7*4 + rest},
		{"nf4", 2, oneMatrices/4 + oneMatrices/64*4 + rest/2},
	} {
		s := one()
		s.LoRA, s.Base, s.Shard = &LoRA{Rank: 1, On: []string{"q"}}, c.base, c.shard
		s = normal(t, s)
		p := newProgram(&s, s.end(true, true))
		p.play(1)
		var got, gathered engine.Bytes
		for _, u := range p.all() {
			for _, w := range u.weights {
				if !w.adapter {
					got += s.weightBytes(w)
					gathered += s.gathered(w, w.n)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s over %d ranks: %d bytes of weights, want %d", c.base, c.shard, got, c.want)
		}
		if whole := engine.Bytes(oneMatrices/2) + rest; c.shard > 1 && gathered != whole {
			t.Errorf("%s over %d ranks: %d bytes are gathered, want %d", c.base, c.shard, gathered, whole)
		}
	}
}

// TestFourBitsAreWidened checks that a weight in 4 bits is widened while its product runs, and that the product
// keeps nothing.
func TestFourBitsAreWidened(t *testing.T) {
	s := one()
	s.LoRA, s.Base = &LoRA{Rank: 1, On: []string{"q"}}, "nf4"
	s = normal(t, s)
	for _, o := range newBlock(&s, 0, true, nil).ops {
		if o.kind != opProduct || o.weights[0].adapter {
			continue
		}
		if w := o.weights[0]; o.temp != size(w.n, 2) || o.back != o.temp || len(o.keeps) > 0 {
			t.Errorf("%s: scratch of %d and %d bytes, %d values kept; want %d twice, none", w.name, o.temp, o.back,
				len(o.keeps), size(w.n, 2))
		}
	}
}

// TestProductsInEightBits checks that products in 8 bits keep their wide input and that narrowed values are
// scratch. A weight that is gathered in 8 bits takes half the bytes.
func TestProductsInEightBits(t *testing.T) {
	wide := one()
	wide.Shard = 2
	narrow := wide
	narrow.Float8 = true
	gathered := narrow
	gathered.Gather = 1
	if a, b := keepsOf(normal(t, wide)), keepsOf(normal(t, narrow)); a != b {
		t.Errorf("a block keeps %d bytes, in 8 bits %d; want as many", a, b)
	}
	output := func(s Setup) (n engine.Bytes) {
		s = normal(t, s)
		for _, w := range newProgram(&s, s.end(true, true)).units[0].weights {
			n += s.gathered(w, w.n)
		}
		return n
	}
	if a, b := output(narrow), output(gathered); a-b != oneMatrices {
		t.Errorf("%d bytes are gathered for a block, in 8 bits %d; want %d fewer", a, b, oneMatrices)
	}
	if _, err := StepTime(narrow, CardOf("A100")); err == nil || !strings.Contains(err.Error(), "8 bits") {
		t.Errorf("on an A100: %v; want a refusal that names 8 bits", err)
	}
	fast, err := StepTime(narrow, CardOf("H100"))
	slow, _ := StepTime(wide, CardOf("H100"))
	if err != nil || fast > 3*slow/2 {
		t.Errorf("a step takes %v, in 8 bits %v (%v)", slow, fast, err)
	}
}

// TestMuon checks that Muon has one moment for matrices and two for the rest, and works on one matrix at a time.
func TestMuon(t *testing.T) {
	s := one()
	s.Optimizer, s.Moments, s.Grad = "muon", 8, 2
	r := run(t, s)
	rest := engine.Bytes(s.Model.Params() - oneMatrices)
	if got, want := partOf(r, Step, Moments), oneMatrices*4+8*rest; got != want {
		t.Errorf("%d bytes of moments, want %d", got, want)
	}
	// The last matrix, 64 x 128, with AdamW's temporaries of 4 bytes: the update, the iteration twice, and two of
	// 64 x 64.
	n := engine.Bytes(64 * 128)
	if got, least := partOf(r, Step, StepTemps), 2*n+2*2*n+2*2*64*64; got < least || got > least+4*rest {
		t.Errorf("%d bytes of temporaries, want %d and at most %d more", got, least, 4*rest)
	}
}

func partOf(r *Result, phase Phase, class Class) engine.Bytes {
	for _, p := range r.PartsOf(phase) {
		if p.Class == class {
			return p.Bytes
		}
	}
	return 0
}

// TestReducedAside checks FSDP before June 2024. What it reduces was then in the pool of the reductions, where it
// cannot reuse memory that the backward has freed.
func TestReducedAside(t *testing.T) {
	s := titan()
	now := run(t, s)
	s.ReduceAside = true
	then := run(t, s)
	block := (s.Model.block(0) * 4)
	if d := then.Pools - now.Pools; d < engine.Bytes(block)/2 {
		t.Errorf("pools of %d bytes, before June 2024 %d; want most of a block's gradients more, %d", now.Pools,
			then.Pools, block)
	}
	if then.Allocated > now.Allocated {
		t.Errorf("%d bytes are allocated, before June 2024 %d; want no more", now.Allocated, then.Allocated)
	}
}

// TestMomentsOfAdapters checks that adapters have the moments of the chosen optimizer, of 4, 2 or 1 bytes each.
func TestMomentsOfAdapters(t *testing.T) {
	for optimizer, want := range map[string][2]int64{"adamw": {8, 4}, "adamw-8bit": {2, 2}, "sgd": {0, 0},
		"sgd-momentum": {4, 2}} {
		for i, kind := range []string{"fp32", "bf16"} {
			s := normal(t, asked(map[string]string{"lora": "8", "optimizer": optimizer, "adapters": kind}).Setup)
			if got := s.momentBytes(adapter("A", 1, 1)); got != want[i] {
				t.Errorf("%s, adapters in %s: %d bytes of moments of a number, want %d", optimizer, kind, got, want[i])
			}
		}
	}
}

// TestDeferredReduction checks that Transformers and litgpt hold whole gradients, of 1.2 billion numbers, until their
// last micro batch under both kinds of FSDP, and that torchtitan and torchtune hold the shares of a rank.
func TestDeferredReduction(t *testing.T) {
	for _, c := range []struct {
		program, shard string
		whole          bool
	}{{"hf", "zero3", true}, {"hf", "fsdp1", true}, {"hf-2024", "fsdp1", true}, {"litgpt", "fsdp1", true},
		{"torchtitan", "zero3", false}, {"torchtune", "zero3", false}} {
		var most [2]engine.Bytes
		for i, micro := range []string{"1", "2"} {
			a, err := asked(engine.Args{"program": c.program, "shard": c.shard, "gpus": "8", "seq": "512", "ckpt": "full",
				"accumulate": micro}).Estimate()
			if err != nil {
				t.Fatal(err)
			}
			most[i] = a.Phases[Backward]
		}
		if got := most[1] - most[0]; (got > engine.GiB) != c.whole {
			t.Errorf("%s %s: a second micro batch takes %d bytes more; whole gradients: %v",
				c.program, c.shard, got, c.whole)
		}
	}
}

// TestStatesInTheStep checks by hand what a rank of n weights holds in the optimizer's step: 16 bytes for each in fp32,
// and DDP's buckets of gradients beside them if several ranks share none, but not where FSDP2 replicates; under
// Megatron 2 for the weight, 2 or 4 for its gradient and 12 for a rank's share of the rest. It widens 2 bytes. Of what
// the host steps on, the card has no share, or 4 bytes where masters stay. Wide gradients of the card's part stay.
func TestStatesInTheStep(t *testing.T) {
	m := Lookup("llama3.2-1b")
	n := m.Params()
	for _, c := range []struct {
		more       engine.Args
		want, wide int64
	}{
		{engine.Args{"gpus": "1"}, 16 * n, 0},
		{engine.Args{"gpus": "8", "shard": "none"}, 20 * n, 0},
		{engine.Args{"gpus": "8", "shard": "none", "program": "torchtitan"}, 20 * n, 0},
		{engine.Args{"gpus": "8", "shard": "none", "program": "torchtitan-2026"}, 16 * n, 0},
		{engine.Args{"gpus": "8", "program": "megatron"}, 6*n + 12*n/8, 0},
		{engine.Args{"gpus": "8", "program": "megatron", "bf16-grads": "yes"}, 4*n + 12*n/8, 4 * n / 8},
		{engine.Args{"gpus": "8", "program": "megatron", "host": "yes", "host-part": "50"}, 6*n + 6*n/8, 0},
		{engine.Args{"gpus": "8", "program": "megatron", "host": "yes", "host-part": "50", "keep-masters": "yes"},
			6*n + 8*n/8, 0},
		{engine.Args{"gpus": "8", "program": "megatron", "host": "yes", "host-part": "50", "bf16-grads": "yes"},
			4*n + 8*n/8, 0},
		{engine.Args{"gpus": "8", "program": "megatron", "host": "yes", "keep-masters": "yes", "bf16-grads": "yes"},
			4*n + 4*n/8, 4 * n / 8},
	} {
		c.more["kernel"] = "fused"
		a, err := New(m, c.more)
		if err != nil {
			t.Fatalf("%v: %v", c.more, err)
		}
		p := playedOnce(&a.Setup)
		var got engine.Bytes
		for _, part := range []Class{Weights, Masters, Gradients, Moments, Buffers} {
			got += p.phaseParts[Step][part]
		}
		if off := float64(got)/float64(c.want) - 1; off < -0.001 || off > 0.001 {
			t.Errorf("%v: %d bytes of states; want %d", c.more, got, c.want)
		}
		if wide := p.phaseParts[Step][StepTemps]; wide < engine.Bytes(c.wide) || wide > engine.Bytes(c.wide)+1<<20 {
			t.Errorf("%v: %d bytes of temporaries; want %d", c.more, wide, c.wide)
		}
	}
}

// playedOnce plays one step of a setup and returns the program with its ledger.
func playedOnce(s *Setup) *program {
	s.defaults()
	p := newProgram(s, s.end(true, true))
	p.ledger = new(ledger)
	p.play(1)
	return p
}

// TestTuneSharesScales checks torchtune's NF4 by hand: each of four ranks has a quarter of the numbers and of their
// scales, and gathers both.
func TestTuneSharesScales(t *testing.T) {
	s := one()
	s.Base, s.Tune, s.LoRA, s.Shard = "nf4", true, &LoRA{Rank: 1, On: []string{"q"}}, 4
	s = normal(t, s)
	w := weight{n: 64 * 128, rows: 64, cols: 128}
	const all = 64*128/2 + 4*64*128/64
	if got := s.weightBytes(w); got != all/4 {
		t.Errorf("a rank stores %d bytes, want %d", got, all/4)
	}
	if got := s.gathered(w, w.n); got != all {
		t.Errorf("ranks gather %d bytes, want %d", got, all)
	}
}
