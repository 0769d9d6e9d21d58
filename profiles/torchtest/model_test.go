//go:build !js

package torchtest

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"memtide/profiles"
	"memtide/profiles/analytic"
	"memtide/profiles/card"
	"memtide/profiles/preset"
)

// modelled is a program that has collect.py's model answer for some operators on every device, in 32 and in 16
// bits, and with all products at 30 % of the peak.
const modelled = `
import json, sys
sys.path.insert(0, "..")
import memtide_torch as collect
out = {}
for name, (plain, fast, bandwidth) in collect.DEVICES.items():
    times = []
    for half, efficiency in ((False, None), (True, None), (False, 30)):
        m = collect.Model(name, half, efficiency)
        for kind in collect.SHARES:
            times += [m.conv(kind, 3e9, 2e7), m.conv(kind, 3e5, 2e8)]
        times += [m.product(5e9, 4e6), m.product(5e3, 4e8), m.max_pool(4e7, 1e7), m.mean_pool(4e7, 1e5)]
        times += [m.element(kind, 7e7) for kind in collect.PASSES]
    out[name] = {"peaks": [plain, fast, bandwidth], "times": times}
classes = [collect.classify(*c) for c in json.loads(sys.argv[1])]
print(json.dumps({"devices": out, "classes": classes, "kinds": list(collect.SHARES), "default": collect.DEFAULT_DEVICE}))
`

// kinds maps collect.py's names of classes of convolutions to those of package analytic.
var kinds = map[string]analytic.Class{"first": analytic.First, "strided": analytic.Strided, "point": analytic.Point,
	"wide": analytic.Wide,
	"mid":  analytic.Mid, "narrow": analytic.Narrow, "other": analytic.Other, "grouped": analytic.Grouped}

// order lists the classes in collect.py's order.
var order = []string{"first", "strided", "point", "wide", "mid", "narrow", "other", "grouped"}

// TestModel compares the model in collect.py with package analytic, and its devices with those of the presets.
func TestModel(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	convolutions := [][6]int64{{3, 64, 7, 7, 2, 1}, {64, 64, 3, 3, 1, 1}, {128, 64, 1, 1, 1, 1},
		{256, 512, 3, 3, 1, 1}, {128, 128, 3, 3, 2, 1},
		{32, 64, 3, 3, 1, 1}, {192, 192, 1, 7, 1, 1}, {256, 256, 3, 3, 1, 32}, {127, 128, 3, 3, 1, 1},
		{3, 3, 1, 1, 2, 3}}
	question, err := json.Marshal(convolutions)
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(python, "-c", modelled, string(question)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Devices map[string]struct {
			Peaks [3]float64
			Times [][2]float64
		}
		Classes, Kinds []string
		Default        string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range convolutions {
		if want := analytic.Classify(c[0], c[1], c[2], c[3], c[4], c[5]); kinds[got.Classes[i]] != want {
			t.Errorf("convolution %v is %s, want class %d", c, got.Classes[i], want)
		}
	}
	timed := slices.DeleteFunc(card.All(), func(c card.Card) bool { return !c.Timed() })
	if len(got.Devices) != len(timed) || got.Default != card.DefaultID {
		t.Errorf("collect.py knows %d devices, the first is %s; want %d and %s", len(got.Devices), got.Default,
			len(timed), card.DefaultID)
	}
	for _, d := range timed {
		have := got.Devices[d.ID]
		if want := [3]float64{float64(d.FP32) / 1e12, float64(d.FP16) / 1e12,
			float64(d.MemoryRate) / 1e9}; have.Peaks != want {
			t.Errorf("%s has the peaks %v, want %v", d.ID, have.Peaks, want)
		}
		want := times(&d)
		if len(have.Times) != len(want) {
			t.Fatalf("%s has %d times, want %d", d.ID, len(have.Times), len(want))
		}
		for i, w := range want {
			if g := have.Times[i]; math.Abs(g[0]-w.Forward) > 1e-12+1e-9*w.Forward ||
				math.Abs(g[1]-w.Back) > 1e-12+1e-9*w.Back {
				t.Errorf("%s, time %d is %v, want %v", d.ID, i, g, w)
			}
		}
	}
}

// times returns the answers of package analytic for the operators of modelled.
func times(d *card.Card) (out []analytic.Time) {
	v100 := len(d.ID) > 5 && d.ID[:5] == "v100-"
	plain, fast := analytic.Estimate(float64(d.Peak("f32")), float64(d.MemoryRate)),
		analytic.Estimate(float64(d.Peak("f16")), float64(d.MemoryRate))
	low := plain.WithShare(0.30)
	if v100 {
		plain, fast, low = analytic.V100, fast.OnV100(), low.OnV100()
	}
	for _, m := range []analytic.Rates{plain, fast, low} {
		for _, kind := range order {
			out = append(out, m.Conv(kinds[kind], 3e9, 2e7), m.Conv(kinds[kind], 3e5, 2e8))
		}
		out = append(out, m.Product(5e9, 4e6), m.Product(5e3, 4e8), m.MaxPool(4e7, 1e7), m.MeanPool(4e7, 1e5))
		for _, p := range []analytic.Passes{analytic.Norm, analytic.Activation, analytic.Add, analytic.Concat,
			analytic.Dropout, analytic.Embedding} {
			out = append(out, m.Element(p, 7e7))
		}
	}
	return out
}

// TestRecordedShapes reads what collect.py --meta has written of torchvision's ResNet-50, batch 32. Its times are
// those of the preset and are marked as those of a model.
func TestRecordedShapes(t *testing.T) {
	data, err := os.ReadFile("testdata/resnet50-meta.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Decode("resnet50-meta.json", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Source.Times != profiles.Analytic || p.Source.Sizes != profiles.Exact ||
		p.Source.Device != "Tesla V100, 32-bit" || len(p.Warnings) > 0 {
		t.Errorf("times %q, sizes %q, device %q, warnings %q; want analytic, exact, Tesla V100, 32-bit and none",
			p.Source.Times, p.Source.Sizes, p.Source.Device, p.Warnings)
	}
	known, batch, err := preset.Parse("resnet50-b32")
	if err != nil {
		t.Fatal(err)
	}
	want, err := known.Profile(batch)
	if err != nil {
		t.Fatal(err)
	}
	const rounding = 100 * time.Nanosecond // each stage is rounded up
	if f, b := p.Chain.ForwardTime()-want.Chain.ForwardTime(),
		p.Chain.BackTime()-want.Chain.BackTime(); f.Abs() > rounding || b.Abs() > rounding {
		t.Errorf("forward %v, backward %v; the preset has %v and %v", p.Chain.ForwardTime(), p.Chain.BackTime(),
			want.Chain.ForwardTime(), want.Chain.BackTime())
	}
}
