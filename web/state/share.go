package state

import (
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/wasm/proto"
)

// ToggleShare opens the dialog or closes it.
type ToggleShare struct{ Dark bool }

func (m ToggleShare) apply(s *State) []Effect {
	if s.Sharing != nil {
		s.Sharing = nil
	} else {
		s.Sharing = &Sharing{Exact: true, Theme: "light"}
		if m.Dark {
			s.Sharing.Theme = "dark"
		}
	}
	s.View.Help = false
	return s.touchDOM()
}

// SetExact changes Sharing.Exact.
type SetExact struct{ On bool }

func (m SetExact) apply(s *State) []Effect {
	if d := s.dialog(); d != nil {
		d.Exact = m.On
	}
	return nil
}

// SetShareTheme changes Sharing.Theme.
type SetShareTheme struct{ Theme string }

func (m SetShareTheme) apply(s *State) []Effect {
	if d := s.dialog(); d != nil {
		d.Theme = m.Theme
	}
	return nil
}

// ShareNote tells what a button of the dialog did.
type ShareNote struct{ Text string }

func (m ShareNote) apply(s *State) []Effect {
	if d := s.dialog(); d != nil {
		d.Note = m.Text
	}
	return nil
}

// SaveFile asks for a file of what is shown: svg, png, operations.csv,
// layers.csv, curve.csv, json or html, or ScheduleFile.
type SaveFile struct{ Kind string }

func (m SaveFile) apply(s *State) []Effect {
	switch d := s.dialog(); {
	case d == nil:
		return nil
	case m.Kind == ScheduleFile:
		return s.export()
	}
	return []Effect{Save(m)}
}

// CopyText asks for the text of a field of the dialog to be copied.
type CopyText struct{ Field string }

func (m CopyText) apply(s *State) []Effect {
	if s.dialog() == nil {
		return nil
	}
	return []Effect{Copy(m)}
}

// SendLink asks the device to pass the link on, with its own list of places.
type SendLink struct{}

func (SendLink) apply(s *State) []Effect {
	if s.dialog() == nil {
		return nil
	}
	return []Effect{Send{}}
}

// dialog returns the dialog, without the note of what was done in it before; nil while
// it is closed.
func (s *State) dialog() *Sharing {
	if s.Sharing != nil {
		s.Sharing.Note = ""
		s.DOM++
	}
	return s.Sharing
}

// SetOpener says that another page opened what is shown.
type SetOpener struct{ Origin string }

func (m SetOpener) apply(s *State) []Effect {
	s.View.Frame.Opener = m.Origin
	return s.touchDOM()
}

// Retitle changes what is shown instead of the network's name.
type Retitle struct{ Text string }

func (m Retitle) apply(s *State) []Effect {
	title := []rune(m.Text)
	s.View.Frame.Title = string(title[:min(len(title), maxTitle)])
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

// maxTitle is the longest title in characters.
const maxTitle = 80

// ScheduleFile is the kind of SaveFile that is a schedule for other programs.
const ScheduleFile = "schedule.json"

// Refusal says why the schedule on screen cannot be written as a file for other
// programs, in a sentence; empty if it can.
func (s *State) Refusal() string {
	switch p := s.Visible(); {
	case p == nil || p.Solved.Trace == nil:
		return "There is no schedule to write."
	case !p.Solved.Verdict.Verified:
		return "This schedule is not verified, so it is not written."
	}
	return ""
}

// export asks for a file for other programs, or says why there is none.
func (s *State) export() []Effect {
	if why := s.Refusal(); why != "" {
		s.Sharing.Note = why
		return nil
	}
	p := s.Visible()
	set := p.Network.Setting(p.Choice)
	if d := card.Lookup(p.Choice.Device); d != nil { // the file tells people more than its key
		set.Device.Name, set.Device.Memory = d.Device.Name, d.Device.Memory
	}
	s.Sharing.Note = "Writing the file…"
	return []Effect{Export{Kind: ScheduleFile, Request: proto.Export{
		Setting: set, Method: proto.Method{Strategy: p.Choice.Strategy, Args: p.Choice.Args},
		Budget: p.Solved.Budget, Form: proto.FormJSON, Schedule: p.Solved.Schedule}}}
}

// PlanFile is the kind of Export that is a plan for the unmodified model.
const PlanFile = "plan.json"

// SavePlan has a plan of a class found for the step whose operators are open, in the
// budget that is chosen, and saved.
type SavePlan struct{ Class string }

func (m SavePlan) apply(s *State) []Effect {
	if !s.HasOperators() {
		return nil
	}
	set := s.Network.Setting(s.Choice)
	set.Network = proto.Network{Profile: []byte(profiles.PackedMagic + s.Network.Source.Ops)}
	return []Effect{Export{Kind: PlanFile, Request: proto.Export{Setting: set, Budget: s.Budget(),
		Form: proto.FormPlan, Class: m.Class}}}
}

// HasOperators reports whether what is open is the operators of a step, so that plans for
// the model can be found here.
func (s *State) HasOperators() bool {
	return s.Step == nil && s.Network != nil && s.Network.Source.Ops != ""
}
