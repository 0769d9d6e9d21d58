//go:build !js

package ui

import (
	"strings"
	"testing"
	"time"

	"memtide/web/draw"
	"memtide/web/lookup"
	"memtide/web/state"
	"memtide/web/ui/pagetest"
)

// The tooltip names the buffer, or says how the memory is used at that moment.
func TestAddressTip(t *testing.T) {
	s := pagetest.First(t)
	pagetest.Do(t, s, state.TogglePlaces{}, state.SetAllocator{Name: "optimal"})
	m := s.PlacesModel()
	if got := TipOfPlaces(m, draw.AddressTime, lookup.Target{Kind: lookup.OnBuffer, Index: s.Places.Placed.Pieces[3].Buffer}, time.Millisecond); !strings.Contains(got, ", at ") {
		t.Errorf("over a block: %q, want its address", got)
	}
	if got := TipOfPlaces(m, draw.AddressTime, lookup.Target{}, time.Millisecond); !strings.Contains(got, "largest hole") {
		t.Errorf("over nothing: %q, want the holes", got)
	}
	if got := TipOfPlaces(m, draw.AddressMap, lookup.Target{}, draw.NoCursor); got != "" {
		t.Errorf("over a hole of the map: %q, want nothing", got)
	}
}
