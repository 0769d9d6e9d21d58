package state

import (
	"slices"
	"time"

	"memtide/engine/sim"
	"memtide/web/draw"
	"memtide/web/lookup"
	"memtide/web/tell"
	"memtide/web/view"
)

// Toggle shows a part of the page, or hides it.
type Toggle int

// The parts.
const (
	ToggleTable    Toggle = iota // of operations
	ToggleSides                  // the memory of both sides side by side, or in one picture
	ToggleLayers                 // the table of layers
	ToggleChain                  // the critical chain
	ToggleLineList               // the list of all lines of the curve
)

func (m Toggle) apply(s *State) []Effect {
	v := &s.View
	shown := []*bool{&v.Table, &v.Sides, &v.LayerList, &v.Chain, &v.LineList}[m]
	*shown = !*shown
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
	return []Effect{Remember{"theme", m.Theme}}
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

// Select selects something in the pictures; lookup.Target{}: nothing.
type Select struct{ Target lookup.Target }

func (m Select) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.Select(m.Target) })
}

// StepWait selects the next or an earlier wait.
type StepWait struct{ By int }

func (m StepWait) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.StepWait(m.By, len(s.Visible().Gaps())) })
}

// FollowCause selects what let the selected thing start.
type FollowCause struct{}

func (FollowCause) apply(s *State) []Effect { return s.selected(s.View.FollowCause) }

// Retrace goes back to what was selected before the cause was followed.
type Retrace struct{}

func (Retrace) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.Retrace() })
}

// selected has a person select something of what is visible, if anything is.
func (s *State) selected(change func(*draw.Index)) []Effect {
	s.touch()
	if p := s.Visible(); p != nil {
		change(p.Index())
		s.View.Picked = true
		s.View.Reveal(p.Index(), s.End())
	}
	return []Effect{WriteURL{Replace}}
}

// SetRange shows a part of the step; the zero value all of it.
type SetRange struct{ From, To time.Duration }

func (m SetRange) apply(s *State) []Effect {
	whole := s.View.To == 0
	s.View.SetRange(m.From, m.To, s.End())
	s.Paint++
	if whole != (s.View.To == 0) { // of the range the components tell no more than what a drag does in it
		s.touchDOM()
	}
	return []Effect{WriteURL{Replace}}
}

// SortLayers sorts the table by a column, see view.LayerTable.
type SortLayers struct{ By tell.LayerColumn }

func (m SortLayers) apply(s *State) []Effect {
	if m.By >= tell.NumLayerColumns {
		return nil
	}
	s.View.Layers.Sort(m.By)
	return s.touchDOM()
}

// FindLayers leaves out rows that do not contain a text.
type FindLayers struct{ Text string }

func (m FindLayers) apply(s *State) []Effect {
	s.View.Layers.Find, s.View.Layers.Top = m.Text, 0
	return s.touchDOM()
}

// ScrollLayers says which row is the first on screen.
type ScrollLayers struct{ Top int }

func (m ScrollLayers) apply(s *State) []Effect {
	s.View.Layers.Top = max(m.Top, 0) // the rows are set by hand: nothing else has to be drawn
	return nil
}

// StepLayer selects the layer some rows below the selected one.
type StepLayer struct{ By int }

func (m StepLayer) apply(s *State) []Effect {
	rows, at := s.LayerRows(), s.LayerRow()
	switch {
	case len(rows) == 0:
		return s.touchDOM()
	case at >= 0:
		at = min(max(at+m.By, 0), len(rows)-1)
	case m.By < 0:
		at = len(rows) - 1
	default:
		at = 0
	}
	Select{lookup.Target{Kind: lookup.OnStage, Index: rows[at].Stage}}.apply(s)
	return nil
}

// LayerRows returns the rows of the table of layers, see view.View.
func (s *State) LayerRows() []tell.LayerRow { return s.View.LayerRows(s.Visible()) }

// LayerRow returns the row of the selected stage, -1 if it has none.
func (s *State) LayerRow() int { return s.View.LayerRow(s.Visible()) }

// PlayStep plays the step from the playhead on, or stops it. Reduced: for who wants no
// motion it goes to where the next phase begins, and behind the last one to the start.
type PlayStep struct {
	Now     float64 // milliseconds, of any clock
	Reduced bool
}

func (m PlayStep) apply(s *State) []Effect {
	v, p := &s.View, s.Visible()
	if p == nil || s.End() == 0 {
		return nil
	}
	s.touch()
	v.ToPlay = false
	switch {
	case v.Play.On:
		v.Play = view.Playing{}
	case m.Reduced:
		v.Playhead = p.Index().NextPhase(v.Playhead)
	default:
		v.StartPlaying(m.Now, p.Gaps(), s.End())
	}
	return []Effect{WriteURL{Replace}}
}

// Tick moves the playhead on to what time it is. It changes nothing else, except that
// the wait at which the playhead stays is selected.
type Tick struct{ Now float64 }

func (m Tick) apply(s *State) []Effect {
	if !s.View.Play.On || !s.View.Advance(m.Now, s.End(), s.selectWaitAt) {
		return nil
	}
	return s.looked()
}

// selectWaitAt selects the wait that starts at a moment, if what is shown can be
// selected in.
func (s *State) selectWaitAt(at time.Duration) {
	if s.Preview != nil || s.Shown == nil {
		return
	}
	if i := slices.IndexFunc(s.Shown.Gaps(), func(g sim.Gap) bool { return g.Start == at }); i >= 0 {
		s.View.Select(lookup.Target{Kind: lookup.OnGap, Index: i})
		s.touch()
	}
}

// Scrub puts the playhead where it is dragged, and stops it there.
type Scrub struct {
	At      time.Duration
	Settled bool
}

func (m Scrub) apply(s *State) []Effect {
	if s.View.Play.On {
		s.DOM++
	}
	s.View.Play, s.View.Playhead = view.Playing{}, min(max(m.At, 1), s.End())
	if !m.Settled {
		return nil
	}
	return s.looked()
}

// What people say about the keyboard, and what the browser knows of it.

// SetShortcuts turns the keys off that are one character, or on again: who
// speaks to the machine or hits keys by accident wants none.
type SetShortcuts struct{ Off bool }

func (m SetShortcuts) apply(s *State) []Effect {
	s.View.NoShortcuts = m.Off
	s.DOM++
	if m.Off {
		return []Effect{Remember{"shortcuts", "off"}}
	}
	return []Effect{Remember{"shortcuts", "on"}}
}

// SetLabels tells what stands on the keys at some places of the keyboard.
type SetLabels struct{ Labels map[string]string }

func (m SetLabels) apply(s *State) []Effect {
	s.View.KeyLabels = m.Labels
	return s.touchDOM()
}

// Tell shows one line that tells what a shortcut did; the empty string takes the note away
// that a button left.
type Tell struct{ Text string }

func (m Tell) apply(s *State) []Effect {
	s.View.Note = m.Text
	return s.touchDOM()
}

// ToggleHelp opens the list of shortcuts and closes it.
type ToggleHelp struct{}

func (ToggleHelp) apply(s *State) []Effect {
	s.DOM++
	if s.View.Help = !s.View.Help; s.View.Help {
		return []Effect{AskLabels{}}
	}
	return nil
}
