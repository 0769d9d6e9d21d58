package state

import (
	"reflect"
	"strings"
	"testing"

	"memtide/web/link"
)

// TestFolds checks that a link unfolds the parts that it names and folds all others, and that the address changes
// when the user folds or unfolds a part.
func TestFolds(t *testing.T) {
	s := New()
	start := Start{Choice: Choice{Source: Source{Preset: "resnet50-b8"}, Strategy: "keepall"},
		Look: link.Look{Folds: link.Folds{LineList: true, Table: true}, Chain: true}}
	opening, _ := s.Update(start)[0].(Open)
	s.Update(opened(opening.ID, chain("net"))) // until then the address does not change
	if got, want := unfolded(s), []string{"lines", "table"}; !reflect.DeepEqual(got, want) {
		t.Errorf("a link that opens %q has opened %q", want, got)
	}
	if !s.View.Chain {
		t.Error("the critical chain is not shown; want it, as the link says")
	}
	for _, c := range []struct {
		in   Message
		want []string
	}{
		{ToggleLayers, []string{"lines", "layers", "table"}},
		{ToggleLineList, []string{"layers", "table"}},
		{ToggleLineList, []string{"lines", "layers", "table"}},
		{ToggleTable, []string{"lines", "layers"}},
		{ToggleSides, []string{"lines", "layers", "sides"}},
		{ToggleSides, []string{"lines", "layers"}},
		{ToggleChain, []string{"lines", "layers"}},
	} {
		if out := s.Update(c.in); len(out) == 0 || out[len(out)-1] != (WriteURL{Replace}) {
			t.Errorf("%#v asks for %#v; want the address to be written", c.in, out)
		}
		if got := unfolded(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("after %#v %q is open; want %q", c.in, got, c.want)
		}
	}
	// A part that show= names is open without open=.
	start.Folds, start.Frame = link.Folds{}, link.Frame{Show: []string{"time", "table"}}
	s.Update(Navigate(start))
	if got := unfolded(s); len(got) > 0 || !s.View.Table {
		t.Errorf("a link that shows the table has %q open beyond it, table %t; want only the table", got, s.View.Table)
	}
	start.Frame, start.Chain = link.Frame{}, false
	s.Update(Navigate(start))
	if got := unfolded(s); len(got) > 0 || s.View.Chain {
		t.Errorf("a link that opens nothing leaves %q open, critical chain %t; want nothing", got, s.View.Chain)
	}
}

// unfolded returns the parts that the link of the page unfolds.
func unfolded(s *State) []string {
	l := s.View.Linked(s.Shown)
	if names := l.Folds.String(); names != "" {
		return strings.Split(names, ",")
	}
	return nil
}
