//go:build !js

package mount

import (
	"testing"

	"memtide/engine"
	"memtide/web/draw"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestGhost checks that the memory picture has the outline of keeping everything beside a plan, and not beside the
// step that keeps everything, where it would be drawn twice.
func TestGhost(t *testing.T) {
	s := pagetest.First(t)
	for _, c := range []struct {
		strategy string
		ghost    bool
	}{{"rotor", true}, {engine.KeepAll, false}} {
		pagetest.Do(t, s, state.SetBudget{Bytes: s.Choice.Room().Bytes, Settled: true}, state.SetStrategy{Name: c.strategy})
		var v draw.View
		Mount{Picture: draw.Memory}.Around(s, &v)
		if s.Shown.Choice.Strategy != c.strategy || len(v.Ghost) > 0 != c.ghost || v.Capacity <= 0 {
			t.Errorf("%s: %s with an outline of %d points on a card of %d; want an outline: %t", c.strategy,
				s.Shown.Choice.Strategy, len(v.Ghost), v.Capacity, c.ghost)
		}
	}
}
