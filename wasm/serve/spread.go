package serve

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// Spread answers a sweep by asking do for parts of it, at most parallel at a time. For a method that shares work
// between budgets a part is all of its budgets, for others a few points. Coarse points come before fine ones, and slow
// methods last. The caller sees one sweep: tell and the results are those of proto.Pool.Do. If a worker dies, the
// points of its part fail. A method that does not apply fails at every budget and is not asked again.
func Spread(ctx context.Context, q *proto.Sweep, parallel int, do proto.Doer, tell func(any)) (any, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := spread{sweep: q, do: do, stop: stop, tell: tell, parts: partsOf(q), slow: make([]bool, len(q.Methods))}
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
	return &proto.Swept{KeepAll: s.keepAll}, nil
}

type spread struct {
	sweep *proto.Sweep
	do    proto.Doer
	stop  context.CancelCauseFunc
	tell  func(any) // of the caller; may be nil

	mu      sync.Mutex
	parts   []part // not yet given out, in order
	slow    []bool // by method
	done    int
	keepAll proto.Reference
}

func (s *spread) total() int { return len(s.sweep.Methods) * len(s.sweep.Budgets) }

// take returns the next part, or false if no part is left. Those of slow methods come last.
func (s *spread) take() (part, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.parts) == 0 {
		return part{}, false
	}
	i := max(slices.IndexFunc(s.parts, func(w part) bool { return !s.slow[w.method] }), 0)
	w := s.parts[i]
	s.parts = slices.Delete(s.parts, i, i+1)
	return w, true
}

// work asks do for the part w and passes its points on. Points without an answer fail, and so do all
// further ones of a method that does not apply.
func (s *spread) work(ctx context.Context, w part) {
	q := *s.sweep
	q.Methods = q.Methods[w.method : w.method+1]
	q.Budgets = make([]choice.Budget, len(w.budgets))
	for i, b := range w.budgets {
		q.Budgets[i] = s.sweep.Budgets[b]
	}
	told := make([]bool, len(w.budgets))
	var refused *proto.Failure
	swept, err := proto.Do(ctx, s.do, &q, func(p *proto.Point) {
		if p.Index >= len(told) || ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if !told[p.Index] { // otherwise it is a better one
			told[p.Index] = true
			s.done++
		}
		s.slow[w.method] = p.Took > slow
		if f := p.Failure; f != nil && f.Kind == proto.Unsupported {
			refused = f
		}
		s.pass(w.method, w.budgets[p.Index], *p)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	var fail *proto.Failure
	switch {
	case err == nil:
		fail = proto.Fail(proto.Crash, "The worker stopped before the curve was complete.")
		s.keepAll = swept.KeepAll
	case !errors.As(err, &fail) || fail.Kind != proto.Crash:
		s.stop(err) // cancelled, or the network is bad: every point would fail in the same way
		return
	}
	for i, b := range w.budgets {
		if !told[i] {
			s.fail(w.method, b, fail)
		}
	}
	if refused == nil {
		return
	}
	s.parts = slices.DeleteFunc(s.parts, func(next part) bool {
		if next.method != w.method {
			return false
		}
		for _, b := range next.budgets {
			s.fail(w.method, b, refused)
		}
		return true
	})
}

// fail passes on a point that has not been computed.
func (s *spread) fail(method, budget int, why *proto.Failure) {
	s.done++
	s.pass(method, budget, proto.Point{Failure: why, Budget: s.sweep.Budgets[budget].Of(s.keepAll.Peak)})
}

// pass calls tell with a point, under the lock, so that Done grows by at most one from one point to the next.
func (s *spread) pass(method, budget int, p proto.Point) {
	if s.tell != nil {
		p.Method, p.Index, p.Done, p.Total = method, budget, s.done, s.total()
		p.Strategy = s.sweep.Methods[method].Strategy
		s.tell(&p)
	}
}

// part is one request of a sweep that is spread: some budgets of one method. method and budgets are
// indices in the sweep.
type part struct {
	method  int
	budgets []int
}

const (
	// coarsest is the distance between the budgets of the first level. Each further level halves
	// it, so it is a power of two.
	coarsest = 8
	// slow is the time for a point above which a method is put off until the others are done.
	slow = 8 * time.Millisecond
	// atOnce is the number of budgets in a part: few enough for other lines to grow too, enough to be worth a message.
	atOnce = 8
)

// partsOf returns the parts of a sweep in order. Coarse levels come before fine ones, so that all
// lines grow together, and within a level the first method comes before the others. The first part
// of a method is one point: it says whether the method is slow, or does not apply.
func partsOf(q *proto.Sweep) (parts []part) {
	all := make([]int, len(q.Budgets))
	for b := range all {
		all[b] = b
	}
	for step := coarsest; step > 0; step /= 2 {
		var level []int // from the largest budget on: most methods find something there
		for down := 0; down < len(all); down += step {
			if step == coarsest || down%(2*step) != 0 {
				level = append(level, len(all)-1-down)
			}
		}
		pieces := slices.Collect(slices.Chunk(level, atOnce))
		if step == coarsest && len(level) > 1 {
			pieces = append([][]int{level[:1]}, slices.Collect(slices.Chunk(level[1:], atOnce))...)
		}
		var others []part
		for i, piece := range pieces {
			for m := range q.Methods {
				next := part{m, piece}
				if s := engine.Lookup(q.Methods[m].Strategy); s != nil && s.Sweeper != nil {
					if step < coarsest || i > 0 {
						continue
					}
					next.budgets = all
				}
				if m == 0 {
					parts = append(parts, next)
				} else {
					others = append(others, next)
				}
			}
		}
		parts = append(parts, others...)
	}
	return parts
}
