package serve

import (
	"context"
	"errors"
	"sync"

	"memtide/wasm/proto"
)

// Doer sends a request and waits for its answer, like proto.Pool.
type Doer func(ctx context.Context, req *proto.Request, onProgress func(*proto.Reply)) (*proto.Reply, error)

// Spread answers a sweep by asking do for each of its points, at most parallel
// at a time, in the order of the sweep. What the caller sees is one sweep; a
// point whose worker died is a point that failed.
//
// Note: larger parts would save some messages, but one point per message lets
// a solve be answered between two points, and the server remembers the network.
func Spread(ctx context.Context, q *proto.Sweep, parallel int, do Doer, onProgress func(*proto.Reply)) (*proto.Reply, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := spread{sweep: q, do: do, stop: stop, onProgress: onProgress}
	var wg sync.WaitGroup
	for range min(max(parallel, 1), max(s.total(), 1)) {
		wg.Go(func() {
			for ctx.Err() == nil && s.step(ctx) {
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return &proto.Reply{Kind: proto.KindResult, Swept: &proto.Swept{Points: s.done, KeepAll: s.keepAll}}, nil
}

type spread struct {
	sweep      *proto.Sweep
	do         Doer
	stop       context.CancelCauseFunc
	onProgress func(*proto.Reply)

	mu      sync.Mutex
	next    int
	done    int
	keepAll proto.Reference
}

func (s *spread) total() int { return len(s.sweep.Methods) * len(s.sweep.Budgets) }

// step does the next point; false if there is none left.
func (s *spread) step(ctx context.Context) bool {
	s.mu.Lock()
	i := s.next
	s.next++
	s.mu.Unlock()
	if i >= s.total() {
		return false
	}
	m, b := i/len(s.sweep.Budgets), i%len(s.sweep.Budgets)
	part := *s.sweep
	part.Methods, part.Budgets = part.Methods[m:m+1], part.Budgets[b:b+1]
	var point *proto.Point
	reply, err := s.do(ctx, &proto.Request{Op: proto.OpSweep, Sweep: &part}, func(r *proto.Reply) {
		if r.Point != nil {
			point = r.Point
		}
	})
	if err != nil {
		var fail *proto.Failure
		if !errors.As(err, &fail) || fail.Kind != proto.Crash {
			s.stop(err) // cancelled, or the network itself is bad: every point would fail alike
			return false
		}
		point = &proto.Point{Strategy: part.Methods[0].Strategy, Budget: part.Budgets[0].Bytes, Failure: fail}
	}
	s.mu.Lock()
	s.done++
	if reply != nil && reply.Swept != nil {
		s.keepAll = reply.Swept.KeepAll
	}
	// Under the lock, so that the caller sees Done grow by one each time.
	if point != nil && s.onProgress != nil {
		p := *point
		p.Method, p.Index, p.Done, p.Total = m, b, s.done, s.total()
		s.onProgress(&proto.Reply{Kind: proto.KindProgress, Point: &p})
	}
	s.mu.Unlock()
	return true
}
