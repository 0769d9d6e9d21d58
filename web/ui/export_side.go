package ui

import (
	"memtide/web/state"
	"memtide/web/ui/names"
)

// exportSide is a side of what a file is about.
type exportSide struct {
	letter  string // A or B; empty without a comparison
	picture *state.Picture
}

// sideOf is what the controls change.
func sideOf(s *state.State) exportSide {
	side := exportSide{picture: s.Visible()}
	if s.Compare != nil {
		side.letter = names.Letter(s.Compare.OnA)
	}
	return side
}

// sidesOf is what a file is about: A and B of a comparison, or what the controls
// change if nothing else has a schedule. There has to be a picture.
func sidesOf(s *state.State) []exportSide {
	if a, b, ok := s.Sides(); ok && a != nil && b != nil {
		return []exportSide{{names.Letter(true), a}, {names.Letter(false), b}}
	}
	return []exportSide{sideOf(s)}
}
