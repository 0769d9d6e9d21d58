package serve

import (
	"context"
	"errors"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/web/question"
)

func init() { Register((*Server).question) }

// question answers q. It tells each answer as soon as it is found. An answer without a schedule has
// a Failure; a bad request fails the whole question.
func (s *Server) question(ctx context.Context, q *proto.Question, tell func(*proto.Answer)) (*proto.Answered,
	*proto.Failure) {
	t, fail := s.task(&q.Setting, &q.Method, q.Budget)
	if fail != nil {
		return nil, fail
	}
	w := &question.Work{Problem: t.problem, Method: whatif.Method{Strategy: t.strategy, Args: t.args},
		Preset: s.last.preset, Limit: q.Limit,
		Emit: func(a *proto.Answer, err error) {
			if err != nil {
				a.Failure = failure(err, engine.Lookup(a.Strategy), a.Budget)
			}
			tell(a)
		},
	}
	for i := range q.Methods {
		m, fail := s.task(&q.Setting, &q.Methods[i], q.Budget)
		if fail != nil {
			return nil, fail
		}
		w.Methods = append(w.Methods, whatif.Method{Strategy: m.strategy, Args: m.args})
	}
	switch err := w.Answer(ctx); {
	case errors.Is(err, preset.ErrElsewhere):
		return nil, proto.Fail(proto.Elsewhere, "%v", err)
	case err != nil:
		return nil, proto.Fail(proto.BadRequest, "%v", err)
	}
	if ctx.Err() != nil && w.Given < w.Total {
		return nil, proto.Fail(proto.Deadline, "the question was stopped after %d of %d answers", w.Given, w.Total)
	}
	return &proto.Answered{Answers: w.Given}, nil
}
