package state

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// A budget that the person has set survives a change of the batch size, and
// nothing else: another network has its own scale.
func TestBudgetSurvivesBatch(t *testing.T) {
	set := choice.Budget{Bytes: 16 * engine.GiB}
	for _, c := range []struct {
		name         string
		now, instead choice.Budget
		pick         string
		want         choice.Budget
	}{
		{"another batch", set, choice.Budget{}, "resnet50-b64", set},
		{"another network", set, choice.Budget{}, "vgg16-b32", choice.DefaultBudget},
		{"a share is a share of each", choice.Budget{Share: 70 * choice.Percent}, choice.Budget{}, "resnet50-b64", choice.Budget{Share: 70 * choice.Percent}},
		{"a budget that nobody chose", set, set, "resnet50-b64", choice.DefaultBudget},
	} {
		s := New()
		s.Choice = chosen("resnet50-b32")
		s.Choice.Budget, s.instead = c.now, c.instead
		s.Update(PickPreset{ID: c.pick})
		if got := s.Opening.Choice.Budget; got != c.want {
			t.Errorf("%s: the budget becomes %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A file that is a chain of little use is shown, and said to be one.
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
	// The default budget does not fit, and another takes its place.
	s.Update(SolveFailed{ID: s.Solving.ID, Failure: &proto.Failure{Kind: proto.Infeasible, Budget: 5 * engine.GiB, Smallest: 6 * engine.GiB}})
	if s.Choice.Budget == choice.DefaultBudget {
		t.Fatal("the budget is still the one that does not fit")
	}
	said("with another budget")
}
