//go:build !js

package controls

import (
	"testing"

	"memtide/engine"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestBudgetNote(t *testing.T) {
	s := pagetest.First(t)
	c := Dock{S: s}
	if got, want := c.BudgetNote(), "60 % of the 4.3 GiB that keep everything"; got != want {
		t.Errorf("note is %q; want %q", got, want)
	}
	s.Update(state.SetBudget{Bytes: 8 * engine.GiB})
	if got, want := c.BudgetNote(), "enough to keep everything (4.3 GiB)"; got != want {
		t.Errorf("note is %q; want %q", got, want)
	}
	if got, want := c.BudgetValueText(), "8 GiB, solving"; got != want {
		t.Errorf("value text is %q; want %q", got, want)
	}
}
