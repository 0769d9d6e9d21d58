package preset

import (
	"errors"
	"math"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles/card"
)

// paperCard is the larger card of Shriram et al. (2019).
const paperCard = "gtx-1080-ti"

// TestPublishedFastPeaks plays vDNN with performance-optimal convolutions in the least memory and compares with
// the aggregate peaks of Shriram et al. (2019), tables II and V. The paper does not give a rule for the
// workspaces, so the rule is ours. It gives 2203 MiB for VGG-16 at batch 16, where table II has 1610 MB. The
// library has other algorithms, too, and the paper does not say which it took.
func TestPublishedFastPeaks(t *testing.T) {
	for _, test := range []struct {
		id    string
		batch int
		set   string
		m, p  float64 // published, MB; 0 if the rule does not meet it
	}{
		{"alexnet-2012", 256, "conv", 1184, 1934}, // table V
		{"alexnet-2012", 256, "all", 1100, 1783},
		{"alexnet-2012", 256, "aconv", 1184, 1934},
		{"vgg16", 64, "conv", 3715, 7243},
		{"vgg16", 64, "all", 3715, 7243},
		{"vgg16", 64, "aconv", 4010, 7243},
		{"alexnet-2012", 128, "conv", 710, 1188}, // table II
		{"alexnet-2012", 128, "all", 667, 1113},
		{"vgg16", 16, "conv", 1323, 0},
		{"vgg16", 16, "all", 1323, 0},
	} {
		c := inPaperLayers(with(t, test.id, Options{Batch: test.batch, Device: paperCard, Fast: true}))
		for algo, want := range map[string]float64{"m": test.m, "p": test.p} {
			if want > 0 {
				near(t, Ref(test.id, test.batch)+", "+test.set+"("+algo+"), aggregate peak, MiB",
					mib(leastPeak(t, c, test.set, algo)), want, 0.03)
			}
		}
	}
}

// leastPeak returns the peak of vDNN in the smallest budget.
func leastPeak(t *testing.T, c *engine.Chain, set, algo string) engine.Bytes {
	t.Helper()
	problem := engine.NewChainProblem(c, card.Lookup(paperCard).Device, engine.Whole, 0)
	vdnn := engine.Lookup("vdnn")
	args := engine.Args{"set": set, "algo": algo, "ahead": "conv"}
	var least *engine.InfeasibleError
	if _, err := vdnn.Solve(problem, args, nil); !errors.As(err, &least) {
		t.Fatalf("%s(%s) in nothing: %v; want an InfeasibleError", set, algo, err)
	}
	problem = problem.WithBudget(least.Smallest)
	sol, err := vdnn.Solve(problem, args, nil)
	if err != nil {
		t.Fatalf("%s(%s): %v", set, algo, err)
	}
	trace, err := sim.Play(problem, sol.Schedule)
	if err != nil {
		t.Fatalf("%s(%s): %v", set, algo, err)
	}
	return trace.Peak
}

// TestFastByHand compares workspaces with numbers worked out by hand.
func TestFastByHand(t *testing.T) {
	for _, c := range []struct {
		name             string
		id               string
		batch            int
		stage            string
		forward, back    engine.Bytes
		fasterF, fasterB bool
	}{
		// 64 images of 56 x 56 tiles of 36 numbers, for 64 channels in and 64 out, and 64 x 64 filters.
		{"winograd", "vgg16", 64, "conv1_2+relu", 4 * 36 * (64*56*56*128 + 64*64), 4 * 36 * (64*56*56*128 + 64*64),
			true, true},
		// One transform of 27 x 27 in 544 complex numbers, in two copies; 96 channels in, 256 out.
		{"fourier", "alexnet-2012", 128, "conv2+relu", 4 * 2 * 2 * 544 * 96 * (128 + 256),
			4 * 2 * 2 * 544 * 256 * (128 + 96), true, true},
		{"fourier, large batch", "alexnet-2012", 512, "conv2+relu", 4 * 2 * 2 * 544 * 96 * (512 + 256),
			4 * 2 * 2 * 544 * 512 * (256 + 96), true, true},
		{"stride", "alexnet-2012", 128, "conv1+relu", 0, 0, false, false},
		{"no convolution", "vgg16", 64, "pool1", 0, 0, false, false},
	} {
		chain := with(t, c.id, Options{Batch: c.batch, Device: paperCard, Fast: true})
		for _, s := range chain.Stages {
			switch f := s.Fast; {
			case s.Name != c.stage:
			case f == nil:
				if c.fasterF || c.fasterB {
					t.Errorf("%s: no second algorithm", c.name)
				}
			case f.FwdTemp-s.FwdTemp != c.forward || f.BwdTemp-s.BwdTemp != c.back ||
				f.Forward < s.Forward != c.fasterF || f.Back < s.Back != c.fasterB:
				t.Errorf("%s: got workspaces %d and %d, times %v and %v; want %d and %d, less than %v and %v", c.name,
					f.FwdTemp-s.FwdTemp, f.BwdTemp-s.BwdTemp, f.Forward, f.Back, c.forward, c.back, s.Forward, s.Back)
			}
		}
	}
}

// TestFastIsMore checks that a second algorithm changes nothing about the first one, and is useful wherever there
// is one.
func TestFastIsMore(t *testing.T) {
	for _, p := range Presets() {
		if p.Group != plainGroup {
			if _, err := p.Build(Options{Fast: true}); err == nil {
				t.Errorf("%s: built with two algorithms, want an error", p.ID)
			}
			continue
		}
		for _, device := range []string{"", "a100-sxm-40gb"} {
			plain, fast := with(t, p.ID, Options{Device: device}), with(t, p.ID, Options{Device: device, Fast: true})
			count := 0
			for i, s := range fast.Stages {
				if f := s.Fast; f != nil {
					if count++; f.Forward > s.Forward || f.Back > s.Back || f.Forward == s.Forward &&
						f.Back == s.Back || f.FwdTemp < s.FwdTemp || f.BwdTemp < s.BwdTemp {
						t.Errorf("%s on %q, %s: %+v beside %+v", p.ID, device, s.Name, f, s)
					}
				}
				s.Fast = nil
				if s != plain.Stages[i] {
					t.Errorf("%s on %q, %s: got %+v, want %+v", p.ID, device, s.Name, s, plain.Stages[i])
				}
			}
			if count == 0 {
				t.Errorf("%s on %q: no second algorithm", p.ID, device)
			}
		}
	}
}

// TestFastReferences reads and writes the part of references that asks for two algorithms.
func TestFastReferences(t *testing.T) {
	for in, want := range map[string]string{
		"vgg16-mp-b64": "vgg16-mp", "alexnet-mp-128px": "alexnet-128px-mp", "vgg16-mp-graph-b64": "vgg16-graph",
		"alexnet-2012-on-gtx-1080-ti-mp": "alexnet-2012-mp-on-gtx-1080-ti",
		"resnet50-mp":                    "", "vgg16-mp-mp": "",
	} {
		p, _, err := Parse(in)
		if want == "" {
			if err == nil {
				t.Errorf("%s: read as %s, want an error", in, p.ID)
			}
			continue
		}
		if err != nil || p.ID != want {
			t.Errorf("%s: got %+v, %v; want %s", in, p, err, want)
			continue
		}
		if again, _, err := Parse(p.ID); again != p {
			t.Errorf("%s: reads back as %+v, %v", p.ID, again, err)
		}
	}
}

// TestFourierCount compares the multiplications of the transforms with those of the definition. They are fewer,
// also where tiles are cut off at the border.
func TestFourierCount(t *testing.T) {
	f := filter{size: 5, stride: 1, pad: 2}
	tp := newTape(2, fp32Bytes, value{c: 3, h: 60, w: 27})
	v := tp.conv(stageInput, 7, f, false)
	x := tp.ops[0].transformed
	tiles := int64(2 * 3) // 60 rows are 3 stretches of at most 28, 27 columns 1
	if tp.values[v].h != 60 || x == nil || x.macs != 4*544*tiles*3*7 || x.forward != 4*544*3*(tiles+7) ||
		x.back != 4*544*max(7*(tiles+3), tiles*(3+7)) {
		t.Errorf("got %+v for %d tiles", x, tiles)
	}
	if ratio := float64(x.macs) / float64(tp.ops[0].macs); math.Abs(ratio-4*544*3/(25*60*27.0)) > 1e-9 {
		t.Errorf("%g of the multiplications; want 4 x 544 for each stretch", ratio)
	}
}
