//go:build !js

package ui

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/tradeoff"
	"memtide/web/ui/pagetest"
)

func TestTooltip(t *testing.T) {
	s := pagetest.First(t)
	m := s.Shown.Model()
	if got := TipLines(m, lookup.Target{}, 0); got != nil {
		t.Errorf("over nothing the tooltip says %q; want nothing", got)
	}
	if got := TipLines(m, lookup.Target{Kind: lookup.OnSpan}, 0); len(got) != 1 || got[0] != m.Sentence(lookup.Target{Kind: lookup.OnSpan}) {
		t.Errorf("over a run the tooltip says %q; want its sentence", got)
	}
	trace := s.Shown.Solved.Trace
	got := TipLines(m, lookup.Target{Kind: lookup.OnBand, Index: 2}, trace.PeakAt)
	if len(got) != 2+tipValues || !strings.HasPrefix(got[0], "2.58 GiB in use") || !strings.HasPrefix(got[1+tipValues], "and ") {
		t.Errorf("over the memory at its peak the tooltip says %q; want the peak, the %d largest values and how many more", got, tipValues)
	}
}

func TestSweepStatus(t *testing.T) {
	s := pagetest.First(t)
	if got := SweepStatus(s); got != "" {
		t.Errorf("before there is a curve its status is %q; want nothing", got)
	}
	s.Curve = &tradeoff.Curve{ID: 7, Done: 3, Total: 40}
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "3 of 40 points"},
		{func() { s.Curve.ID, s.Curve.Stopped = 0, true }, "Stopped after 3 of 40 points"},
		{func() { s.Curve.Failed = "The engine stopped." }, "The engine stopped."},
		{func() { s.Curve.Failed, s.Curve.Stopped, s.Curve.Done = "", false, 40 }, "Point at the curve to preview, click to use."},
	} {
		c.change()
		if got := SweepStatus(s); got != c.want {
			t.Errorf("status is %q; want %q", got, c.want)
		}
	}
}

func TestSelectionWords(t *testing.T) {
	s := pagetest.First(t)
	sel := Selection{S: s}
	if got, want := sel.Title(), "Why the peak is here"; got != want || !sel.None() || sel.Lens() != "" {
		t.Errorf("title is %q, lens %q; want %q and none: optimal recomputation never waits", got, sel.Lens(), want)
	}
	if html := string(sel.HTML()); strings.Count(html, "<tr>") != peakParts || !strings.Contains(html, "The most memory is in use at") {
		t.Errorf("the peak is explained by %s; want when it is and its %d largest parts", html, peakParts)
	}
	s.Update(state.Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 1}})
	if got, want := sel.Sentence(), s.Shown.Model().Sentence(s.View.Selected); got != want || got == "" {
		t.Errorf("sentence is %q; want that of the stage, %q", got, want)
	}
}

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
