package preset

import (
	"errors"
	"math"
	"testing"

	"memtide/engine"
	_ "memtide/engine/offload"
	"memtide/engine/sim"
	"memtide/profiles/card"
)

func gib(b engine.Bytes) float64 { return float64(b) / float64(engine.GiB) }

// near checks that a figure is within the given share of a published one.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*want {
		t.Errorf("%s: got %.4g, want %.4g within %.0f %%", what, got, want, 100*within)
		return
	}
	t.Logf("%s: %.4g; published %.4g (%+.1f %%)", what, got, want, 100*(got/want-1))
}

// with returns the chain of a preset with options.
func with(t *testing.T, id string, o Options) *engine.Chain {
	t.Helper()
	p, err := Lookup(id).Build(o)
	if err != nil {
		t.Fatalf("%s, %+v: %v", id, o, err)
	}
	return p.Chain
}

// TestPublishedSizes checks what papers say that training needs if everything is kept.
func TestPublishedSizes(t *testing.T) {
	// Beaumont et al. (arXiv:1911.13214), section 5.3: a peak of "2.83 GiB"; and
	// "would require 225 GiB of memory, and achieve a throughput of 1.1 images/s",
	// estimated from measurements on a V100.
	near(t, "ResNet-101, 1000 px, batch 1, GiB",
		gib(with(t, "resnet101", Options{Batch: 1, Image: 1000}).KeepAllPeak()), 2.83, 0.05)
	c := with(t, "resnet1001", Options{Batch: 8})
	near(t, "ResNet-1001, batch 8, GiB", gib(c.KeepAllPeak()), 225, 0.05)
	near(t, "ResNet-1001, batch 8, images/s", 8/(c.ForwardTime()+c.BackTime()).Seconds(), 1.1, 0.10)
	// Shriram et al. (2019), section V-A: "about 20GB and 30GB respectively", with their base manager: all
	// outputs, weights, their gradients, and two gradients of outputs.
	for id, want := range map[string]float64{"vgg116": 20, "vgg191": 30} {
		c := paperChain(t, id, 32)
		sum, largest := c.Input+2*c.Resident.Weights, engine.Bytes(0)
		for i := range c.Stages {
			sum += c.Stages[i].Out
			largest = max(largest, c.Stages[i].Out)
		}
		near(t, id+"-b32, base manager, GiB", gib(sum+2*largest), want, 0.05)
	}
}

// paperChain returns a network in the layers of Shriram et al. (2019): convolutions and linear layers with their
// activation in place, pools that keep no indices, and a softmax. It has no dropout, no temporaries (as with
// their memory-optimal algorithms), and weights without gradients or momentum.
func paperChain(t *testing.T, id string, batch int) *engine.Chain {
	t.Helper()
	return inPaperLayers(with(t, id, Options{Batch: batch}))
}

// inPaperLayers returns a chain in those layers. If it has performance-optimal algorithms, their workspaces are
// their only temporaries.
func inPaperLayers(full *engine.Chain) *engine.Chain {
	c := &engine.Chain{Input: full.Input, LossGradAllocated: true,
		Resident: engine.Resident{Weights: full.Resident.Weights}}
	for _, s := range full.Stages {
		if s.Kind == "conv" || s.Kind == "fc" || s.Kind == "pool" && s.Name != "avgpool" {
			layer := engine.Stage{Name: s.Name, Kind: s.Kind, Forward: s.Forward, Back: s.Back, Out: s.Out,
				Saved: s.Out, Grad: s.Grad}
			if f := s.Fast; f != nil {
				layer.Fast = &engine.Algorithm{Forward: f.Forward, Back: f.Back, FwdTemp: f.FwdTemp - s.FwdTemp,
					BwdTemp: f.BwdTemp - s.BwdTemp}
			}
			c.Stages = append(c.Stages, layer)
		}
	}
	last := c.Stages[len(c.Stages)-1].Out
	c.Stages = append(c.Stages, engine.Stage{Name: "softmax", Kind: "softmax", Out: last, Saved: last, Grad: last})
	return c
}

// TestPublishedOffloading plays vDNN++ with everything offloaded and checks the pinned host memory and the
// aggregate peak in the least memory that suffices.
func TestPublishedOffloading(t *testing.T) {
	for _, test := range []struct {
		id           string
		batch        int
		pinned, peak float64 // published, MB; 0 if not published
		exact        engine.Bytes
	}{
		{"alexnet-2012", 128, 453, 0, 479_397_376}, // section III-C
		{"vgg16", 128, 7436, 0, 7_801_655_296},
		{"alexnet-2012", 256, 0, 1100, 1_145_876_896}, // table V, all(m)
		{"vgg16", 64, 0, 3715, 3_880_299_680},
	} {
		c := paperChain(t, test.id, test.batch)
		problem := engine.NewChainProblem(c, card.Default().Device, engine.Whole, 0)
		vdnn := engine.Lookup("vdnnpp")
		args := engine.Args{"set": "all"}
		var least *engine.InfeasibleError
		if _, err := vdnn.Solve(problem, args, nil); !errors.As(err, &least) {
			t.Fatalf("%s in nothing: %v; want an InfeasibleError", Ref(test.id, test.batch), err)
		}
		problem = problem.WithBudget(least.Smallest)
		sol, err := vdnn.Solve(problem, args, nil)
		if err != nil {
			t.Fatalf("%s: %v", Ref(test.id, test.batch), err)
		}
		trace, err := sim.Play(problem, sol.Schedule)
		if err != nil {
			t.Fatalf("%s: %v", Ref(test.id, test.batch), err)
		}
		got := trace.HostPeak
		if test.peak > 0 {
			got = trace.Peak
			near(t, Ref(test.id, test.batch)+", all(m), aggregate peak, MiB", mib(got), test.peak, 0.03)
		} else {
			near(t, Ref(test.id, test.batch)+", pinned, MiB", mib(got), test.pinned, 0.03)
		}
		if got != test.exact {
			t.Errorf("%s: %d bytes (%.1f MiB); want %d (%.1f MiB)", Ref(test.id, test.batch), got, mib(got),
				test.exact, mib(test.exact))
		}
	}
}
