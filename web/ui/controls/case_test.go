//go:build !js

package controls

import (
	"slices"
	"strings"
	"testing"

	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// A GPU is one choice: memory, link, times, and a budget that it is likely to serve.
// Another batch keeps that budget; another network gets its own.
func TestOneGPU(t *testing.T) {
	s := pagetest.First(t)
	room := func(id string) choice.Budget { return choice.Budget{Bytes: choice.Usable(card.Lookup(id).Memory)} }
	for _, c := range []struct {
		do     state.Message
		preset string
		budget choice.Budget
	}{
		{state.SetGPU{ID: "a100-sxm-40gb"}, "resnet101-on-a100-sxm-40gb-b32", room("a100-sxm-40gb")},
		{state.SetVariant{Options: preset.Options{Batch: 512}}, "resnet101-on-a100-sxm-40gb-b512", room("a100-sxm-40gb")},
		{state.SetGPU{ID: "h100-sxm-80gb"}, "resnet101-on-h100-sxm-80gb-b512", room("h100-sxm-80gb")},
		{state.PickNetwork{ID: "resnet50"}, "resnet50-on-h100-sxm-80gb-b32", room("h100-sxm-80gb")},
		{state.SetVariant{Options: preset.Options{Batch: 2048}}, "resnet50-on-h100-sxm-80gb-b2048", room("h100-sxm-80gb")},
	} {
		pagetest.Do(t, s, c.do)
		if got := s.Choice; got.Source.Preset != c.preset || got.Budget != c.budget || got.Device != got.GPU().ID {
			t.Fatalf("%+v: %s on %q in %v; want %s in %v", c.do, got.Source.Preset, got.Device, got.Budget, c.preset, c.budget)
		}
	}
	unit, n := known.Trained(s.Shown.Choice, s.Shown.Network)
	if unit != "samples" || n != 2048 {
		t.Errorf("a step trains with %d %s; want 2048 samples", n, unit)
	}
	pagetest.Do(t, s, state.PickNetwork{ID: "gpt2"})
	if unit, n = known.Trained(s.Shown.Choice, s.Shown.Network); unit != "tokens" || n != 8*1024 {
		t.Errorf("a step of GPT-2 trains with %d %s; want 8192 tokens", n, unit)
	}
}

// A device that was replaced is listed for those alone who chose it by a link.
func TestReplacedGPU(t *testing.T) {
	s := pagetest.First(t)
	listed := func() (out []string) {
		for _, g := range (&Case{S: s}).GPUs() {
			for _, o := range g.Options {
				if strings.HasPrefix(o.ID, "gh200") {
					out = append(out, o.ID)
				}
			}
		}
		return out
	}
	now := []string{"gh200-96gb-single", "gh200-96gb-quad", "gh200-144gb-single"}
	if got := listed(); !slices.Equal(got, now) {
		t.Errorf("the list has %q; want %q", got, now)
	}
	s.Choice.Device = "gh200-96gb"
	if got, want := listed(), append([]string{"gh200-96gb"}, now...); !slices.Equal(got, want) {
		t.Errorf("with the old one chosen the list has %q; want %q", got, want)
	}
}

// The sentence names the optimizer of the variant that is open, with what its states are.
func TestOptimizerOfVariant(t *testing.T) {
	for _, c := range []struct{ ref, want string }{
		{"llama3-8b-step-b1", "with AdamW"},
		{"llama3-8b-step-optimizer.adamw_8bit-states.bf16-b1", "with 8-bit AdamW, bf16 states"},
		{"resnet50-b32", ""},
		{"resnet50-adamw-b32", "with AdamW"},
	} {
		s := state.New()
		s.Choice.Source.Preset = c.ref
		if got := (&Case{S: s}).Optimizer(); got != c.want {
			t.Errorf("%s: %q; want %q", c.ref, got, c.want)
		}
	}
}
