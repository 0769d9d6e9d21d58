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
	s.Update(state.SetBudget{Bytes: 8 * engine.GiB})
	if got, want := c.Note(), "enough to keep everything (4.3 GiB)"; got != want {
		t.Errorf("note is %q; want %q", got, want)
	}
	if got, want := d.BudgetValueText(), "8 GiB, solving"; got != want {
		t.Errorf("value text is %q; want %q", got, want)
	}
}
