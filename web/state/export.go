package state

import (
	"memtide/profiles"
	"memtide/profiles/card"
	"memtide/wasm/proto"
)

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
	return []Effect{Export{Kind: PlanFile, Request: proto.Export{Setting: set, Budget: s.Budget(), Form: proto.FormPlan, Class: m.Class}}}
}

// HasOperators says whether what is open is the operators of a step, so that plans for
// the model can be found here.
func (s *State) HasOperators() bool {
	return s.Step == nil && s.Network != nil && s.Network.Source.Ops != ""
}
