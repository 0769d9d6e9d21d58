package pool

import (
	"context"
	"sync"
	"time"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// Times that decide how patient the pool is.
const (
	// heartbeat is how long a running request may say nothing before another worker is
	// asked, and a worker may take to start while a request waits for it.
	heartbeat = 10 * time.Second
	// cancelGrace is how long the worker of a cancelled request may still finish by
	// itself: most solves end sooner than a worker is replaced.
	cancelGrace = 100 * time.Millisecond
	// debounce is how long after the last of several solves was asked for no new point
	// of a sweep is begun: while somebody drags a slider, the page and its answers
	// have the cores to themselves. Solves are several if less than debounce apart.
	debounce = 250 * time.Millisecond
	// soloStart is how long after its first answer the first worker is the only one, if
	// nobody waits for another: starting them would hold up what the page does with
	// the answer.
	soloStart = 500 * time.Millisecond
	never     = -1 // as soloStart: the others start only when something waits for them
	// maxStarts is how many workers may die one after the other without having
	// been given anything to do, until the pool stops replacing them.
	maxStarts = 3
)

// port is a worker that was started.
type port struct {
	send func(message []byte, handle any) error // handle: proto.Open.Handle
	kill func()
}

// events are what a worker tells. They are called one after the other, in the order
// in which the worker told them, and never from within start, send or kill.
type events struct {
	ready       func()
	beat        func()       // it is at work
	speculative func([]byte) // speculative.message
	message     func([]byte)
	died        func(detail string) // detail: what it wrote last
}

// Pool implements proto.Pool. Besides the width workers that may be busy with
// sweeps and questions there is one more, so that a solve never waits for them.
type Pool struct {
	start func(events) (port, error)
	width int

	heartbeat, cancelGrace, debounce, soloStart time.Duration

	spoil func(proto.Request) proto.Request // what is sent instead of a request in self-tests; nil otherwise

	mu          sync.Mutex
	workers     []*worker   // one per slot; nil where none runs
	speculative speculative // until the first solve
	answered    bool        // the first answer is here
	full        bool        // every slot is to have a worker, not only the first
	failed      int         // workers that died without having been of use, since the last that was
	broken      string      // why no more workers are started; empty if they are
	urgent      []*job      // everything but sweeps and questions; files that are opened come first
	patient     []*job
	held        int         // who wants no point of a sweep to begin (see Hold)
	asked       time.Time   // when the last solve came
	several     bool        // it came shortly after the one before
	resume      *time.Timer // pumps when the debounce is over; nil if nothing waits for that
	onSilence   func(proto.Request, time.Duration)
	notices     inbox // calls of onSilence, in the order in which they were decided
}

type worker struct {
	port
	slot   int
	begun  time.Time // when it was started
	ready  bool
	proven bool // it has answered
	job    *job
	next   *job // what it is given when it is ready: another worker is silent about it
}

type job struct {
	req     proto.Request
	payload []byte
	handle  any       // that goes with it
	tell    func(any) // see proto.Pool.Do
	done    chan *proto.Reply
	given   bool      // up: the answer goes nowhere
	heard   time.Time // last sign of life; zero while it is queued
	silent  bool      // the page was told so
	again   bool      // another worker was asked
	lost    *worker   // the silent one, which is in no slot any more and may still speak
}

// newPool starts the first worker; the others follow when it has answered, or
// when something waits for them, so that they do not hold up the first answer.
func newPool(width int, start func(events) (port, error)) *Pool {
	width = max(width, 1)
	p := &Pool{start: start, width: width, heartbeat: heartbeat, cancelGrace: cancelGrace, debounce: debounce, soloStart: soloStart}
	p.workers = make([]*worker, width+1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spawn(0)
	return p
}

// Size implements proto.Pool.
func (p *Pool) Size() int { return p.width }

// OnSilence implements proto.Pool.
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
	if r := p.takeSpeculative(req, payload); r != nil {
		return r.Result()
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
	if p.broken != "" { // a person asked again: so do we
		p.broken, p.failed = "", 0
		if p.workers[0] == nil {
			p.spawn(0)
		}
	}
	p.pump()
}

// pump gives queued jobs to idle workers. The caller holds the lock.
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

// give sends a job to an idle worker. The caller holds the lock.
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

// debounced tells whether points of sweeps may begin; if not, it arranges that
// they do later. The caller holds the lock.
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
		ready:       func() { p.onReady(w) },
		beat:        func() { p.onBeat(w) },
		speculative: p.onSpeculative,
		message:     func(b []byte) { p.onMessage(w, b) },
		died:        func(detail string) { p.onDeath(w, detail) },
	})
	if err != nil {
		p.startFailed(slot, err.Error())
		return
	}
	w.port = port
	p.workers[slot] = w
}

// startFailed tries again, or fails what waits. The caller holds the lock.
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
	if j := w.next; j != nil {
		w.next = nil
		p.give(w, j)
	}
	if p.full {
		p.fill()
	}
	p.pump()
}

// followFirst starts the other workers a moment after the first answer. The caller
// holds the lock.
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

// jobOf is what a worker works on; nil if it is of no use any more.
func (p *Pool) jobOf(w *worker) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has(w) {
		return nil
	}
	return w.job
}

// hear notes that the worker of a job has replied; final: it is free. It says whether
// somebody waits for the reply.
func (p *Pool) hear(w *worker, j *job, final bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has(w) || w.job != j { // it was ended while the reply was read
		return false
	}
	p.settle(w, j, final)
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
	switch {
	case p.workers[w.slot] == w:
		p.bury(w, detail)
	case p.has(w):
		w.job.dropLost()
	}
}

// bury fails the job of a worker that died and replaces it. The caller holds the lock.
func (p *Pool) bury(w *worker, detail string) {
	useless := w.job == nil && !w.proven
	if j := w.job; j != nil {
		j.dropLost()
		if !j.given {
			j.done <- proto.Ended(nil, crashed(detail))
		}
	}
	p.workers[w.slot] = nil
	w.kill()
	if useless {
		p.startFailed(w.slot, detail)
		return
	}
	p.spawn(w.slot)
}

// giveUp takes a job out of the queue, or ends its worker if it does not
// finish soon.
func (p *Pool) giveUp(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j.given = true
	p.urgent = without(p.urgent, j)
	p.patient = without(p.patient, j)
	j.dropLost()
	for _, w := range p.workers {
		if w != nil && w.next == j {
			w.next = nil
		}
		if w != nil && w.job == j {
			time.AfterFunc(p.cancelGrace, func() { p.endIfStill(w, j) })
		}
	}
}

func (p *Pool) endIfStill(w *worker, j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[w.slot] == w && w.job == j {
		p.bury(w, "cancelled")
	}
}

func without(q []*job, j *job) []*job {
	for i := range q {
		if q[i] == j {
			return append(q[:i:i], q[i+1:]...)
		}
	}
	return q
}
