package jobs

import (
	"context"
	"runtime"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/state"
)

// Page is what jobs need of the page. Do belongs to the page's goroutine; the
// others may be called from any.
type Page interface {
	Do(state.Message)       // changes the state
	Post(state.Message)     // the same, later; nil is nothing
	Later(func())           // calls a function on the page's goroutine
	After(ms int, f func()) // calls a function in some milliseconds
	Now() float64           // milliseconds since the page was opened
}

// Runner carries what the state asks for to workers and answers back. Its methods
// belong to the page's goroutine.
type Runner struct {
	Page   Page
	Pool   proto.Pool  // the workers
	Local  serve.Local // reads presets at once, without waiting for a worker
	Second Second

	// Crashed is called when a worker has crashed in a solve.
	Crashed func()
	// NoSecond says that the second program cannot be loaded.
	NoSecond func(error) string
	// Sentence makes a sentence of an error, for answers.
	Sentence func(string) string

	give    map[int]context.CancelFunc // by the effect's ID
	solves  solves
	dragged bool // the page's last solve may be followed by others: a slider is being dragged
}

// sweepDelay is how long a setting must rest until its curve is asked for, in
// milliseconds, while a slider is being dragged, and a picture until its addresses are. The
// pool begins a curve only when no solve was asked for lately.
const sweepDelay = 60

// idleDelay is how long nothing may have changed until a question begins that nobody
// has asked, in milliseconds: one that is given up ends its worker.
const idleDelay = 400

// Busy reports whether a request is under way.
func (j *Runner) Busy() bool { return len(j.give) > 0 }

// Start does what an effect asks workers for; false if that is something else.
func (j *Runner) Start(e state.Effect) bool {
	if j.solves.begin == nil {
		j.solves = solves{now: func() float64 { return j.Page.Now() }, begin: j.solve, end: j.finish,
			after: func(ms int, f func()) { j.Page.After(ms, func() { j.Page.Later(f) }) }}
	}
	switch e := e.(type) {
	case state.Open:
		j.open(e)
	case state.Solve:
		j.solves.ask(e)
	case state.Sweep:
		ms := 0 // when what is shown now has been drawn: it needs the processor more
		if e.Soon && j.dragged {
			ms = sweepDelay
		}
		j.request(e.ID, ms, func(ctx context.Context) state.Message {
			return Sweep(ctx, j.pool(nil), e, j.Page.Post)
		})
	case state.Place:
		j.request(e.ID, sweepDelay, func(ctx context.Context) state.Message {
			return Place(ctx, j.pool(nil), e, j.Page.Post)
		})
	case state.Question:
		j.question(e)
	case state.Examine:
		j.request(e.ID, atOnce, func(ctx context.Context) state.Message { return Examine(ctx, j.pool(nil), e) })
	case state.AskStep:
		j.request(e.ID, atOnce, func(ctx context.Context) state.Message {
			return Step(ctx, j.pool(nil), e, j.Page.Post)
		})
	case state.Cancel:
		j.finish(e.ID)
		j.solves.cancel(e.ID)
	case state.UseThread:
		j.Pool = new(MainThread)
	default:
		return false
	}
	return true
}

// pool returns where strategies are asked for; loading as in either.
func (j *Runner) pool(loading func(bool)) proto.Pool {
	return either{j.Pool, &j.Second, j.NoSecond, loading}
}

// context returns that of a new request.
func (j *Runner) context(id int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	if j.give == nil {
		j.give = map[int]context.CancelFunc{}
	}
	j.give[id] = cancel
	return ctx
}

// finish forgets a request.
func (j *Runner) finish(id int) {
	if cancel := j.give[id]; cancel != nil {
		cancel()
		delete(j.give, id)
	}
}

// atOnce is no time to wait.
const atOnce = -1

// request finds an answer on a goroutine of its own, in some milliseconds or at once,
// and gives it to the page; then there is done. A request that has been given up is not
// begun, or not answered.
func (j *Runner) request(id, ms int, answer func(context.Context) state.Message, done ...func()) {
	ctx := j.context(id)
	begin := func() {
		if ctx.Err() != nil {
			return
		}
		go func() {
			m := answer(ctx)
			j.Page.Later(func() {
				stopped := ctx.Err() != nil // as it is afterwards in any case
				j.finish(id)
				if !stopped {
					j.Page.Do(m)
				}
				for _, f := range done {
					f()
				}
			})
		}()
	}
	if ms == atOnce {
		begin()
		return
	}
	j.Page.After(ms, begin)
}

func (j *Runner) open(e state.Open) {
	var held []func()
	j.request(e.ID, atOnce, func(ctx context.Context) state.Message {
		var p proto.Pool = &j.Local
		if e.Request.Preset == "" && e.Request.Decoded == nil {
			held = append(held, hold(j.Pool))
			var err error
			if p, err = j.Second.forFile(ctx, j.Pool, e.Request.Bytes); err != nil {
				return state.OpenFailed{ID: e.ID, Text: j.NoSecond(err)}
			}
			held = append(held, hold(p))
		}
		return Open(ctx, either{p, &j.Second, j.NoSecond, nil}, e, j.Page.Post)
	}, func() { // the sweep of what was shown before has been given up, if the file could be read
		for _, release := range held {
			release()
		}
	})
}

// hold has no point of a sweep begin in a pool until a file is open: it comes first,
// whichever program reads it.
func hold(p proto.Pool) (release func()) {
	if h, ok := p.(interface{ Hold() func() }); ok {
		return h.Hold()
	}
	return func() {}
}

func (j *Runner) solve(e state.Solve) {
	if e.Slot == state.ForPage {
		j.dragged = e.Soon
	}
	ctx := j.context(e.ID)
	go func() {
		pool := j.pool(func(loading bool) { j.Page.Post(state.Loading{ID: e.ID, Loading: loading}) })
		tell := j.Page.Post
		if e.Slot == state.ForPreview {
			tell = ignored
		}
		m := Solve(ctx, pool, e, tell)
		j.Page.Later(func() { // with the question that waited for it
			j.finish(e.ID)
			if f, ok := m.(state.SolveFailed); ok && f.Failure.Kind == proto.Crash {
				j.Crashed()
			}
			j.solves.answered(e)
			j.Page.Do(m)
		})
	}()
	runtime.Gosched() // the request is with its worker before the page is drawn, and not after
}

func (j *Runner) question(e state.Question) {
	delay := atOnce
	if e.Idle {
		delay = idleDelay
		if _, ok := j.Pool.(*MainThread); ok { // the page would stand still meanwhile
			j.Page.Post(state.QuestionEnded{ID: e.ID, Failed: "It is computed when it is opened."})
			return
		}
	}
	j.request(e.ID, delay, func(ctx context.Context) state.Message {
		end := Question(ctx, j.pool(nil), e, j.Page.Post)
		end.Failed = j.Sentence(end.Failed)
		return end
	})
}

// Export has a schedule written down and gives its text, with an address in it, to the page.
func (j *Runner) Export(e state.Export, address string, done func(text []byte, err error)) {
	go func() {
		text, err := Export(context.Background(), j.pool(nil), e, address)
		j.Page.Later(func() { done(text, err) })
	}()
}

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
	if s.running != 0 && e.Soon && now-s.since < patience {
		s.next = &e
		q.after(int(s.since+patience-now)+1, func() {
			if n := s.next; n != nil && n.ID == e.ID { // it still waits
				q.ask(e)
			}
		})
		return
	}
	if s.running != 0 {
		q.end(s.running)
	}
	s.next, s.running, s.since = nil, e.ID, now
	q.begin(e)
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

// cancel drops the waiting solve with this id, and stops the one that runs before it: the page has
// asked for the later one since, so it no longer wants that answer.
func (q *solves) cancel(id int) {
	for i := range q.slots {
		if s := &q.slots[i]; s.next != nil && s.next.ID == id {
			if s.next = nil; s.running != 0 {
				q.end(s.running)
			}
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
