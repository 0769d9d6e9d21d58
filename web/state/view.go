package state

import (
	"time"

	"memtide/web/draw"
	"memtide/web/lookup"
)

// View is what a person looks at: nothing here changes the schedule.
type View struct {
	From, To  time.Duration   // visible part of the step, [From, To); To 0: all of it
	Selected  lookup.Target   // what the sentence is about: a wait, a run, a stage
	Picked    bool            // by a person or a link, not by the page itself
	Trail     []lookup.Target // what was selected before the causes were followed
	Lines     []string        // what the curve draws, by name; nil: DefaultLines
	Axis      Axis            // of the curve
	LineList  bool            // the list of all lines is open
	Table     bool            // the table of operations is open
	TableTop  int             // first row of the table that is shown
	Sides     bool            // a comparison shows the memory of A and of B, and not both in one picture
	Playhead  time.Duration   // the moment that the pictures mark and the memory map shows; 0: none, and there the failure or the peak
	Play      Playing
	ToPlay    bool // the link says that the step is meant to be played
	Story     StoryStep
	AliveBy   draw.AliveBy // the order of the table of what is there at the peak
	Density   int          // see State.Density; 0: the default, otherwise one more
	Chain     bool         // the critical chain is shown
	Layers    LayerTable   // the table of layers
	Questions bool         // a question is open
	Question  string       // which one, by name; empty: the first
	Slowdown  int          // see State.Slowdown; 0: the default, otherwise one more
	Help      bool
	Picker    Picker // the list of networks
	Theme     string // "light", "dark" or empty: as the system has it
	Wanted    string // what the link selects, until there is a picture to find it in
	Frame     Frame
	Note      string // one line that tells what a shortcut or a button did

	CanSend     bool              // the device passes links on (navigator.share)
	NoShortcuts bool              // keys of one character do nothing
	KeyLabels   map[string]string // what stands on a key, by KeyboardEvent.code; nil if unknown
}

// ToggleTable opens the table of operations and closes it.
type ToggleTable struct{}

func (ToggleTable) apply(s *State) []Effect {
	s.View.Table = !s.View.Table
	s.touch()
	return []Effect{WriteURL{Replace}}
}

// ToggleSides shows the memory of both sides side by side, or in one picture.
type ToggleSides struct{}

func (ToggleSides) apply(s *State) []Effect {
	s.View.Sides = !s.View.Sides
	return append(s.touch(), WriteURL{Replace})
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
		s.DOM++
		return nil
	case v.Picker.Open:
		v.Picker = Picker{}
	case s.Draft.Field != "":
		s.Draft = Draft{}
	case v.Help:
		v.Help = false
	case s.Alert != nil:
		s.Alert = nil
	case s.hover != "":
		return s.unpreview()
	case s.flameOut():
	case v.Selected.Kind != lookup.Nothing:
		v.Selected, v.Trail = lookup.Target{}, nil
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
