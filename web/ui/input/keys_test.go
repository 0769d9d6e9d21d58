//go:build !js

package input

import (
	"testing"

	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

func TestChords(t *testing.T) {
	for _, c := range []struct {
		key  Key
		want Chord
	}{
		{Key{Code: "KeyZ", Key: "z"}, ChordUndo},
		{Key{Code: "KeyZ", Key: "Z", Shift: true}, ChordUndo},
		{Key{Code: "KeyW", Key: "z"}, ChordUndo}, // on AZERTY
		{Key{Code: "KeyS", Key: "s"}, ChordSave},
		{Key{Code: "KeyS", Key: "S"}, ChordSave}, // with Caps Lock
		{Key{Code: "KeyO", Key: "o"}, ChordOpen},
		{Key{Code: "KeyS", Key: "S", Shift: true}, ChordNone}, // left to the browser
		{Key{Code: "KeyC", Key: "c"}, ChordNone},
	} {
		if got := ChordOf(c.key); got != c.want {
			t.Errorf("Ctrl and %+v: chord %d; want %d", c.key, got, c.want)
		}
	}
}

// TestTypedKeys checks that the shortcuts that can be turned off are those that WCAG 2.1.4 is about: letters,
// digits and punctuation.
func TestTypedKeys(t *testing.T) {
	for key, want := range map[string]bool{"w": true, "0": true, "[": true, "ü": true, "?": true, "ArrowLeft": false,
		"Escape": false, "Backspace": false, "F1": false} {
		if got := (Key{Key: key}).Typed(); got != want {
			t.Errorf("the key %s is a character: %t; want %t", key, got, want)
		}
	}
}

func TestShortcutsSwitch(t *testing.T) {
	s := pagetest.First(t)
	if got := (Command{Do: "shortcuts", Value: "on"}).Message(s); got != nil {
		t.Errorf("while the box is pressed: %#v; want nothing until it has changed", got)
	}
	for _, want := range []bool{true, false} {
		m := Command{Do: "shortcuts", Value: "on", Settled: true}.Message(s)
		if m != (state.SetShortcuts{Off: want}) {
			t.Errorf("the box says %#v; want shortcuts off: %t", m, want)
		}
		s.Update(m)
	}
}
