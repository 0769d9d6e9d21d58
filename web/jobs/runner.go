package jobs

import (
	"context"
	"runtime"

	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/state"
)

// Page is the part of the page that Runner uses. Only the page's goroutine may call Do; any
// goroutine may call the others.
type Page interface {
	Do(state.Message)       // changes the state
	Post(state.Message)     // calls Do later, unless the message is nil
	Later(func())           // calls a function on the page's goroutine
	After(ms int, f func()) // calls f in ms milliseconds
	Now() float64           // milliseconds since the page was opened
}

// Runner sends requests to workers and their answers to the page. Only the page's goroutine may call its methods.
type Runner struct {
	Page   Page
	Pool   proto.Pool  // the workers of this program
	Local  serve.Local // reads presets at once, without waiting for a worker
	Second Second

	// Crashed is called when a worker has crashed in a solve.
	Crashed func()
	// NoSecond returns a text that says that the second program cannot be loaded.
	NoSecond func(error) string
	// Sentence makes a sentence from the text of an error, for answers.
	Sentence func(string) string

	cancels map[int]context.CancelFunc // of the requests under way, by the effect's ID
	solves  solves
	dragged bool // Solve.Soon of the page's last solve: a slider is being dragged
}

const (
	// sweepDelay is how many milliseconds a setting must not change before its curve is asked for while
	// a slider is being dragged, and a picture before its addresses are asked for.
	sweepDelay = 60
	// idleDelay is how many milliseconds nothing may change before a question of the page itself is asked. It avoids
	// questions that are cancelled soon, which take time from what a person waits for.
	idleDelay = 400
)

// Busy reports whether a request is under way.
func (j *Runner) Busy() bool { return len(j.cancels) > 0 }

// Start carries out e if e asks workers for something, and reports whether it does.
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
		ms := 0 // after the browser has drawn, which needs the processor too
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

// pool returns the pool that uses the workers of both programs. loading as in bothPrograms.
func (j *Runner) pool(loading func(bool)) proto.Pool {
	return bothPrograms{j.Pool, &j.Second, j.NoSecond, loading}
}

// context returns the context of a new request.
func (j *Runner) context(id int) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	if j.cancels == nil {
		j.cancels = map[int]context.CancelFunc{}
	}
	j.cancels[id] = cancel
	return ctx
}

// finish cancels the context of a request that has ended or is cancelled.
func (j *Runner) finish(id int) {
	if cancel := j.cancels[id]; cancel != nil {
		cancel()
		delete(j.cancels, id)
	}
}

// atOnce as a delay means that a request starts immediately. 0 lets the browser do other things first.
const atOnce = -1

// request calls answer on a new goroutine in ms milliseconds, sends the message to the page, and then calls
// the functions done. A request that was cancelled is not started, or its answer is discarded.
func (j *Runner) request(id, ms int, answer func(context.Context) state.Message, done ...func()) {
	ctx := j.context(id)
	begin := func() {
		if ctx.Err() != nil {
			return
		}
		go func() {
			m := answer(ctx)
			j.Page.Later(func() {
				stopped := ctx.Err() != nil // before finish, which cancels ctx
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
			p = j.Pool
			if len(profiles.Claimants(e.Request.Bytes)) != 1 { // the second program knows more formats
				var err error
				if p, err = j.Second.load(ctx); err != nil {
					return state.OpenFailed{ID: e.ID, Text: j.NoSecond(err)}
				}
			}
			held = append(held, hold(p))
		}
		return Open(ctx, bothPrograms{p, &j.Second, j.NoSecond, nil}, e, j.Page.Post)
	}, func() { // if the file could be read, the sweep of the previous network has been cancelled
		for _, release := range held {
			release()
		}
	})
}

// hold keeps points of sweeps in p from starting until release is called: opening a file goes first, in both programs.
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
		j.Page.Later(func() {
			j.finish(e.ID)
			if f, ok := m.(state.SolveFailed); ok && f.Failure.Kind == proto.Crash {
				j.Crashed()
			}
			j.solves.answered(e)
			j.Page.Do(m)
		})
	}()
	runtime.Gosched() // send the request to its worker before the page is drawn
}

func (j *Runner) question(e state.Question) {
	delay := atOnce
	if e.Idle {
		delay = idleDelay
		if _, ok := j.Pool.(*MainThread); ok { // the question would block the page
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

// Export asks for a schedule or a plan as a file and calls done with its text, which contains address, on the page's
// goroutine.
func (j *Runner) Export(e state.Export, address string, done func(text []byte, err error)) {
	go func() {
		text, err := Export(context.Background(), j.pool(nil), e, address)
		j.Page.Later(func() { done(text, err) })
	}()
}

// solves are the solves under way, at most one of each slot, and the ones that replace
// them. Only the page's goroutine may use it.
type solves struct {
	slots [state.NumSlots]slot

	now   func() float64         // milliseconds
	after func(ms int, f func()) // calls f in ms milliseconds on the page's goroutine
	begin func(state.Solve)      // starts a solve, whose end is a call of answered
	end   func(id int)           // cancels a solve; answered is not called for it then
}

// ask starts e and cancels the solve under way in its slot. With e.Soon it first waits for that solve, but not
// longer than the slot's patience allows.
func (q *solves) ask(e state.Solve) {
	s, now := &q.slots[e.Slot], q.now()
	if s.running != 0 && e.Soon && now-s.since < s.patience() {
		s.next = &e
		q.after(int(s.since+s.patience()-now)+1, func() {
			if n := s.next; n != nil && n.ID == e.ID { // e still waits
				q.ask(e)
			}
		})
		return
	}
	if s.running != 0 {
		s.took = now - s.since // or more
		q.end(s.running)
	}
	s.next, s.running, s.since = nil, e.ID, now
	q.begin(e)
}

// answered starts the solve that waited for e, which has ended.
func (q *solves) answered(e state.Solve) {
	s := &q.slots[e.Slot]
	if s.running != e.ID {
		return
	}
	s.running, s.took = 0, q.now()-s.since
	if n := s.next; n != nil {
		q.ask(*n)
	}
}

// cancel drops the waiting solve with this id, and cancels the one that it waits for, which the page does not
// need any more.
func (q *solves) cancel(id int) {
	for i := range q.slots {
		if s := &q.slots[i]; s.next != nil && s.next.ID == id {
			if s.next = nil; s.running != 0 {
				q.end(s.running)
			}
		}
	}
}

// leastPatience and mostPatience limit how many milliseconds a solve may keep the next one waiting. A slider that is
// dragged asks faster than answers come: if each question ended the one before, none would be answered.
const leastPatience, mostPatience = 150, 600

// slot is the solve under way in a state.Slot, and the one that waits for it.
type slot struct {
	running int          // ID of the solve under way; 0 if there is none
	since   float64      // when it started
	took    float64      // how many milliseconds the one before it took, or had taken when it was cancelled
	next    *state.Solve // waits for it; may be nil
}

// patience returns how many milliseconds the solve under way may keep the next one waiting: twice what the one before
// took, because one that is cancelled just before its answer has worked for nothing.
func (s *slot) patience() float64 { return min(max(2*s.took, leastPatience), mostPatience) }
