package pool

import (
	"cmp"
	"strings"
	"time"

	"memtide/wasm/proto"
)

// A worker that computes polls, and its polls send beats (see Serve). A silent one is dead, or is busy for long between
// two polls, so it is not ended at once: the page says that it is silent, and whoever waits can stop it.

// listen checks whether the worker of j has been silent for heartbeat, which it tells the page, or for twice as long:
// then it fails j and replaces the worker. While j is queued it replaces workers that take too long to start.
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
	case quiet >= 2*p.heartbeat:
		p.abandon(j)
	case !j.silent:
		j.silent = true
		p.tell(j, quiet)
	}
}

// tell tells the page how long j has been silent; 0 means that it is not any more. The caller holds the lock.
func (p *Pool) tell(j *job, quiet time.Duration) {
	if f := p.onSilence; f != nil {
		p.notices.put(func() { f(j.req, quiet) })
	}
}

// onBeat notes a sign of life of w.
func (p *Pool) onBeat(w *worker) {
	if j := p.jobOf(w); j != nil {
		p.hear(w, j, false)
	}
}

// abandon fails j, whose worker is silent, and replaces that. The caller holds the lock.
func (p *Pool) abandon(j *job) {
	j.given = true
	j.done <- proto.Ended(nil, proto.Fail(proto.Crash,
		"The engine does not answer: it has said nothing for %v. Try again, or reload the page.", 2*p.heartbeat))
	for _, w := range p.workers {
		if w != nil && w.job == j {
			p.bury(w, "silent")
		}
	}
}

// replaceStarting replaces workers that have taken longer than heartbeat to start, unless another
// one is ready or has begun to start since. The caller holds the lock.
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

// crashed returns the failure for the last lines that a dead worker wrote. The phrases are those of Go and of the
// browsers: "fatal error: ...", "panic: ...", V8's "Maximum call stack size exceeded", Firefox's "too much recursion".
func crashed(detail string) *proto.Failure {
	f := &proto.Failure{Kind: proto.Crash, Detail: detail}
	switch lower := strings.ToLower(detail); {
	case strings.Contains(lower, "out of memory"):
		f.Text = "This needs more memory than the browser allows."
	case strings.Contains(lower, "call stack"), strings.Contains(lower, "too much recursion"), strings.Contains(lower,
		"stack overflow"):
		f.Text = "The computation went deeper than the browser's stack allows."
	default:
		f.Text = "The engine stopped unexpectedly: " + firstLine(detail)
	}
	return f
}

// cannotStart returns the failure for a worker that cannot be started. Its text says why, what that
// means and what helps; the first line is a summary. detail is the browser's message.
func cannotStart(detail string) *proto.Failure {
	why := strings.TrimSuffix(strings.TrimPrefix(firstLine(detail), "JavaScript error: "), ".")
	kind, help := proto.NoWorker,
		"Open the page in a window of its own, without extensions that change it; if the site has a security policy of yours, add worker-src blob: to it. The command line needs no browser: memtide solve."
	if strings.Contains(why, "could not be loaded") {
		kind, help = proto.Crash,
			"Check the connection and try again. The command line needs no browser: memtide solve."
	}
	return &proto.Failure{Kind: kind, Detail: detail, Text: "The engine cannot start here: " + why + ".\n" +
		"Schedules are computed in workers, and the browser starts none for this page.\n" + help}
}

// firstLine returns the line of detail that says why a program ended: the first that begins like a
// Go crash, otherwise the first that is not empty.
func firstLine(detail string) string {
	first := ""
	for line := range strings.Lines(detail) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
		first = cmp.Or(first, line)
	}
	return cmp.Or(first, "it gave no reason")
}
