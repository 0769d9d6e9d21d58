package state

import (
	"memtide/web/lookup"
	"memtide/web/view"
)

// ToggleTable opens the table of operations and closes it.
type ToggleTable struct{}

func (ToggleTable) apply(s *State) []Effect {
	s.View.Table = !s.View.Table
	return s.looked()
}

// ToggleSides shows the memory of both sides side by side, or in one picture.
type ToggleSides struct{}

func (ToggleSides) apply(s *State) []Effect {
	s.View.Sides = !s.View.Sides
	return s.looked()
}

// ScrollTable says which row of it is the first on screen.
type ScrollTable struct{ Top int }

func (m ScrollTable) apply(s *State) []Effect {
	s.View.TableTop = max(m.Top, 0)
	return s.touch()
}

// SetTheme chooses the colours, see View.Theme.
type SetTheme struct{ Theme string }

func (m SetTheme) apply(s *State) []Effect {
	s.View.Theme = m.Theme
	s.touch()
	return []Effect{SaveTheme(m)}
}

// Dismiss closes what is on top: the dialog, the list of networks, help, alert,
// selection; or, from the button of the notice, the alert and what was written
// wrongly.
type Dismiss struct{ Notice bool }

func (m Dismiss) apply(s *State) []Effect {
	v := &s.View
	switch {
	case m.Notice: // what is written wrongly goes with what was said about it
		s.Alert, s.Draft = nil, Draft{}
	case s.Sharing != nil:
		s.Sharing = nil
		return s.touchDOM()
	case v.Picker.Open:
		v.Picker = view.Picker{}
	case s.Draft.Field != "":
		s.Draft = Draft{}
	case v.Help:
		v.Help = false
	case s.Alert != nil:
		s.Alert = nil
	case s.hover != "":
		return s.unpreview()
	case s.Flame().Out():
	case v.Selected.Kind != lookup.Nothing:
		v.Select(lookup.Target{})
	}
	return s.touch()
}

// CopyLink puts the link into the clipboard.
type CopyLink struct{}

func (CopyLink) apply(s *State) []Effect {
	s.Paint++
	return []Effect{CopyURL{}}
}

// Copied tells the outcome of that, or what Say says: that it failed, that something
// else was copied.
type Copied struct{ Say string }

func (m Copied) apply(s *State) []Effect {
	s.View.Note = "Link copied."
	if n := s.Network; n != nil && !n.InLink() {
		s.View.Note = "Link copied. This graph is too long for a link: send the file too."
	}
	if m.Say != "" {
		s.View.Note = m.Say
	}
	return s.touch()
}

// ForgetNote takes the note away that a button left.
type ForgetNote struct{}

func (ForgetNote) apply(s *State) []Effect {
	s.View.Note = ""
	return s.touch()
}
