//go:build !js

package controls

import (
	"strings"
	"testing"

	"memtide/profiles"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestOrigins checks that the page says of every kind of number where it comes from.
func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		ref, device string
		want        map[string]string // beginnings of the texts, by kind of number
		efficiency  string
		assumed     string
	}{
		{"resnet50-b8", "v100-pcie-16gb",
			map[string]string{"times": "computed, for Tesla V100", "sizes": "exact", "device": "one model, fitted",
				"host link": "measured, PCIe 3 x16 of V100", "results": "simulated"},
			"", "fitted to a trace; or % of the peak"},
		{"resnet50-30pct-b8", "v100-pcie-16gb",
			map[string]string{"times": "estimated, for V100-PCIE-16GB, 32-bit", "sizes": "exact",
				"device": "14 TFLOP/s in f32, 900 GB/s", "host link": "measured", "results": "simulated"},
			"30", "% of the peak; empty: as fitted to a trace"},
		{"resnet50-f16-on-a100-sxm-40gb-b8", "h100-sxm-80gb",
			map[string]string{"times": "estimated, for A100-SXM-40GB, 16-bit", "sizes": "exact",
				"device": "312 TFLOP/s in f16, 1.56 TB/s", "host link": "estimated, PCIe 5 x16 of H100",
				"results": "simulated"},
			"45", "% of the peak, assumed"},
		{"gpt2-step-512tok-on-rtx-4090-b1", "rtx-4090", map[string]string{"times": "estimated, for RTX 4090",
			"sizes": "computed", "device": "165.2 TFLOP/s in bf16", "host link": "estimated, PCIe 4", "results": "simulated"},
			"", "% of the peak; empty: as noted below"},
		{"gpt2-medium-20pct-b1", "", map[string]string{"times": "estimated", "sizes": "computed",
			"device": "112 TFLOP/s in f16", "host link": "your own, 12.5 GB/s", "results": "simulated"},
			"20", "% of the peak; empty: 40 %, assumed"},
	} {
		s := pagetest.Preset(t, c.ref)
		s.Choice.Device = c.device
		about := About{S: s}
		got := origins(about.S)
		if len(got) != len(c.want) {
			t.Errorf("%s: %d origins; want %d: %+v", c.ref, len(got), len(c.want), got)
		}
		for _, o := range got {
			if want := c.want[o.What]; want == "" || !strings.HasPrefix(o.How, want) || len(o.Title) < 20 {
				t.Errorf("%s: %s: %q (%s); want %q and an explanation", c.ref, o.What, o.How, o.Title, want)
			}
		}
		if e, a := about.Efficiency(), about.Assumed(); e != c.efficiency || a != c.assumed || !about.Adjustable() {
			t.Errorf("%s: efficiency %q %q, adjustable %t; want %q %q", c.ref, e, a, about.Adjustable(), c.efficiency,
				c.assumed)
		}
		if p := about.Paper(); strings.Contains(c.ref, "-step-") {
			continue // described by its config.json
		} else if !strings.HasPrefix(p, "https://") || strings.Contains(about.PaperName(), "https") {
			t.Errorf("%s: described in %q, %q; want an address and its name", c.ref, p, about.PaperName())
		}
	}
}

// TestOriginsOfFile checks that a file has its own origins and no efficiency, and that the page does not link to
// an address in it that is not a web address.
func TestOriginsOfFile(t *testing.T) {
	s := pagetest.Preset(t, "lemma3-b1")
	if about := (About{S: s}); about.Adjustable() || about.Efficiency() != "" {
		t.Errorf("made by hand: efficiency %q; want none", about.Efficiency())
	}
	profile := *s.Network.Profile
	profile.Source = profiles.Source{Times: profiles.Measured, Device: "my GPU", URL: "javascript:alert(1)"}
	file := *s.Network
	file.Source, file.Profile = state.Source{File: "mine.json"}, &profile
	s.Network, s.Choice.Source = &file, file.Source
	about := About{S: s}
	if got := origins(about.S); got[0].How != "measured, for my GPU" || got[1].What != "host link" ||
		about.Paper() != "" || about.Adjustable() {
		t.Errorf("a file: origins %+v, address %q; want its own, and no address", got, about.Paper())
	}
}

// TestTimesInNotes checks that times in notes and findings have the same form as everywhere else on the page.
func TestTimesInNotes(t *testing.T) {
	s := pagetest.Preset(t, "resnet50-b8")
	n := *s.Network
	p := *n.Profile
	p.Source.Notes = []string{"1.234567ms of synchronization was taken off each of 12 times."}
	n.Profile, n.Lint = &p, []string{"One step takes 1m3.5s: too large.", "b", "c", "d", "e", "250µs", "g"}
	s.Network = &n
	about := About{S: s}
	if got, want := about.Notes(), "1.23 ms of synchronization was taken off each of 12 times."; len(got) != 1 ||
		got[0] != want {
		t.Errorf("the notes are %q; want %q", got, want)
	}
	if got, want := about.Lint(), "One step takes 63.5 s: too large."; len(got) != 6 || got[0] != want ||
		got[5] != "and 2 more" {
		t.Errorf("the findings are %q; want six, with %q first", got, want)
	}
	s.Shown.Solved.Claim.Notes = nil
	if got := about.Schedule(); len(got) != 0 {
		t.Errorf("a schedule without notes has %q", got)
	}
	s.Shown.Solved.Claim.Notes = []string{"It takes 15.5ms.", "Nothing is moved."}
	if got := about.Schedule(); len(got) != 2 || got[0] != "Keep everything: It takes 15.5 ms." ||
		got[1] != "Nothing is moved." {
		t.Errorf("the notes on the schedule are %q; want the strategy before the first", got)
	}
}
