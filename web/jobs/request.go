package jobs

import (
	"context"
	"errors"

	"memtide/engine"
	"memtide/profiles"
	"memtide/wasm/proto"
	"memtide/web/link"
	"memtide/web/state"
)

// The functions below send the request of an effect to a pool and return the final message. They pass messages about
// the progress to tell.

func progress(id int, tell func(state.Message)) func(*proto.Progress) {
	return func(p *proto.Progress) { tell(state.Progressed{ID: id, Progress: *p}) }
}

// Open reads a profile. It returns nil if ctx was cancelled.
func Open(ctx context.Context, pool proto.Pool, e state.Open, tell func(state.Message)) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request, progress(e.ID, tell))
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return state.OpenFailed{ID: e.ID, Text: err.Error()}
	}
	if r.Memory != nil {
		return state.Opened{ID: e.ID, Reply: r}
	}
	p := r.Decoded
	if p == nil { // a worker has read it
		if p, err = profiles.Decode("", profiles.Bytes(r.Profile), (*engine.Poll)(nil)); err != nil {
			return state.OpenFailed{ID: e.ID, Text: err.Error()}
		}
	}
	return state.Opened{ID: e.ID, Reply: r, Profile: p}
}

// Solve solves for a schedule. It returns nil if ctx was cancelled.
func Solve(ctx context.Context, pool proto.Pool, e state.Solve, tell func(state.Message)) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request, func(p *proto.Solving) {
		tell(state.Progressed{ID: e.ID, Progress: p.Progress, Best: p.Best})
	})
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return state.SolveFailed{ID: e.ID, Failure: proto.FailureOf(err), Best: r}
	}
	return state.Solved{ID: e.ID, Choice: e.Choice, Solved: r}
}

// Place finds a placement.
func Place(ctx context.Context, pool proto.Pool, e state.Place, tell func(state.Message)) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request, progress(e.ID, tell))
	return state.Placed{ID: e.ID, Placed: r, Failure: proto.FailureOf(err)}
}

// Sweep computes the points of a curve.
func Sweep(ctx context.Context, pool proto.Pool, e state.Sweep, tell func(state.Message)) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request, func(p *proto.Point) { tell(state.SweptPoint{ID: e.ID, Point: *p}) })
	if err != nil {
		return state.Swept{ID: e.ID, Failed: err.Error()}
	}
	return state.Swept{ID: e.ID, KeepAll: r.KeepAll}
}

// Question answers what would help.
func Question(ctx context.Context, pool proto.Pool, e state.Question, tell func(state.Message)) state.QuestionEnded {
	_, err := proto.Do(ctx, pool.Do, &e.Request, func(a *proto.Suggestion) {
		tell(state.Answered{ID: e.ID, Answer: *a})
	})
	m := state.QuestionEnded{ID: e.ID}
	if err != nil {
		m.Failed = err.Error()
	}
	return m
}

// Examine answers about a recording.
func Examine(ctx context.Context, pool proto.Pool, e state.Examine) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request, nil)
	if err != nil {
		return state.Examined{ID: e.ID, Failed: err.Error()}
	}
	return state.Examined{ID: e.ID, Reply: r}
}

// Step answers about a training step.
func Step(ctx context.Context, pool proto.Pool, e state.AskStep, tell func(state.Message)) state.Message {
	r, err := proto.Do(ctx, pool.Do, &e.Request,
		func(s *proto.Stepped) { tell(state.StepAnswered{ID: e.ID, Stepped: s}) })
	f, failed := errors.AsType[*proto.Failure](err)
	switch {
	case e.Request.Policies && err != nil:
		return state.Policed{ID: e.ID}
	case e.Request.Policies:
		return state.Policed{ID: e.ID, Stepped: r}
	case failed && f.Kind == proto.Deadline:
		return state.StepFailed{ID: e.ID}
	case err != nil:
		return state.StepFailed{ID: e.ID, Text: err.Error()}
	}
	return state.StepAnswered{ID: e.ID, Stepped: r, Whole: true}
}

// Export returns a schedule or a plan as a file that contains address, the address of what is shown.
func Export(ctx context.Context, pool proto.Pool, e state.Export, address string) ([]byte, error) {
	r, err := proto.Do(ctx, pool.Do, &e.Request, nil)
	if err != nil {
		return nil, err
	}
	return link.WithJSON(r.Text, address), nil
}
