//go:build !js

package controls

import (
	"testing"

	"memtide/engine"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestBudgetWords(t *testing.T) {
	s := pagetest.First(t)
	c, d := Limit{S: s}, Dock{S: s}
	if got, want := c.Note(), "60 % of the 4.3 GiB that keep everything"; got != want {
		t.Errorf("note is %q; want %q", got, want)
	}
	if got, want := d.BudgetValueText(), "2.58 GiB, fits"; got != want {
		t.Errorf("value text is %q; want %q", got, want)
	}
	s.Update(state.SetBudget{Bytes: 8 * engine.GiB})
	if got, want := c.Note(), "enough to keep everything (4.3 GiB)"; got != want {
		t.Errorf("note is %q; want %q", got, want)
	}
	if got, want := d.BudgetValueText(), "8 GiB, solving"; got != want {
		t.Errorf("value text is %q; want %q", got, want)
	}
}

// TestBudgetWordsFollowTheVerdict checks that the slider does not say "fits" of a plan that the card has not room for.
func TestBudgetWordsFollowTheVerdict(t *testing.T) {
	s := pagetest.Preset(t, "llama3.2-1b-step-2048tok-on-rtx-4090-b1")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"}, state.SetStrategy{Name: engine.KeepAll},
		state.SetBudget{Bytes: 30 * engine.GiB, Settled: true})
	if got, want := (&Dock{S: s}).BudgetValueText(), "30 GiB, does not fit"; got != want {
		t.Errorf("keeping everything on a card of 24 GiB: %q; want %q", got, want)
	}
}
