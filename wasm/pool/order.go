package pool

import (
	"slices"
	"sync"
	"time"

	"memtide/wasm/proto"
)

// queue inserts j by priority: a file to open goes before everything else, and requests that a
// person waits for go before sweeps and questions. The caller holds the lock.
func (p *Pool) queue(j *job) {
	switch j.req.(type) {
	case *proto.Sweep, *proto.Question:
		p.patient = append(p.patient, j)
	case *proto.Open:
		at := slices.IndexFunc(p.urgent, func(j *job) bool { _, file := j.req.(*proto.Open); return !file })
		if at < 0 {
			at = len(p.urgent)
		}
		p.urgent = slices.Insert(p.urgent, at, j)
	default:
		p.urgent = append(p.urgent, j)
	}
}

// preempt stops workers that compute points of sweeps if urgent jobs have no worker that is free or about to be. The
// points go back to the front of their queue and are computed again from the start. A solve does not wait for a worker
// that is being started, which can take longer than it. The caller holds the lock.
func (p *Pool) preempt() {
	need := len(p.urgent)
	solves := slices.ContainsFunc(p.urgent, func(j *job) bool { _, solve := j.req.(*proto.Solve); return solve })
	for _, w := range p.workers {
		if w != nil && (w.job == nil && !solves || w.job != nil && w.job.given) {
			need-- // it is being started, or its job was given up and it ends soon
		}
	}
	for slot := len(p.workers) - 1; slot >= 0 && need > 0; slot-- {
		w := p.workers[slot]
		if w == nil || w.job == nil || w.job.given {
			continue
		}
		j := w.job
		if _, ok := j.req.(*proto.Sweep); !ok {
			continue
		}
		payload, err := proto.EncodeRequest(j.req) // the first payload was handed over
		if err != nil {
			continue // cannot happen: it was encoded before
		}
		j.payload, j.heard, j.silent = payload, time.Time{}, false
		p.patient = slices.Insert(p.patient, 0, j)
		w.job = &job{req: j.req, given: true} // in place of j, which another worker may answer
		p.stop(w)
		need--
	}
}

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

// Hold keeps points of sweeps from beginning until release is called, because a file is being
// opened elsewhere and needs the processor. Points that have begun go on.
func (p *Pool) Hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held--
		p.pump()
	})
}
