package pool

import (
	"time"

	"memtide/wasm/proto"
)

// A worker that computes polls, and its polls say so (Serve): one that is silent is gone, or
// does something long between two polls. It is not ended for that. A new worker is asked as
// well, and the first that answers is heard; if the old one speaks again the new one is
// ended. Only if both are silent the request fails.

// listen sees to a job that nothing was heard of: it tells the page and has another worker
// asked, and the second time fails the job. Where the job still waits because no worker has
// started, those that took too long are replaced.
func (p *Pool) listen(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.heard.IsZero() {
		p.replaceStarting()
		return
	}
	quiet := time.Since(j.heard)
	switch {
	case quiet < p.heartbeat || j.given:
	case j.again:
		p.abandon(j)
	default:
		j.silent = true
		p.tell(j, quiet)
		p.askAgain(j)
	}
}

// tell tells the page how long a request has been silent; 0: it speaks again. The
// caller holds the lock.
func (p *Pool) tell(j *job, quiet time.Duration) {
	if f := p.onSilence; f != nil {
		p.notices.put(func() { f(j.req, quiet) })
	}
}

// onBeat hears that a worker is at work.
func (p *Pool) onBeat(w *worker) {
	if j := p.jobOf(w); j != nil {
		p.hear(w, j, false)
	}
}

// has says whether a worker is in its slot, or is a silent one that may still speak. The
// caller holds the lock.
func (p *Pool) has(w *worker) bool {
	return p.workers[w.slot] == w || w.job != nil && w.job.lost == w
}

// askAgain starts a worker in the slot of one that is silent and gives it the same job. The
// caller holds the lock.
func (p *Pool) askAgain(j *job) {
	j.again, j.heard = true, time.Now()
	payload, err := proto.EncodeRequest(j.req) // what was sent is gone
	if err != nil {
		return // not what happens: it was encoded before
	}
	for slot, w := range p.workers {
		if w == nil || w.job != j {
			continue
		}
		j.payload, j.lost = payload, w
		p.workers[slot] = nil
		p.spawn(slot)
		if fresh := p.workers[slot]; fresh != nil {
			fresh.next = j
		}
		return
	}
}

// settle decides between the two workers of a job when one of them speaks: w. One that was
// silent is back in its slot; with a last reply the other one is ended. The caller holds the
// lock.
func (p *Pool) settle(w *worker, j *job, final bool) {
	fresh := p.workers[w.slot]
	switch {
	case j.lost == nil:
	case j.lost != w:
		if final {
			j.dropLost()
		}
	case fresh == nil || fresh.job == j || fresh.next == j:
		if fresh != nil {
			fresh.kill()
		}
		p.workers[w.slot], j.lost, j.again = w, nil, false
	case final: // another worker has its slot
		j.lost = nil
		w.kill()
	}
}

// abandon fails a job whose two workers are silent. The caller holds the lock.
func (p *Pool) abandon(j *job) {
	j.given = true
	j.dropLost()
	j.done <- proto.Ended(nil, proto.Fail(proto.Crash, "The engine does not answer: two workers in turn said nothing for %v. Try again, or reload the page.", p.heartbeat))
	for _, w := range p.workers {
		if w != nil && (w.job == j || w.next == j) {
			p.bury(w, "silent")
		}
	}
}

// replaceStarting gives up workers that have taken too long to start, if no other is there.
// The caller holds the lock.
func (p *Pool) replaceStarting() {
	for _, w := range p.workers {
		if w != nil && (w.ready || time.Since(w.begun) < p.heartbeat) {
			return
		}
	}
	for _, w := range p.workers {
		if w != nil {
			p.bury(w, "the worker could not be loaded in time")
		}
	}
}

// dropLost ends the silent worker of a job that another one does. The pool's lock is held.
func (j *job) dropLost() {
	if w := j.lost; w != nil {
		j.lost, w.job = nil, nil
		w.kill()
	}
}
