package pool

import "sync"

// inbox runs functions one after the other, in the order in which they were put. Each event of the
// browser comes on a goroutine of its own, and one that waits may be overtaken: without an inbox a
// worker's progress could be handled after its answer, or its death before its last output.
type inbox struct {
	mu      sync.Mutex
	waiting []func()
	busy    bool
}

// put queues f. It does not wait until f has run.
func (q *inbox) put(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, f)
	if !q.busy {
		q.busy = true
		go q.work()
	}
}

func (q *inbox) work() {
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.busy = false
			q.mu.Unlock()
			return
		}
		f := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		f()
	}
}
