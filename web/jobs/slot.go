package jobs

import "memtide/web/state"

// solves are the solves under way, at most one of each kind, and those that replace
// them. It runs on the page's goroutine only.
type solves struct {
	slots [state.NumSlots]slot

	now   func() float64         // milliseconds
	after func(ms int, f func()) // calls f later, on the page's goroutine
	begin func(state.Solve)      // has a pool solve, which ends with answered
	end   func(id int)           // gives a solve up, which has no answer then
}

// ask begins a solve, instead of the one under way, or has it wait for that one,
// but never longer than patience allows.
func (q *solves) ask(e state.Solve) {
	s, now := &q.slots[e.Slot], q.now()
	if s.waits(&e, now) {
		q.after(int(s.since+patience-now)+1, func() { q.overdue(e) })
		return
	}
	if s.running != 0 {
		q.end(s.running)
	}
	s.next, s.running, s.since = nil, e.ID, now
	q.begin(e)
}

// overdue begins a solve that still waits.
func (q *solves) overdue(e state.Solve) {
	if n := q.slots[e.Slot].next; n != nil && n.ID == e.ID {
		q.ask(e)
	}
}

// answered begins the solve that waited for the one that has an answer now.
func (q *solves) answered(e state.Solve) {
	s := &q.slots[e.Slot]
	if s.running != e.ID {
		return
	}
	s.running = 0
	if n := s.next; n != nil {
		q.ask(*n)
	}
}

// cancel gives a solve up, under way or waiting.
func (q *solves) cancel(id int) {
	for i := range q.slots {
		if running := q.slots[i].cancel(id); running != 0 {
			q.end(running)
		}
	}
}

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
