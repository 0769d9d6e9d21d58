//go:build !js

package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestBeyondCard checks that the verdict says what is needed and what the card has if no plan fits it, and that if
// weights, gradients and optimizer alone are too much, it says so. Neither offers a budget that the card does not have.
func TestBeyondCard(t *testing.T) {
	for ref, want := range map[string][2]string{
		"llama3-8b-step-2048tok-on-rtx-4090-b1": {"weights, gradients and optimizer alone need 120 GiB; one RTX 4090 has 24 GiB.",
			"GiB."},
		"llama3-8b-step-lora.16-65536tok-on-rtx-4090-b1": {" GiB at least, one RTX 4090 has 24 GiB.", "blocks again."},
		"qwen3-8b-step-lora.16-on-rtx-4090-b1":           {" GiB at least, one RTX 4090 has 24 GiB.", "blocks again."},
	} {
		s := pagetest.Preset(t, ref)
		pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
		a := &Answer{S: s}
		if got := a.Sentence(); s.OverBudget == nil || a.Word() != Words[DoesNot] || !strings.HasSuffix(got, want[0]) {
			t.Errorf("%s: the first line is %q; want %q", ref, got, want[0])
		}
		if got := a.Sub(); !strings.HasSuffix(got, want[1]) || a.Smallest() != "" {
			t.Errorf("%s: the second line is %q, the button %q; want %q and none", ref, got, a.Smallest(), want[1])
		}
		if needs := known.AtWorst(s.Choice, s.Network, s.OverBudget.Smallest); !Hopeless(s) {
			past := fmt.Sprintf(wordsTooMuch, format.Bytes(needs-card.Lookup("rtx-4090").Memory))
			if labels := fmt.Sprint(a.Parts()); !strings.Contains(labels, past) ||
				!strings.Contains(a.Sentence(), " to "+format.Bytes(needs)) {
				t.Errorf("%s: %q and the bar %s; want the same need of %s", ref, a.Sentence(), labels, format.Bytes(needs))
			}
		}
		line := across(card.Lookup("rtx-4090").Memory, Scale(s, s.Shown))
		for _, top := range a.Tops() {
			var at float64 // in per cent
			fmt.Sscanf(top.Style, "left:%f%%", &at)
			if half := letter * float64(len(top.Label)) / 2; math.Abs(at*barWidth/100-line) < half {
				t.Errorf("%s: %q lies across the card's line at %.0f px: %s", ref, top.Label, line, top.Style)
			}
		}
	}
}

// TestTooMuch checks that the bar and the sentence say how much keeping everything needs, with allocator and CUDA, when
// it was played with the policies, and before that only what it exceeds.
func TestTooMuch(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-4096tok-lora.8-on-h100-b2")
	pagetest.Do(t, s, state.SetStrategy{Name: "rotor"}, state.SetGPU{ID: "rtx-4090"})
	s.View.Frame.Embed = true // which asks before the curve is complete
	var labels []string
	last := func() {
		a := &Answer{S: s}
		parts, mark := a.Parts(), a.Marks()[1]
		all, _, _ := strings.Cut(a.Sub(), ". ")
		labels = append(labels, parts[len(parts)-1].Label, mark.Label, all)
	}
	for _, e := range s.Update(state.ToggleMore{}) {
		if e, ok := e.(state.AskStep); ok {
			last()
			s.Update(state.Policed{ID: e.ID, Stepped: &proto.Stepped{Context: engine.GiB, High: 423 * engine.GiB}})
			last()
		}
	}
	want := []string{"too much", "keep everything: 29+ GiB", "Everything needs 29+ GiB",
		"400 GiB too much", "everything: 424 GiB →", "Everything needs 424 GiB"}
	if !slices.Equal(labels, want) {
		t.Errorf("bar and sentence say %q; want %q", labels, want)
	}
	s.View.Frame.Embed = false
	pagetest.Do(t, s, state.SetStrategy{Name: engine.KeepAll})
	if got := fmt.Sprint((&Answer{S: s}).Parts()); s.OverBudget == nil || !strings.Contains(got, "400 GiB too much") {
		t.Errorf("the bar of keeping everything is %s; want 400 GiB too much, as it was played", got)
	}
	for all, want := range map[engine.Bytes]string{1610 * engine.GiB: "1.57+ TiB", 300 * engine.GiB: "300+ GiB"} {
		if got := (&need{all: all}).everything(); got != want {
			t.Errorf("keeping everything, at least %d bytes: %q, want %q", all, got, want)
		}
	}
}

// TestHopeless checks that a step whose states alone are too much for its card has a verdict without a budget and a bar
// of states alone, and that it is no such step with a budget that a person chose, or where block swap helps.
func TestHopeless(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-2048tok-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"}, state.SetGPU{ID: "8gib"})
	a := &Answer{S: s}
	if !Hopeless(s) || a.Word() != Words[DoesNot] || !strings.Contains(Title(s), "states alone need") {
		t.Errorf("hopeless %t, %q, %q; want a word without a budget", Hopeless(s), a.Word(), Title(s))
	}
	if got, page := a.Late(), Late(s); got != "false" || page != "rest" {
		t.Errorf("the bar is late: %q, the numbers %q; want false, since it is about the states, and rest", got, page)
	}
	var bar engine.Bytes
	n, _ := a.bar()
	for _, p := range n.parts {
		bar += p.bytes
		if p.class != "fix" || p.name == "gradients" && p.bytes == 0 {
			t.Errorf("the bar has %s %d; want states alone", p.name, p.bytes)
		}
	}
	if bar != s.Network.Totals.States {
		t.Errorf("the bar has %d bytes; want %d", bar, s.Network.Totals.States)
	}
	if pagetest.Do(t, s, state.SetBudget{Bytes: 5 * engine.GiB, Settled: true}); Hopeless(s) {
		t.Error("with a budget that was chosen it has no pictures")
	}
	s = pagetest.Preset(t, "llama3.2-1b-step-256tok-lora.8-b1")
	if pagetest.Do(t, s, state.SetGPU{ID: "3gib"}); Hopeless(s) {
		t.Error("where block swap helps it has no pictures")
	}
	s.View.Frame.Embed = true // which asks before the curve is complete
	for _, e := range s.Update(state.ToggleMore{}) {
		if e, ok := e.(state.AskStep); ok {
			s.Update(state.Policed{ID: e.ID, Stepped: &proto.Stepped{Policies: []proto.StepChange{
				{Names: []string{"everything kept"}, High: 9 * engine.GiB, Time: 1},
				{Names: []string{"slow swap"}, Args: engine.Args{"ckpt": "full"}, High: engine.GiB, Time: 40},
				{Names: []string{"block swap"}, Args: engine.Args{"ckpt": "full"}, High: engine.GiB, Time: 30}}}})
		}
	}
	if got := (&Answer{S: s}).Sub(); got != "It fits with block swap." {
		t.Errorf("the second line is %q; want the fastest policy that fits", got)
	}
}

// TestAside checks that a range whose ends have two units says both.
func TestAside(t *testing.T) {
	for _, c := range []struct {
		low, high engine.Bytes
		want      string
	}{
		{0, 3 * engine.GiB, "allocator up to 3, CUDA 1 GiB"},
		{engine.GiB, 3 * engine.GiB, "allocator 1 to 3, CUDA 1 GiB"},
		{512 * engine.MiB, 3 * engine.GiB, "allocator 512 MiB to 3 GiB, CUDA 1 GiB"},
	} {
		n := &need{low: c.low, high: c.high, context: engine.GiB}
		if got := n.aside(); got != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
