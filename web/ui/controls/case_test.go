//go:build !js

package controls

import (
	"slices"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	"memtide/wasm/proto"
	"memtide/web/choice"
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
	"memtide/web/ui/panel"
)

// TestOneGPU checks that choosing a GPU sets its memory, its link, its times, and a budget that its memory is
// likely to serve. Another batch keeps that budget, and another network gets its own.
func TestOneGPU(t *testing.T) {
	s := pagetest.First(t)
	room := func(id string) choice.Budget { return choice.Budget{Bytes: choice.Usable(card.Lookup(id).Memory)} }
	for _, c := range []struct {
		do     state.Message
		preset string
		budget choice.Budget
	}{
		{state.SetGPU{ID: "a100-sxm-40gb"}, "resnet101-on-a100-sxm-40gb-b32", room("a100-sxm-40gb")},
		{state.SetOption{Name: "batch", Value: "512"}, "resnet101-on-a100-sxm-40gb-b512", room("a100-sxm-40gb")},
		{state.SetGPU{ID: "h100-sxm-80gb"}, "resnet101-on-h100-sxm-80gb-b512", room("h100-sxm-80gb")},
		{state.PickNetwork{ID: "resnet50"}, "resnet50-on-h100-sxm-80gb-b32", room("h100-sxm-80gb")},
		{state.SetOption{Name: "batch", Value: "2048"}, "resnet50-on-h100-sxm-80gb-b2048", room("h100-sxm-80gb")},
	} {
		pagetest.Do(t, s, c.do)
		if got := s.Choice; got.Source.Preset != c.preset || got.Budget != c.budget || got.Device != got.GPU().ID {
			t.Fatalf("%+v: %s on %q in %v; want %s in %v", c.do, got.Source.Preset, got.Device, got.Budget, c.preset,
				c.budget)
		}
	}
	unit, n := known.Trained(s.Shown.Choice, s.Shown.Network)
	if unit != "samples" || n != 2048 {
		t.Errorf("a step trains with %d %s; want 2048 samples", n, unit)
	}
	pagetest.Do(t, s, state.PickNetwork{ID: "gpt2-medium"})
	if unit, n = known.Trained(s.Shown.Choice, s.Shown.Network); unit != "tokens" || n != 4*1024 {
		t.Errorf("a step of GPT-2 trains with %d %s; want 4096 tokens", n, unit)
	}
}

// TestReplacedGPU checks that the list has a device that was replaced only if a link has chosen it.
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

// TestOptionsOfVariant checks that the sentence names the options that are chosen for the open variant, that the
// page offers those that the sentence could name in addition, and that no option is in both.
func TestOptionsOfVariant(t *testing.T) {
	for _, c := range []struct{ ref, want string }{
		{"llama3-8b-step-b1", "with all weights and AdamW"},
		{"llama3-8b-step-optimizer.adamw_8bit-states.bf16-b1", "with all weights and 8-bit AdamW and bf16 states"},
		{"llama3-8b-step-lora.16-base.nf4-program.torchtune-b1",
			"with LoRA, rank 16 and frozen products in 4 bits (NF4) in torchtune"},
		{"llama3-8b-step-accumulate.4-loss.chunked_ce-compile.yes-b1",
			"with all weights and AdamW in 4 micro batches and loss logits in chunks and torch.compile of the blocks yes"},
		{"llama3-8b-step-lora.12-b1", "with LoRA, rank 12"},
		{"llama3-8b-step-lora.12-states.fp32-b1", "with LoRA, rank 12 and frozen weights in fp32"},
		{"resnet50-b32", ""},
		{"resnet50-adamw-b32", "with AdamW"},
		{"lemma3", ""},
	} {
		s := state.New()
		s.Choice.Source.Preset = c.ref
		said, offered := words(s, trained, true), words(s, trained, false)
		var got []string
		for _, w := range said {
			got = append(got, w.Before+" "+panel.Selected(w.Options))
			if slices.ContainsFunc(offered, func(o Word) bool { return o.Name == w.Name }) {
				t.Errorf("%s: %s stands in the sentence and in what it can still say", c.ref, w.Name)
			}
		}
		if text := strings.Join(got, " "); text != c.want || (&Case{S: s}).Optimizer() != "" {
			t.Errorf("%s: %q and %q; want %q", c.ref, text, (&Case{S: s}).Optimizer(), c.want)
		}
		for _, w := range offered {
			if w.Note == "" {
				t.Errorf("%s: it is not said what %s does", c.ref, w.Name)
			}
		}
		for _, w := range append(said, offered...) {
			if w.Label == "" || w.Before == "" || panel.Selected(w.Options) == "" {
				t.Errorf("%s: %+v; want a label, a word before it, and what is chosen", c.ref, w)
			}
		}
	}
}

// TestGainOfOption checks that an option that is offered has the gain that it would have here, if the question
// what would help has tried it.
func TestGainOfOption(t *testing.T) {
	s := pagetest.Small(t)
	if got := gain(s, "norm"); got != "" {
		t.Errorf("before anything was tried: %q; want nothing", got)
	}
	s.Update(state.StartQuestion{})
	a := s.Answers()
	a.List = []proto.Suggestion{{Name: "8-bit moments", StepTime: a.Base}, {Name: "fused norm", StepTime: a.Base / 2}}
	for option, want := range map[string]string{"norm": "fused norm: 100 % faster", "optimizer": "", "loss": ""} {
		if got := gain(s, option); got != want {
			t.Errorf("%s: %q; want %q", option, got, want)
		}
	}
	s.OverBudget = &state.OverBudget{}
	if a.Base = 0; gain(s, "norm") != "fused norm: fits" {
		t.Errorf("where nothing fitted: %q; want that it fits", gain(s, "norm"))
	}
}

// TestOptimizerOfName checks that presets that have an optimizer only in their name show it as text.
func TestOptimizerOfName(t *testing.T) {
	s := state.New()
	s.Choice.Source.Preset = "gpt2-medium-b8"
	if got := (&Case{S: s}).Optimizer(); !strings.HasPrefix(got, "with ") || len(words(s, trained, true)) > 0 {
		t.Errorf("%q, %d words; want the optimizer as text", got, len(words(s, trained, true)))
	}
}

// TestChooseOption checks that choosing an option opens the variant with that option, and that choosing the usual
// value removes the option.
func TestChooseOption(t *testing.T) {
	for _, c := range []struct{ ref, name, value, want string }{
		{"resnet50-b32", "optimizer", "adamw", "resnet50-adamw-b32"},
		{"resnet50-adamw-b32", "optimizer", "", "resnet50-b32"},
		{"llama3-8b-step-b1", "loss", "vocab_chunked", "llama3-8b-step-loss.vocab_chunked-b1"},
		{"llama3-8b-step-b1", "base", "nf4", "llama3-8b-step-lora.16-base.nf4-b1"},
		{"llama3-8b-step-lora.16-base.nf4-b1", "lora", "0", "llama3-8b-step-b1"},
	} {
		s := state.New()
		s.Choice.Source.Preset = c.ref
		s.Update(input.Command{Do: "option", Arg: c.name, Value: c.value, Settled: true}.Message(s))
		if s.Opening == nil || s.Opening.Choice.Source.Preset != c.want {
			t.Errorf("%s with %s=%q: opens %+v; want %s", c.ref, c.name, c.value, s.Opening, c.want)
		}
	}
}

// TestPlanAndLimitAreWords checks that the sentence names a plan if one is needed or chosen, and a budget if the
// user chose it. The controls that the sentence does not have are among what the page offers, so that each has
// exactly one place.
func TestPlanAndLimitAreWords(t *testing.T) {
	for _, c := range []struct {
		what        string
		do          []state.Message
		by, limited bool
	}{
		{"a network that fits", nil, false, false},
		{"a plan that is chosen", []state.Message{state.SetStrategy{Name: "greedy"}}, true, false},
		{"everything kept, as chosen", []state.Message{state.SetStrategy{Name: "greedy"},
			state.SetStrategy{Name: "keepall"}}, false, false},
		{"a budget in which it does not fit",
			[]state.Message{state.SetBudget{Bytes: 751 * engine.MiB, Settled: true}}, true, true},
		{"the same, taken away", []state.Message{state.SetBudget{Bytes: 751 * engine.MiB, Settled: true}, nil}, false,
			false},
		{"everything kept in too small a budget",
			[]state.Message{state.SetStrategy{Name: "greedy"}, state.SetStrategy{Name: "keepall"},
				state.SetBudget{Bytes: 751 * engine.MiB, Settled: true}}, true, true},
	} {
		s := pagetest.Small(t)
		choice := s.Choice
		choice.Strategy, choice.Unplanned, choice.Budget = "keepall", true, choice.Room()
		pagetest.Do(t, s, state.Start{Choice: choice})
		for _, m := range c.do {
			if m == nil {
				m = input.Command{Do: "budget-off", Settled: true}.Message(s)
			}
			pagetest.Do(t, s, m)
		}
		page := &Case{S: s}
		html := pagetest.HTML(t, page)
		if page.By() != c.by || page.Limited() != c.limited {
			t.Errorf("%s: %s in %v: plan %t, budget %t; want %t and %t", c.what, s.Choice.Strategy, s.Choice.Budget,
				page.By(), page.Limited(), c.by, c.limited)
		}
		drawer := strings.Index(html, `id="more"`)
		for id, said := range map[string]bool{"strategy": c.by, "budget-text": c.limited} {
			at := strings.Index(html, `data-testid="`+id+`"`)
			if strings.Count(html, `data-testid="`+id+`"`) != 1 || at < 0 || (at < drawer) != said {
				t.Errorf("%s: %s is at %d, what else can be said at %d; want it once, in the sentence %t", c.what, id,
					at, drawer, said)
			}
		}
	}
}

// TestCards checks that the sentence about a language model names the number of cards. With several it names how they
// share the states, and the page offers other ways to share. A pipeline opens the step by itself.
func TestCards(t *testing.T) {
	s := pagetest.First(t)
	if got := cards(s); got != nil {
		t.Errorf("a convolutional network: %+v; want no number of cards", got)
	}
	pagetest.Do(t, s, state.PickNetwork{ID: "gpt2-step"})
	list := func(words []Word) (out []string) {
		for _, w := range words {
			for _, o := range w.Options {
				if o.Selected {
					out = append(out, w.Before+" "+o.Title)
				}
			}
		}
		return out
	}
	want := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", what, got, want)
		}
	}
	want("one card", list(append(cards(s), words(s, spread, true)...)), "on one")
	want("one card, more", list(words(s, spread, false)))
	pagetest.Do(t, s, state.SetOption{Name: "gpus", Value: "8"})
	want("eight", list(append(cards(s), words(s, spread, true)...)), "on 8 ×", "with FSDP (ZeRO-3), as usual")
	want("eight, more", list(words(s, spread, false)), "with no tensor rank", "with no sequence rank", "as no pipeline rank")
	if unit, n := known.Trained(s.Shown.Choice, s.Shown.Network); unit != "tokens" || n != 8*1024 {
		t.Errorf("a step of eight cards trains with %d %s; want 8192 tokens", n, unit)
	}
	if d := s.Choice.GPU(); known.Card(s.Choice, s.Network, d) != "each "+d.Short() {
		t.Errorf("a card is called %q; want each %s", known.Card(s.Choice, s.Network, d), d.Short())
	}
	flux := pagetest.Step(t, "flux1-dev", engine.Args{"height": "512", "width": "512", "lora": "16", "device": "h100"})
	pagetest.Do(t, flux, state.ExploreStep{})
	for _, w := range words(flux, trained, true) {
		if w.Name == "seq" {
			t.Errorf("the sentence about pictures has %+v; want no number of tokens", w)
		}
	}
	if unit, n := known.Trained(flux.Choice, flux.Network); flux.Step != nil || unit != "pictures" || n != 1 {
		t.Errorf("a step of Flux trains with %d %s; want 1 picture, as a network", n, unit)
	}
	for _, e := range s.Update(state.SetOption{Name: "pp", Value: "2"}) {
		if e, ok := e.(state.AskStep); ok && e.Request.Args["pp"] == "2" && e.Request.Args["gpus"] == "8" {
			return
		}
	}
	t.Error("two pipeline ranks: the step is not asked for; want it on eight cards")
}

// TestForms checks that a network that is known as operations too has a word for that: among the others while it is a
// chain, in the sentence when it is a graph.
func TestForms(t *testing.T) {
	for ref, want := range map[string][2]int{"vgg16-b32": {0, 1}, "vgg16-graph-b32": {1, 0}} {
		c := &Case{S: pagetest.Preset(t, ref)}
		if got := [2]int{len(c.forms(true)), len(c.forms(false))}; got != want {
			t.Errorf("%s: %d words in the sentence, %d among the others; want %v", ref, got[0], got[1], want)
		}
		if w := slices.Concat(c.forms(true), c.forms(false))[0]; w.Options[1].Selected != (want[0] == 1) {
			t.Errorf("%s: the word's options are %+v", ref, w.Options)
		}
	}
}

// TestNoFormOfStep checks that a step that is played alone is not offered as blocks or operations.
func TestNoFormOfStep(t *testing.T) {
	c := &Case{S: pagetest.Preset(t, "vgg16-b32")}
	if c.S.Step = new(state.OpenStep); len(c.forms(true))+len(c.forms(false)) > 0 {
		t.Error("a step alone has a word for blocks or operations")
	}
}

// TestOwnCardInSentence checks that the sentence says the memory of a card of the reader's own once: in its field.
func TestOwnCardInSentence(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.SetGPU{ID: choice.OwnExample})
	c := &Case{S: s}
	groups := c.GPUs()
	if got, want := panel.Selected(groups[len(groups)-1].Options)+" of "+c.Own(), "card of 24 GiB, 25 GB/s, 165 TFLOP/s"; got != want {
		t.Errorf("the sentence says %q; want %q", got, want)
	}
}
