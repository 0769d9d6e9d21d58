package serve

import (
	"context"
	"errors"
	"sync"
	"time"

	"memtide/engine"
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

// part is one request of a sweep that is spread: some budgets of one method. method and budgets are
// indices in the sweep.
type part struct {
	method, level int
	budgets       []int
}

// plan is the order in which the points of a sweep are asked for. The first method comes before the
// others and coarse levels before fine ones, so that all lines grow together. Methods that turn out
// to be slow come last.
type plan struct {
	parts   []part // not yet given out, in order
	methods []course
}

// course is what is known so far about a method in a sweep.
type course struct {
	asked   bool // a part has been answered
	known   bool // and one has been answered
	points  int
	took    time.Duration // for all points so far
	refused *proto.Failure
}

const (
	// coarsest is the distance between the budgets of the first level. Each further level halves
	// it, so it is a power of two.
	coarsest = 8
	// slow is the average time per point above which a method is put off until the others are done.
	slow = 8 * time.Millisecond
	// partTime is roughly how long a part may take: short enough for other lines to grow too, long
	// enough to be worth a message.
	partTime = 40 * time.Millisecond
)

func newPlan(q *proto.Sweep) *plan {
	p := &plan{methods: make([]course, len(q.Methods))}
	together := make([]bool, len(q.Methods))
	for m := range q.Methods {
		s := engine.Lookup(q.Methods[m].Strategy)
		together[m] = s != nil && s.Sweeper != nil
	}
	all := make([]int, len(q.Budgets))
	for b := range all {
		all[b] = b
	}
	for level, step := 0, coarsest; step > 0; level, step = level+1, step/2 {
		var first, others []part
		for down := range all { // from the largest budget on: most methods find something there
			if b := len(all) - 1 - down; levelOf(down) == level {
				for m := range q.Methods {
					next := part{method: m, level: level, budgets: []int{b}}
					if together[m] && down > 0 {
						continue
					} else if together[m] {
						next.budgets = all
					}
					if m == 0 {
						first = append(first, next)
					} else {
						others = append(others, next)
					}
				}
			}
		}
		p.parts = append(append(p.parts, first...), others...)
	}
	return p
}

// levelOf returns the level of the budget below which down budgets are larger.
func levelOf(down int) (level int) {
	for step := coarsest; down%step != 0; step /= 2 {
		level++
	}
	return level
}

// wait returns the priority of a method: 0 is asked first, 1 is a slow method, and 2 is one whose
// first answer is missing, because it may turn out not to apply.
func (c *course) wait() int {
	switch {
	case c.asked && !c.known:
		return 2
	case c.points > 0 && c.took > slow*time.Duration(c.points):
		return 1
	}
	return 0
}

// next takes the next part out of the plan. It returns false if the plan is empty.
func (p *plan) next() (part, bool) {
	if len(p.parts) == 0 {
		return part{}, false
	}
	best := 0
	for i := range p.parts {
		if p.methods[p.parts[i].method].wait() < p.methods[p.parts[best].method].wait() {
			best = i
		}
	}
	out := p.parts[best]
	c := &p.methods[out.method]
	c.asked = true
	room := 1
	if c.points > 0 {
		room = int(min(partTime/max(c.took/time.Duration(c.points), 1), time.Duration(len(p.parts))))
	}
	out.budgets = nil
	p.take(func(q *part) bool {
		if q.method != out.method || q.level != out.level || len(out.budgets) > 0 &&
			len(out.budgets)+len(q.budgets) > room {
			return false
		}
		out.budgets = append(out.budgets, q.budgets...)
		return true
	})
	return out, true
}

// take removes the parts for which wanted returns true.
func (p *plan) take(wanted func(*part) bool) {
	kept := p.parts[:0]
	for i := range p.parts {
		if !wanted(&p.parts[i]) {
			kept = append(kept, p.parts[i])
		}
	}
	p.parts = kept
}

// learn notes the answer for a point. If it says that the method does not apply, learn removes the
// method's other parts and returns their budgets: they fail with the point's failure.
func (p *plan) learn(method int, point *proto.Point) (pointless []int) {
	c := &p.methods[method]
	c.known = true
	c.points++
	c.took += point.Took
	if f := point.Failure; f != nil && f.Kind == proto.Unsupported {
		c.refused = f
	}
	if c.refused != nil {
		p.take(func(q *part) bool {
			if q.method == method {
				pointless = append(pointless, q.budgets...)
			}
			return q.method == method
		})
	}
	return pointless
}
