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
	ToggleAnyway                 // the pictures, curve and table of a step that no plan makes fit
)

func (m Toggle) apply(s *State) []Effect {
	v := &s.View
	shown := []*bool{&v.Table, &v.Sides, &v.LayerList, &v.Chain, &v.LineList, &v.Anyway}[m]
	*shown = !*shown
	return s.viewChanged()
}

// ScrollTable sets the first row of the table of operations that is on screen.
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

// Dismiss closes what is on top: the dialog, the list of networks, a draft with what refused it and the field for a
// number, help, the alert, a preview, the further words, the selection. With Notice it closes the alert and the draft
// that caused it.
type Dismiss struct{ Notice bool }

func (m Dismiss) apply(s *State) []Effect {
	v := &s.View
	switch {
	case m.Notice:
		s.Alert, s.Draft = nil, Draft{}
	case s.Sharing != nil:
		s.Sharing = nil
		return s.touchDOM()
	case v.Picker.Open:
		v.Picker = view.Picker{}
	case s.Draft.Field != "" || v.Typed != "":
		if s.Alert != nil && s.Alert.Field != "" {
			s.Alert = nil
		}
		s.Draft, v.Typed = Draft{}, ""
	case v.Help:
		v.Help = false
	case s.Alert != nil:
		s.Alert = nil
	case s.hover != "":
		return s.unpreview()
	case s.Flame().Out():
	case v.More:
		v.More = false
	case v.Selected.Kind != lookup.Nothing:
		v.Select(lookup.Target{})
		return s.viewChanged()
	}
	return s.touch()
}

// CopyLink puts the link into the clipboard.
type CopyLink struct{}

func (CopyLink) apply(s *State) []Effect {
	s.Paint++
	return []Effect{CopyURL{}}
}

// Copied says that the link was copied, or what Say says instead: that copying failed, or that
// something else was copied.
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

// Select selects something in the pictures; lookup.Target{} selects nothing.
type Select struct{ Target lookup.Target }

func (m Select) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.Select(m.Target) })
}

// StepWait selects the wait that is By waits after the selected one.
type StepWait struct{ By int }

func (m StepWait) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.StepWait(m.By, len(s.Visible().Gaps())) })
}

// FollowCause selects what the selected thing waited for.
type FollowCause struct{}

func (FollowCause) apply(s *State) []Effect { return s.selected(s.View.FollowCause) }

// Retrace undoes FollowCause.
type Retrace struct{}

func (Retrace) apply(s *State) []Effect {
	return s.selected(func(*draw.Index) { s.View.Retrace() })
}

// selected changes the selection with change, if a picture is visible.
func (s *State) selected(change func(*draw.Index)) []Effect {
	s.touch()
	if p := s.Visible(); p != nil {
		change(p.Index())
		s.View.Picked = true
		s.View.Reveal(p.Index(), s.End())
	}
	return []Effect{WriteURL{Replace}}
}

// SetRange shows a part of the step; the zero value shows all of it.
type SetRange struct{ From, To time.Duration }

func (m SetRange) apply(s *State) []Effect {
	whole := s.View.To == 0
	s.View.SetRange(m.From, m.To, s.End())
	s.Paint++
	if whole != (s.View.To == 0) { // components depend on whether all is visible, not on the range
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

// FindLayers shows only rows that contain Text.
type FindLayers struct{ Text string }

func (m FindLayers) apply(s *State) []Effect {
	s.View.Layers.Find, s.View.Layers.Top = m.Text, 0
	return s.touchDOM()
}

// ScrollLayers sets the first row of the table of layers that is on screen.
type ScrollLayers struct{ Top int }

func (m ScrollLayers) apply(s *State) []Effect {
	s.View.Layers.Top = max(m.Top, 0) // no redraw: package app sets the rows itself
	return nil
}

// StepLayer selects the layer By rows below the selected one.
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

// LayerRow returns the row of the selected stage, or -1 if the table has no such row.
func (s *State) LayerRow() int { return s.View.LayerRow(s.Visible()) }

// PlayStep plays the step from the playhead on, or stops playing.
type PlayStep struct {
	Now     float64 // milliseconds of any clock
	Reduced bool    // no motion: jump to the next phase, or from the last phase to the start
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

// Tick moves the playhead to the time Now of PlayStep's clock. If the playhead stops at a wait, Tick selects the wait.
type Tick struct{ Now float64 }

func (m Tick) apply(s *State) []Effect {
	if !s.View.Play.On || !s.View.Advance(m.Now, s.End(), s.selectWaitAt) {
		return nil
	}
	return s.viewChanged()
}

// selectWaitAt selects the wait that starts at time at, unless a preview is shown.
func (s *State) selectWaitAt(at time.Duration) {
	if s.Preview != nil || s.Shown == nil {
		return
	}
	if i := slices.IndexFunc(s.Shown.Gaps(), func(g sim.Gap) bool { return g.Start == at }); i >= 0 {
		s.View.Select(lookup.Target{Kind: lookup.OnGap, Index: i})
		s.touch()
	}
}

// Scrub moves the playhead to At and stops playing.
type Scrub struct {
	At      time.Duration
	Settled bool // false while the playhead is being dragged
}

func (m Scrub) apply(s *State) []Effect {
	if s.View.Play.On {
		s.DOM++
	}
	s.View.Play, s.View.Playhead = view.Playing{}, min(max(m.At, 1), s.End())
	if !m.Settled {
		return nil
	}
	return s.viewChanged()
}

// SetShortcuts turns one-character shortcuts off or on. People who use speech input or hit keys by accident
// turn them off.
type SetShortcuts struct{ Off bool }

func (m SetShortcuts) apply(s *State) []Effect {
	s.View.NoShortcuts = m.Off
	s.DOM++
	if m.Off {
		return []Effect{Remember{"shortcuts", "off"}}
	}
	return []Effect{Remember{"shortcuts", "on"}}
}

// SetLabels sets the labels of keys, by KeyboardEvent.code.
type SetLabels struct{ Labels map[string]string }

func (m SetLabels) apply(s *State) []Effect {
	s.View.KeyLabels = m.Labels
	return s.touchDOM()
}

// Tell shows a note of one line that says what a shortcut did. The empty string removes the note.
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
