package serve

import (
	"context"
	"errors"
	"slices"

	"memtide/engine"
	"memtide/engine/scale"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
)

// builder says how the network gets other batches, and up to which: presets are
// built, profiles are scaled from the batch that they state.
func (nw *network) builder() (scale.Builder, int, *proto.Failure) {
	if nw.preset != "" {
		p, _, err := preset.Parse(nw.preset)
		if err != nil {
			return nil, 0, proto.Fail(proto.BadRequest, "%v", err)
		}
		return p.Problem, p.Largest(), nil
	}
	var build scale.Builder
	var err error
	if nw.problem.Chain != nil {
		build, err = scale.OfChain(nw.problem.Chain.Chain)
	} else {
		build, err = scale.OfGraph(nw.problem.Graph, nw.profile.Batch)
	}
	if err != nil {
		return nil, 0, proto.Fail(proto.BadRequest, "%v; a profile says it in its field batch", err)
	}
	return build, scale.MaxBatch, nil
}

// batches answers with the largest batch that every method trains in the budget,
// and then with its step time at the batches that are asked for. The budget is
// in bytes: a share would be of another amount at every batch.
func (s *Server) batches(ctx context.Context, t *task, q *proto.Ask, emit func(*proto.Reply)) (*proto.Asked, *proto.Failure) {
	nw, fail := s.network(&q.Network)
	if fail != nil {
		return nil, fail
	}
	build, most, fail := nw.builder()
	if fail != nil {
		return nil, fail
	}
	methods, fail := s.methods(q)
	if fail != nil {
		return nil, fail
	}
	total := len(methods) * (1 + len(q.Batches))
	answers := 0
	for _, m := range methods {
		g := grower{emit: emit, question: scale.Question{Build: build, Strategy: m.Strategy, Args: m.Args, Device: t.problem.Device,
			Transfers: t.problem.Transfers, Budget: t.problem.Budget, Most: most, Limit: q.Limit}}
		for _, a := range g.answers(ctx, q.Batches) {
			if ctx.Err() != nil {
				return nil, proto.Fail(proto.Deadline, "the question was stopped after %d of %d answers", answers, total)
			}
			a.Index, a.Done, a.Total = answers, answers+1, total
			answers++
			emit(&proto.Reply{Kind: proto.KindProgress, Answer: &a})
		}
	}
	return &proto.Asked{Answers: answers}, nil
}

// grower asks about the batches of one method.
type grower struct {
	question scale.Question
	emit     func(*proto.Reply)
}

// answers are the largest batch, then the batches of the list, one by one.
func (g *grower) answers(ctx context.Context, list []int) func(yield func(int, proto.Answer) bool) {
	return func(yield func(int, proto.Answer) bool) {
		a := proto.Answer{Strategy: g.question.Strategy.Name, Budget: g.question.Budget, Largest: true}
		largest, err := scale.Largest(ctx, &g.question, func(p scale.Progress) {
			g.emit(&proto.Reply{Kind: proto.KindProgress, Progress: &proto.Progress{Done: p.Tried}})
		})
		if largest != nil {
			a.Batch, a.StepTime, a.Peak = largest.Batch, largest.StepTime, largest.Peak
			a.Partial = largest.Partial || largest.Gaps || len(largest.Undecided) > 0
			if largest.Batch == 0 {
				a.Failure = proto.Fail(proto.Infeasible, "not even a batch of 1 fits")
				a.Failure.Budget, a.Failure.Smallest = g.question.Budget, largest.Smallest
			}
		}
		if err != nil {
			a.Failure = g.failure(err)
		}
		if !yield(0, a) || a.Failure != nil && a.Failure.Kind == proto.Unsupported {
			return
		}
		for i, b := range list {
			a := proto.Answer{Strategy: g.question.Strategy.Name, Budget: g.question.Budget, Batch: b}
			p, err := scale.At(ctx, &g.question, b)
			a.StepTime, a.Peak, a.Partial = p.StepTime, p.Peak, p.Partial
			switch {
			case err != nil:
				a.Failure = g.failure(err)
			case p.StepTime == 0:
				a.Failure = proto.Fail(proto.Infeasible, "a batch of %d does not fit", b)
				a.Failure.Budget, a.Failure.Smallest = g.question.Budget, p.Smallest
			}
			if !yield(1+i, a) {
				return
			}
		}
	}
}

func (g *grower) failure(err error) *proto.Failure {
	switch {
	case errors.Is(err, engine.ErrUnsupported):
		return proto.Fail(proto.Unsupported, "%v", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return proto.Fail(proto.Deadline, "%s was stopped before it was done", g.question.Strategy.Title)
	case errors.Is(err, scale.ErrBatch):
		return proto.Fail(proto.BadRequest, "%v", err)
	}
	return failed(err)
}

// goodBatches says what is wrong with a list of batches.
func goodBatches(list []int) *proto.Failure {
	if i := slices.IndexFunc(list, func(b int) bool { return b < 1 || b > scale.MaxBatch }); i >= 0 {
		return proto.Fail(proto.BadRequest, "the batch is %d; expected 1 to %d", list[i], scale.MaxBatch)
	}
	return nil
}
