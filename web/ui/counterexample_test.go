//go:build !js

package ui

import (
	"context"
	"testing"
	"time"

	"memtide/engine"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestCounterexampleLink checks that a link with only the counterexample of Lemma 3 shows it.
func TestCounterexampleLink(t *testing.T) {
	const at = "v=1&p=lemma3"
	l, notes := link.Parse(at)
	c, more := permalink.ChoiceOf(l)
	if len(notes)+len(more) > 0 {
		t.Errorf("%s: notes %q %q; want none", at, notes, more)
	}
	for strategy, want := range map[string]time.Duration{c.Strategy: 27 * time.Millisecond,
		"dynprog": 30 * time.Millisecond} {
		c.Strategy = strategy
		s, err := jobs.First(context.Background(), new(serve.Local), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Shown.Solved; got.Trace.Makespan != want || !got.Verdict.Verified || got.Strategy != strategy {
			t.Errorf("%s: %s takes %v, verified %v; want %v", at, got.Strategy, got.Trace.Makespan,
				got.Verdict.Verified, want)
		}
	}
}

// TestLinkOfSuggestion checks that the settings that the user chose for a preset with suggestions of its own
// survive a link.
func TestLinkOfSuggestion(t *testing.T) {
	s := pagetest.First(t)
	suggested, _ := permalink.ChoiceOf(link.Link{Said: choice.Said{Preset: "lemma3-b1"}})
	usual := choice.Default()
	usual.Source.Preset = "lemma3-b1"
	for _, c := range []state.Choice{suggested, usual} {
		s.Choice = c
		l := permalink.Of(s, link.Link{})
		parsed, _ := link.Parse(l.String())
		if back, notes := permalink.ChoiceOf(parsed); !back.Equal(c) || len(notes) > 0 {
			t.Errorf("%s\n is read as %+v, notes %q\n want %+v", l.String(), back, notes, c)
		}
	}
	own, _ := permalink.ChoiceOf(link.Link{Said: choice.Said{Preset: "lemma3", Strategy: "greedy",
		Budget: choice.Budget{Bytes: 20 * engine.MiB}, ToDev: 5e9}})
	if own.Strategy != "greedy" || own.Budget.Bytes != 20*engine.MiB || own.ToDev != 5e9 || own.ToHost != 5e9 {
		t.Errorf("a link that says something is read as %+v; want what it says", own)
	}
}
