package pool

import (
	"context"
	"slices"
	"sync"
	"time"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// Times and limits of the pool.
const (
	// heartbeat is how long a running request may be silent before the page is told; after twice
	// that it fails. It is also how long a worker may take to start while a request waits for it.
	heartbeat = 10 * time.Second
	// cancelGrace is how long a worker may go on after it was told that its request is cancelled. A
	// new worker takes longer to start than most solvers to hear of it.
	cancelGrace = 300 * time.Millisecond
	// debounce is how long after the last of several solves no new point of a sweep begins. Solves
	// less than debounce apart count as several: a slider is being dragged, and the page and its
	// answers then have the cores to themselves.
	debounce = 250 * time.Millisecond
	// soloStart is how long after its first answer the first worker stays the only one, unless a
	// request waits for another. Starting workers would delay what the page does with the answer.
	soloStart = 500 * time.Millisecond
	never     = -1 // as soloStart: the others start only when a request waits for them
	// maxStarts is how many workers in a row may die before they were given a request. After that
	// the pool stops replacing them.
	maxStarts = 3
)

// port is the connection to a worker that was started.
type port struct {
	send   func(message []byte, handle any) error // handle is Open.Handle of package proto
	cancel func()                                 // tells the worker that its request is cancelled
	kill   func()
}

// events are the functions that a worker's messages call. They are called one after the other, in
// the order of the messages, and never from within start, send or kill.
type events struct {
	ready   func()
	beat    func() // it is working
	message func([]byte)
	died    func(detail string) // detail is the last that it wrote
}

// Pool implements proto.Pool. Up to width workers may be busy with sweeps and questions. There is
// one worker more, so that a solve never waits for those.
type Pool struct {
	start func(events) (port, error)
	width int

	heartbeat, cancelGrace, debounce, soloStart time.Duration

	spoil func(proto.Request) proto.Request // in self-tests: returns what is sent instead of a request; otherwise nil

	mu        sync.Mutex
	workers   []*worker // one per slot; nil where none runs
	answered  bool      // the first answer has arrived
	full      bool      // every slot should have a worker, not only the first
	failed    int       // workers that died unused since one was last of use
	broken    string    // why no more workers are started; empty if they are
	urgent    []*job    // everything but sweeps and questions; files that are opened come first
	patient   []*job
	held      int         // calls of Hold that have not been released
	asked     time.Time   // when the last solve came
	several   bool        // it came less than debounce after the one before
	resume    *time.Timer // calls pump when the debounce is over; nil if no timer runs
	onSilence func(proto.Request, time.Duration)
	notices   inbox // calls of onSilence, in the order in which they were decided
}

type worker struct {
	port
	slot   int
	begun  time.Time // when it was started
	ready  bool
	proven bool // it has given an answer
	job    *job
}

type job struct {
	req     proto.Request
	payload []byte
	handle  any       // a file to send with it (see proto.Open.Handle)
	tell    func(any) // see proto.Pool.Do
	done    chan *proto.Reply
	given   bool      // it was cancelled or has failed: an answer is dropped
	heard   time.Time // last sign of life; zero while it is queued
	silent  bool      // OnSilence was called for it
}

// newPool starts the first worker. The others start after its first answer, or when a request waits
// for them, so that they do not delay the first answer.
func newPool(width int, start func(events) (port, error)) *Pool {
	width = max(width, 1)
	p := &Pool{start: start, width: width, heartbeat: heartbeat, cancelGrace: cancelGrace, debounce: debounce,
		soloStart: soloStart}
	p.workers = make([]*worker, width+1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spawn(0)
	return p
}

// OnSilence sets the function that is called when a running request has given no sign of life for some time, and with
// 0 when it gives one again. If it goes on, Do returns a Crash.
func (p *Pool) OnSilence(f func(proto.Request, time.Duration)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onSilence = f
}

// Do implements proto.Pool. Sweeps are spread over the workers.
func (p *Pool) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if q, ok := req.(*proto.Sweep); ok {
		return serve.Spread(ctx, q, p.width, p.one, tell)
	}
	return p.one(ctx, req, tell)
}

func (p *Pool) one(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sent := req
	if p.spoil != nil {
		sent = p.spoil(req)
	}
	payload, err := proto.EncodeRequest(sent)
	if err != nil {
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	j := &job{req: req, payload: payload, tell: tell, done: make(chan *proto.Reply, 1)}
	if file := proto.FileOf(req); file != nil {
		j.handle = file.Handle
	}
	p.enqueue(j)
	tick := time.NewTicker(p.heartbeat / 5)
	defer tick.Stop()
	for {
		select {
		case r := <-j.done:
			return r.Result()
		case <-ctx.Done():
			p.giveUp(j)
			return nil, ctx.Err()
		case <-tick.C:
			p.listen(j)
		}
	}
}

func (p *Pool) enqueue(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue(j)
	if _, ok := j.req.(*proto.Solve); ok {
		now := time.Now()
		p.asked, p.several = now, now.Sub(p.asked) < p.debounce
	}
	if p.broken != "" { // a person asks again: try again
		p.broken, p.failed = "", 0
		if p.workers[0] == nil {
			p.spawn(0)
		}
	}
	p.pump()
}

// pump gives queued jobs to idle workers, and starts or preempts workers for the rest. The caller holds the lock.
func (p *Pool) pump() {
	busy := 0
	var idle []*worker
	for _, w := range p.workers {
		if w != nil && w.job != nil {
			busy++
		} else if w != nil && w.ready {
			idle = append(idle, w)
		}
	}
	for len(idle) > 0 {
		var j *job
		switch {
		case len(p.urgent) > 0:
			j, p.urgent = p.urgent[0], p.urgent[1:]
		case len(p.patient) > 0 && busy < p.width && p.held == 0 && p.debounced():
			j, p.patient = p.patient[0], p.patient[1:]
		default:
			return
		}
		p.give(idle[0], j)
		idle = idle[1:]
		busy++
	}
	if !p.full && busy > 0 && (len(p.urgent) > 0 || len(p.patient) > 0 && busy < p.width) {
		p.fill()
	}
	p.preempt()
}

// give sends j to the idle worker w. The caller holds the lock.
func (p *Pool) give(w *worker, j *job) {
	w.job, j.heard = j, time.Now()
	if err := w.send(j.payload, j.handle); err != nil {
		p.bury(w, err.Error())
	}
	j.payload = nil
}

// fill starts workers in all slots. The caller holds the lock.
func (p *Pool) fill() {
	p.full = true
	for slot, w := range p.workers {
		if w == nil {
			p.spawn(slot)
		}
	}
}

// debounced reports whether points of sweeps may begin. If not, it sets a timer that pumps when
// they may. The caller holds the lock.
func (p *Pool) debounced() bool {
	wait := p.debounce - time.Since(p.asked)
	if !p.several || wait <= 0 {
		return true
	}
	if p.resume == nil {
		p.resume = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.resume = nil
			p.pump()
		})
	}
	return false
}

// spawn starts a worker in an empty slot. The caller holds the lock.
func (p *Pool) spawn(slot int) {
	if p.broken != "" {
		return
	}
	w := &worker{slot: slot, begun: time.Now()}
	port, err := p.start(events{
		ready:   func() { p.onReady(w) },
		beat:    func() { p.onBeat(w) },
		message: func(b []byte) { p.onMessage(w, b) },
		died:    func(detail string) { p.onDeath(w, detail) },
	})
	if err != nil {
		p.startFailed(slot, err.Error())
		return
	}
	w.port = port
	p.workers[slot] = w
}

// startFailed tries again to start a worker in a slot. After maxStarts failures it fails all jobs
// that wait, if no other worker is left. The caller holds the lock.
func (p *Pool) startFailed(slot int, detail string) {
	p.failed++
	if p.failed < maxStarts {
		p.spawn(slot)
		return
	}
	for _, w := range p.workers {
		if w != nil {
			return // the slot stays empty; others work, or are still starting
		}
	}
	p.broken = detail
	for _, j := range append(p.urgent, p.patient...) {
		j.done <- proto.Ended(nil, cannotStart(detail))
	}
	p.urgent, p.patient = nil, nil
}

func (p *Pool) onReady(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[w.slot] != w {
		return
	}
	w.ready = true
	if p.full {
		p.fill()
	}
	p.pump()
}

// followFirst makes the other workers start soloStart after the first answer. The caller holds the lock.
func (p *Pool) followFirst() {
	if p.full || p.answered {
		return
	}
	p.answered = true
	if p.soloStart == never {
		return
	}
	time.AfterFunc(p.soloStart, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.full {
			p.fill()
		}
	})
}

func (p *Pool) onMessage(w *worker, b []byte) {
	j := p.jobOf(w)
	if j == nil {
		return
	}
	reply, err := proto.DecodeReply(j.req, b)
	if err != nil {
		reply = proto.Ended(nil, proto.Fail(proto.Crash, "The engine's answer cannot be read: %v", err))
	}
	switch {
	case !p.hear(w, j, reply.Final):
	case reply.Final:
		j.done <- reply
	case j.tell != nil:
		j.tell(reply.Value)
	}
}

// jobOf returns the job of w, or nil if w has been replaced or has no job.
func (p *Pool) jobOf(w *worker) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[w.slot] != w {
		return nil
	}
	return w.job
}

// hear notes that w has replied about j. If the reply is final, w is free again. hear reports
// whether the reply should be delivered.
func (p *Pool) hear(w *worker, j *job, final bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[w.slot] != w || w.job != j { // it was replaced while the reply was decoded
		return false
	}
	j.heard = time.Now()
	if j.silent && !j.given {
		p.tell(j, 0)
	}
	j.silent = false
	if final {
		w.job, w.proven, p.failed = nil, true, 0
		p.followFirst()
		p.pump()
	}
	return !j.given
}

func (p *Pool) onDeath(w *worker, detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[w.slot] == w {
		p.bury(w, detail)
	}
}

// bury fails the job of a worker that has died or has to end, and replaces it. The caller holds the lock.
func (p *Pool) bury(w *worker, detail string) {
	useless := w.job == nil && !w.proven
	if j := w.job; j != nil && !j.given {
		j.done <- proto.Ended(nil, crashed(detail))
	}
	p.workers[w.slot] = nil
	w.kill()
	if useless {
		p.startFailed(w.slot, detail)
		return
	}
	p.spawn(w.slot)
}

// giveUp takes a cancelled job out of the queue, or stops the worker that runs it.
func (p *Pool) giveUp(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.given = true
	given := func(other *job) bool { return other == j }
	p.urgent, p.patient = slices.DeleteFunc(p.urgent, given), slices.DeleteFunc(p.patient, given)
	for _, w := range p.workers {
		if w != nil && w.job == j {
			p.stop(w)
		}
	}
}

// stop tells a worker that its job, whose answer will be dropped, is cancelled, and ends the worker if it has not
// answered after cancelGrace. The caller holds the lock.
func (p *Pool) stop(w *worker) {
	j := w.job
	w.cancel()
	time.AfterFunc(p.cancelGrace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.workers[w.slot] == w && w.job == j {
			p.bury(w, "cancelled")
		}
	})
}
