package llm

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"memtide/engine"
)

// measuredAdapters returns the measurements of profiles/torchtest/write_adapters.py.
func measuredAdapters(t *testing.T) (file struct {
	Batch, Seq, Hidden, Heads, Keys, Head, Wide, Rank int64
	Rows                                              []struct {
		Bits     int
		Dora     bool
		KBit     bool
		Narrow   bool // adapters in bf16
		Square   bool // the net is the square of a relu, without a gate
		Kept     int64
		Adapters int64
	}
}) {
	t.Helper()
	text, err := os.ReadFile("testdata/adapters.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestAdaptersKeep checks that a Llama block with adapters keeps what PyTorch keeps of the code of Transformers,
// PEFT and bitsandbytes.
func TestAdaptersKeep(t *testing.T) {
	file := measuredAdapters(t)
	m := &Model{Name: "small", Layers: 2, Hidden: file.Hidden, Words: 256,
		Block: Block{Heads: file.Heads, Keys: file.Keys, Head: file.Head, Wide: file.Wide, Gated: true}}
	for _, r := range file.Rows {
		if m.Gated, m.Act = !r.Square, ActKernel; r.Square {
			m.Act = ActSquare
		}
		s := Setup{Model: m, Work: Work{Batch: file.Batch, Seq: file.Seq},
			LoRA: &LoRA{Rank: file.Rank, On: products["all"], Dora: r.Dora}}
		FindProgram("hf").Apply(&s)
		s.Weight, s.Moments = 2, 0
		s.Base = map[int]BaseKind{16: BaseSame, 8: BaseInt8, 4: BaseNF4}[r.Bits]
		if r.KBit {
			s.Weight = 4
		}
		if r.Narrow {
			s.LoRA.Stored = 2
		}
		s = normal(t, s)
		b := newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false)
		adapters := int64(0)
		for _, o := range b.ops {
			for _, w := range o.weights {
				if w.adapter {
					adapters += w.n
				}
			}
		}
		if got := int64(b.keeps()); got != r.Kept || adapters != r.Adapters {
			t.Errorf("%d bits, DoRA %t, k-bit %t, adapters in bf16 %t, squares %t: %d bytes are kept beside %d numbers of adapters, measured %d and %d", r.Bits, r.Dora, r.KBit, r.Narrow, r.Square, got, adapters, r.Kept, r.Adapters)
		}
	}
}

// TestFusedAdapters checks what a block keeps whose adapters are one operator with their products: what three products
// read, of which that of attention's kernel is kept by the kernel, queries, keys and values, and gate and up alone.
// What a norm makes is kept once. Programs and options for which this is not known are refused.
func TestFusedAdapters(t *testing.T) {
	m := &Model{Name: "small", Layers: 2, Hidden: 64, Words: 256,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 160, Gated: true}}
	a, err := New(m, engine.Args{"seq": "128", "lora": "8", "fused-adapters": "yes", "norm": "fused"})
	if err != nil {
		t.Fatal(err)
	}
	s := normal(t, a.Setup)
	b := newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false)
	// the stream twice, two norms, queries, keys and values, the kernel's result; statistics of norms and of 4 heads
	got, want := b.keeps(), engine.Bytes(128*(2*(2*64+2*64+64+32+32+64+2*160)+4*(2+4)))
	if got != want {
		t.Errorf("of %v, %d bytes are kept, want %d", a.Args, got, want)
	}
	for _, args := range []engine.Args{{"adapter-dropout": "yes"}, {"dora": "yes"}, {"compile": "yes"},
		{"program": "torchtune"}, {"base": "int8"}, {"base": "nf4", "kbit": "yes"}} {
		args["lora"], args["fused-adapters"] = "8", "yes"
		if _, err := Run(asked(args).Setup); err == nil || !strings.Contains(err.Error(), "-fused-adapters") {
			t.Errorf("%v: got the error %v, want one that says -fused-adapters", args, err)
		}
	}
}

// TestDoraWithoutAutocast checks what DoRA keeps beside what adapters in fp32 keep that compute so: of queries and values
// the product's result in 2 bytes and the adapters' in 4, and for each output its magnitude's factor and norm. A base in
// 4 bits is refused.
func TestDoraWithoutAutocast(t *testing.T) {
	m := &Model{Name: "small", Layers: 2, Hidden: 64, Words: 256,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 160, Gated: true}}
	kept := func(dora string) engine.Bytes {
		a, err := New(m, engine.Args{"seq": "128", "lora": "8", "targets": "qv", "no-autocast": "yes", "dora": dora})
		if err != nil {
			t.Fatal(err)
		}
		s := normal(t, a.Setup)
		return newPlayed(newBlock(&s, 1, true, nil), &s, CheckpointNone, false).keeps()
	}
	plain, dora := kept("no"), kept("yes")
	if want := engine.Bytes((64 + 32) * (128*(2+4) + 12)); dora-plain != want {
		t.Errorf("DoRA on queries and values of 64 and 32 numbers keeps %d bytes beside %d, want %d", dora-plain, plain, want)
	}
	_, err := Run(asked(engine.Args{"lora": "8", "dora": "yes", "no-autocast": "yes", "base": "nf4"}).Setup)
	if err == nil || !strings.Contains(err.Error(), "DoRA") {
		t.Errorf("DoRA on 4 bits without autocast: got the error %v, want one about DoRA", err)
	}
}

// TestAdaptersOfExperts checks that Megatron's experts have adapters of their own, and Transformers' none, which are no
// linear layers there.
func TestAdaptersOfExperts(t *testing.T) {
	m := &Model{Name: "small", Layers: 2, Hidden: 64, Words: 256, Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 160,
		Gated: true, MoE: &MoE{Experts: 8, TopK: 2, Wide: 32}}}
	for _, c := range []struct {
		args engine.Args
		want int64 // of a block: 4 experts a rank, a matrix before gate and up, and one after each
	}{
		{engine.Args{"program": "megatron", "gpus": "2", "ep": "2", "lora": "4"}, 4 * 4 * (64 + 32 + 32 + 32 + 64)},
		{engine.Args{"program": "megatron", "gpus": "2", "ep": "2", "lora": "4", "targets": "attention"}, 0},
		{engine.Args{"lora": "4"}, 0},
	} {
		c.args["seq"] = "128"
		a, err := New(m, c.args)
		if err != nil {
			t.Fatal(err)
		}
		s, got := normal(t, a.Setup), int64(0)
		for _, o := range newBlock(&s, 1, true, nil).ops {
			for _, w := range o.weights {
				if w.adapter && w.expert {
					got += w.n
				}
			}
		}
		if got != c.want {
			t.Errorf("%v: adapters of a block's experts have %d numbers, want %d", c.args, got, c.want)
		}
	}
}

// TestProductsInINT8 checks that a product in INT8 has a byte for each number and 4 for each output. INT8 is
// supported for Transformers only.
func TestProductsInINT8(t *testing.T) {
	a := asked(map[string]string{"lora": "8", "base": "int8"})
	s := normal(t, a.Setup)
	if got, want := s.weightBytes(weight{n: 64 * 128, rows: 64, cols: 128}), engine.Bytes(64*128+4*128); got != want {
		t.Errorf("64 x 128 numbers have %d bytes, want %d", got, want)
	}
	for _, args := range []engine.Args{{"lora": "8", "base": "int8", "program": "torchtune"},
		{"lora": "8", "base": "int8", "gpus": "8"}} {
		if _, err := Run(asked(args).Setup); err == nil || !strings.Contains(err.Error(), "INT8") {
			t.Errorf("%v: error %v, want one about INT8", args, err)
		}
	}
}

// TestFrozenExperts checks that experts beside products in 4 bits stay in 16, except where they are linear layers. Those
// of Qwen3 30B A3B are 48 layers of 128 with three matrices of 2,048 x 768 numbers, which have 2 bytes each, or half a
// byte and 4 bytes for 64 of them.
func TestFrozenExperts(t *testing.T) {
	const n = 48 * 128 * 3 * 2048 * 768
	weights := func(more engine.Args) engine.Bytes {
		args := engine.Args{"lora": "8", "base": "nf4", "seq": "128", "targets": "attention"}
		maps.Copy(args, more)
		a, err := New(Lookup("qwen3-30b-a3b"), args)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(a.Setup.Said(), " "); strings.Contains(said, "-base-experts") != (more == nil) {
			t.Errorf("%v: notes %q", more, said)
		}
		return partOf(run(t, a.Setup), Load, Weights)
	}
	wide := weights(nil)
	for _, more := range []engine.Args{{"base-experts": "yes"}, {"program": "hf-2024"}} {
		if got, want := wide-weights(more), engine.Bytes(2*n-n/2-n/64*4); got != want {
			t.Errorf("%v: experts in 16 bits take %d bytes more, want %d", more, got, want)
		}
	}
}

// TestAdapterOfJointProduct checks that PEFT's adapter of a joint product of queries, keys and values is one pair of
// matrices for it, and that targets choose which products have adapters.
func TestAdapterOfJointProduct(t *testing.T) {
	const r, h = 8, 768
	for targets, want := range map[string]int64{"all": r * (h + 3*h + 2*h + 2*(h+4*h)), "attention": r * (h + 3*h + 2*h),
		"qv": r * (h + 3*h), "mlp": r * 2 * (h + 4*h)} {
		a, err := New(Lookup("gpt2"), engine.Args{"lora": "8", "seq": "64", "targets": targets})
		if err != nil {
			t.Fatal(err)
		}
		s := normal(t, a.Setup)
		var got int64
		for _, w := range newProgram(&s, s.end(true, true)).units[0].weights {
			if w.adapter {
				got += w.n
			}
		}
		if got != want {
			t.Errorf("%s: %d numbers in the adapters of a block; want %d", targets, got, want)
		}
	}
}

// TestSquareBesideAdapters checks a net of squares under autocast: the square is in 4 bytes, and its backward has another
// value of its size. On products in 4 bits, which return the type of their input, the adapter's dropout and what the
// block returns are in 4 bytes, too, and on products in 16 bits in 2.
func TestSquareBesideAdapters(t *testing.T) {
	m := &Model{Name: "small", Layers: 2, Hidden: 64, Words: 256,
		Block: Block{Heads: 4, Keys: 2, Head: 16, Wide: 160, Act: ActSquare}}
	for base, stream := range map[string]engine.Bytes{"nf4": 4, "same": 2} {
		a, err := New(m, engine.Args{"seq": "128", "lora": "8", "adapter-dropout": "yes", "base": base})
		if err != nil {
			t.Fatal(err)
		}
		s := normal(t, a.Setup)
		b := newBlock(&s, 1, true, nil)
		for _, o := range b.ops {
			y := b.values[o.out[0]]
			if y.name == "gelu" && (y.bytes != 128*160*4 || o.back != y.bytes) {
				t.Errorf("-base %s: a square of %d bytes has %d in its backward, want %d of both", base, y.bytes, o.back,
					128*160*4)
			}
			if want := 128 * 160 * stream; y.name == "down.dropped" && y.bytes != want {
				t.Errorf("-base %s: the dropout of the adapter has %d bytes, want %d", base, y.bytes, want)
			}
		}
		if got, want := b.values[b.output].bytes, 128*64*stream; got != want {
			t.Errorf("-base %s: the block returns %d bytes, want %d", base, got, want)
		}
	}
	a, err := New(m, engine.Args{"lora": "8", "base": "nf4", "fused-adapters": "yes"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(a.Setup); err == nil || !strings.Contains(err.Error(), "-base nf4 beside a net") {
		t.Errorf("-base nf4 -fused-adapters: got the error %v, want one that says -base nf4 beside a net", err)
	}
}

// TestFrozenCopies checks which narrow copies of frozen weights in fp32 exist under autocast when the forward ends: all
// that products keep for their backward, but only that of the head if blocks run again, since autocast caches copies of
// weights with a gradient alone. Then those of adapters alone are beside it. Trained weights have them all the same. A
// chain has the copies that products keep among what its blocks keep, so that a plan can make them again.
func TestFrozenCopies(t *testing.T) {
	m := Lookup("llama2-7b")
	head := m.Words * m.Hidden
	blocks := m.Params() - 2*head - (2*m.Layers+1)*m.Hidden // without norms
	adapters := 8 * m.Layers * (4*2*m.Hidden + 3*(m.Hidden+m.Wide))
	for _, c := range []struct {
		args engine.Args
		want int64
	}{
		{engine.Args{"lora": "8"}, head + blocks + adapters},
		{engine.Args{"lora": "8", "ckpt": "full"}, head + adapters},
		{engine.Args{"lora": "8", "ckpt": "full", "group": "4"}, head + adapters},
		{engine.Args{"lora": "8", "ckpt": "modules"}, head + blocks + adapters},
		{engine.Args{"ckpt": "full"}, head + blocks},
	} {
		c.args["states"], c.args["seq"] = "fp32", "512"
		a, err := New(m, c.args)
		if err != nil {
			t.Fatal(err)
		}
		p := playedOnce(&a.Setup)
		if got := p.phaseParts[LossForward][Gathered]; got != size(c.want, 2) {
			t.Errorf("%v: %d bytes of copies; want %d", c.args, got, size(c.want, 2))
		}
	}
	a, err := New(m, engine.Args{"lora": "8", "states": "fp32", "seq": "512"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Chain.Resident.Pinned; got >= size(blocks, 2) {
		t.Errorf("%d bytes are pinned in the chain; want less than the %d of the copies of blocks", got, size(blocks, 2))
	}
}
