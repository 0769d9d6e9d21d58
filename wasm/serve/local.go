package serve

import (
	"context"
	"runtime"
	"sync"
	"time"

	"memtide/wasm/proto"
)

// Local is a proto.Pool without workers: it answers in the caller's process, on up to GOMAXPROCS
// threads. A strategy that is cancelled stops at its next poll. One that crashes the process cannot
// be survived. The zero value is ready.
type Local struct {
	mu   sync.Mutex
	idle []*Server
}

// Do implements proto.Pool.
func (l *Local) Do(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	if q, ok := req.(*proto.Sweep); ok {
		return Spread(ctx, q, l.Size(), l.one, tell)
	}
	return l.one(ctx, req, tell)
}

// Size implements proto.Pool.
func (l *Local) Size() int { return runtime.GOMAXPROCS(0) }

// OnSilence implements proto.Pool. It does nothing: f is never called.
func (l *Local) OnSilence(func(proto.Request, time.Duration)) {}

func (l *Local) one(ctx context.Context, req proto.Request, tell func(any)) (any, error) {
	s := l.take()
	defer l.give(s)
	result, err := s.Handle(ctx, req, tell)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return result, err
}

func (l *Local) take() *Server {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.idle); n > 0 {
		s := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return s
	}
	return new(Server)
}

func (l *Local) give(s *Server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, s)
}
