package sim

import (
	"fmt"
	"strings"

	"memtide/engine"
)

// StepError reports a step that cannot be carried out whatever the budget.
type StepError struct {
	Step int    // index into the schedule; its length if the schedule ends too early
	What string // the step in words
	Why  string
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d (%s): %s", e.Step, e.What, e.Why) }

// StuckError reports that a schedule does not fit into the budget, or that its steps wait for each other.
type StuckError struct {
	Step       int          // the step that holds the counter
	What       string       // the step in words
	Reason     Reason       // why the step waits
	Need, Free engine.Bytes // if Reason is NeedsRoom: the room that the step needs, and the room that is free
	Heads      []string     // the transfers at the heads of the lanes, with the reason why each waits
}

func (e *StuckError) Error() string {
	msg := fmt.Sprintf("step %d (%s) can never start: it %s", e.Step, e.What, e.Reason)
	if e.Reason == NeedsRoom {
		msg += fmt.Sprintf(", %d bytes where %d are free", e.Need, max(e.Free, 0))
	}
	if len(e.Heads) > 0 {
		msg += "; " + strings.Join(e.Heads, "; ")
	}
	return msg
}
