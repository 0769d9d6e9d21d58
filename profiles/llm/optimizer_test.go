package llm

import (
	"strings"
	"testing"

	"memtide/engine"
)

// TestAdafactor checks that Adafactor keeps 4 bytes for each row and column of a matrix and for each number of a
// vector. Its step takes two copies of the largest weight in fp32, and two more if the weight is in bf16.
func TestAdafactor(t *testing.T) {
	for _, bytes := range []int64{2, 4} {
		s := one() // products 64 x 64 four times and 64 x 128 three times, an embedding of 256 x 64, three norms
		s.Weight, s.Grad, s.Optimizer = bytes, bytes, "adafactor"
		r := run(t, s)
		if got, want := partOf(r, Step, Moments), engine.Bytes(4*(4*(64+64)+3*(64+128)+256+64+3*64)); got != want {
			t.Errorf("weights of %d bytes: %d bytes of moments, want %d", bytes, got, want)
		}
		want := engine.Bytes(2 * 4 * 256 * 64)
		if bytes == 2 {
			want *= 2
		}
		if got := partOf(r, Step, StepTemps); got != want {
			t.Errorf("weights of %d bytes: %d bytes of temporaries, want %d", bytes, got, want)
		}
	}
}

// TestAdafactorOfAdapters checks that adapters have rows and columns, too: those of A are the rank and the
// inputs, those of B the outputs and the rank.
func TestAdafactorOfAdapters(t *testing.T) {
	a := asked(map[string]string{"lora": "8", "optimizer": "adafactor"})
	s := normal(t, a.Setup)
	for _, c := range []struct {
		w    weight
		want engine.Bytes
	}{{adapter("A", 64*8, 64), 4 * (8 + 64)}, {adapter("B", 128*8, 8), 4 * (128 + 8)},
		{adapter("magnitude", 128, 0), 4 * 128}} {
		if got := s.moments(c.w); got[0]+got[1] != c.want {
			t.Errorf("%s: %d bytes of moments, want %d", c.w.name, got, c.want)
		}
	}
}

// TestGaLore checks that GaLore keeps both moments of a matrix' projected gradient, and the projection. For
// gradients in bf16 that has as many rows as the rank. For gradients in fp32 it is a square matrix that contains
// these rows.
func TestGaLore(t *testing.T) {
	for _, c := range []struct {
		grad int64
		want engine.Bytes
	}{
		{2, 2 * (128*256 + 2*128*1024)},
		{4, 4 * (256*256 + 2*128*1024)},
	} {
		s := one()
		s.Weight, s.Grad, s.Moments, s.Optimizer = c.grad, c.grad, 2*c.grad, "galore"
		s = normal(t, s)
		for _, w := range []weight{{n: 256 * 1024, rows: 256, cols: 1024, trained: true},
			{n: 1024 * 256, rows: 1024, cols: 256, trained: true}} {
			if got := s.stateBytes(w); got != c.want {
				t.Errorf("gradients of %d bytes, %d x %d: %d bytes, want %d", c.grad, w.rows, w.cols, got, c.want)
			}
		}
		if got, want := s.stateBytes(weight{n: 64, trained: true}), engine.Bytes(64*2*c.grad); got != want {
			t.Errorf("gradients of %d bytes, a vector: %d bytes, want %d as of AdamW", c.grad, got, want)
		}
	}
}

// TestGaLoreOptions checks the states of GaLore's README, of rank 1024 with moments in 8 bits: of each of 32 blocks of
// Llama 7B four projections with moments of 4,096 columns and three of 11,008, and both moments of what else trains. Its
// run took 22.8 GB.
func TestGaLoreOptions(t *testing.T) {
	r := asks(t, Lookup("llama2-7b"), engine.Args{"optimizer": "galore-8bit", "galore-rank": "1024", "states": "bf16", "seq": "256",
		"batch": "16", "ckpt": "full", "step-in-backward": "yes", "device": "rtx-4090"})
	const attention, mlp = 1024 * (2*4096 + 2*4096), 1024 * (2*4096 + 2*11008)
	want := engine.Bytes(2*6_738_415_616 + 32*(4*attention+3*mlp) + 2*(2*32000+65)*4096)
	if r.States != want {
		t.Errorf("%d bytes of states, want %d", r.States, want)
	}
	within(t, "with a GiB of CUDA", (r.Low+r.High)/2+engine.GiB, 22.8, 5)
	_, err := New(Lookup("llama2-7b"), engine.Args{"galore-rank": "64"})
	if err == nil || !strings.Contains(err.Error(), "while optimizer is adamw") {
		t.Errorf("a rank without GaLore: error %v", err)
	}
}

// TestOptimizersRefuse checks that optimizers that work on whole matrices are refused if ranks share states, with
// adapters, and on the host.
func TestOptimizersRefuse(t *testing.T) {
	for _, c := range []struct {
		args engine.Args
		want string
	}{
		{engine.Args{"optimizer": "adafactor", "gpus": "8"}, "-shard none"},
		{engine.Args{"optimizer": "galore", "lora": "8"}, "adapters"},
		{engine.Args{"optimizer": "galore", "host": "yes"}, "host"},
	} {
		a := asked(c.args)
		if _, err := Run(a.Setup); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.args, err, c.want)
		}
	}
}

// TestPartOnHost checks that a part of the optimizer in host memory leaves the other moments and masters on the
// card.
func TestPartOnHost(t *testing.T) {
	s := one()
	s.Moments, s.Master, s.Grad = 8, 4, 2
	n := engine.Bytes(s.Model.Params())
	for _, part := range []engine.Bytes{100, 25, 50} {
		s.HostStep, s.HostPart = true, int64(part)
		r := run(t, s)
		card, host := n*12*(100-part)/100, n*14*part/100 // the host also has gradients
		if got := partOf(r, Step, Moments) + partOf(r, Step, Masters); got < card || got > card+64 {
			t.Errorf("%d per cent: %d bytes on the card, want %d", part, got, card)
		}
		if r.Host < host-64 || r.Host > host {
			t.Errorf("%d per cent: %d bytes on the host, want %d", part, r.Host, host)
		}
	}
}

// TestHybridLoads checks by hand that Megatron's optimizer for card and host first has masters of the card's part of all
// weights, beside what a rank has at the end of its load, and then of its share alone, and that before any of these the
// weights are there twice, until the buffer of those that train has them.
func TestHybridLoads(t *testing.T) {
	m := Lookup("llama3.2-1b")
	n := m.Params()
	for _, c := range []struct {
		more engine.Args
		want int64
	}{
		{engine.Args{}, 8 * n},
		{engine.Args{"shard": "none"}, 10 * n},
		{engine.Args{"host": "yes"}, 8 * n},
		{engine.Args{"host": "yes", "keep-masters": "yes"}, 8 * n},
		{engine.Args{"host": "yes", "host-part": "25"}, 6*n + 3*n + 3*n/8},
		{engine.Args{"host": "yes", "host-part": "25", "keep-masters": "yes"}, 6*n + 3*n + 4*n/8},
	} {
		c.more["program"], c.more["gpus"] = "megatron", "8"
		a, err := New(m, c.more)
		if err != nil {
			t.Fatalf("%v: %v", c.more, err)
		}
		r := run(t, a.Setup)
		got := partOf(r, Load, Weights) + partOf(r, Load, Gradients) + partOf(r, Load, Masters)
		if got < engine.Bytes(c.want) || got > engine.Bytes(c.want)*1001/1000 {
			t.Errorf("%v: %d bytes of states in the load; want %d", c.more, got, c.want)
		}
	}
}

// TestWeightsOnHost checks that weights in host memory leave neither them nor their reduced gradients on the card, that
// fetching them takes time, and that beside drives the host has DeepSpeed's buffers alone. The chain of the step has
// the same peak.
func TestWeightsOnHost(t *testing.T) {
	ask := asked(engine.Args{"gpus": "8", "seq": "1024", "host": "yes", "host-weights": "yes"})
	here, there := answer(t, asked(engine.Args{"gpus": "8", "seq": "1024", "host": "yes"})), answer(t, ask)
	n := ask.Setup.Model.Params() / 8
	if got := partOf(there.Result, Backward, Weights); got != 0 {
		t.Errorf("%d bytes of weights on the card, want none", got)
	}
	got, all := partOf(there.Result, Reduction, Gradients), partOf(here.Result, Reduction, Gradients)
	if got > all-size(n, 4)/2 { // the last ones are still on their way
		t.Errorf("%d bytes of gradients on the card, want half of %d less than %d", got, size(n, 4), all)
	}
	if got, least := here.Phases[Forward]-there.Phases[Forward], size(n, 4); got < least || there.Host != here.Host {
		t.Errorf("%d bytes less in the forward, want %d; the host has %d, want %d", got, least, there.Host, here.Host)
	}
	if there.States != 0 || there.Time <= 0 {
		t.Errorf("states of %d bytes, a step of %v; want none and a time", there.States, there.Time)
	}
	p, err := ask.Profile()
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Chain.KeepAllPeak(); got != there.Allocated || p.Graph != nil {
		t.Errorf("the chain takes %d bytes, want %d and no operations", got, there.Allocated)
	}
	ask.Setup.NVMe = 3
	drives := answer(t, ask)
	if want := size(n, 2+4*4); drives.Host < want || drives.Host > want+64 || drives.Time <= 2*there.Time {
		t.Errorf("beside drives the host has %d bytes in %v, want %d and more than twice %v", drives.Host, drives.Time,
			want, there.Time)
	}
	ask.Setup.Zero = 2
	if _, err := Run(ask.Setup); err == nil || !strings.Contains(err.Error(), "-shard zero3") {
		t.Errorf("error %v, want one with -shard zero3", err)
	}
}

// TestTowersTrain checks that towers have their weights alone, or if they train the states of training, too, and that
// these are states of the step and residents of its chain under their names.
func TestTowersTrain(t *testing.T) {
	s := one()
	s.Moments, s.Grad = 8, 4
	m := *s.Model
	m.Beside = []Tower{{Blocks: 2, Params: 1 << 20, Beside: 1 << 20}}
	known := func() [5]engine.Bytes {
		r := run(t, s)
		p, err := profileOf(s, CardOf("H100"))
		if err != nil {
			t.Fatal(err)
		}
		c := p.Chain.Resident
		return [5]engine.Bytes{r.Phases[Load], r.states, c.Weights, c.Grads, c.Optimizer}
	}
	plain := known()
	s.Model = &m
	const n = 3 << 20
	weights := size(n, s.Weight)
	for _, want := range [][5]engine.Bytes{{weights, weights, weights},
		{weights + 12*n, weights + 12*n, weights, 4 * n, 8 * n}} {
		got := known()
		for i := range got {
			got[i] -= plain[i]
		}
		if got != want {
			t.Errorf("towers that train, %t: %d more bytes; want %d", s.Towers, got, want)
		}
		s.Towers = true
	}
}

// TestMoments checks the bytes of the moments of optimizers, and
// that kernels of bitsandbytes have no temporaries.
func TestMoments(t *testing.T) {
	for name, want := range map[string]engine.Bytes{"adamw": 8, "adamw-8bit": 2, "adamw-4bit": 1, "lion": 4, "lion-8bit": 1,
		"prodigy": 16, "sgd-momentum": 4} {
		a := asked(engine.Args{"optimizer": name, "program": "hf-2024", "seq": "128"})
		n := engine.Bytes(a.Setup.Model.Params())
		r := run(t, a.Setup)
		if got := partOf(r, Step, Moments); got < n*want || got > n*want+n/50 {
			t.Errorf("%s: %d bytes of moments of %d numbers, want %d each", name, got, n, want)
		}
		if temps := partOf(r, Step, StepTemps); (strings.HasPrefix(name, "lion") || name == "adamw-8bit") && temps > 0 {
			t.Errorf("%s: %d bytes of temporaries in the step, want none", name, temps)
		}
	}
}
