package serve

import (
	"context"
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/whatif"
	"memtide/wasm/proto"
)

// smallestGrain is how exactly the smallest budget is looked for.
const smallestGrain = engine.MiB

// variant is one schedule that a question needs.
type variant struct {
	answer proto.Answer
	task   *task
	same   int // 1 + the variant before it that has the same schedule; 0: none has
}

// ask answers a question with one progress reply per answer. A variant without
// a schedule is an answer with a failure; a bad request fails all.
func (s *Server) ask(ctx context.Context, q *proto.Ask, emit func(*proto.Reply)) (*proto.Asked, *proto.Failure) {
	t, fail := s.task(&q.Setting, &q.Method, q.Budget)
	if fail != nil {
		return nil, fail
	}
	var all []variant
	switch q.Question {
	case proto.Smallest:
		return s.smallest(ctx, t, q, emit)
	case proto.LargestBatch:
		if fail := goodBatches(q.Batches); fail != nil {
			return nil, fail
		}
		return s.batches(ctx, t, q, emit)
	case proto.WhatHelps:
		all, fail = s.changes(t, q)
	case proto.Links:
		all, fail = s.links(t, q)
	default:
		fail = proto.Fail(proto.BadRequest, "there is no question %q; expected help, smallest, links or batch", q.Question)
	}
	if fail != nil {
		return nil, fail
	}
	for i := range all {
		if ctx.Err() != nil {
			return nil, proto.Fail(proto.Deadline, "the question was stopped after %d of %d answers", i, len(all))
		}
		a := &all[i].answer
		a.Index, a.Done, a.Total = i, i+1, len(all)
		if first := &all[max(all[i].same-1, 0)].answer; all[i].same > 0 {
			a.Strategy, a.Budget, a.StepTime, a.Peak, a.Partial, a.Failure = first.Strategy, first.Budget, first.StepTime, first.Peak, first.Partial, first.Failure
		} else {
			all[i].measure(ctx, q.Limit)
		}
		emit(&proto.Reply{Kind: proto.KindProgress, Answer: a})
	}
	return &proto.Asked{Answers: len(all)}, nil
}

// measure finds the schedule of a variant.
func (v *variant) measure(ctx context.Context, limit time.Duration) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	t := v.task
	v.answer.Strategy, v.answer.Budget = t.strategy.Name, t.problem.Budget
	r, err := whatif.Measure(t.problem, whatif.Method{Strategy: t.strategy, Args: t.args}, engine.NewPoll(ctx, nil))
	if r != nil {
		v.answer.StepTime, v.answer.Peak, v.answer.Partial = r.StepTime, r.Peak, err != nil
		return
	}
	v.answer.Failure = t.failure(err)
}

// methods resolves the other methods of a question.
func (s *Server) methods(q *proto.Ask) ([]whatif.Method, *proto.Failure) {
	var out []whatif.Method
	for i := range q.Others {
		t, fail := s.task(&q.Setting, &q.Others[i], q.Budget)
		if fail != nil {
			return nil, fail
		}
		out = append(out, whatif.Method{Strategy: t.strategy, Args: t.args})
	}
	return out, nil
}

func (s *Server) changes(t *task, q *proto.Ask) ([]variant, *proto.Failure) {
	others, fail := s.methods(q)
	if fail != nil {
		return nil, fail
	}
	var out []variant
	for _, c := range whatif.Changes(t.problem, whatif.Method{Strategy: t.strategy, Args: t.args}, others) {
		v := variant{answer: proto.Answer{Name: c.Name}, task: &task{problem: c.Problem, strategy: c.Method.Strategy, args: c.Method.Args}}
		if d := c.Problem.Device; d != t.problem.Device {
			v.answer.Device = &d
		}
		out = append(out, v)
	}
	return out, nil
}

func (s *Server) links(t *task, q *proto.Ask) ([]variant, *proto.Failure) {
	others, fail := s.methods(q)
	if fail != nil {
		return nil, fail
	}
	var out []variant
	for _, m := range others {
		first := len(out)
		for _, r := range q.Rates {
			p := *t.problem
			p.Device.ToHost, p.Device.ToDev = r, r
			if err := p.Validate(); err != nil {
				return nil, proto.Fail(proto.BadRequest, "%v", err)
			}
			out = append(out, variant{answer: proto.Answer{Rate: r}, task: &task{problem: &p, strategy: m.Strategy, args: m.Args}})
		}
		if m.Strategy.Class&engine.MayOffload != 0 {
			continue
		}
		for i := first + 1; i < len(out); i++ { // without transfers the rate is of no matter
			out[i].same = 1 + first
		}
	}
	return out, nil
}

// smallest answers with the smallest budget; when ctx ends it with the smallest
// found so far.
func (s *Server) smallest(ctx context.Context, t *task, q *proto.Ask, emit func(*proto.Reply)) (*proto.Asked, *proto.Failure) {
	limit := t.keepAll.StepTime + t.keepAll.StepTime/10_000*time.Duration(q.Slowdown)
	if q.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Limit)
		defer cancel()
	}
	poll := engine.NewPoll(ctx, func(p engine.Progress) {
		emit(&proto.Reply{Kind: proto.KindProgress, Progress: &proto.Progress{Done: p.Done, Total: p.Total}})
	})
	found, err := whatif.SmallestBudget(t.problem, whatif.Method{Strategy: t.strategy, Args: t.args}, limit, smallestGrain, poll)
	a := &proto.Answer{Strategy: t.strategy.Name, Done: 1, Total: 1}
	switch {
	case found != nil:
		a.Budget, a.StepTime, a.Peak, a.Partial = found.Budget, found.StepTime, found.Peak, err != nil
	case errors.Is(err, whatif.ErrTooSlow):
		a.Failure = proto.Fail(proto.Infeasible, "%s: %v", t.strategy.Title, err)
	default:
		a.Failure = t.failure(err)
	}
	emit(&proto.Reply{Kind: proto.KindProgress, Answer: a})
	return &proto.Asked{Answers: 1}, nil
}
