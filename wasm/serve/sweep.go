package serve

import (
	"context"
	"fmt"
	"slices"
	"time"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/wasm/proto"
)

func init() { Register((*Server).sweep) }

// sweep tells every point: method by method, and within a method in an order that the method
// chooses; a point that turns out better later is told again. A point that fails does not end the
// sweep. A bad network or setting fails the sweep as a whole.
func (s *Server) sweep(ctx context.Context, q *proto.Sweep, tell func(*proto.Point)) (*proto.Swept, *proto.Failure) {
	nw, fail := s.network(&q.Setting.Network)
	if fail != nil {
		return nil, fail
	}
	total := len(q.Methods) * len(q.Budgets)
	done, told := 0, make([]bool, total)
	for m := range q.Methods {
		s.sweepMethod(ctx, q, m, func(p *proto.Point) {
			if at := p.Method*len(q.Budgets) + p.Index; !told[at] {
				told[at] = true
				done++
			}
			p.Done, p.Total = done, total
			tell(p)
		})
		if ctx.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "the sweep was stopped after %d of %d points", done, total)
		}
	}
	return &proto.Swept{Points: done, KeepAll: nw.keepAll}, nil
}

// sweepMethod answers the points of method m: together if the method shares work between budgets,
// otherwise one by one. A method that does not apply to the problem is asked once and fails at
// every point.
func (s *Server) sweepMethod(ctx context.Context, q *proto.Sweep, m int, emit func(*proto.Point)) {
	var tasks []*task
	var points []*proto.Point
	for b := range q.Budgets {
		p := &proto.Point{Method: m, Index: b, Strategy: q.Methods[m].Strategy, Budget: q.Budgets[b].Bytes}
		t, fail := s.task(&q.Setting, &q.Methods[m], q.Budgets[b])
		if fail != nil {
			p.Failure = fail
			emit(p)
			continue
		}
		p.Budget = t.problem.Budget
		tasks, points = append(tasks, t), append(points, p)
	}
	if len(tasks) > 1 && tasks[0].strategy.Sweeper != nil {
		sweepTogether(ctx, q.Limit, tasks, points, emit)
		return
	}
	var refused *proto.Failure
	for i, t := range tasks {
		if ctx.Err() != nil {
			return
		}
		if refused != nil {
			measured(t, points[i])(nil, refused)
			emit(points[i])
			continue
		}
		start := time.Now()
		measured(t, points[i])(t.run(ctx, q.Limit, nil))
		points[i].Took = time.Since(start)
		if f := points[i].Failure; f != nil && f.Kind == proto.Unsupported {
			refused = f
		}
		emit(points[i])
	}
}

// sweepTogether has the strategy share work between the tasks, which differ only in their budgets.
// The tasks have limit times their number together. Each may use an equal part of what is left, so
// that later ones get what earlier ones did not need.
func sweepTogether(ctx context.Context, limit time.Duration, tasks []*task, points []*proto.Point,
	emit func(*proto.Point)) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit*time.Duration(len(tasks)))
		defer cancel()
	}
	budgets := make([]engine.Bytes, len(tasks))
	for i, t := range tasks {
		budgets[i] = t.problem.Budget
	}
	answered, last := make([]bool, len(tasks)), time.Now()
	first := tasks[0]
	poll := engine.NewPoll(ctx, nil)
	poll.Split(len(tasks))
	first.strategy.Sweep(first.problem, first.args, budgets, poll, func(i int, sol *engine.Solution, err error) {
		answered[i] = true
		measured(tasks[i], points[i])(tasks[i].conclude(sol, err))
		now := time.Now()
		points[i].Took += now.Sub(last)
		last = now
		emit(points[i])
	})
	if i := slices.Index(answered, false); i >= 0 {
		panic(fmt.Sprintf("strategy %s did not answer budget %d of %d", first.strategy.Name, i+1, len(tasks)))
	}
}

// measured returns a function that writes the result of t into out.
func measured(t *task, out *proto.Point) func(*proto.Solved, *proto.Failure) {
	return func(solved *proto.Solved, fail *proto.Failure) {
		out.Failure = fail
		if solved == nil {
			out.Bound, _ = bound.Of(t.problem, t.strategy.Class)
			return
		}
		out.Bound = solved.Bounds[0].StepTime      // that of the class
		if solved.Claim.Within == bound.AnyOrder { // the class allows any order: the strategy's own bound holds for it
			out.Bound = max(out.Bound, solved.Claim.Bound)
		}
		out.Optimal, out.Verdict = solved.Claim.Optimal, solved.Verdict
		if solved.Trace != nil {
			out.StepTime, out.Peak = solved.Trace.Makespan, solved.Trace.Peak
		}
	}
}
