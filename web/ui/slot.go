package ui

import "memtide/web/state"

// slot is the solve under way of one kind, and the one that replaces it.
type slot struct {
	running int // ID, 0 if none is
	since   float64
	next    *state.Solve
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
