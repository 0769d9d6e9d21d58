//go:build !js

package ui

import (
	"strings"
	"testing"

	"memtide/web/state"
	"memtide/web/ui/input"
)

// TestHelpLabels checks that the help shows the labels of the keys on the keyboard in use.
func TestHelpLabels(t *testing.T) {
	s := state.New()
	h := Help{S: s}
	for _, want := range []string{"<dt>W S or + −</dt>", "<dt>A D or Shift ← →</dt>", "<dt>[ ]</dt>",
		"<dt>Ctrl S</dt>"} {
		if got := string(h.Keys()); !strings.Contains(got, want) {
			t.Errorf("the help is %s; want %s in it", got, want)
		}
	}
	s.Update(state.SetLabels{Labels: map[string]string{"KeyW": "z", "KeyA": "q", "BracketLeft": "<"}})
	for _, want := range []string{"<dt>Z S or + −</dt>", "<dt>Q D or Shift ← →</dt>", "<dt>&lt; ]</dt>",
		"<dt>Ctrl S</dt>"} {
		if got := string(h.Keys()); !strings.Contains(got, want) {
			t.Errorf("on AZERTY the help is %s; want %s in it", got, want)
		}
	}
}

// TestHelpNamesTheKeys checks that the help names every key that does something.
func TestHelpNamesTheKeys(t *testing.T) {
	keys := (&Help{S: state.New()}).Keys()
	for _, k := range []string{"W", "A", "S", "D", "+", "−", "0", "N", "P", "I", "F", "G", "T", "Y", "[", "]", "?",
		"Esc", "Backspace"} {
		if _, ok := input.KeyOf(input.Key{Code: map[string]string{"W": "KeyW", "A": "KeyA", "S": "KeyS", "D": "KeyD",
			"0": "Digit0", "Esc": "Escape", "Backspace": "Backspace"}[k],
			Key: strings.ReplaceAll(k, "−", "-")}); !ok {
			t.Errorf("the key %s does nothing; it is in the list of this test", k)
		}
		found := false
		for _, row := range input.KeyRows() {
			for _, word := range strings.Fields(row.Keys) {
				found = found || word == k
			}
		}
		if !found {
			t.Errorf("the help does not name the key %s: %s", k, keys)
		}
	}
}
