package pool

import "sync"

// inbox has things done one after the other, in the order in which they came. A
// browser's events come on a goroutine each, which may overtake one another where
// one waits: a worker's progress would arrive after its answer, or its end before
// what it said last.
type inbox struct {
	mu      sync.Mutex
	waiting []func()
	busy    bool
}

// put has f done after everything that was put before. It does not wait.
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
