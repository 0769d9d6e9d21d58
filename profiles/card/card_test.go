package card

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
)

// apart lists the cards whose link was measured in each direction, and cards that are assumed to be like them.
var apart = map[string]bool{"gh200-96gb-single": true, "gh200-96gb-quad": true, "gh200-144gb-single": true,
	"gb200": true, "gb300": true}

// TestCards checks that every device has all its fields and an id that links can contain, and that the origin of
// its link's rate fits the rate.
func TestCards(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range All() {
		if strings.Trim(d.ID, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || seen[d.ID] {
			t.Errorf("device id %q: want unique, lower case, digits and hyphens", d.ID)
		}
		seen[d.ID] = true
		if got := Lookup(d.ID); got == nil || *got != d {
			t.Errorf("Lookup(%q) = %+v; want %+v", d.ID, got, d)
		}
		if d.Name == "" || d.Link == "" || d.Source == "" || d.Memory <= 0 || d.MemoryRate <= 0 ||
			d.Peak("f32") <= 0 && d.Kind != Shared {
			t.Errorf("device %q: a field is missing: %+v", d.ID, d)
		}
		if alike := d.ToDev == d.ToHost; alike == apart[d.ID] || d.Duplex != engine.HalfDuplex {
			t.Errorf("device %q: %d to the host, %d to the device, %v duplex; want them apart only where they were measured, and half", d.ID, d.ToHost, d.ToDev, d.Duplex)
		}
		if (d.Unsourced != "") != strings.Contains(d.Source, "no source at hand confirms its "+d.Unsourced) {
			t.Errorf("device %q: no source for %q, but the sources are %q", d.ID, d.Unsourced, d.Source)
		}
		if d.Instead != "" && (Lookup(d.Instead) == nil || Lookup(d.Instead).Instead != "") {
			t.Errorf("device %q is replaced by %q, which is not in the list or replaced itself", d.ID, d.Instead)
		}
		if d.LinkOrigin == profiles.Unknown {
			if d.ToDev != 0 || d.ToHost != 0 {
				t.Errorf("device %q: a link of no origin with a rate of %d", d.ID, d.ToDev)
			}
			continue
		}
		if d.ToDev <= 0 || d.ToDev > d.LinkPeak {
			t.Errorf("device %q: a rate of %d on a link of %d", d.ID, d.ToDev, d.LinkPeak)
		}
		words := map[profiles.Origin]string{profiles.Estimated: "estimate", TheoreticalPeak: "theoretical peak",
			profiles.Measured: "measured"}
		if word := words[d.LinkOrigin]; word == "" || !strings.Contains(d.Source, word) {
			t.Errorf("device %q: a link of origin %q, but the source does not say so: %s", d.ID, d.LinkOrigin, d.Source)
		}
		if (d.LinkOrigin == TheoreticalPeak) != (d.ToDev == d.LinkPeak) {
			t.Errorf("device %q: rate %d, peak %d, origin %q", d.ID, d.ToDev, d.LinkPeak, d.LinkOrigin)
		}
	}
	if d := Lookup("v100"); d != nil {
		t.Errorf(`Lookup("v100") = %v; want nil`, d)
	}
	// Beaumont et al. (2020), section 6: 15.75 GiB and 12.5 GB/s.
	d := Default()
	if d.Memory != 16_911_433_728 || d.ToHost != 12_500_000_000 || d.LinkOrigin != profiles.Measured {
		t.Errorf("default device %+v; want 15.75 GiB and a measured 12.5 GB/s", d)
	}
	d.Memory = 0
	if Default().Memory == 0 {
		t.Error("writing to the result of DefaultDevice changed the table")
	}
}

// TestCalled checks that a card is found by what people call it if that means no other card, and that a refusal names
// the few that may be meant.
func TestCalled(t *testing.T) {
	for name, want := range map[string]string{"4090": "rtx-4090", "rtx4090": "rtx-4090", "RTX 4090": "rtx-4090",
		"NVIDIA GeForce RTX 4090": "rtx-4090", "A100 80GB": "a100-80gb", "H100 SXM": "h100", "a6000": "rtx-a6000",
		"RTX 3060 12GB": "rtx-3060", "AMD MI300X": "mi300x", "a100-sxm-80gb": "a100-sxm-80gb", "24gib": "24gib",
		"RTX 970": "", "a100": "", "": "", "nvidia": ""} {
		got := ""
		if c := Lookup(name); c != nil {
			got = c.ID
		}
		if got != want {
			t.Errorf("%q is the card %q; want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"rtx-409": "did you mean rtx-4090?", "4060 ti": "did you mean rtx-4060-ti-16gb?",
		"A100": "did you mean a100-40gb or a100-80gb or a100-80gb-pcie?", "gtx-9700": "did you mean gtx-970?",
		"abacus": "known are gtx-970, gtx-1080-ti,", "rtx": "known are ", "": "known are "} {
		if got := Like(name); !strings.HasPrefix(got, want) {
			t.Errorf("%q is no card; %s; want %s", name, got, want)
		}
	}
}

// TestDeviceFigures compares the table with the collected figures. Both have the same devices in the same order,
// followed by others in the table, and the same rates. Links are estimated exactly where the figures call them
// uncertain.
func TestDeviceFigures(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "data", "devices.json")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("the collected figures are not here (%s); TestCards checks the table without them", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Devices []struct {
			Name   string   `json:"name"`
			Memory float64  `json:"mem_GB"`
			Usable float64  `json:"usable_GiB"`
			FP32   float64  `json:"fp32_TF"`
			FP16   float64  `json:"fp16_TF"`
			Rate   float64  `json:"hbm_GBs"`
			Peak   float64  `json:"h2d_theo_GBs"`
			Meas   *float64 `json:"h2d_meas_GBs"`
		} `json:"devices"`
		Uncertain string `json:"uncertain"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(file.Devices) > len(cards) {
		t.Fatalf("%d devices; want %d at least", len(cards), len(file.Devices))
	}
	uncertain, _, _ := strings.Cut(file.Uncertain, " are common")
	for i, f := range file.Devices {
		d := cards[i]
		usable, link, origin := f.Memory*0.984375, f.Peak, TheoreticalPeak
		if f.Usable > 0 {
			usable = f.Usable
		}
		if f.Meas != nil {
			link, origin = *f.Meas, profiles.Measured
			family, _, _ := strings.Cut(f.Name, "-")
			if family == "V100" {
				family = strings.Join(strings.SplitN(f.Name, "-", 3)[:2], "-")
			}
			if strings.Contains(uncertain, family) {
				origin = profiles.Estimated
			}
		}
		got := [6]float64{float64(d.Memory) / (1 << 30), float64(d.FP32) / 1e12, float64(d.FP16) / 1e12,
			float64(d.MemoryRate) / 1e9, float64(d.LinkPeak) / 1e9, float64(d.ToDev) / 1e9}
		want := [6]float64{usable, f.FP32, f.FP16, f.Rate, f.Peak, link}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-6 {
				t.Errorf("%s (%s): memory, fp32, fp16, memory rate, link peak, link = %v; want %v", d.ID, f.Name,
					got, want)
				break
			}
		}
		if d.LinkOrigin != origin {
			t.Errorf("%s (%s): link of origin %q; want %q", d.ID, f.Name, d.LinkOrigin, origin)
		}
	}
}

// TestOwn checks that the id of a card of one's own spells its figures and is read back unchanged. Impossible
// figures are refused.
func TestOwn(t *testing.T) {
	for _, c := range []struct {
		own Own
		id  string
	}{
		{Own{Memory: 24 * engine.GiB}, "24gib"},
		{Own{Memory: 24564 * engine.MiB, Link: 12_500_000_000}, "24564mib-link12500mbps"},
		{Own{Memory: 24 * engine.GiB, Link: 25 * gb, Rate: 165e12}, "24gib-link25gbps-rate165tflops"},
		{Own{Memory: 16 << 10 * engine.GiB, Link: mostRate, Rate: mostFlops, Own: mostRate},
			"16384gib-link100000gbps-rate1000000tflops-own100000gbps"},
		{Own{Memory: 80 * engine.GiB, Rate: 1_307_500_000_000_000, Own: 5300 * gb},
			"80gib-rate1307500gflops-own5300gbps"},
	} {
		d := Lookup(c.id)
		if id := c.own.ID(); id != c.id || d == nil {
			t.Errorf("%+v is spelled %s and found as %v; want %s", c.own, id, d, c.id)
			continue
		}
		if d.Memory != c.own.Memory || c.own.Link > 0 && d.ToDev != c.own.Link || d.FP16 != c.own.Rate ||
			c.own.Own > 0 && d.MemoryRate != c.own.Own || d.Timed() != (c.own.Rate > 0) {
			t.Errorf("%s: %+v; want the figures of %+v", c.id, d, c.own)
		}
		if id, rest := Cut(c.id + "-b32"); id != c.id || rest != "-b32" {
			t.Errorf("%s-b32 begins with %q, then %q; want the id and -b32", c.id, id, rest)
		}
	}
	for _, id := range []string{"", "24", "24gb", "0gib", "024gib", "1mib", "20000gib", "9999999999mib", "24gib-",
		"24gib-x", "24gib-link0gbps", "24gib-link1000000gbps", "24gib-rate1tflop", "24gib-rate1gbps",
		"24gib-rate5tflops-link5gbps", "-24gib"} {
		if d := Lookup(id); d != nil {
			t.Errorf("%q is found as %s; want nothing", id, d.ID)
		}
	}
}

// TestPrecisions checks the precisions of cards: no bf16 before Ampere, and no FP8 before Ada and Hopper.
func TestPrecisions(t *testing.T) {
	for _, c := range []struct {
		id        string
		bf16, fp8 bool
		mib       engine.Bytes
	}{
		{"t4", false, false, 15_360}, {"v100-pcie-16gb", false, false, 16_128}, {"k40", false, false, 11_441},
		{"a100-80gb", true, false, 81_920},
		{"rtx-3090", true, false, 24_576}, {"rtx-4090", true, true, 24_564}, {"l4", true, true, 23_034},
		{"h100", true, true, 81_559}, {"rtx-3060", true, false, 12_288}, {"rtx-5080", true, true, 16_303},
		{"mi300x", true, true, 196_592},
	} {
		d := Lookup(c.id)
		if d == nil || d.BF16() != c.bf16 || (d.FP8 > 0) != c.fp8 || d.Memory != c.mib*engine.MiB {
			t.Errorf("%s: %+v; want bf16 %t, 8 bits %t, %d MiB", c.id, d, c.bf16, c.fp8, c.mib)
		}
	}
}

// TestFind checks that cards are found under the various names that reports of runs give them.
func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"A100-40G": "a100-40gb", "A100-80G": "a100-80gb", "8xA100": "a100-80gb", "H100": "h100",
		"NVIDIA H100 PCIe": "h100-pcie", "H100-96G": "h100-96gb",
		"GH200": "gh200-96gb-single", "H200": "h200", "GB200": "gb200", "B200": "b200", "GB300": "gb300",
		"L40S": "l40s", "L4": "l4", "GeForce RTX 4060 Ti 16GB": "rtx-4060-ti-16gb", "5080": "rtx-5080", "RTX 4090": "rtx-4090",
		"4090": "rtx-4090", "RTX 6000 Ada": "rtx-6000-ada", "A6000": "rtx-a6000", "V100": DefaultID,
		"MI300X": "mi300x", "T4": "t4", "abacus": "", "": "",
	} {
		got := ""
		if d := Find(text); d != nil {
			got = d.ID
		}
		if got != want {
			t.Errorf("%q is %q; want %q", text, got, want)
		}
	}
}
