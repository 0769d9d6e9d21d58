//go:build !js

package ui

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/choice"
	"memtide/web/state"
)

// The code asks for the class that is nearest to the plan, in what the budget leaves to
// a step, rounded down.
func TestRunThis(t *testing.T) {
	for _, c := range []struct {
		strategy string
		budget   engine.Bytes
		want     string // in the code
		sends    bool   // what the plan does and the code does not
	}{
		{"rotor", 3 * engine.GiB, "-class nested -budget 2.5GiB ", false},
		{"sequential", 3*engine.GiB - 1, "-class wrappable -budget 2.4GiB ", false},
		{"layerwise", engine.GiB, "-class unit -budget 512MiB ", false},
		{"greedy", 3 * engine.GiB, "-class nested -budget 2.5GiB ", true},
	} {
		s := first(t)
		n := *s.Network
		n.Totals.Resident = engine.GiB / 2
		s.Network, s.Choice.Strategy, s.Choice.Budget = &n, c.strategy, choice.Budget{Bytes: c.budget}
		r := Run{S: s}
		if code, does := r.Code(), r.Does(); r.Absent() || !strings.Contains(code, c.want) || strings.Contains(does, "nothing to the host") != c.sends {
			t.Errorf("%s in %d bytes: absent %v,\n%s%s\nwant %q, and that nothing is sent said: %v", c.strategy, c.budget, r.Absent(), code, does, c.want, c.sends)
		}
		wellFormed(t, pageOf(t, s))
		if n.Totals.Resident = c.budget; !r.Absent() {
			t.Errorf("%s: no room for a step, and there is code for it", c.strategy)
		}
	}
	s := first(t)
	if s.Update(state.Copied{Say: CodeCopied}); s.View.Note != CodeCopied {
		t.Errorf("the note is %q; want %q", s.View.Note, CodeCopied)
	}
}
