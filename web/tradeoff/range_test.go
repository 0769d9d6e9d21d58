package tradeoff

import (
	"slices"
	"testing"

	"memtide/engine"
)

func TestBudgetRange(t *testing.T) {
	const keepAll = 8 * engine.GiB
	stages := make([]engine.Stage, 8)
	for i := range stages {
		stages[i] = engine.Stage{Out: engine.GiB, Saved: engine.GiB}
	}
	c := engine.ExpandChain(&engine.Chain{Stages: stages})
	r := RangeOf(&c.Graph, keepAll)
	if n := r.Steps(); n < sliderSteps || n > 2*sliderSteps+3 {
		t.Errorf("range %+v has %d steps; want about %d to %d", r, n, sliderSteps, 2*sliderSteps)
	}
	if r.To < keepAll {
		t.Errorf("range ends at %d; want at least what keeps everything", r.To)
	}
	if r.Step&(r.Step-1) != 0 {
		t.Errorf("step %d; want a power of two", r.Step)
	}
	for i := 0; i <= r.Steps(); i++ {
		if got := r.Position(r.At(i)); got != i {
			t.Errorf("position of the budget at %d is %d", i, got)
		}
	}
	if got := r.Position(-5); got != 0 {
		t.Errorf("position of a negative budget is %d; want 0", got)
	}
	if got := r.Position(engine.NoLimit); got != r.Steps() {
		t.Errorf("position of no limit is %d; want the last, %d", got, r.Steps())
	}
}

func TestBandwidthSlider(t *testing.T) {
	for i := 0; i <= BandwidthSteps; i++ {
		if got := BandwidthPosition(BandwidthAt(i)); got != i {
			t.Errorf("position of the rate at %d (%d B/s) is %d", i, BandwidthAt(i), got)
		}
	}
	if got := BandwidthAt(0); got != 1e9 {
		t.Errorf("slowest rate is %d; want 1 GB/s", got)
	}
	if got := BandwidthPosition(0); got != 0 {
		t.Errorf("position of no link is %d; want 0", got)
	}
}

// TestUsualBudget checks that a curve has a point for the usual budget, in place of the nearest one between the ends,
// if that budget is in the range.
func TestUsualBudget(t *testing.T) {
	r := Range{From: 100, To: 1072, Step: 2}
	plain := NewCurve(r, 0).Budgets
	for _, c := range []struct {
		usual engine.Bytes
		at    int // of the budget that is another one; 0 if none is
	}{{100, 0}, {101, 1}, {134, 1}, {147, 2}, {1060, 38}, {1073, 0}} {
		want := slices.Clone(plain)
		if c.at > 0 {
			want[c.at] = c.usual
		}
		if got := NewCurve(r, c.usual).Budgets; !slices.Equal(got, want) || !slices.IsSorted(got) {
			t.Errorf("usual %d: budgets %d; want %d", c.usual, got, want)
		}
	}
}
