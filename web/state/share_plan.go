package state

import (
	"memtide/profiles"
	"memtide/wasm/proto"
)

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
