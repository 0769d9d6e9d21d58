package state

import (
	"reflect"
	"testing"

	"memtide/web/lookup"
)

func TestKeyboard(t *testing.T) {
	s := New()
	for _, c := range []struct {
		in   Message
		want []Effect
		see  func() any
		seen any
	}{
		{ToggleHelp{}, []Effect{AskLabels{}}, func() any { return s.View.Help }, true},
		{SetLabels{map[string]string{"KeyW": "z"}}, nil, func() any { return s.View.KeyLabels["KeyW"] }, "z"},
		{ToggleHelp{}, nil, func() any { return s.View.Help }, false},
		{SetShortcuts{Off: true}, []Effect{Remember{"shortcuts", "off"}}, func() any { return s.View.NoShortcuts }, true},
		{SetShortcuts{}, []Effect{Remember{"shortcuts", "on"}}, func() any { return s.View.NoShortcuts }, false},
		{Tell{"Saved."}, nil, func() any { return s.View.Note }, "Saved."},
		{Tell{}, nil, func() any { return s.View.Note }, ""},
	} {
		drawn := s.DOM
		if got := s.Update(c.in); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%#v asks for %#v; want %#v", c.in, got, c.want)
		}
		if got := c.see(); got != c.seen {
			t.Errorf("after %#v the page remembers %v; want %v", c.in, got, c.seen)
		}
		if s.DOM == drawn {
			t.Errorf("%#v has the page not drawn again", c.in)
		}
	}
}

// TestEscape checks that Escape closes the further words, then the selection, and that the address no longer has that.
func TestEscape(t *testing.T) {
	p := shown(t)
	p.play(ToggleMore{})
	p.View.Select(lookup.Target{Kind: lookup.OnStage, Index: 1})
	if p.play(Dismiss{}); p.View.More || p.View.Selected.Kind != lookup.OnStage {
		t.Errorf("Escape leaves the words open %t and selects %+v; want them closed and the selection kept", p.View.More,
			p.View.Selected)
	}
	if p.play(Dismiss{}); p.View.Selected.Kind != lookup.Nothing || count[WriteURL](p) != 1 {
		t.Errorf("Escape again: %+v selected, %s; want nothing, and the address written", p.View.Selected, names(p.effects))
	}
}
