package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// Second is the second program, which is loaded when a request needs it first. It opens files of all formats, has the
// solvers of all strategies and all allocators, writes schedules for other programs, examines recordings and
// answers about training steps.
type Second struct {
	// Fetch fetches the second program. start starts its workers. Several requests may call Fetch at the same time.
	Fetch func(context.Context) (start func() (proto.Pool, error), err error)

	mu   sync.Mutex
	pool proto.Pool // nil until it was started
}

// load returns the pool of the second program. The first call fetches and starts it.
func (r *Second) load(ctx context.Context) (proto.Pool, error) {
	if p := r.loaded(); p != nil {
		return p, nil
	}
	start, err := r.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool == nil { // no other request was faster
		p, err := start()
		if err != nil {
			return nil, err
		}
		r.pool = p
	}
	return r.pool, nil
}

// loaded returns the pool of the second program, or nil if it has not been started.
func (r *Second) loaded() proto.Pool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pool
}

// bothPrograms is a pool that sends requests to the embedded pool of this program, or to the second program if only
// that has the handler, the solver or the preset that a request needs.
type bothPrograms struct {
	proto.Pool
	second   *Second
	noSecond func(error) string // see Runner.NoSecond
	loading  func(bool)         // called with true when the second program is being loaded, then with false; may be nil
}

// Do implements proto.Pool.
func (p bothPrograms) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if answeredHere(req) {
		r, err := p.Pool.Do(ctx, req, tell)
		if f, ok := errors.AsType[*proto.Failure](err); !ok || f.Kind != proto.Elsewhere {
			return r, err
		}
	}
	if _, ok := p.Pool.(*MainThread); ok {
		return nil, proto.Fail(proto.Unsupported,
			"the page cannot solve this by itself, and the browser starts no workers for it")
	}
	second, err := p.load(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, proto.Fail(proto.Crash, "%s", p.noSecond(err))
	}
	return second.Do(ctx, req, tell)
}

// load returns the pool of the second program.
func (p bothPrograms) load(ctx context.Context) (proto.Pool, error) {
	if p.loading != nil && p.second.loaded() == nil {
		p.loading(true)
		defer p.loading(false)
	}
	return p.second.load(ctx)
}

// answeredHere reports whether this program has a handler for req, and the solvers of all strategies that req names.
func answeredHere(req proto.Request) bool {
	var asked []proto.Method
	switch q := req.(type) {
	case *proto.Solve:
		asked = []proto.Method{q.Method}
	case *proto.Sweep:
		asked = q.Methods
	case *proto.Question:
		asked = append([]proto.Method{q.Method}, q.Methods...)
	}
	return serve.Answers(req) && !slices.ContainsFunc(asked, func(m proto.Method) bool {
		s := engine.Lookup(m.Strategy)
		return s != nil && s.Elsewhere
	})
}

// MainThread is a pool that answers on the page's own thread. It is used if the browser starts no workers. A solver
// regularly sleeps, so that the browser can handle events.
type MainThread struct {
	serve.Local
	turn sync.Mutex // held by the request that runs: only one may, or the others would run while it sleeps
	last time.Time  // when the last sleep ended
}

// Do implements proto.Pool.
func (h *MainThread) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	h.turn.Lock()
	defer h.turn.Unlock()
	return h.Local.Do(context.WithValue(ctx, engine.Yield{}, h.breathe), req, func(progress any) {
		h.breathe()
		if tell != nil {
			tell(progress)
		}
	})
}

// breathEvery is how long a solver may block the page.
const breathEvery = 30 * time.Millisecond

// breathe sleeps, so that the browser can handle events, which it does only while every goroutine waits. Then it
// lets another request run.
func (h *MainThread) breathe() {
	if time.Since(h.last) < breathEvery {
		return
	}
	time.Sleep(time.Millisecond)
	h.turn.Unlock()
	h.turn.Lock()
	h.last = time.Now()
}
