package all_test

import (
	"time"

	"memtide/engine"
)

// stored is a solution with the field names of the stored hashes, which do not change when the fields of
// engine.Solution and engine.Instruction are renamed.
type stored struct {
	Schedule []storedStep
	Makespan time.Duration
	Peak     engine.Bytes
	Optimal  bool
	Within   string
	Bound    time.Duration
	Stopped  bool
	Notes    []string
}

type storedStep struct {
	Kind      engine.InstructionKind
	Op        engine.OpID
	Value     engine.ValueID
	Lean      bool
	Alt       bool
	NotBefore time.Duration
	Reserve   bool
}

func newStored(s *engine.Solution) *stored {
	if s == nil {
		return nil
	}
	steps := make([]storedStep, len(s.Schedule))
	for i, st := range s.Schedule {
		steps[i] = storedStep{st.Kind, st.Op, st.Value, st.OutputOnly, st.Alt, st.NotBefore, st.Reserve}
	}
	return &stored{steps, s.Makespan, s.Peak, s.Optimal, s.OptimalAmong, s.Bound, s.Stopped, s.Notes}
}
