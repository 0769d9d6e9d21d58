package jobs

import (
	"context"

	"memtide/wasm/proto"
	"memtide/web/state"
)

// step has the second program answer about a training step.
func (j *Runner) step(e state.AskStep) {
	j.request(e.ID, atOnce, func(ctx context.Context) state.Message { return j.stepped(ctx, e) }, nothing)
}

// stepped is the answer, after as much of it as is known has been told.
func (j *Runner) stepped(ctx context.Context, e state.AskStep) state.Message {
	p, err := j.Second.load(ctx)
	if err != nil {
		return state.StepFailed{ID: e.ID, Text: j.NoSecond(err)}
	}
	r, err := p.Do(ctx, &proto.Request{Op: proto.OpStep, Step: &e.Request}, func(r *proto.Reply) {
		if r.Stepped != nil {
			j.Page.Post(state.StepAnswered{ID: e.ID, Stepped: r.Stepped})
		}
	})
	switch {
	case err != nil:
		return state.StepFailed{ID: e.ID, Text: err.Error()}
	case e.Request.Chain:
		return state.StepChained{ID: e.ID, Profile: r.Stepped.Profile}
	}
	return state.StepAnswered{ID: e.ID, Stepped: r.Stepped, Whole: true}
}
