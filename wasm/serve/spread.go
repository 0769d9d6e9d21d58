package serve

import (
	"context"
	"errors"
	"sync"

	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Spread answers a sweep by asking do for parts of it, at most parallel at a time. For a method
// that shares work between budgets a part is all of its budgets, for others a few points. Coarse
// points come before fine ones, and slow methods last. The caller sees one sweep: tell and the
// results are those of proto.Pool.Do. If a worker dies, the points of its part fail. A method that
// does not apply fails at every budget and is not asked again.
func Spread(ctx context.Context, q *proto.Sweep, parallel int, do proto.Doer, tell func(any)) (any, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := spread{sweep: q, do: do, stop: stop, tell: tell, plan: newPlan(q)}
	var wg sync.WaitGroup
	for range min(max(parallel, 1), max(s.total(), 1)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				w, ok := s.take()
				if !ok {
					return
				}
				s.work(ctx, w)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return &proto.Swept{Points: s.done, KeepAll: s.keepAll}, nil
}

type spread struct {
	sweep *proto.Sweep
	do    proto.Doer
	stop  context.CancelCauseFunc
	tell  func(any) // of the caller; may be nil

	mu      sync.Mutex
	plan    *plan
	done    int
	keepAll proto.Reference
}

func (s *spread) total() int { return len(s.sweep.Methods) * len(s.sweep.Budgets) }

// take returns the next part, or false if no part is left.
func (s *spread) take() (part, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan.next()
}

// work asks do for the part w and passes its points on. Points without an answer fail.
func (s *spread) work(ctx context.Context, w part) {
	q := *s.sweep
	q.Methods = q.Methods[w.method : w.method+1]
	q.Budgets = make([]choice.Budget, len(w.budgets))
	for i, b := range w.budgets {
		q.Budgets[i] = s.sweep.Budgets[b]
	}
	open := make([]bool, len(w.budgets)) // which have not been answered
	for i := range open {
		open[i] = true
	}
	var pointless []int
	var refused *proto.Failure
	swept, err := proto.Do(ctx, s.do, &q, func(p *proto.Point) {
		if p.Index < len(open) && ctx.Err() == nil {
			if !open[p.Index] { // a better one
				s.mu.Lock()
				s.pass(w.method, w.budgets[p.Index], *p)
				s.mu.Unlock()
				return
			}
			open[p.Index] = false
			if useless := s.answered(w.method, w.budgets[p.Index], *p); len(useless) > 0 {
				pointless, refused = useless, p.Failure
			}
		}
	})
	var fail *proto.Failure
	switch {
	case err == nil:
		fail = proto.Fail(proto.Crash, "The worker stopped before the curve was complete.")
		s.mu.Lock()
		s.keepAll = swept.KeepAll
		s.mu.Unlock()
	case !errors.As(err, &fail) || fail.Kind != proto.Crash:
		s.stop(err) // cancelled, or the network is bad: every point would fail in the same way
		return
	}
	for i, b := range w.budgets {
		if open[i] {
			s.answered(w.method, b, s.failed(b, fail))
		}
	}
	for _, b := range pointless {
		s.answered(w.method, b, s.failed(b, refused))
	}
}

// failed returns a point that fails with fail without having been computed.
func (s *spread) failed(budget int, fail *proto.Failure) proto.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return proto.Point{Failure: fail, Budget: s.sweep.Budgets[budget].Of(s.keepAll.Peak)}
}

// answered passes a point on. It returns the budgets that need not be asked for any more, because
// the method does not apply.
func (s *spread) answered(method, budget int, p proto.Point) (pointless []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pointless = s.plan.learn(method, &p)
	s.done++
	s.pass(method, budget, p)
	return pointless
}

// pass tells the caller a point, under the lock, so that it sees Done grow by one at most each time.
func (s *spread) pass(method, budget int, p proto.Point) {
	if s.tell != nil {
		p.Method, p.Index, p.Done, p.Total = method, budget, s.done, s.total()
		p.Strategy = s.sweep.Methods[method].Strategy
		s.tell(&p)
	}
}
