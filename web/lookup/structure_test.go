package lookup

import (
	"fmt"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/lookup/tracetest"
)

// TestArcs checks that a value has an arc if its last forward reader comes more than four operations after the
// operation that makes it.
func TestArcs(t *testing.T) {
	m := New(tracetest.Played(t, tracetest.UNet(24, 2), false))
	var got []string
	for _, a := range m.Structure().Arcs {
		got = append(got, fmt.Sprintf("x%d %d-%d %d", a.Value, a.From, a.To, a.Bytes/engine.MiB))
	}
	if got, want := strings.Join(got, ", "), "x0 0-23 24, x1 1-22 22, x8 8-15 1, x16 16-23 1"; got != want {
		t.Errorf("arcs:\ngot  %s\nwant %s", got, want)
	}
}

// TestArcsByKeyboard checks that Step and OtherLane go from arc to arc and between arcs and runs, and that Named
// is the inverse of Name for values.
func TestArcsByKeyboard(t *testing.T) {
	m := New(tracetest.Played(t, tracetest.UNet(24, 2), false))
	at := Target{OnValue, 0}
	var got []string
	for range 4 {
		got = append(got, m.Name(at))
		if back := m.Named(m.Name(at)); back != at {
			t.Errorf("%+v is %q in a link, which is %+v", at, m.Name(at), back)
		}
		at = m.Step(at, 1)
	}
	if got, want := strings.Join(got, " "), "value@x0 value@x1 value@x8 value@x16"; got != want {
		t.Errorf("to the right of the first arc: %s; want %s", got, want)
	}
	if got, want := m.Name(m.OtherLane(Target{OnValue, 8}, 1)), "op8"; got != want {
		t.Errorf("below the arc of x8: %s; want %s", got, want)
	}
	if got, want := m.Name(m.OtherLane(Target{OnSpan, 10}, -1)), "value@x8"; got != want {
		t.Errorf("above operation 10: %s; want %s", got, want)
	}
}
