package choice

import (
	"testing"

	"memtide/engine"
	"memtide/profiles/card"
	_ "memtide/profiles/llm" // plays the steps of presets
	"memtide/profiles/preset"
	"memtide/web/format"
)

// TestFitted checks that the default budget is the usable memory of the device, and that the default strategy is
// keeping everything if this fits into it.
func TestFitted(t *testing.T) {
	for _, c := range []struct {
		device, budget string
		strategy       string
		all            engine.Bytes
		stages         int
		want           string
		room           string
	}{
		{"h100-sxm-80gb", "", DefaultStrategy, 93 * engine.GiB, 34, "pofo", "73.3 GiB"},
		{"h100-sxm-80gb", "", DefaultStrategy, 93 * engine.GiB, 339, DefaultStrategy, "73.3 GiB"}, // too long for pofo
		{"h100-sxm-80gb", "", DefaultStrategy, 73 * engine.GiB, 34, engine.KeepAll, "73.3 GiB"},
		{"h100-sxm-80gb", "", "pofo", 40 * engine.GiB, 34, "pofo", "73.3 GiB"}, // the user chose it
		{"h100", "", GraphStrategy, 40 * engine.GiB, 0, engine.KeepAll, "74.1 GiB"},
		{"h100", "", engine.KeepAll, 80 * engine.GiB, 0, "blocks", "74.1 GiB"},
		{"rtx-4090", "", engine.KeepAll, 22 * engine.GiB, 34, "pofo", "21.6 GiB"},
		{"24gib", "", DefaultStrategy, 21 * engine.GiB, 34, engine.KeepAll, "21.6 GiB"},
		{"rtx-4090", "21GiB", DefaultStrategy, 20 * engine.GiB, 34, DefaultStrategy, "21 GiB"},
		{"v100-pcie-16gb", "60%", DefaultStrategy, 10 * engine.GiB, 34, DefaultStrategy, "6 GiB"},
	} {
		said := Said{Device: c.device}
		said.Budget, _ = ParseBudget(c.budget)
		choice, _ := said.Resolve(said.Base())
		choice.Strategy, choice.Unplanned = c.strategy, c.strategy != "pofo"
		got := choice.Fitted(c.all, c.stages)
		if text := format.Bytes(got.Budget.Of(c.all)); got.Strategy != c.want || text != c.room {
			t.Errorf("%d bytes by %s on %q with %q: %s in %s; want %s in %s", c.all, c.strategy, c.device, c.budget,
				got.Strategy, text, c.want, c.room)
		}
	}
	for all, want := range map[engine.Bytes]string{21 * engine.GiB: "pofo", 40 * engine.GiB: engine.KeepAll} {
		small, large := Default().On(card.Lookup("rtx-3060")), Default().On(card.Lookup("rtx-4090")).By(engine.KeepAll, nil)
		large = large.Fitted(all, 34)
		if small.Strategy, small.Unplanned = large.Strategy, large.Unplanned; small.Fitted(all, 34).Strategy != want {
			t.Errorf("%d bytes all kept on a card of 24 GiB: %s on one of 12; want %s, for only what does not fit was chosen",
				all, small.Fitted(all, 34).Strategy, want)
		}
	}
	for _, d := range card.All() {
		if b := Usable(d.Memory); Reserved(b) > d.Memory || Reserved(b+engine.GiB/4) <= d.Memory {
			t.Errorf("%s of %d bytes is said to serve %d, which takes %d; want tenths of a GiB, as many as go", d.ID,
				d.Memory, b, Reserved(b))
		}
	}
}

// TestContext checks that what a step says about CUDA and an engine for rollouts is taken from the room of its card.
func TestContext(t *testing.T) {
	for _, c := range []struct {
		of   Source
		want engine.Bytes // beside Context
	}{
		{Source{Preset: "resnet50-b8"}, 0},
		{Source{Preset: "llama3-8b-step-b1"}, 0},
		{Source{Preset: "llama3-8b-step-context.3072-b1"}, 2 * engine.GiB},
		{Source{Model: "{}", Options: engine.Args{"objective": "grpo", "rollout": "24"}}, 24 * engine.GiB},
	} {
		d := card.Lookup("h100")
		out := Default().Moved(c.of).On(d)
		if got, want := out.Room().Bytes, Usable(d.Memory-c.want); got != want || out.Context() != Context+c.want ||
			out.Reserved(engine.GiB) != Reserved(engine.GiB)+c.want {
			t.Errorf("%+v: room for %d, %d beside it, %d for a GiB; want %d bytes less than by default", c.of, got,
				out.Context(), out.Reserved(engine.GiB), c.want)
		}
	}
}

// TestRoom checks that the default budget changes with the card, and that a budget that the user chose stays.
func TestRoom(t *testing.T) {
	a100 := Default().On(card.Lookup("a100-80gb"))
	back := a100.On(card.Default())
	if !a100.Roomy() || a100.Budget == Default().Budget || !back.Equal(Default()) {
		t.Errorf("from one card to another: %v, and back %v; want the room of each", a100.Budget, back.Budget)
	}
	chosen := Default()
	chosen.Budget = Budget{Bytes: 5 * engine.GiB}
	if got := chosen.On(card.Lookup("h100")).Budget; got != chosen.Budget {
		t.Errorf("a chosen budget becomes %v on another card", got)
	}
}

// TestExample checks that a link to the example names its network, device and strategy, so that it keeps its
// meaning if another choice becomes the example.
func TestExample(t *testing.T) {
	said := Example().Diff(Default(), false)
	if said.Preset != ExamplePreset || said.Device != ExampleDevice || said.Strategy == "" {
		t.Errorf("a link to the example says %+v; want network, device and strategy", said)
	}
	if got, problems := said.Resolve(new(Said).Base()); !got.Equal(Example()) || len(problems) > 0 {
		t.Errorf("its link means %+v (%v); want %+v", got, problems, Example())
	}
}

// TestEveryCard checks that every preset on every card has the usable memory of the card as its budget, and keeps
// everything if that fits.
func TestEveryCard(t *testing.T) {
	for _, p := range preset.Presets() {
		if !p.Operators() {
			continue
		}
		profile, err := p.Profile(p.DefaultBatch)
		if err != nil {
			t.Fatal(err)
		}
		all := profile.Totals().KeepAllPeak
		for _, d := range append(card.All(), *card.Lookup("24gib"), *card.Lookup(OwnExample)) {
			said := Said{Preset: preset.Ref(p.ID, p.DefaultBatch), Device: d.ID}
			c, problems := said.Resolve(said.Base())
			stages := 0
			if profile.Chain != nil {
				stages = profile.Chain.Len()
			}
			c = c.Fitted(all, stages)
			room := Usable(d.Memory)
			if len(problems) > 0 || c.GPU().ID != d.ID || c.Budget.Bytes != room ||
				(c.Strategy == engine.KeepAll) != (all <= room) {
				t.Errorf("%s on %s: the card %s, budget %v, plan %s, %v; want that card, %d bytes, and everything kept: %t", said.Preset, d.ID, c.GPU().ID, c.Budget, c.Strategy, problems, room, all <= room)
			}
		}
	}
}
