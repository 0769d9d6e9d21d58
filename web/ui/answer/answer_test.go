//go:build !js

package answer

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// alone gives a state a picture and a network of its own, to be changed.
func alone(t *testing.T) (*state.State, *known.Picture) {
	t.Helper()
	s := pagetest.First(t)
	picture, solved, trace, network, profile := *s.Shown, *s.Shown.Solved, *s.Shown.Solved.Trace, *s.Network, *s.Network.Profile
	solved.Trace, network.Profile = &trace, &profile
	picture.Solved, picture.Network = &solved, &network
	s.Shown, s.Network = &picture, &network
	return s, &picture
}

// The answer is of one of these kinds, and green only where nothing speaks against it.
func TestAnswer(t *testing.T) {
	const mib = engine.MiB
	for name, c := range map[string]struct {
		change         func(*state.State, *known.Picture)
		kind, sentence string
	}{
		"fits": {func(*state.State, *known.Picture) {}, "fits", "Fits: 2.58 of 15.8 GiB on one V100, 11 % slower than if everything fitted."},
		"no slower": {func(s *state.State, p *known.Picture) { p.Solved.Trace.Makespan = p.Solved.KeepAll.StepTime }, "fits",
			"Fits: 2.58 of 15.8 GiB on one V100, no slower than if everything fitted."},
		"sizes by a rule of thumb": {func(s *state.State, p *known.Picture) { p.Network.Profile.Source.Sizes = profiles.Estimated }, "probably",
			"Probably fits: 2.58 of 15.8 GiB on one V100, 11 % slower than if everything fitted."},
		"the allocator may take it": {func(s *state.State, p *known.Picture) { p.Choice.Device, p.Solved.Trace.Peak = "gtx-970", 3700*mib }, "may-not",
			"May not fit: 3.61 to 4.83 GiB with CUDA and the allocator; one GTX 970 has 3.94 GiB."},
		"the allocator hardly takes it": {func(s *state.State, p *known.Picture) { p.Choice.Device, p.Solved.Trace.Peak = "gtx-970", 2900*mib }, "probably",
			"Probably fits: 2.83 to 4 GiB with CUDA and the allocator; one GTX 970 has 3.94 GiB."},
		"more than the device has": {func(s *state.State, p *known.Picture) { p.Choice.Device, p.Solved.Trace.Peak = "gtx-970", 5000*mib }, "not",
			"Does not fit: 4.88 GiB is needed, and one GTX 970 has 3.94 GiB."},
		"no plan can help": {func(s *state.State, p *known.Picture) {
			p.Choice.Device, p.Solved.Trace.Peak, p.Network.Totals.Resident = "gtx-970", 5000*mib, 4500*mib
		}, "not", "Does not fit: 4.39 GiB is needed before the first layer runs; one GTX 970 has 3.94 GiB."},
		"nobody knows the device": {func(s *state.State, p *known.Picture) {
			p.Choice.Device, p.Choice.Source = "", state.Source{File: "mine.csv"}
		}, "needs", "Needs 2.58 GiB, 11 % slower than if everything fitted."},
		"too small a budget": {func(s *state.State, p *known.Picture) {
			s.OverBudget = &state.OverBudget{Budget: 1 << 30, Smallest: 1200 * mib}
		}, "not", "Does not fit in 1 GiB: Best choice of blocks needs 1.18 GiB at least."},
		"no check": {func(s *state.State, p *known.Picture) {
			p.Solved.Verdict.Verified, p.Solved.Verdict.Problem = false, "value 3 is read before it is there"
		}, "failed",
			"Check failed: value 3 is read before it is there."},
		"no strategy": {func(s *state.State, p *known.Picture) {
			s.Choice.Strategy, s.Alert = "dynprog", &state.Alert{Text: "It does not apply."}
		}, "none", "No answer: It does not apply."},
		"nothing yet": {func(s *state.State, p *known.Picture) { s.Shown = nil }, "working", "Starting…"},
	} {
		s, p := alone(t)
		c.change(s, p)
		a := &Answer{S: s}
		if kind, sentence := a.Kind(), a.Word()+a.Sentence(); kind != c.kind || sentence != c.sentence {
			t.Errorf("%s:\ngot  %s %q\nwant %s %q", name, kind, sentence, c.kind, c.sentence)
		}
		if got, want := strings.NewReplacer(`<span class="roomy">`, "", "</span>", "").Replace(string(a.Say())), a.Sentence(); got != want {
			t.Errorf("%s: the page says %q; want %q, with spans around what a phone leaves out", name, got, want)
		}
	}
}

// The bar has what lies there at the peak, and its pieces fill it without a gap.
func TestBar(t *testing.T) {
	s, _ := alone(t)
	a := &Answer{S: s}
	if got, want := a.BarLabel(), "Memory at the peak of the step: weights 170 MiB, gradients 170 MiB, optimizer 170 MiB, buffers 412 KiB, gradients of activations 24.5 MiB, activations kept 2.06 GiB, 1.72 GiB more with everything kept, "+
		"one V100 has 15.8 GiB, keep everything: 4.3 GiB, budget 2.58 GiB"; got != want {
		t.Errorf("the bar says\n%q\nwant\n%q", got, want)
	}
	for _, p := range a.Parts() {
		if !strings.HasPrefix(p.Style, "left:") || !strings.Contains(p.Style, "%;width:") {
			t.Errorf("the piece %q lies at %q; want a share of the bar", p.Label, p.Style)
		}
	}
	s.Shown = nil
	if got := a.Parts(); got != nil {
		t.Errorf("without a schedule the bar has %v; want nothing", got)
	}
}

// The bar ends at the device if that is of its size; a peak beyond the device is
// marked from there on, and what is larger by far is left out.
func TestBarAndDevice(t *testing.T) {
	for _, c := range []struct {
		device string
		last   string // piece
		marks  string
	}{
		{"v100-pcie-16gb", "ghost 1.72 GiB more with everything kept", "one V100 has 15.8 GiB; keep everything: 4.3 GiB; budget 2.58 GiB"},
		{"h200-sxm-141gb", "ghost 1.72 GiB more with everything kept", "keep everything: 4.3 GiB; budget 2.58 GiB; at the peak of the step"},
		{"gtx-970", "ghost beyond 374 MiB too much", "one GTX 970 has 3.94 GiB; budget 2.58 GiB; at the peak of the step; 1.36 GiB of the card unused"},
	} {
		s, p := alone(t)
		p.Choice.Device = c.device
		a := &Answer{S: s}
		parts := a.Parts()
		last := parts[len(parts)-1]
		for _, part := range parts {
			if part.Class == "ghost" && part.Label != "1.72 GiB more with everything kept" {
				t.Errorf("%s: the ghost says %q; want all that keeping everything takes more", c.device, part.Label)
			}
		}
		var marks []string
		for _, m := range a.Marks() {
			marks = append(marks, m.Label)
		}
		if got := last.Class + " " + last.Label; got != c.last || strings.Join(marks, "; ") != c.marks {
			t.Errorf("%s: the bar ends with %q and has the marks %q; want %q and %q", c.device, got, strings.Join(marks, "; "), c.last, c.marks)
		}
	}
	s := pagetest.First(t)
	for _, m := range []state.Message{state.SetVariant{Options: preset.Options{Batch: 64}}, state.SetGPU{ID: "gtx-970"}, state.SetBudget{Bytes: 7 * engine.GiB, Settled: true}} {
		pagetest.Do(t, s, m)
	}
	peak, all := s.Shown.Solved.Trace.Peak, s.Shown.Solved.KeepAll.Peak
	parts := (&Answer{S: s}).Parts()
	last := parts[len(parts)-1]
	if over := format.Bytes(peak - Device(s.Choice).Memory); last.Class != "ghost beyond past" || last.Label != over+" too much" || peak > all {
		t.Errorf("a peak of %d is marked by %q as %q; want that %s is too much", peak, last.Class, last.Label, over)
	}
}

// A layer that is sent and computed again counts as both, as the story says it.
func TestDeedsCountBoth(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.SetStrategy{Name: "pofo"})
	layers, by := s.Shown.Model().Tally()
	both := by[sim.Offload|sim.Recompute]
	want := fmt.Sprintf("This plan sends %d of the %d layers to the host and back and computes %d again.", by[sim.Offload]+both, layers, by[sim.Recompute]+both)
	if got := deeds(s.Shown); both == 0 || got != want {
		t.Errorf("%v:\ngot  %s\nwant %s, and some layers that are both", by, got, want)
	}
}

// An answer is late while another question is being solved, and only then.
func TestLate(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		name   string
		change func()
		want   string
	}{
		{"solved", func() {}, "false"},
		{"the same is solved again", func() { s.Solving = new(state.Solving) }, "false"},
		{"another budget", func() { s.Choice.Budget = choice.Budget{Bytes: engine.GiB} }, "true"},
		{"a preview of it", func() { s.Preview = s.Shown }, "false"},
	} {
		if c.change(); (&Answer{S: s}).Late() != c.want {
			t.Errorf("%s: late is %s; want %s", c.name, (&Answer{S: s}).Late(), c.want)
		}
	}
}
