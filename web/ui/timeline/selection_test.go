//go:build !js

package timeline

import (
	"strings"
	"testing"

	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestSelectionWords(t *testing.T) {
	s := pagetest.First(t)
	sel := Selection{S: s}
	if got, want := sel.Title(), "Why the peak is here"; got != want || !sel.None() || sel.Lens() != "" {
		t.Errorf("title is %q, lens %q; want %q and none: optimal recomputation never waits", got, sel.Lens(), want)
	}
	if html := string(sel.HTML()); !strings.Contains(html, "The most memory is in use at") {
		t.Errorf("the peak is explained by %s; want when it is", html)
	}
	s.Update(state.Select{Target: lookup.Target{Kind: lookup.OnStage, Index: 1}})
	if got, want := sel.Sentence(), s.Shown.Index().Sentence(s.View.Selected); got != want || got == "" {
		t.Errorf("sentence is %q; want that of the stage, %q", got, want)
	}
}
