package serve

import (
	"context"

	"memtide/engine/bound"
	"memtide/wasm/proto"
)

// sweep answers every point with one progress reply. A point that fails does
// not end the sweep, except for a bad network or setting, which fails all.
func (s *Server) sweep(ctx context.Context, q *proto.Sweep, emit func(*proto.Reply)) (*proto.Swept, *proto.Failure) {
	nw, fail := s.network(&q.Setting.Network)
	if fail != nil {
		return nil, fail
	}
	total := len(q.Methods) * len(q.Budgets)
	done := 0
	for m := range q.Methods {
		for b := range q.Budgets {
			if ctx.Err() != nil {
				return nil, proto.Fail(proto.Deadline, "the sweep was stopped after %d of %d points", done, total)
			}
			done++
			point := s.point(ctx, q, m, b)
			point.Done, point.Total = done, total
			emit(&proto.Reply{Kind: proto.KindProgress, Point: point})
		}
	}
	return &proto.Swept{Points: done, KeepAll: nw.keepAll}, nil
}

func (s *Server) point(ctx context.Context, q *proto.Sweep, m, b int) *proto.Point {
	out := &proto.Point{Method: m, Index: b, Strategy: q.Methods[m].Strategy, Budget: q.Budgets[b].Bytes}
	t, fail := s.task(&q.Setting, &q.Methods[m], q.Budgets[b])
	if fail != nil {
		out.Failure = fail
		return out
	}
	out.Budget = t.problem.Budget
	out.Bound, _ = bound.Of(t.problem, t.strategy.Class)
	solved, fail := t.run(ctx, q.Limit, nil)
	out.Failure = fail
	if solved != nil {
		out.Optimal, out.Verdict = solved.Claim.Optimal, solved.Verdict
		if solved.Trace != nil {
			out.StepTime, out.Peak = solved.Trace.Makespan, solved.Trace.Peak
		}
	}
	return out
}
