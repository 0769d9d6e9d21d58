package family_test

import (
	"testing"

	"memtide/profiles/llm/ask"
	"memtide/profiles/llm/family"
)

// TestDiffusers checks that the known diffusion transformers have the parameters of the published ones, according
// to their model cards and the sizes of their files.
func TestDiffusers(t *testing.T) {
	want := map[string]int64{"flux1-dev": 11_901_408_320, "hunyuanvideo": 12_821_012_544,
		"qwen-image": 20_430_401_088, "sd-1.5": 859_520_964, "sdxl-base-1.0": 2_567_463_684,
		"wan2.1-1.3b": 1_418_996_800, "wan2.1-14b": 14_288_491_584}
	for _, known := range ask.Diffusers {
		name := known.ID
		if m := family.Diffuser(name); m == nil || m.Params() != want[name] || m.Latents == nil {
			t.Errorf("%s is %v; want %d parameters and latents", name, m, want[name])
		}
	}
	if len(ask.Diffusers) != len(want) {
		t.Errorf("known are %v; want %d of them", ask.Diffusers, len(want))
	}
	if m := family.Diffuser("wan9"); m != nil {
		t.Errorf("wan9 is %v; want none", m)
	}
}
