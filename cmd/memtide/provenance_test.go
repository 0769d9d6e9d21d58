package main

import (
	"strings"
	"testing"
)

// TestSameModel checks that different spellings of a device's name are taken for the same device.
func TestSameModel(t *testing.T) {
	for _, c := range []struct {
		times, link string
		same        bool
	}{
		{"Tesla V100-SXM2-16GB", "V100-PCIE-16GB", true},
		{"Tesla V100, 32-bit", "V100-SXM2-32GB", true},
		{"NVIDIA H100 80GB HBM3", "H100-SXM-80GB", true},
		{"GTX 1080 Ti", "NVIDIA GeForce GTX 1080 Ti", true},
		{"Tesla V100, 32-bit", "H100-SXM-80GB", false},
		{"A100-SXM-80GB, 32-bit", "H100-SXM-80GB", false},
		{"cpu", "V100-PCIE-16GB", false},
		{"cpu", "CPU", true},
	} {
		if got := sameModel(c.times, c.link); got != c.same {
			t.Errorf("%q and %q: the same is %v, want %v", c.times, c.link, got, c.same)
		}
	}
}

// TestFindingsWithoutAnswer checks that the findings and the origin of the numbers are printed, as text and as
// JSON, even if no schedule fits.
func TestFindingsWithoutAnswer(t *testing.T) {
	t.Chdir("testdata")
	for _, c := range []struct {
		line string
		want []string
	}{
		{"solve -budget 1B -device h100-sxm-80gb -preset vgg16-on-a100-sxm-40gb-b32",
			[]string{"times estimated on A100",
				"The times are of A100-SXM-40GB, 32-bit and the link is of H100-SXM-80GB", "The loss has no cost."}},
		{"solve -json -budget 1B -device h100-sxm-80gb -preset vgg16-on-a100-sxm-40gb-b32",
			[]string{`"device": "A100-SXM-40GB, 32-bit"`,
				"The times are of A100-SXM-40GB, 32-bit and the link is of H100-SXM-80GB", "The loss has no cost.",
				`"kind": "infeasible"`}},
	} {
		o := memtide(t, t.Context(), words(c.line)...)
		for _, want := range c.want {
			if o.code != 1 || !strings.Contains(o.stdout, want) {
				t.Errorf("memtide %s: exit status %d, %s\nwant 1 and %q", c.line, o.code, o.stdout, want)
			}
		}
	}
}
