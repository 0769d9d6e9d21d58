package serve

import (
	"context"
	"runtime"
	"sync"
	"time"

	"memtide/wasm/proto"
)

// Local is a proto.Pool without workers: it answers in the caller's process,
// on as many threads as there are. A strategy that is cancelled stops at its
// next poll; one that crashes the process cannot be survived. The zero value
// is ready.
type Local struct {
	mu   sync.Mutex
	idle []*Server
}

// Do implements proto.Pool.
func (l *Local) Do(ctx context.Context, req *proto.Request, onProgress func(*proto.Reply)) (*proto.Reply, error) {
	if req.Op == proto.OpSweep && req.Sweep != nil {
		return Spread(ctx, req.Sweep, l.Size(), l.one, onProgress)
	}
	return l.one(ctx, req, onProgress)
}

// Size implements proto.Pool.
func (l *Local) Size() int { return runtime.GOMAXPROCS(0) }

// OnSilence implements proto.Pool; nothing is watched.
func (l *Local) OnSilence(func(*proto.Request, time.Duration)) {}

func (l *Local) one(ctx context.Context, req *proto.Request, onProgress func(*proto.Reply)) (*proto.Reply, error) {
	s := l.take()
	defer l.give(s)
	var answer *proto.Reply
	s.Handle(ctx, req, func(r *proto.Reply) {
		switch {
		case r.Kind != proto.KindProgress:
			answer = r
		case onProgress != nil:
			onProgress(r)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return Answer(answer)
}

// Answer splits a final reply into what proto.Pool.Do returns.
func Answer(r *proto.Reply) (*proto.Reply, error) {
	if r.Failure == nil {
		return r, nil
	}
	if r.Solved == nil && r.Placed == nil {
		return nil, r.Failure
	}
	return r, r.Failure
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
