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

// never is a moment after all others: 292 years.
const never = time.Duration(1<<63 - 1)

// after is the moment d after another; false, and never, if no clock counts so far.
func after(at, d time.Duration) (time.Duration, bool) {
	if d >= never-at {
		return never, false
	}
	return at + d, true
}

// sooner is the earlier of two moments of which one may not exist or be over.
func (pl *player) sooner(next, at time.Duration, exists bool) time.Duration {
	if exists && at > pl.now && at < next {
		return at
	}
	return next
}

// endless is the step of what is under way and would not end before never.
func (pl *player) endless() (step int, ok bool) {
	if pl.run != nil {
		return pl.t.Spans[pl.run.span].Step, true
	}
	for i := range pl.link.queues {
		if tr := pl.link.queues[i].active; tr != nil && (tr.rate > 0 || tr.job != nil) {
			return tr.step, true
		}
	}
	return 0, false
}
