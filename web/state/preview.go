package state

import "memtide/web/tradeoff"

// Hover previews a point of the curve.
type Hover struct{ Point tradeoff.Point }

func (m Hover) apply(s *State) []Effect {
	if s.Network == nil {
		return nil
	}
	return s.preview(m.Point.Choice(s.Choice), true)
}

// preview shows the picture of a choice instead, as soon as there is one.
func (s *State) preview(c Choice, soon bool) []Effect {
	key := s.Network.PictureKey(c)
	if key == s.hover {
		return nil
	}
	s.hover = key
	if pic, ok := s.pictures.get(key); ok {
		s.Preview = pic
		s.touch()
		return nil
	}
	return []Effect{Solve{ID: s.newID(), Choice: c, Request: s.Network.Request(c), Slot: ForPreview, Soon: soon}}
}

// Unhover ends that.
type Unhover struct{}

func (Unhover) apply(s *State) []Effect { return s.unpreview() }

func (s *State) unpreview() []Effect {
	s.hover = ""
	if s.Preview != nil {
		s.Preview = nil
		s.touch()
	}
	return nil
}
