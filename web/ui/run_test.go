//go:build !js

package ui

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/export"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// TestRunThis checks that the code asks for the class of plans that is nearest to the plan, in the part of the
// budget that is left for a step, rounded down.
func TestRunThis(t *testing.T) {
	for _, c := range []struct {
		strategy string
		budget   engine.Bytes
		want     string // part of the code
	}{
		{"rotor", 3 * engine.GiB, "-class nested -budget 2.5GiB "},
		{"sequential", 3*engine.GiB - 1, "-class wrappable -budget 2.4GiB "},
		{"layerwise", engine.GiB, "-class unit -budget 512MiB "},
		{"greedy", 3 * engine.GiB, "-class offload -link 12.5GB/s -budget 2.5GiB "},
	} {
		s := pagetest.First(t)
		n := *s.Network
		n.Totals.Resident = engine.GiB / 2
		s.Network, s.Choice.Strategy, s.Choice.Budget = &n, c.strategy, choice.Budget{Bytes: c.budget}
		r := Run{S: s}
		if code, does := r.Code(), r.Does(); r.Absent() || !strings.Contains(code, c.want) ||
			strings.Contains(does, "to the host") != strings.Contains(c.want, "-link") {
			t.Errorf("%s in %d bytes: absent %v,\n%s%s\nwant %q, and that something goes to the host only there",
				c.strategy, c.budget, r.Absent(), code, does, c.want)
		}
		pagetest.WellFormed(t, pageOf(t, s))
		if n.Totals.Resident = c.budget; !r.Absent() {
			t.Errorf("%s: no room for a step, and there is code for it", c.strategy)
		}
	}
	s := pagetest.First(t)
	if r := (Run{S: s}); strings.Contains(r.Does(), "The open file holds your model's operators") ||
		strings.Contains((&Share{S: s}).Verdict(), "operators") {
		t.Errorf("a preset has no operators: %s", r.Does())
	}
	if s.Update(state.Copied{Say: "Code copied."}); s.View.Note != "Code copied." {
		t.Errorf("the note is %q; want %q", s.View.Note, "Code copied.")
	}
}

// TestRunFromOperators checks that the page can find a plan if the operators of a step are open, from a file or
// from a link. The dialog says if the operators are too long for a link.
func TestRunFromOperators(t *testing.T) {
	s := pagetest.First(t)
	s.Choice.Strategy = "sequential"
	s.Update(state.Tell{}) // any message makes the page ask for the curve
	if m := (input.Command{Do: "save-plan"}).Message(s); len(s.Update(m)) != 0 {
		t.Error("a preset has no operators, and a plan is asked for")
	}
	data, err := os.ReadFile("../../profiles/formats/operators/testdata/mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := proto.Do(context.Background(), new(serve.Local).Do, &proto.Open{File: "mlp.json", Bytes: data}, nil)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := profiles.Decode("mlp.json", profiles.Bytes(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := s.Update(state.PickFile{Name: "mlp.json", Bytes: data})[0].(state.Open).ID
	s.Update(state.Opened{ID: id, Reply: opened, Profile: profile})
	if r := (Run{S: s}); !strings.Contains(r.Does(), "The open file holds your model's operators") {
		t.Errorf("the text does not say that a plan can be found: %s", r.Does())
	}
	if v := (&Share{S: s}).Verdict(); strings.Contains(v, "send the file too") {
		t.Errorf("the dialog says that the link lacks something: %s", v)
	}
	l := permalink.Of(s, link.Link{})
	_, start, notes := permalink.Read(l.Sealed())
	if c := start.Choice; len(notes) > 0 || len(c.Source.Ops) == 0 || c.Source.Ops != profile.Packed ||
		!c.Source.Same(s.Network.Source) {
		t.Errorf("the link %s holds the operators %q (%v); want %q beside their chain", l.Sealed(), c.Source.Ops,
			notes, profile.Packed)
	}
	s.Network.Source.Ops += strings.Repeat("A", link.Longest)
	if v := (&Share{S: s}).Verdict(); !strings.Contains(v, "for plans of the model send the file too") ||
		permalink.Of(s, link.Link{}).Ops != "" {
		t.Errorf("the dialog does not say what the link lacks: %s", v)
	}
	s.Network.Source.Ops = profile.Packed
	effects := s.Update((input.Command{Do: "save-plan"}).Message(s))
	e, ok := effects[len(effects)-1].(state.Export)
	if !ok || e.Request.Class != "wrappable" && e.Request.Class != "nested" ||
		string(e.Request.Network.Profile) != profiles.PackedMagic+profile.Packed {
		t.Errorf("effects %+v; want an export of the file", effects)
	}
	if f := export.Schedule(s, e); f.Name != "plan.json" || f.Type != "application/json" {
		t.Errorf("the file is %+v", f)
	}
	pagetest.WellFormed(t, pageOf(t, s))
}

// TestOperatorsOfB checks that the link of a comparison contains the operators of both sides. If they are too
// long for one link, those of B are left out first.
func TestOperatorsOfB(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.ToggleCompare{})
	data, err := os.ReadFile("../../profiles/formats/operators/testdata/mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Do(t, s, state.EditSide{A: false}, state.PickFile{Name: "mlp.json", Bytes: data})
	want := s.Network.Source.Ops
	l := permalink.Of(s, link.Link{})
	_, start, notes := permalink.Read(l.Sealed())
	if want == "" || len(notes) > 0 || start.Choice.Source.Ops != "" || start.B == nil || start.B.Source.Ops != want {
		t.Fatalf("the link %s opens %+v with %+v as B (%v); want the operators %q in B alone", l.Sealed(),
			start.Choice.Source, start.B, notes, want)
	}
	s.Network.Source.Ops += strings.Repeat("A", link.Longest)
	if v := (&Share{S: s}).Verdict(); !strings.Contains(v, "for plans of the model send the file too") {
		t.Errorf("the dialog does not say that B's operators are too long: %s", v)
	}
	r := rand.New(rand.NewPCG(6, 3))
	for _, side := range []bool{true, false} {
		pagetest.Do(t, s, state.EditSide{A: side}, state.PickFile{Name: "long.csv", Bytes: longCSV(r, 400)})
		s.Network.Source.Ops = "1." + strings.Repeat("A", 23_000)
	}
	l = permalink.Of(s, link.Link{})
	if n := len(l.String()); n > permalink.MaxBoth || l.Ops == "" || l.B.Profile == nil || l.B.Ops != "" {
		t.Errorf("the link has %d characters, %d of A's operators, %d of B's, B's chain: %v; want all but B's operators", n, len(l.Ops), len(l.B.Ops), l.B.Profile != nil)
	}
}
