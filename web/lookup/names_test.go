package lookup

import (
	"testing"

	"memtide/engine/sim"
)

// TestNames checks that Named is the inverse of Name, in the small trace and in random ones, in which operations
// run more than once.
func TestNames(t *testing.T) {
	for _, m := range []*Index{smallModel(), randomModel(40, 3), randomModel(200, 4)} {
		var all []Target
		for i := range m.Trace.Spans {
			all = append(all, Target{OnSpan, i})
		}
		for i := range m.Trace.Gaps {
			all = append(all, Target{OnGap, i})
		}
		for k := 1; k <= m.Stages(); k++ {
			all = append(all, Target{OnStage, k})
		}
		for _, want := range all {
			if got := m.Named(m.Name(want)); got != want {
				t.Fatalf("%+v is named %q, which leads to %+v", want, m.Name(want), got)
			}
		}
	}
}

func TestNamed(t *testing.T) {
	m := smallModel()
	for _, c := range []struct {
		name string
		want Target
	}{
		{"F1", Target{OnSpan, 0}},
		{"F2@2", Target{OnSpan, 5}},
		{"s1@d2h", Target{OnSpan, 2}},
		{"s1@h2d", Target{OnSpan, 7}},
		{"layer@2", Target{OnStage, 2}},
		{"wait@0", Target{OnGap, 0}}, // the nearest wait
		{"wait@150", Target{OnGap, 0}},
		{"wait@", Target{}}, {"wait@-1", Target{}}, {"wait@NaN", Target{}}, {"wait@1e300", Target{}},
		{"layer@0", Target{}}, {"layer@99", Target{}}, {"layer@x", Target{}},
		{"F9", Target{}}, {"F1@2", Target{}}, {"F1@0", Target{}}, {"@", Target{}}, {"", Target{}},
	} {
		if got := m.Named(c.name); got != c.want {
			t.Errorf("%q: got %+v, want %+v", c.name, got, c.want)
		}
	}
	for target, want := range map[Target]string{{OnGap, 0}: "wait@140", {OnSpan, 7}: "s1@h2d",
		{OnBand, int(sim.Recomputed)}: "", {}: ""} {
		if got := m.Name(target); got != want {
			t.Errorf("%+v: named %q, want %q", target, got, want)
		}
	}
}
