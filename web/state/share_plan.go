package state

import "memtide/wasm/proto"

const (
	// PlanFile is the kind of Export that is a plan for the unmodified model.
	PlanFile = "plan.json"

	operatorsFormat  = "operators"
	longestOperators = 16 << 20 // of a file that is kept
)

// SavePlan has a plan of a class found for the step whose operators are open, in the
// budget that is chosen, and saved.
type SavePlan struct{ Class string }

func (m SavePlan) apply(s *State) []Effect {
	if !s.HasOperators() {
		return nil
	}
	set := s.Network.setting(s.Choice)
	set.Network = proto.Network{Profile: s.Network.ops}
	return []Effect{Export{Kind: PlanFile, Request: proto.Export{Setting: set, Budget: s.Budget(), Form: proto.FormPlan, Class: m.Class}}}
}

// HasOperators says whether what is open is the operators of a step, so that plans for
// the model can be found here.
func (s *State) HasOperators() bool {
	return s.Step == nil && s.Network != nil && s.Network.ops != nil
}
