package state

import (
	"slices"

	"memtide/web/draw"
)

// Frame is how the page stands around a schedule, as its link says.
type Frame struct {
	Title   string   // instead of the network's name, in the tab and in files
	Show    []string // parts of the page in their order, as link.Panels; nil: all
	Embed   bool     // a view in another page: without controls
	Control string   // of such a view: "budget" for a slider, or ""
	Opener  string   // who opened what such a view shows, if it was another page
}

// Shows says whether a part of the page is shown.
func (f *Frame) Shows(part string) bool { return f.Show == nil || slices.Contains(f.Show, part) }

// Sharing is the dialog that gives away what is shown.
type Sharing struct {
	Exact bool   // with the visible range and the selection
	Theme string // of pictures: "light" or "dark"
	Note  string // what a button did
}

// What people do to give away what is shown.
type (
	// ToggleShare opens the dialog or closes it.
	ToggleShare struct{ Dark bool }
	// SetExact, SetShareTheme and Retitle change what is given away.
	SetExact      struct{ On bool }
	SetShareTheme struct{ Theme string }
	Retitle       struct{ Text string }
	// ShareNote tells what a button of the dialog did.
	ShareNote struct{ Text string }
	// SaveFile asks for a file of what is shown: svg, png, operations.csv,
	// layers.csv, curve.csv, json or html, schedule.py or schedule.json.
	SaveFile struct{ Kind string }
	// CopyText asks for the text of a field of the dialog to be copied.
	CopyText struct{ Field string }
	// SendLink asks the device to pass the link on, with its own list of places.
	SendLink struct{}
	// SetOpener says that another page opened what is shown.
	SetOpener struct{ Origin string }
)

// What the browser side has to do for that.
type (
	Save struct{ Kind string }
	Copy struct{ Field string }
	Send struct{}
)

func (ToggleShare) message()   {}
func (SetExact) message()      {}
func (SetShareTheme) message() {}
func (Retitle) message()       {}
func (ShareNote) message()     {}
func (SaveFile) message()      {}
func (CopyText) message()      {}
func (SendLink) message()      {}
func (SetOpener) message()     {}
func (Save) effect()           {}
func (Copy) effect()           {}
func (Send) effect()           {}

// maxTitle is the longest title in characters.
const maxTitle = 80

// updateShare handles what the dialog is about; ok is false if m is not.
func (s *State) updateShare(m Message) (out []Effect, ok bool) {
	d := s.Sharing
	switch m := m.(type) {
	case ToggleShare:
		if s.Sharing = nil; d == nil {
			s.Sharing = &Sharing{Exact: true, Theme: "light"}
			if m.Dark {
				s.Sharing.Theme = "dark"
			}
		}
		s.View.Help = false
	case SetOpener:
		s.View.Frame.Opener = m.Origin
	case Retitle:
		title := []rune(m.Text)
		s.View.Frame.Title = string(title[:min(len(title), maxTitle)])
		out = append(out, WriteURL{Replace})
	case Dismiss:
		if d == nil || m.Notice {
			return nil, false
		}
		s.Sharing = nil
	case SetExact, SetShareTheme, ShareNote, SaveFile, CopyText, SendLink:
		if d == nil {
			return nil, true
		}
		if out = d.update(m); len(out) == 1 {
			if f, ok := out[0].(Save); ok && forms[f.Kind] != "" {
				out = s.export(f.Kind)
			}
		}
	default:
		return nil, false
	}
	s.DOM++
	return out, true
}

func (d *Sharing) update(m Message) []Effect {
	d.Note = ""
	switch m := m.(type) {
	case SetExact:
		d.Exact = m.On
	case SetShareTheme:
		d.Theme = m.Theme
	case ShareNote:
		d.Note = m.Text
	case SaveFile:
		return []Effect{Save(m)}
	case CopyText:
		return []Effect{Copy(m)}
	case SendLink:
		return []Effect{Send{}}
	}
	return nil
}

// frame takes over how a link wants the page to be.
func (s *State) frame(m Start) {
	v := &s.View
	v.From, v.To, v.Playhead = m.From, m.To, m.Moment
	v.Lines, v.Axis = m.Lines, m.Axis
	v.Frame, v.Wanted = m.Frame, m.Selected
	if m.Frame.Show != nil {
		v.Table = m.Frame.Shows("table")
	}
}

// selectWanted selects in a new picture what the link names; false if it names
// nothing that is there.
func (s *State) selectWanted(p *Picture) bool {
	v := &s.View
	wanted := v.Wanted
	if v.Wanted = ""; wanted == "" {
		return false
	}
	t := p.Model().Named(wanted)
	if t.Kind == draw.Nothing {
		return false
	}
	v.Selected, v.Picked = t, true
	return true
}

// SelectedName is what is selected by hand, by what it is; empty if it is what
// the page selects by itself.
func (s *State) SelectedName() string {
	switch p := s.Shown; {
	case s.View.Wanted != "":
		return s.View.Wanted
	case p == nil || s.View.Selected == gapTarget(longest(p.Gaps())):
		return ""
	default:
		return p.Model().Name(s.View.Selected)
	}
}
