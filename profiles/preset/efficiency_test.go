package preset

import (
	"strings"
	"testing"

	"memtide/profiles"
)

// TestEfficiency checks that a chosen share of the peak is in the reference, changes the times of products in
// proportion, and is described as an estimate. A share equal to the default is not in the reference.
func TestEfficiency(t *testing.T) {
	for _, c := range []struct {
		ref, want string // want is what Ref returns
		share     int
	}{
		{"resnet50-b32", "resnet50-b32", 0},
		{"resnet50-60pct-b32", "resnet50-60pct-b32", 60},
		{"resnet50-on-a100-sxm-40gb-b32", "resnet50-on-a100-sxm-40gb-b32", 45},
		{"resnet50-45pct-on-a100-sxm-40gb-b32", "resnet50-on-a100-sxm-40gb-b32", 45},
		{"resnet50-f16-b32", "resnet50-f16-b32", 45},
		{"gpt2-medium-b4", "gpt2-medium-b4", 40},
		{"gpt2-medium-40pct-b4", "gpt2-medium-b4", 40},
		{"gpt2-medium-20pct-graph-b4", "gpt2-medium-20pct-graph-b4", 20},
		{"lemma3", "lemma3-b1", 0},
	} {
		p, batch, err := Parse(c.ref)
		if err != nil {
			t.Fatalf("%s: %v", c.ref, err)
		}
		if got := Ref(p.ID, batch); got != c.want {
			t.Errorf("%s is written %s; want %s", c.ref, got, c.want)
		}
		if got := p.Efficiency(p.Options()); got != c.share {
			t.Errorf("%s: %d %% of the peak; want %d", c.ref, got, c.share)
		}
	}
	for ref, want := range map[string]string{
		"resnet50-0pct-b32":         "1 to 100 are possible",
		"resnet50-101pct-b32":       "1 to 100 are possible",
		"resnet50-50pct-60pct-b32":  "appears twice",
		"lemma3-50pct":              "made by hand",
		"resnet50-halfpct-b32":      "not a whole number",
		"gpt2-medium-99999999pct":   "1 to 100 are possible",
		"resnet50-on-a100-50pct-b1": "not a known device",
	} {
		if _, _, err := Parse(ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want %q in it", ref, err, want)
		}
	}
}

func TestEfficiencyTimes(t *testing.T) {
	layer := func(ref string) (float64, profiles.Source) {
		p, batch, err := Parse(ref)
		if err != nil {
			t.Fatal(err)
		}
		profile, err := p.Profile(batch)
		if err != nil {
			t.Fatal(err)
		}
		return profile.Chain.Stages[1].Forward.Seconds(), profile.Source
	}
	usual, _ := layer("gpt2-medium-b4")
	half, source := layer("gpt2-medium-20pct-b4")
	near(t, "a layer of GPT-2 at half the share over that at the usual one", half/usual, 2, 1e-5)
	if source.Times != profiles.Estimated || !strings.Contains(strings.Join(source.Notes, " "), "at 20 % of the") {
		t.Errorf("source %+v; want an estimate at 20 %%", source)
	}
	if _, source = layer("vgg16-30pct-b32"); source.Times != profiles.Estimated ||
		!strings.Contains(strings.Join(source.Notes, " "), "products at 30 % of the peak") {
		t.Errorf("source %+v; want an estimate at 30 %%", source)
	}
	slow, _ := layer("vgg16-20pct-on-h100-sxm-80gb-b32")
	fast, _ := layer("vgg16-80pct-on-h100-sxm-80gb-b32")
	if slow < 2*fast {
		t.Errorf("a convolution takes %g s at 20 %%, %g s at 80 %%; want at least twice as long", slow, fast)
	}
}
