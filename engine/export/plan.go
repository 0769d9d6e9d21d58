package export

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/sim"
)

// File is a schedule with all that it was made for.
type File struct {
	Name     string // of the network, for people
	Strategy string // name of the strategy that found it; may be empty
	Args     engine.Args
	Problem  *engine.Problem
	Schedule engine.Schedule
}

// play is what the schedule does; schedules that cannot be played are not exported.
func (p *File) play() (*sim.Trace, error) {
	tr, err := sim.Play(p.Problem, p.Schedule)
	if err != nil {
		return nil, fmt.Errorf("the schedule cannot be exported because it cannot be played: %w", err)
	}
	return tr, nil
}

// opName is how files call an operation (see the package comment).
func opName(p *engine.Problem, op engine.OpID) string {
	if p.Chain != nil {
		return p.Graph.Ops[op].Name
	}
	return fmt.Sprintf("o%d", op)
}

// valueName is how files call a value.
func valueName(p *engine.Problem, v engine.ValueID) string {
	if p.Chain != nil {
		return p.Graph.Values[v].Name
	}
	return fmt.Sprintf("v%d", v)
}
