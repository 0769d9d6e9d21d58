//go:build !js

package answer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/profiles/preset"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/format"
	"memtide/web/jobs"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// alone returns a page whose picture and network are copies, so that a test can change them. It also returns the
// picture.
func alone(t *testing.T) (*state.State, *known.Picture) {
	t.Helper()
	s := pagetest.First(t)
	picture, solved, trace, network, profile := *s.Shown, *s.Shown.Solved, *s.Shown.Solved.Trace, *s.Network,
		*s.Network.Profile
	solved.Trace, network.Profile = &trace, &profile
	picture.Solved, picture.Network = &solved, &network
	s.Shown, s.Network = &picture, &network
	return s, &picture
}

// TestAnswer checks the kind of the answer and its sentence, for each kind.
func TestAnswer(t *testing.T) {
	const mib = engine.MiB
	for name, c := range map[string]struct {
		change         func(*state.State, *known.Picture)
		kind, sentence string
	}{
		"fits": {func(*state.State, *known.Picture) {}, "fits",
			"Fits: 3.58 to 3.73 of 15.8 GiB, 11 % slower than if everything fitted. 12 GiB stay free."},
		"no slower": {func(s *state.State, p *known.Picture) { p.Solved.Trace.Makespan = p.Solved.KeepAll.StepTime },
			"fits",
			"Fits: 3.58 to 3.73 of 15.8 GiB, no slower. 12 GiB stay free."},
		"sizes by a rule of thumb": {func(s *state.State,
			p *known.Picture) {
			p.Network.Profile.Source.Sizes = profiles.Estimated
		}, "should",
			"Should fit: 3.58 to 3.73 of 15.8 GiB, 11 % slower than if everything fitted. Unsure: sizes are by formula."},
		"weights are not known": {func(s *state.State, p *known.Picture) {
			p.Network.Totals.States, p.Network.Profile.Source.Device = 0, "H100"
		}, "should",
			"Should fit: 3.58 to 3.73 of 15.8 GiB, 11 % slower than if everything fitted. Unsure: the file has no weights."},
		"times of another card": {func(s *state.State, p *known.Picture) { p.Choice.Device = "gtx-970" }, "fits",
			"Fits: 3.58 to 3.73 of 3.94 GiB, 11 % slower than if everything fitted. Unsure: times are those of the Tesla V100, 32-bit."},
		"the allocator may take it": {func(s *state.State, p *known.Picture) {
			p.Choice.Device,
				p.Solved.Trace.Peak = "gtx-970", 2900*mib
		}, "may-not",
			"May not fit: 3.83 to 4 of 3.94 GiB, 11 % slower than if everything fitted. Unsure: PyTorch’s allocator; times are those of the Tesla V100, 32-bit."},
		"more than the device has": {func(s *state.State, p *known.Picture) {
			p.Choice.Device,
				p.Solved.Trace.Peak = "gtx-970", 5000*mib
		}, "not",
			"Does not fit: 5.88 to 6.18 GiB needed, one GTX 970 has 3.94 GiB. Times are those of the Tesla V100, 32-bit."},
		"no plan can help": {func(s *state.State, p *known.Picture) {
			p.Choice.Device, p.Solved.Trace.Peak, p.Network.Totals.States = "gtx-970", 5000*mib, 4500*mib
		}, "not", "Does not fit: weights, gradients and optimizer alone need 4.39 GiB; one GTX 970 has 3.94 GiB. Times are those of the Tesla V100, 32-bit."},
		"nobody knows the device": {func(s *state.State, p *known.Picture) {
			p.Choice.Device, p.Choice.Source = "", state.Source{File: "mine.csv"}
		}, "needs", "Needs 2.58 GiB, 11 % slower than if everything fitted."},
		"too small a budget": {func(s *state.State, p *known.Picture) {
			s.OverBudget = &state.OverBudget{Budget: 1 << 30, Smallest: 1200 * mib}
		}, "not", "Does not fit in 1 GiB: Recompute needs 1.18 GiB at least."},
		"too small a budget, with times of another card": {func(s *state.State, p *known.Picture) {
			s.OverBudget, p.Choice.Device = &state.OverBudget{Budget: 1 << 30, Smallest: 1200 * mib}, "gtx-970"
		}, "not", "Does not fit in 1 GiB: Recompute needs 1.18 GiB at least. Times are those of the Tesla V100, 32-bit."},
		"no check": {func(s *state.State, p *known.Picture) {
			p.Solved.Verdict.Verified, p.Solved.Verdict.Problem = false, "value 3 is read before it is there"
		}, "failed",
			"Check failed: Value 3 is read before it is there."},
		"no strategy": {func(s *state.State, p *known.Picture) {
			s.Choice.Strategy, s.Alert = "dynprog", &state.Alert{Text: "It does not apply."}
		}, "none", "No answer: It does not apply."},
		"nothing yet": {func(s *state.State, p *known.Picture) { s.Shown = nil }, "working", "Starting…"},
	} {
		s, p := alone(t)
		c.change(s, p)
		a := &Answer{S: s}
		if kind, sentence := a.Kind(), strings.TrimSpace(a.Word()+a.Sentence()+" "+a.Unsure()); kind != c.kind ||
			sentence != c.sentence {
			t.Errorf("%s:\ngot  %s %q\nwant %s %q", name, kind, sentence, c.kind, c.sentence)
		}
		if got, want := strings.NewReplacer(`<span class="roomy">`, "", "</span>", "").Replace(string(a.Say())),
			a.Sentence(); got != want {
			t.Errorf("%s: the page says %q; want %q, with spans around what a phone leaves out", name, got, want)
		}
	}
}

// TestTitle checks that the title is the name of the open network with the verdict, unless the user has given it
// a title.
func TestTitle(t *testing.T) {
	s, _ := alone(t)
	name := s.Network.Profile.Name
	if got, want := Title(s), name+": 3.58 to 3.73 of 15.8 GiB, +11 %"; got != want {
		t.Errorf("the title is %q; want %q", got, want)
	}
	s.View.Frame.Title = "Mine"
	if got := Title(s); got != "Mine" {
		t.Errorf("the title is %q; want that of the link", got)
	}
}

// TestBar checks that the bar has everything that is in memory at the peak, in the order of the stack, and that
// its pieces fill it without a gap.
func TestBar(t *testing.T) {
	s, _ := alone(t)
	a := &Answer{S: s}
	if got, want := a.BarLabel(),
		"Memory at the peak of the step: weights 170 MiB, gradients 170 MiB, optimizer 170 MiB, buffers 412 KiB, gradients of activations 24.5 MiB, kept 2.06 GiB, "+
			"allocator, at worst 159 MiB, CUDA 1 GiB, one V100 has 15.8 GiB, plan may use 2.58 GiB"; got != want {
		t.Errorf("the bar says\n%s\nwant\n%s", got, want)
	}
	end := 0.0
	for _, p := range a.Parts() {
		var left, width float64
		if _, err := fmt.Sscanf(p.Style, "left:%f%%;width:%f%%", &left, &width); err != nil || left < end-0.01 ||
			left > end+0.01 {
			t.Errorf("the piece %q lies at %q; want it to begin at %.2f%%", p.Label, p.Style, end)
		}
		end = left + width
	}
	s.Shown = nil
	if got := a.Parts(); got != nil {
		t.Errorf("without a schedule the bar has %v; want nothing", got)
	}
}

// TestBarAndDevice checks that the bar ends at the memory of the card, or a little beyond it if something is
// longer. A peak that exceeds the card is marked from there on. Without a card, as for a file with rates of its own, it
// ends at keeping everything.
func TestBarAndDevice(t *testing.T) {
	for _, c := range []struct {
		device string
		last   string // the last piece
		marks  string
	}{
		{"v100-pcie-16gb", "cuda CUDA 1 GiB", "one V100 has 15.8 GiB; plan may use 2.58 GiB"},
		{"h200-sxm-141gb", "cuda CUDA 1 GiB", "one H200 has 139 GiB; plan may use 2.58 GiB"},
		{"", "fwd kept 2.06 GiB", "keep everything: 4.3 GiB; plan may use 2.58 GiB"},
		{"gtx-970", "ghost beyond 1.62 GiB too much",
			"one GTX 970 has 3.94 GiB; everything: 5.56 GiB →; plan may use 2.58 GiB; allocator up to 159 MiB, CUDA 1 GiB"},
		{"5gib", "ghost beyond 574 MiB too much", "one card has 5 GiB; keep everything: 5.56 GiB; plan may use 2.58 GiB"},
	} {
		s, p := alone(t)
		if p.Choice.Device, s.Choice.Device = c.device, c.device; c.device == "" {
			p.Choice.Source, s.Choice.Source = state.Source{}, state.Source{}
		}
		a := &Answer{S: s}
		parts := a.Parts()
		last := parts[len(parts)-1]
		var marks []string
		for _, m := range a.Marks() {
			marks = append(marks, m.Label)
		}
		if got := last.Class + " " + last.Label; got != c.last || strings.Join(marks, "; ") != c.marks {
			t.Errorf("%s: the bar ends with %q and has the marks %q; want %q and %q", c.device, got,
				strings.Join(marks, "; "), c.last, c.marks)
		}
		if m := a.Marks(); c.device == "5gib" && (m[1].Class != "keep beyond" || m[1].Style != m[0].Style) {
			t.Errorf("%q is %q at %q; want it to begin at the card's line, %q", m[1].Label, m[1].Class, m[1].Style,
				m[0].Style)
		}
	}
	s, p := alone(t)
	p.Choice.Device, s.Choice.Device, p.Solved.Trace.Peak = "gtx-970", "gtx-970", 4*engine.GiB
	p.Solved.KeepAll.Peak, s.Network.Totals.KeepAllPeak = 30*engine.GiB, 30*engine.GiB
	a := &Answer{S: s}
	parts, marks := a.Parts(), a.Marks()
	if last := parts[len(parts)-1]; last.Class != "ghost beyond past spills" || last.Label != "1.3 GiB too much" {
		t.Errorf("a peak beyond the card is marked by %q as %q; want what is too much", last.Class, last.Label)
	}
	if got := marks[1]; got.Label != "everything: 32.8 GiB →" || got.Style != "left:100%" {
		t.Errorf("what is longer than the bar is marked %+v; want that it goes on", got)
	}
	p.Choice.Device = "64mib" // less than the weights, and a small part of the bar
	if parts := a.Parts(); parts[0].Class != "fix unnamed" || parts[1].Class != "fix unnamed" {
		t.Errorf("weights and gradients are %q and %q; want no labels there, what is too much covers them",
			parts[0].Class, parts[1].Class)
	}
	n := &need{memory: engine.GiB, parts: []part{{"fix", "weights", 20 * engine.GiB}}}
	for whole, want := range map[engine.Bytes]int{8 * engine.GiB: 0, 80 * engine.GiB: 1} { // 130 and 13 px of it are free
		if got := len(n.covered("x", whole)); got != want {
			t.Errorf("of %d bytes, weights that begin in 1 GiB have %d labels behind it; want %d", whole, got, want)
		}
	}
	n = &need{memory: engine.GiB, parts: []part{{"fix", "weights", 2 * engine.GiB}, {"fix", "gradients", engine.GiB},
		{"fix", "optimizer", 2 * engine.GiB}, {"fwd", "kept", 2 * engine.GiB}}}
	for past, want := range map[string][]string{
		"3 GiB too much": {"gradients 1 GiB left:25%", "optimizer 2 GiB left:37.5%"},
		"a label that is so long that it covers gradients": {"optimizer 2 GiB left:44.8654%"}} {
		var labels []string
		for _, piece := range n.covered(past, 8*engine.GiB) {
			left, _, _ := strings.Cut(piece.Style, ";")
			labels = append(labels, piece.Label+" "+left)
		}
		if !slices.Equal(labels, want) {
			t.Errorf("behind %q are the labels %q; want %q", past, labels, want)
		}
	}
}

// TestDeedsAddUp checks that the counts of blocks add up to all of them.
func TestDeedsAddUp(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.SetStrategy{Name: "pofo"})
	layers, by := s.Shown.Index().Tally()
	want := fmt.Sprintf("This plan sends %d of the %d blocks to the host and back, computes %d again, does both with %d, keeps %d. Up to %s wait in host memory.",
		by[sim.Offload], layers, by[sim.Recompute], by[sim.Offload|sim.Recompute], by[sim.Keep],
		format.Bytes(s.Shown.Solved.Trace.HostPeak))
	if got := deeds(s.Shown); got != want ||
		by[sim.Offload]+by[sim.Recompute]+by[sim.Offload|sim.Recompute]+by[sim.Keep] != layers {
		t.Errorf("%v of %d:\ngot  %s\nwant %s", by, layers, got, want)
	}
}

// TestRoom checks that, if everything is kept, the second line says how many samples would fit, and that these do
// fit if the network is built with that batch, but half as many again do not.
func TestRoom(t *testing.T) {
	said := regexp.MustCompile(`There is room for at least (\d+) (\w+) at once\.$`)
	for _, c := range []struct{ ref, unit string }{{"resnet50-b32", "images"}, {"vgg16-b8", "images"},
		{"gpt2-b1", "sequences"}, {"densenet121-adamw-b8", "images"}} {
		s := state.New()
		ask := choice.Default()
		ask.Source.Preset, ask.Strategy = c.ref, engine.KeepAll
		pagetest.Do(t, s, state.Start{Choice: ask})
		sub := strings.ReplaceAll((&Answer{S: s}).Sub(), "\u202f", "")
		m := said.FindStringSubmatch(sub)
		if m == nil || m[2] != c.unit {
			t.Errorf("%s: %q; want how many %s fit", c.ref, sub, c.unit)
			continue
		}
		n, _ := strconv.Atoi(m[1])
		p, _, err := preset.Parse(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		for batch, fits := range map[int]bool{n: true, n + n/2: false} {
			built, err := p.Problem(batch)
			if err != nil {
				t.Fatalf("%s at %d: %v", c.ref, batch, err)
			}
			built.Budget = s.Budget()
			if _, err = engine.Lookup(engine.KeepAll).Solve(built, nil, nil); (err == nil) != fits {
				t.Errorf("%s says %q; %d fit: %v; want %t", c.ref, sub, batch, err, fits)
			}
		}
		pagetest.Do(t, s, state.SetStrategy{Name: "rotor"})
		if sub := (&Answer{S: s}).Sub(); strings.Contains(sub, "room for") || s.Shown.Choice.Strategy != "rotor" {
			t.Errorf("%s with a plan: %q; want no word about room", c.ref, sub)
		}
	}
}

// TestLate checks that an answer is late only while a question about another choice is being solved.
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
		{"a budget that is too small", func() {
			s.Preview, s.Solving, s.OverBudget = nil, nil,
				&state.OverBudget{Budget: 1}
		}, "rest"},
	} {
		if c.change(); Late(s) != c.want {
			t.Errorf("%s: late is %s; want %s", c.name, Late(s), c.want)
		}
	}
}

// TestStepFits checks that the plan of a language model's step surely fits where much of the card stays free, since its
// sizes are read in code, and that near the card the verdict names the setting of the allocator that it is meant for.
func TestStepFits(t *testing.T) {
	s := pagetest.Preset(t, "gpt2-step-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
	a := &Answer{S: s}
	if a.Kind() != Fits || !strings.HasSuffix(a.Unsure(), " stay free.") || a.Why() != "" {
		t.Errorf("GPT-2: %s, %q, %q; want that it fits, and what stays free", a.Kind(), a.Unsure(), a.Why())
	}
	s = pagetest.Preset(t, "llama3-8b-step-program.torchtune-lora.16-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
	if a = (&Answer{S: s}); a.Kind() != Should || a.Unsure() != "With expandable segments." ||
		!strings.Contains(a.Why(), "expandable_segments:True") {
		t.Errorf("the example: %s, %q, %q; want that it should, with the setting", a.Kind(), a.Unsure(), a.Why())
	}
}

// TestBarOfTheCase checks that the bar has the card of the case while it shows a plan for an earlier one.
func TestBarOfTheCase(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-2048tok-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"}, state.SetGPU{ID: "8gib"})
	if s.OverBudget == nil || s.Shown == nil {
		t.Fatalf("on a card of 8 GiB: %v, shown %v; want an earlier plan, which does not fit", s.OverBudget, s.Shown)
	}
	if got := ofShown(s, s.Shown).memory; got != 8*engine.GiB {
		t.Errorf("on a card of 8 GiB the bar has one of %d bytes", got)
	}
}

// TestPolicyAnswered checks that the answer about a policy has the range that was replayed for it, its words and no
// budget, and that blocks that wait in host memory are no reason why no plan could help.
func TestPolicyAnswered(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-256tok-lora.8-b1")
	for _, c := range []struct {
		card   string
		policy engine.Args
		kind   string
		words  string
	}{
		{"16gib", engine.Args{"ckpt": "full"}, Fits, "This policy: full checkpointing."},
		{"16gib", engine.Args{"ckpt": "full", "offload": "yes"}, Fits, "block inputs in host memory. Up to 16 MiB wait in host memory."},
		{"3gib", engine.Args{"ckpt": "full"}, DoesNot, "block swap makes the frozen weights smaller"},
		{"3gib", engine.Args{"ckpt": "full", "swap-blocks": "15"}, Should, "full checkpointing, block swap of 15."},
	} {
		want := s.Choice.On(card.Lookup(c.card)).Under(c.policy)
		want.Budget = want.Room()
		pagetest.Do(t, s, state.Navigate{Choice: want})
		a := &Answer{S: s}
		r := s.Shown.Solved.Reserved
		if got := a.Kind(); got != c.kind && !(c.kind == Should && got == Fits) || !strings.Contains(a.Sub(), c.words) {
			t.Errorf("%v on %s: %s, %q, %q; want %s, %q", c.policy, c.card, got, a.Sentence(), a.Sub(), c.kind, c.words)
		}
		if blocks, by := s.Shown.Index().Tally(); by[sim.Recompute]+by[sim.Offload|sim.Recompute] != blocks {
			t.Errorf("%v on %s: of %d blocks %v by decision; want all told as computed again", c.policy, c.card, blocks, by)
		}
		if n := needed(s); n.low != r[0] || n.high != r[1] || r[0] <= 0 || r[1] < r[0] {
			t.Errorf("%v on %s: %d to %d bytes; want what was replayed, %d", c.policy, c.card, n.low, n.high, r)
		}
		low := want
		low.Budget = choice.Budget{Bytes: s.Shown.Solved.Trace.Peak - 1}
		pagetest.Do(t, s, state.Navigate{Choice: low})
		if got := a.Sub(); !strings.HasPrefix(got, "The pictures show Full checkpointing") {
			t.Errorf("%v in one byte less than it needs: %q; want what the pictures show", c.policy, got)
		}
		if got := s.Shown.Within(" in "); got != "" {
			t.Errorf("%v on %s: it is told to be%s; want no budget", c.policy, c.card, got)
		}
	}
}

// TestPlanOfExperts checks that a plan of a mixture of experts has the range of a step whose experts are not equally
// busy, which is not known, and that a stated imbalance takes its place.
func TestPlanOfExperts(t *testing.T) {
	for ref, wide := range map[string]bool{"qwen3-30b-a3b-step-256tok-lora.8-base.nf4-b1": true,
		"qwen3-30b-a3b-step-256tok-lora.8-gpus.2-ep.2-imbalance.10-b1": false} {
		s := pagetest.Preset(t, ref)
		s.View.Frame.Embed = true // which asks for the range of the step before the curve is complete
		for _, e := range s.Update(state.ToggleMore{}) {
			if e, ok := e.(state.AskStep); ok {
				s.Update(jobs.Step(t.Context(), new(serve.Local), e, func(state.Message) {}))
			}
		}
		pagetest.Do(t, s, state.SetStrategy{Name: "layerwise"})
		peak := s.Shown.Solved.Trace.Peak
		low, high := peak, choice.Reserved(peak)-choice.Context
		if wide {
			high = high * 100 / 79
		}
		n := needed(s)
		if n.low != low || n.high != high || (n.doubt == unsureExperts) != wide {
			t.Errorf("%s: %d to %d bytes, unsure of %q; want %d to %d", ref, n.low, n.high, n.doubt, low, high)
		}
		if n.memory = 2 * n.to(); n.kind() != Fits {
			t.Errorf("%s on a card of twice its range: %s; want that it fits, since the range holds the doubt", ref,
				n.kind())
		}
	}
}

// TestKeepingAllMayFit checks that keeping everything may fit a card that has more than the allocator may hold for it,
// and less than it holds at worst, though that is less than plans need at worst.
func TestKeepingAllMayFit(t *testing.T) {
	s := pagetest.Preset(t, "gpt2-step-on-rtx-4090-b16")
	pagetest.Do(t, s, state.SetGPU{ID: "25gib"}, state.SetStrategy{Name: engine.KeepAll})
	a := &Answer{S: s}
	if most := s.Choice.Reserved(s.Network.Totals.KeepAllPeak); most <= 25*engine.GiB {
		t.Fatalf("a plan of that peak needs %d bytes at worst; want more than the card has", most)
	}
	if !s.Sentence().Plan {
		t.Error("the sentence has no word for the plan; want one, since it may not fit")
	}
	if a.Kind() != MayNot || a.Word() != Words[MayNot] || Late(s) != "false" || !strings.Contains(Title(s), " of 25 GiB") {
		t.Errorf("%s, %q, late %s, %q; want that it may not fit", a.Kind(), a.Word(), Late(s), Title(s))
	}
	pagetest.Do(t, s, state.SetGPU{ID: "24986mib"}) // above the peak, with CUDA, and below what is reserved
	if got := a.Sentence(); a.Word() != Words[DoesNot] || !strings.HasPrefix(got, "Keeping everything needs 24.") ||
		!strings.HasSuffix(got, " has 24.4 GiB.") {
		t.Errorf("in less: %q, %q; want what it needs, and what the card has", a.Word(), got)
	}
}
