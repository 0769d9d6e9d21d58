package preset

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

// measuredApart are the devices whose link is known in each direction.
var measuredApart = map[string]bool{"gh200-96gb-single": true, "gh200-96gb-quad": true, "gh200-144gb-single": true}

// TestDevices checks that every device is fit for links and complete, and that
// its link says honestly where its rate comes from.
func TestDevices(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Devices() {
		if !linkSafe(d.ID) || seen[d.ID] {
			t.Errorf("device id %q: want unique, lower case, digits and hyphens", d.ID)
		}
		seen[d.ID] = true
		if got := LookupDevice(d.ID); got == nil || *got != d {
			t.Errorf("LookupDevice(%q) = %+v; want %+v", d.ID, got, d)
		}
		if d.Name == "" || d.Link == "" || d.Source == "" || d.Memory <= 0 || d.MemoryRate <= 0 || d.FP32 <= 0 {
			t.Errorf("device %q: a field is missing: %+v", d.ID, d)
		}
		if alike := d.ToDev == d.ToHost; alike == measuredApart[d.ID] || d.Duplex != engine.HalfDuplex {
			t.Errorf("device %q: %d to the host, %d to the device, %v duplex; want them apart only where they were measured, and half", d.ID, d.ToHost, d.ToDev, d.Duplex)
		}
		if d.Instead != "" && (LookupDevice(d.Instead) == nil || LookupDevice(d.Instead).Instead != "") {
			t.Errorf("device %q is replaced by %q, which is not in the list or replaced itself", d.ID, d.Instead)
		}
		if d.ToDev <= 0 || d.ToDev > d.LinkPeak {
			t.Errorf("device %q: a rate of %d on a link of %d", d.ID, d.ToDev, d.LinkPeak)
		}
		words := map[profiles.Origin]string{profiles.Estimated: "estimate", TheoreticalPeak: "theoretical peak", profiles.Measured: "measured"}
		if word := words[d.LinkOrigin]; word == "" || !strings.Contains(d.Source, word) {
			t.Errorf("device %q: a link of origin %q, but the source does not say so: %s", d.ID, d.LinkOrigin, d.Source)
		}
		if (d.LinkOrigin == TheoreticalPeak) != (d.ToDev == d.LinkPeak) {
			t.Errorf("device %q: rate %d, peak %d, origin %q", d.ID, d.ToDev, d.LinkPeak, d.LinkOrigin)
		}
	}
	if d := LookupDevice("v100"); d != nil {
		t.Errorf(`LookupDevice("v100") = %v; want nil`, d)
	}
	// Beaumont et al. (2020), section 6: 15.75 GiB and 12.5 GB/s.
	d := DefaultDevice()
	if d.Memory != 16_911_433_728 || d.ToHost != 12_500_000_000 || d.LinkOrigin != profiles.Measured {
		t.Errorf("default device %+v; want 15.75 GiB and a measured 12.5 GB/s", d)
	}
	d.Memory = 0
	if DefaultDevice().Memory == 0 {
		t.Error("writing to the result of DefaultDevice changed the table")
	}
}

// TestDeviceFigures compares the table with the collected figures: same devices
// in the same order and first, same rates; estimated links are those named as such there.
func TestDeviceFigures(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "data", "devices.json")
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("the collected figures are not here (%s); TestDevices checks the table without them", path)
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
	if len(file.Devices) > len(devices) {
		t.Fatalf("%d devices; want %d at least", len(devices), len(file.Devices))
	}
	uncertain, _, _ := strings.Cut(file.Uncertain, " are common")
	for i, f := range file.Devices {
		d := devices[i]
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
				t.Errorf("%s (%s): memory, fp32, fp16, memory rate, link peak, link = %v; want %v", d.ID, f.Name, got, want)
				break
			}
		}
		if d.LinkOrigin != origin {
			t.Errorf("%s (%s): link of origin %q; want %q", d.ID, f.Name, d.LinkOrigin, origin)
		}
	}
}
