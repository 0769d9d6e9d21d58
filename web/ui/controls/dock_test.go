//go:build !js

package controls

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"memtide/engine"
	"memtide/web/state"
	"memtide/web/ui/answer"
	"memtide/web/ui/pagetest"
)

func TestBudgetWords(t *testing.T) {
	s := pagetest.First(t)
	c, d := Limit{S: s}, Dock{S: s}
	if page := pagetest.HTML(t, &d); !strings.Contains(page, `data-plan="Recompute"`) {
		t.Errorf("the bar of phones is %s; want the name of the plan in it", page)
	}
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

// TestKnobOnItsLine checks that the knob stands exactly where the bar shows the budget, also between two steps of the
// slider, and that the slider has fine steps where a card has a small part of what everything needs.
func TestKnobOnItsLine(t *testing.T) {
	s := pagetest.First(t)
	for _, b := range []engine.Bytes{2 * engine.GiB, 2*engine.GiB + 11*engine.MiB, 3*engine.GiB + 1} {
		pagetest.Do(t, s, state.SetBudget{Bytes: b, Settled: true})
		var from, span float64
		if _, err := fmt.Sscanf((&Dock{S: s}).Place(), "--from:%f%%;--span:%f%%", &from, &span); err != nil {
			t.Fatal(err)
		}
		r := s.KnobRange()
		knob := from + span*float64(r.Position(b))/float64(r.Steps())
		want := 100 * float64(b) / float64(answer.Scale(s, s.Visible()))
		if math.Abs(knob-want) > 1e-3 {
			t.Errorf("at %d bytes the knob is at %.4f %%; want %.4f, as the line", b, knob, want)
		}
	}
	s = pagetest.Preset(t, "resnet1001-on-rtx-4090-b8")
	pagetest.Do(t, s, state.SetGPU{ID: "rtx-4090"})
	if r := s.KnobRange(); r.Steps() < 96 || r.To > 32*engine.GiB || r.To < 30*engine.GiB {
		t.Errorf("the range is %+v with %d steps; want at least 96 up to the end of the bar", r, r.Steps())
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
