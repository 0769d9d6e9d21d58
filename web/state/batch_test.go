package state

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/choice"
)

// TestBudgetSurvivesBatch checks that a budget that the user has set survives a change of the batch size, but not
// a change of the network, which has its own scale.
func TestBudgetSurvivesBatch(t *testing.T) {
	set := choice.Budget{Bytes: 16 * engine.GiB}
	for _, c := range []struct {
		name string
		now  choice.Budget
		pick string
		want choice.Budget
	}{
		{"another batch", set, "resnet50-b64", set},
		{"another network", set, "vgg16-b32", choice.Default().Budget},
		{"a share is a share of each", choice.Budget{Share: 70 * choice.Percent}, "resnet50-b64",
			choice.Budget{Share: 70 * choice.Percent}},
		{"a budget that nobody chose", choice.Default().Budget, "resnet50-b64", choice.Default().Budget},
	} {
		s := New()
		s.Choice = chosen("resnet50-b32")
		s.Choice.Budget = c.now
		s.Update(PickPreset{ID: c.pick})
		if got := s.Opening.Choice.Budget; got != c.want {
			t.Errorf("%s: the budget becomes %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestUselessChainIsSaid checks that a file that is no useful chain is shown, with an alert that says why.
func TestUselessChainIsSaid(t *testing.T) {
	s := New()
	s.Choice = chosen("resnet50-b32")
	s.Update(PickFile{Name: "gnmt.graph.txt", Bytes: []byte("x")})
	m := opened(s.Opening.ID, chain("gnmt"))
	m.Reply.NoChain = "one stage holds 56 % of all memory"
	s.Update(m)
	if s.Network == nil || s.Network.Profile.Name != "gnmt" {
		t.Fatal("the network is not shown")
	}
	said := func(when string) {
		t.Helper()
		if s.Alert == nil || !strings.Contains(s.Alert.Text, "no useful chain: one stage holds 56 % of all memory") {
			t.Errorf("%s: the alert is %+v, want it to say why the chain is of no use", when, s.Alert)
		}
	}
	said("when it has been opened")
}

// PickPreset opens a preset with its default options, as the messages about networks and their options do.
type PickPreset struct{ ID string }

func (m PickPreset) apply(s *State) []Effect {
	return s.open(s.keepBudget(s.Choice.Moved(Source{Preset: m.ID})), nil, Push)
}
