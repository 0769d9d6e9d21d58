//go:build !js

package ui

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/serve"
	"memtide/web/link"
	"memtide/web/state"
)

// The link on the page, and nothing else in it, shows the counterexample.
func TestCounterexampleLink(t *testing.T) {
	at := regexp.MustCompile(`href="(#[^"]*)" data-testid="lemma3"`).FindStringSubmatch(pageOf(t, first(t)))
	if at == nil {
		t.Fatal("the page has no link to the counterexample")
	}
	l, notes := link.Parse(strings.ReplaceAll(at[1], "&amp;", "&"))
	c, more := choiceOf(l)
	if len(notes)+len(more) > 0 {
		t.Errorf("%s: notes %q %q; want none", at[1], notes, more)
	}
	for strategy, want := range map[string]time.Duration{c.Strategy: 27 * time.Millisecond, "dynprog": 30 * time.Millisecond} {
		c.Strategy = strategy
		s, err := First(context.Background(), new(serve.Local), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Shown.Solved; got.Trace.Makespan != want || !got.Verdict.Verified || got.Strategy != strategy {
			t.Errorf("%s: %s takes %v, verified %v; want %v", at[1], got.Strategy, got.Trace.Makespan, got.Verdict.Verified, want)
		}
	}
}

// What is chosen beside a preset that suggests something else survives a link.
func TestLinkOfSuggestion(t *testing.T) {
	s := first(t)
	suggested, _ := choiceOf(link.Link{Preset: "lemma3-b1"})
	usual := DefaultChoice()
	usual.Source.Preset = "lemma3-b1"
	for _, c := range []state.Choice{suggested, usual} {
		s.Choice = c
		l := linkOf(s, link.Link{})
		parsed, _ := link.Parse(l.String())
		if back, notes := choiceOf(parsed); !back.Equal(c) || len(notes) > 0 {
			t.Errorf("%s\n is read as %+v, notes %q\n want %+v", l.String(), back, notes, c)
		}
	}
	own, _ := choiceOf(link.Link{Preset: "lemma3", Strategy: "greedy", Budget: link.Budget{Bytes: 20 * engine.MiB}, ToDev: 5e9})
	if own.Strategy != "greedy" || own.Budget.Bytes != 20*engine.MiB || own.ToDev != 5e9 || own.ToHost != 5e9 {
		t.Errorf("a link that says something is read as %+v; want what it says", own)
	}
}

// Every preset is in the picker, under the heading of its group.
func TestPresetGroups(t *testing.T) {
	h := Header{S: first(t)}
	count, titles := 0, map[string]bool{}
	for _, g := range h.Presets() {
		if titles[g.Title] {
			t.Errorf("the heading %q stands twice", g.Title)
		}
		titles[g.Title] = true
		for _, o := range g.Options {
			count++
			if p := preset.Lookup(o.ID); p == nil || p.Group != g.Title || p.Title != o.Title {
				t.Errorf("%+v stands under %q; want its title and group", o, g.Title)
			}
		}
	}
	if count != len(preset.All()) {
		t.Errorf("%d presets; want %d", count, len(preset.All()))
	}
	if page := pageOf(t, h.S); strings.Count(page, "<optgroup label=") != len(titles) || !regexp.MustCompile(`<optgroup label="Counterexamples">\s*<option`).MatchString(page) {
		t.Errorf("the page has %d groups; want %d, one of them the counterexamples", strings.Count(page, "<optgroup"), len(titles))
	}
}
