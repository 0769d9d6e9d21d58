package preset

import (
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles"
)

// TestCounterexamples checks the fields of every hand-made chain. The tests of package serve, which has the
// strategies, check that each is a counterexample.
func TestCounterexamples(t *testing.T) {
	count := 0
	for _, p := range Presets() {
		if p.chain == nil {
			if p.Suggest != nil || p.memory == nil && p.Largest() != MaxBatch {
				t.Errorf("%s: suggestion %+v, batches up to %d; want a network without either", p.ID, p.Suggest,
					p.Largest())
			}
			continue
		}
		count++
		profile := built(t, p.ID, 1)
		c := profile.Chain
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if c.Name != Ref(p.ID, 1) || c.Batch != 1 || profile.Batch != 1 || p.Group != counterexampleGroup {
			t.Errorf("%s: chain %q, batch %d, group %q; want a counterexample of batch 1", p.ID, c.Name, c.Batch,
				p.Group)
		}
		if s := profile.Source; s.Times != profiles.Exact || s.Sizes != profiles.Exact ||
			!strings.HasPrefix(s.URL, "https://") || len(s.Notes) < 3 {
			t.Errorf("%s: source %+v; want exact numbers, a citation and notes", p.ID, s)
		}
		if last := c.Stages[c.Len()-1]; last.Kind != "loss" || last.Name == "" {
			t.Errorf("%s: the last stage is %+v; want the loss", p.ID, last)
		}
		if p.Suggest == nil || p.Suggest.Strategy == "" || p.Suggest.Budget <= 0 ||
			p.Suggest.Budget >= c.KeepAllPeak() {
			t.Errorf("%s: suggestion %+v; want a strategy and a budget below %d", p.ID, p.Suggest, c.KeepAllPeak())
		}
		if profile.Device == nil || profile.Device.ToHost <= 0 || profile.Device.ToHost != profile.Device.ToDev {
			t.Errorf("%s: device %+v; want a link", p.ID, profile.Device)
		}
		second := built(t, p.ID, 1).Chain
		if second.Stages[0].Out = 7 * engine.GiB; c.Stages[0].Out == second.Stages[0].Out {
			t.Errorf("%s: two profiles share a chain", p.ID)
		}
	}
	if count < 3 {
		t.Errorf("%d counterexamples; want at least 3", count)
	}
}

// TestUnits checks that a unit of size takes exactly a unit of time on the link.
func TestUnits(t *testing.T) {
	for _, n := range []engine.Bytes{1, 3, 10, 13} {
		if got, want := unitRate.Time(n*unitSize), time.Duration(n)*unitTime; got != want {
			t.Errorf("%d units take %v; want %v", n, got, want)
		}
	}
}
