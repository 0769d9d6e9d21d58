package state

import (
	"memtide/engine"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// Export asks for the schedule on screen as a file for other programs.
type Export struct {
	Kind    string // of SaveFile
	Request proto.Export
}

func (Export) effect() {}

// forms are the kinds of SaveFile that are files for other programs.
var forms = map[string]proto.Form{"schedule.py": proto.FormPython, "schedule.json": proto.FormJSON}

// Refusal says why the schedule on screen cannot be written as a file for other
// programs, in a sentence; empty if it can, or if the kind is another.
func (s *State) Refusal(kind string) string {
	form, ok := forms[kind]
	p := s.Visible()
	switch {
	case !ok:
		return ""
	case p == nil || p.Solved.Trace == nil:
		return "There is no schedule to write."
	case !p.Solved.Verdict.Verified:
		return "This schedule is not verified, so it is not written."
	case form == proto.FormPython && p.Network.Chain == nil:
		return "Python runs a chain of stages, and this is a graph of operations."
	case form == proto.FormPython && p.Choice.Transfers == engine.Streamed:
		return "Python copies values whole, and this schedule streams them: choose whole transfers."
	}
	return ""
}

// export asks for a file for other programs, or says why there is none.
func (s *State) export(kind string) []Effect {
	if why := s.Refusal(kind); why != "" {
		s.Sharing.Note = why
		return nil
	}
	p := s.Visible()
	set := p.Network.Setting(p.Choice)
	if d := preset.LookupDevice(p.Choice.Device); d != nil { // the file tells people more than its key
		set.Device.Name, set.Device.Memory = d.Device.Name, d.Device.Memory
	}
	s.Sharing.Note = "Writing the file…"
	return []Effect{Export{Kind: kind, Request: proto.Export{
		Setting: set, Method: proto.Method{Strategy: p.Choice.Strategy, Args: p.Choice.Args},
		Budget: p.Solved.Budget, Form: forms[kind], Schedule: p.Solved.Schedule}}}
}
