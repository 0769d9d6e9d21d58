package jobs

import "memtide/web/state"

// patience is how long a solve may keep the one after it waiting, in
// milliseconds. A slider being dragged asks faster than answers come: they
// follow each other, and only the latest question waits. Ending a worker in
// the middle costs more than most answers.
const patience = 150

// slot is the solve under way of one kind, and the one that replaces it.
type slot struct {
	running int     // ID, 0 if none is
	since   float64 // when that one began
	next    *state.Solve
}

// waits has a question wait for the solve under way, if it may.
func (s *slot) waits(e *state.Solve, now float64) bool {
	if s.running == 0 || !e.Soon || now-s.since >= patience {
		return false
	}
	s.next = e
	return true
}

// cancel takes out the question that waits, if it has that ID, and returns the one
// under way, which nobody wants either: it was asked on the way to the other. It
// returns 0 if nothing else has to end.
func (s *slot) cancel(id int) int {
	if s.next == nil || s.next.ID != id {
		return 0
	}
	s.next = nil
	return s.running
}
