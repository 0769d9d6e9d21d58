package sim

import (
	"fmt"
	"strings"
	"time"

	"memtide/engine"
)

// StepError says that a step cannot be carried out because of what is or is
// not on the device, whatever the budget.
type StepError struct {
	Step int // index into the schedule; its length if the schedule ends too early
	What string
	Why  string
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d (%s): %s", e.Step, e.What, e.Why) }

// StuckError says that nothing can go on: the schedule does not fit into the
// budget, or its steps wait for each other.
type StuckError struct {
	Step int // the step that holds the counter
	What string
	At   time.Duration
	// Reason is why the step waits; NeedsRoom with Need and Free, the room it
	// needs and the room there is.
	Reason     Reason
	Need, Free engine.Bytes
	Heads      []string // the transfers at the head of the lanes, with what each waits for
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
