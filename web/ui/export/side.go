package export

import (
	"memtide/web/known"
	"memtide/web/state"
	"memtide/web/ui/names"
)

// Side is a side of what a file is about.
type Side struct {
	Letter  string // A or B; empty without a comparison
	Picture *known.Picture
}

// SideOf is what the controls change.
func SideOf(s *state.State) Side {
	side := Side{Picture: s.Visible()}
	if s.Compare != nil {
		side.Letter = names.Letter(s.Compare.OnA)
	}
	return side
}

// Sides is what a file is about: A and B of a comparison, or what the controls
// change if nothing else has a schedule. There has to be a picture.
func Sides(s *state.State) []Side {
	if a, b, ok := s.Sides(); ok && a != nil && b != nil {
		return []Side{{names.Letter(true), a}, {names.Letter(false), b}}
	}
	return []Side{SideOf(s)}
}
