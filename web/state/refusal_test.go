//go:build !js

package state

import (
	"testing"

	_ "memtide/engine/all"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestUnsupportedOffersAnother checks that an alert says in a sentence that a strategy does not apply, and offers
// another one.
func TestUnsupportedOffersAnother(t *testing.T) {
	for _, c := range []struct{ failed, want string }{
		{"nonpersistent", choice.DefaultStrategy},
		{choice.DefaultStrategy, "sequential"},
	} {
		p := shown(t)
		p.play(SetStrategy{Name: "greedy"}) // so that c.failed is a change
		p.play(SetStrategy{Name: c.failed})
		solve := last[Solve](t, p)
		p.play(SolveFailed{ID: solve.ID,
			Failure: proto.Fail(proto.Unsupported, "this strategy does not apply: too long")})
		if p.Alert == nil || p.Alert.Text != "This strategy does not apply: too long" ||
			p.Alert.Do != (SetStrategy{Name: c.want}) || p.Alert.Action == "" {
			t.Errorf("%s does not apply: alert %+v; want a sentence and a button for %s", c.failed, p.Alert, c.want)
			continue
		}
		p.play(p.Alert.Do)
		if p.Choice.Strategy != c.want || p.Alert != nil {
			t.Errorf("after the button: strategy %s, alert %+v; want %s and none", p.Choice.Strategy, p.Alert, c.want)
		}
	}
}

func TestAlertBeginsAsASentence(t *testing.T) {
	for in, want := range map[string]string{
		"there is no preset":    "There is no preset",
		"forward_s is negative": "forward_s is negative",
		"net.csv: odd":          "net.csv: odd",
		"want -pp 1":            "Want “pipeline parallel” 1",
		"Line 14: odd":          "Line 14: odd",
		"":                      "",
	} {
		if got := textAlert(in).Text; got != want {
			t.Errorf("%q begins as %q; want %q", in, got, want)
		}
	}
}

// TestDismissNotice checks that the button of a notice about an invalid text removes the notice and the text.
func TestDismissNotice(t *testing.T) {
	p := shown(t)
	p.play(Type{Field: "budget-text", Text: "abc"})
	p.play(Refuse{Text: "no"})
	p.play(Dismiss{Notice: true})
	if p.Alert != nil || p.Draft != (Draft{}) {
		t.Errorf("alert %+v, draft %+v; want neither", p.Alert, p.Draft)
	}
}

func TestBudgetInShares(t *testing.T) {
	p := shown(t)
	p.play(SetBudget{Share: 70 * choice.Percent, Settled: true})
	if want := (choice.Budget{Share: 70 * choice.Percent}); p.Choice.Budget != want {
		t.Errorf("budget %+v; want %+v", p.Choice.Budget, want)
	}
	p.play(SetBudget{Settled: true})
	if want := (choice.Budget{Bytes: 1}); p.Choice.Budget != want {
		t.Errorf("no budget is %+v; want %+v, which a link can say", p.Choice.Budget, want)
	}
}
