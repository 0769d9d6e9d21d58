package preset

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest/golden"
	"memtide/profiles"
	"memtide/profiles/card"
)

// TestSizes compares every network at a batch of one with testdata/sizes.golden: the totals, and the first, the
// middle and the last stage. When the file was written, its sizes were equal to those recorded with PyTorch.
// TestTorchMeta compares them with the records if these are available.
func TestSizes(t *testing.T) {
	var got bytes.Buffer
	for _, p := range networks() {
		profile := built(t, p.ID, 1)
		c := profile.Chain
		out, saved := totals(c)
		fmt.Fprintf(&got, "%s: %d stages, input %d, outputs %d, saved %d, weights %d, keep all %d, %v + %v\n", p.ID,
			c.Len(),
			c.Input, out, saved, c.Resident.Weights, c.KeepAllPeak(), c.ForwardTime(), c.BackTime())
		for _, at := range []int{0, c.Len() / 2, c.Len() - 2} {
			s := c.Stages[at]
			fmt.Fprintf(&got, "  %s: %d %d %d %d, %v %v\n", s.Name, s.Out, s.Saved, s.FwdTemp, s.BwdTemp, s.Forward,
				s.Back)
		}
		for _, side := range []int{500, 1000} {
			if p.Images() {
				c := with(t, p.ID, Options{Batch: 1, Image: side})
				out, saved := totals(c)
				fmt.Fprintf(&got, "  %d px: outputs %d, saved %d, %v + %v\n", side, out, saved, c.ForwardTime(),
					c.BackTime())
			}
		}
	}
	golden.File(t, "testdata/sizes.golden", got.Bytes())
}

// TestParameters compares the number of trained parameters with published counts: those of torchvision's
// documentation, those that public implementations of GPT-2 and BERT report, and those of the model cards of
// Llama 3.
func TestParameters(t *testing.T) {
	for id, want := range map[string]int64{
		"resnet18": 11_689_512, "resnet34": 21_797_672, "resnet152": 60_192_808, "resnext101": 88_791_336,
		"vgg19": 143_667_240, "alexnet": 61_100_840,
		"densenet121": 7_978_856, "densenet161": 28_681_000, "densenet169": 14_149_480, "densenet201": 20_013_928,
		"inception-v3": 23_834_568, // without the auxiliary classifier of 3,326,696
		"gpt2-medium":  354_823_168,
	} {
		p := Lookup(id)
		if got := int64(built(t, id, 1).Chain.Resident.Weights / precision(p.DType).bytes()); got != want {
			t.Errorf("%s: %d parameters; want %d", id, got, want)
		}
		if p.tokenNet && !strings.Contains(strings.Join(built(t, id, 1).Source.Notes, " "),
			thousands(want)+" parameters") {
			t.Errorf("%s: its notes do not name %s parameters: %q", id, thousands(want), built(t, id, 1).Source.Notes)
		}
	}
}

// TestOptions checks what each option changes, and what it does not.
func TestOptions(t *testing.T) {
	base := built(t, "resnet50", 4)
	large, err := Lookup("resnet50").Build(Options{Batch: 4, Image: 448})
	if err != nil {
		t.Fatal(err)
	}
	a, b := base.Chain, large.Chain
	if b.Input != 4*a.Input || b.Stages[0].Saved != 4*a.Stages[0].Saved || b.Resident != a.Resident ||
		b.ForwardTime() <= a.ForwardTime() {
		t.Errorf("twice the side: input %d and %d, first stage %d and %d; want four times, and equal weights",
			a.Input, b.Input, a.Stages[0].Saved, b.Stages[0].Saved)
	}
	half, err := Lookup("resnet50").Build(Options{Batch: 4, Precision: "f16"})
	if err != nil {
		t.Fatal(err)
	}
	h := half.Chain
	// Indices of the pool and statistics keep their width.
	pool := a.Stages[2]
	if h.Input*2 != a.Input || h.Stages[0].Saved*2 != a.Stages[0].Saved || h.Stages[2].Saved != pool.Out/2+2*pool.Out ||
		h.Resident.Weights*2 != a.Resident.Weights || h.Resident.Optimizer != 2*a.Resident.Optimizer ||
		half.DType != "f16" || half.Source.Times != profiles.Estimated {
		t.Errorf("16 bits: %+v, %+v, %+v of %+v", h.Stages[0], h.Stages[2], h.Resident, half.Source)
	}
	a100, err := Lookup("resnet50").Build(Options{Batch: 4, Device: "a100-sxm-80gb"})
	if err != nil {
		t.Fatal(err)
	}
	d := a100.Chain
	for i := range a.Stages {
		was, is := a.Stages[i], d.Stages[i]
		was.Forward, was.Back, is.Forward, is.Back = 0, 0, 0, 0
		if was != is {
			t.Errorf("stage %d on another device: %+v; want the sizes of %+v", i+1, is, was)
		}
	}
	if a100.Source.Times != profiles.Estimated || a100.Source.Device != "A100-SXM-80GB, 32-bit" ||
		a100.Device.Name != "A100-SXM-80GB" || d.ForwardTime() == a.ForwardTime() {
		t.Errorf("on an A100: source %+v, device %+v, forward %v; want an estimate for that device", a100.Source,
			a100.Device, d.ForwardTime())
	}
}

// TestEverywhere builds every network on every device, in every precision and at its smallest and largest sizes,
// and checks that the chain makes sense.
func TestEverywhere(t *testing.T) {
	for _, p := range networks() {
		var all []Options
		for i, d := range card.All() { // each device in one precision
			o := Options{Batch: 1, Device: d.ID, Precision: string([]precision{f32, f16, bf16}[i%3])}
			if _, err := p.Build(o); !d.Timed() {
				if err == nil || !strings.Contains(err.Error(), "no rate") {
					t.Errorf("%s on %s: %v; want that no rate is known", p.ID, d.ID, err)
				}
				continue
			}
			all = append(all, o)
		}
		for _, bits := range []precision{f32, f16, bf16} {
			all = append(all, Options{Batch: 1, Precision: string(bits)},
				Options{Batch: 1, Device: "24gib-rate165tflops", Precision: string(bits)})
		}
		switch {
		case p.Images():
			all = append(all, Options{Image: p.minImage}, Options{Image: MaxImage, Batch: MaxBatch})
		case p.Sequences():
			all = append(all, Options{Tokens: 1}, Options{Tokens: p.largestTokens()})
		default:
			t.Errorf("%s: neither images nor sequences", p.ID)
		}
		for _, o := range all {
			profile, err := p.Build(o)
			if err != nil {
				t.Errorf("%s, %+v: %v", p.ID, o, err)
				continue
			}
			if err := profile.Chain.Validate(); err != nil {
				t.Errorf("%s, %+v: %v", p.ID, o, err)
			}
			for i, s := range profile.Chain.Stages {
				if s.Kind != "loss" && s.Kind != "view" &&
					(s.Out <= 0 || s.Saved < s.Out && !s.Unsaved || s.Forward <= 0 || s.Back <= 0) {
					t.Errorf("%s, %+v: stage %d is %+v; want sizes and times", p.ID, o, i+1, s)
				}
			}
		}
	}
}

// TestDeviceModel checks the estimate for another device by hand: a 1x1
// convolution of 256 channels at 64 x 64, 2*256*256*4096 operations at 45 % of
// 19.5 TFLOP/s or 2*4 MiB at 80 % of 1555 GB/s, and 5 us for each kernel.
func TestDeviceModel(t *testing.T) {
	tp := newTape(1, fp32Bytes, value{bytes: 4 << 20, c: 256, h: 64, w: 64})
	tp.conv(stageInput, 256, one, false)
	d := card.Lookup("a100-sxm-40gb")
	got := modelOf(d, f32).time(tp, &tp.ops[0])
	arithmetic, traffic := 2*256*256*4096/(19.5e12*0.45), float64(8<<20)/(1555e9*0.80)
	want := opTime{Forward: max(arithmetic, traffic) + 5e-6, Back: max(2*arithmetic, 2*traffic) + 10e-6}
	if diff := got.Forward/want.Forward - 1; diff > 1e-9 || diff < -1e-9 || got.Back/want.Back-1 > 1e-9 ||
		want.Back/got.Back-1 > 1e-9 {
		t.Errorf("a 1x1 convolution takes %+v; want %+v", got, want)
	}
	if m := modelOf(card.Lookup("v100-sxm2-32gb"), f32); m != v100 {
		t.Errorf("a V100 with 32 GB has the model %+v; want the fitted one", m)
	}
	if m := modelOf(card.Lookup("gtx-970"), f16); m.Peak != 3.9e12 {
		t.Errorf("a GTX 970 computes 16-bit numbers at %g; want its 32-bit peak, 3.9e12", m.Peak)
	}
}

// TestVariants checks references to variants in both directions.
func TestVariants(t *testing.T) {
	for _, test := range []struct {
		ref, want string
		o         Options
	}{
		{"vgg16-b64-500px", "vgg16-500px-b64", Options{Batch: 64, Image: 500}},
		{"vgg16-500px-b64", "vgg16-500px-b64", Options{Batch: 64, Image: 500}},
		{"vgg16-224px", "vgg16-b32", Options{}},
		{"resnet101-1000px-f16-graph-on-a100-sxm-40gb-b2", "resnet101-1000px-f16-graph-on-a100-sxm-40gb-b2",
			Options{Batch: 2, Image: 1000, Precision: "f16", Graph: true, Device: "a100-sxm-40gb"}},
		{"on-is-no-preset", "", Options{}},
		{"gpt2-medium-on-h100-sxm-80gb-512tok", "gpt2-medium-512tok-on-h100-sxm-80gb-b4",
			Options{Tokens: 512, Device: "h100-sxm-80gb"}},
		{"gpt2-medium-b2-bf16", "gpt2-medium-bf16-b2", Options{Batch: 2, Precision: "bf16"}},
		{"lemma3-mirror", "lemma3-mirror-b1", Options{}},
	} {
		p, batch, err := Parse(test.ref)
		if test.want == "" {
			if err == nil {
				t.Errorf("Parse(%q) = %s; want an error", test.ref, p.ID)
			}
			continue
		}
		if err != nil || Ref(p.ID, batch) != test.want || !linkSafe(p.ID) {
			t.Errorf("Parse(%q) = %v, %d, %v; want %s", test.ref, p, batch, err, test.want)
			continue
		}
		again, n, err := Parse(test.want)
		if err != nil || again != p || n != batch {
			t.Errorf("Parse(%q) = %v, %d, %v; want the same preset as %q", test.want, again, n, err, test.ref)
		}
		mine, err := p.Profile(batch)
		if err != nil {
			t.Fatalf("%s: %v", test.want, err)
		}
		direct, err := p.Base().Build(test.o)
		if err != nil {
			t.Fatalf("%s: %+v: %v", test.want, test.o, err)
		}
		if mine.Name != direct.Name || sum(mine) != sum(direct) {
			t.Errorf("%s: %q with %d bytes by reference, %q with %d by %+v", test.want, mine.Name, sum(mine),
				direct.Name, sum(direct), test.o)
		}
	}
}

// sum returns the sum of the sizes of a profile.
func sum(p *profiles.Profile) (n engine.Bytes) {
	if p.Chain != nil {
		_, n = totals(p.Chain)
		return n
	}
	for i := range p.Graph.Values {
		n += p.Graph.Values[i].Size
	}
	return n
}

// TestRefusedVariants checks the errors for variants that cannot be built.
func TestRefusedVariants(t *testing.T) {
	for _, test := range []struct{ ref, want string }{
		{"vgg16-px", `image side "" is not a whole number`},
		{"vgg16-0px", "image side 0; 1 to 2048 are possible, for example vgg16-224px-b32"},
		{"vgg16-31px", "image side of 31 pixels; 32 to 2048 are possible, for example vgg16-224px-b32"},
		{"inception-v3-74px", "75 to 2048 are possible, for example inception-v3-299px-b32"},
		{"gpt2-medium-224px", "this preset has none"},
		{"vgg16-512tok", "this preset has none"},
		{"gpt2-medium-1025tok", "sequence length of 1025 tokens; 1 to 1024 are possible, for example gpt2-medium-1024tok-b4"},
		{"vgg16-b2-b3", "the batch size appears twice"},
		{"vgg16-f8", `vgg16 is followed by "f8", which is not understood; write vgg16-b32`},
		{"vgg16-on-abacus", `"on" is followed by "abacus", which is not a known device; known are gtx-970,`},
		{"vgg16-", `vgg16 is followed by ""`},
		{"lemma3-f16", "no other precision than f32"},
		{"lemma3-graph", "neither operators nor times"},
		{"lemma3-on-gtx-970", "neither operators nor times"},
	} {
		p, _, err := Parse(test.ref)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, %v; want an error with %q", test.ref, p, err, test.want)
		}
	}
	if _, err := Lookup("vgg16").Build(Options{Precision: "f64"}); err == nil ||
		!strings.Contains(err.Error(), `precision "f64"; f32, f16 and bf16`) {
		t.Errorf("vgg16 in f64: %v; want an error that names what is possible", err)
	}
	if _, err := Lookup("vgg16").Build(Options{Device: "abacus"}); err == nil ||
		!strings.Contains(err.Error(), `no device "abacus" (others are told by their figures, such as 24gib-link25gbps-rate165tflops); known are gtx-970`) {
		t.Errorf("vgg16 on an abacus: %v; want an error that names the devices", err)
	}
}
