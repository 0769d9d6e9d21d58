//go:build !js

package timeline

import (
	"strings"
	"testing"

	"memtide/web/state"
	"memtide/web/ui/input"
	"memtide/web/ui/pagetest"
)

// TestPlayButton checks that the button plays the step, and stops it while it is played.
func TestPlayButton(t *testing.T) {
	s := pagetest.First(t)
	page := &Pictures{S: s}
	if got := string(page.PlayButton()); page.NoPlay() || !strings.Contains(got, "Play the step") ||
		page.Playing() != "false" {
		t.Errorf("absent %t, button %q, pressed %s; want one that plays", page.NoPlay(), got, page.Playing())
	}
	s.Update(state.PlayStep{Now: 1})
	if got := string(page.PlayButton()); !strings.Contains(got, "Stop") || page.Playing() != "true" {
		t.Errorf("while it plays the button is %q, pressed %s; want one that stops", got, page.Playing())
	}
}

// TestSpacePlays checks that Space plays the step while the pictures have the focus.
func TestSpacePlays(t *testing.T) {
	a, ok := input.KeyOf(input.Key{Code: "Space", Key: " "})
	if !ok || !a.Plays() || !a.Walks() {
		t.Errorf("Space is %+v, known %v; want what plays, while the pictures have the focus", a, ok)
	}
}
