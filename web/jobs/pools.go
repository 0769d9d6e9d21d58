package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
)

// Second does what this program does not link, by a second program that is loaded when
// that is first asked for: it opens files of other formats, solves with strategies and
// places with allocators that are only described here, writes schedules for other programs, examines recordings and
// answers about training steps.
type Second struct {
	// Fetch gets the second program, and what starts its workers. Two requests that come
	// at once may both wait for it.
	Fetch func(context.Context) (start func() (proto.Pool, error), err error)

	mu   sync.Mutex
	pool proto.Pool
}

// forFile returns the pool that opens a file: the page's own if it knows the format.
func (r *Second) forFile(ctx context.Context, own proto.Pool, content []byte) (proto.Pool, error) {
	if len(profiles.Claimants(content)) == 1 {
		return own, nil
	}
	return r.load(ctx)
}

// load returns the pool of the second program, which is fetched and started the first
// time.
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
	if r.pool == nil { // nobody else was faster
		p, err := start()
		if err != nil {
			return nil, err
		}
		r.pool = p
	}
	return r.pool, nil
}

// loaded returns the pool of the second program, or nil if it was not started yet.
func (r *Second) loaded() proto.Pool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pool
}

// either answers with the workers of this program, which it embeds, or with those of
// the second one if only that answers the request, has a strategy that is asked for, or what
// the network needs.
type either struct {
	proto.Pool
	second  *Second
	sorry   func(error) string // says that the second program cannot be loaded
	loading func(bool)         // told that it is being loaded, and that it no longer is; nil: nobody is
}

// Do implements proto.Pool.
func (p either) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if here(req) {
		r, err := p.Pool.Do(ctx, req, tell)
		if f, ok := errors.AsType[*proto.Failure](err); !ok || f.Kind != proto.Elsewhere {
			return r, err
		}
	}
	if _, ok := p.Pool.(*MainThread); ok {
		return nil, proto.Fail(proto.Unsupported,
			"the page cannot solve this by itself, and the browser starts no workers for it")
	}
	second, err := p.other(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, proto.Fail(proto.Crash, "%s", p.sorry(err))
	}
	return second.Do(ctx, req, tell)
}

// other returns the pool of the second program.
func (p either) other(ctx context.Context) (proto.Pool, error) {
	if p.loading != nil && p.second.loaded() == nil {
		p.loading(true)
		defer p.loading(false)
	}
	return p.second.load(ctx)
}

// here reports whether this program answers a request, and has the solvers of all strategies
// that it names.
func here(req proto.Request) bool {
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

// MainThread solves on the page's own thread, where the browser starts no workers and a
// person has asked for it: the page lives in the breaths that a solver takes.
type MainThread struct {
	serve.Local
	turn sync.Mutex // held by the request that is at work: sleeping in turns would leave the page no time
	last time.Time  // when the page was let live last
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

// breathEvery is how long a solver may keep the page waiting.
const breathEvery = 30 * time.Millisecond

// breathe lets the browser do what is waiting, for which every goroutine has to
// sleep, and then another request have its turn.
func (h *MainThread) breathe() {
	if time.Since(h.last) < breathEvery {
		return
	}
	time.Sleep(time.Millisecond)
	h.turn.Unlock()
	h.turn.Lock()
	h.last = time.Now()
}
