package state

import (
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/wasm/proto"
)

// ToggleShare opens or closes the dialog.
type ToggleShare struct {
	Dark bool // the theme of pictures to begin with
}

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
	return s.inDialog(func(d *Sharing) { d.Exact = m.On })
}

// SetShareTheme changes Sharing.Theme.
type SetShareTheme struct{ Theme string }

func (m SetShareTheme) apply(s *State) []Effect {
	return s.inDialog(func(d *Sharing) { d.Theme = m.Theme })
}

// ShareNote says what a button of the dialog did.
type ShareNote struct{ Text string }

func (m ShareNote) apply(s *State) []Effect {
	return s.inDialog(func(d *Sharing) { d.Note = m.Text })
}

// SaveFile asks for a file of what is shown: svg, png, operations.csv,
// layers.csv, curve.csv, json, html or ScheduleFile.
type SaveFile struct{ Kind string }

func (m SaveFile) apply(s *State) []Effect {
	out := s.inDialog(func(*Sharing) {}, Save(m))
	if out != nil && m.Kind == ScheduleFile {
		return s.export()
	}
	return out
}

// CopyText asks to copy the text of a field of the dialog.
type CopyText struct{ Field string }

func (m CopyText) apply(s *State) []Effect {
	return s.inDialog(func(*Sharing) {}, Copy(m))
}

// SendLink asks to share the link through the device's own list of apps.
type SendLink struct{}

func (SendLink) apply(s *State) []Effect {
	return s.inDialog(func(*Sharing) {}, Send{})
}

// inDialog removes the note from the dialog, calls change with the dialog, and returns effects. It does nothing while
// the dialog is closed.
func (s *State) inDialog(change func(*Sharing), effects ...Effect) []Effect {
	if s.Sharing == nil {
		return nil
	}
	s.Sharing.Note = ""
	s.DOM++
	change(s.Sharing)
	return effects
}

// SetOpener says that another page opened what is shown.
type SetOpener struct{ Origin string }

func (m SetOpener) apply(s *State) []Effect {
	s.View.Frame.Opener = m.Origin
	return s.touchDOM()
}

// Retitle changes the title that is shown instead of the network's name. It is cut after maxTitle characters.
type Retitle struct{ Text string }

func (m Retitle) apply(s *State) []Effect {
	title := []rune(m.Text)
	s.View.Frame.Title = string(title[:min(len(title), maxTitle)])
	s.DOM++
	return []Effect{WriteURL{Replace}}
}

const maxTitle = 80

// ScheduleFile is the kind of SaveFile that is a schedule for other programs.
const ScheduleFile = "schedule.json"

// Refusal returns a sentence that says why the schedule on screen cannot be written as a file for other programs, or
// "" if it can.
func (s *State) Refusal() string {
	switch p := s.Visible(); {
	case p == nil || p.Solved.Trace == nil:
		return "There is no schedule to write."
	case !p.Solved.Verdict.Verified:
		return "This schedule is not verified, so it is not written."
	}
	return ""
}

// export asks for the schedule as a file for other programs, or notes why it is refused.
func (s *State) export() []Effect {
	if why := s.Refusal(); why != "" {
		s.Sharing.Note = why
		return nil
	}
	p := s.Visible()
	set := p.Network.Setting(p.Choice)
	if d := card.Lookup(p.Choice.Device); d != nil { // name and memory are for readers of the file
		set.Device.Name, set.Device.Memory = d.Device.Name, d.Device.Memory
	}
	s.Sharing.Note = "Writing the file…"
	return []Effect{Export{Kind: ScheduleFile, Request: proto.Export{
		Setting: set, Method: proto.Method{Strategy: p.Choice.Strategy, Args: p.Choice.Args},
		Budget: p.Solved.Budget, Form: proto.FormJSON, Schedule: p.Solved.Schedule}}}
}

// PlanFile is the kind of Export that is a plan for the unmodified model.
const PlanFile = "plan.json"

// SavePlan asks for a plan of a class for the step whose operators are open, in the chosen budget, as a file.
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

// HasOperators reports whether the operators of a step are open, so that plans for the unmodified model can be found.
func (s *State) HasOperators() bool {
	return s.Step == nil && s.Network != nil && s.Network.Source.Ops != ""
}
