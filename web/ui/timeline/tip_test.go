//go:build !js

package timeline

import (
	"strings"
	"testing"
	"time"

	"memtide/web/draw"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// TestAddressTip checks that the tooltip names the buffer, or says how the memory is used at that moment.
func TestAddressTip(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.TogglePlaces{}, state.SetAllocator{Name: "optimal"})
	m := s.PlacesModel()
	if got := TipOfPlaces(m,
		lookup.Target{Kind: lookup.OnBuffer, Index: s.Places.Placed.Pieces[3].Buffer},
		time.Millisecond); !strings.Contains(got, ", at ") {
		t.Errorf("over a block: %q, want its address", got)
	}
	if got := TipOfPlaces(m, lookup.Target{}, time.Millisecond); !strings.Contains(got,
		"largest hole") {
		t.Errorf("over nothing: %q, want the holes", got)
	}
	if got := TipOfPlaces(m, lookup.Target{}, draw.NoCursor); got != "" {
		t.Errorf("over a hole of the map: %q, want nothing", got)
	}
}

func TestTooltip(t *testing.T) {
	s := pagetest.First(t)
	m := s.Shown.Index()
	if got := TipLines(m, lookup.Target{}, 0); got != nil {
		t.Errorf("over nothing the tooltip says %q; want nothing", got)
	}
	if got := TipLines(m, lookup.Target{Kind: lookup.OnSpan}, 0); len(got) != 1 ||
		got[0] != m.Sentence(lookup.Target{Kind: lookup.OnSpan}) {
		t.Errorf("over a run the tooltip says %q; want its sentence", got)
	}
	trace := s.Shown.Solved.Trace
	got := TipLines(m, lookup.Target{Kind: lookup.OnBand, Index: 2}, trace.PeakAt)
	if len(got) != 2+tipValues || !strings.HasPrefix(got[0], "2.58 GiB in use") ||
		!strings.HasPrefix(got[1+tipValues], "and ") {
		t.Errorf("over the memory at its peak the tooltip says %q; want the peak, the %d largest values and how many more", got, tipValues)
	}
}
