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

// Open asks a pool to read a profile.
func Open(ctx context.Context, pool proto.Pool, e state.Open, onProgress func(*proto.Reply)) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpOpen, Open: &e.Request}, onProgress)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return state.OpenFailed{ID: e.ID, Text: err.Error()}
	}
	if r.Opened.Memory != nil {
		return state.Opened{ID: e.ID, Reply: r.Opened}
	}
	p := r.Opened.Decoded
	if p == nil { // a worker has read it
		if p, err = profiles.Decode("", profiles.Bytes(r.Opened.Profile), (*engine.Poll)(nil)); err != nil {
			return state.OpenFailed{ID: e.ID, Text: err.Error()}
		}
	}
	return state.Opened{ID: e.ID, Reply: r.Opened, Profile: p}
}

// Solve asks a pool for a schedule.
func Solve(ctx context.Context, pool proto.Pool, e state.Solve, onProgress func(*proto.Reply)) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpSolve, Solve: &e.Request}, onProgress)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		m := state.SolveFailed{ID: e.ID, Choice: e.Choice, Failure: failure(err)}
		if r != nil {
			m.Best = r.Solved
		}
		return m
	}
	return state.Solved{ID: e.ID, Choice: e.Choice, Solved: r.Solved}
}

// Place asks a pool for a placement.
func Place(ctx context.Context, pool proto.Pool, e state.Place, onProgress func(*proto.Reply)) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpPlace, Place: &e.Request}, onProgress)
	if err == nil {
		return state.Placed{ID: e.ID, Placed: r.Placed}
	}
	m := state.PlaceFailed{ID: e.ID, Failure: failure(err)}
	if r != nil {
		m.Best = r.Placed
	}
	return m
}

// failure is an error of a pool as the kinds of the protocol tell them apart.
func failure(err error) *proto.Failure {
	var f *proto.Failure
	if !errors.As(err, &f) {
		f = proto.Fail(proto.Crash, "%v", err)
	}
	return f
}

// Question asks a pool a question and tells what it answers.
func Question(ctx context.Context, pool proto.Pool, e state.Question, tell func(state.Message)) state.QuestionEnded {
	_, err := pool.Do(ctx, &proto.Request{Op: proto.OpQuestion, Question: &e.Request}, func(r *proto.Reply) {
		switch {
		case r.Answer != nil:
			tell(state.Answered{ID: e.ID, Answer: *r.Answer})
		case r.Progress != nil:
			tell(state.QuestionProgressed{ID: e.ID, Progress: *r.Progress})
		}
	})
	m := state.QuestionEnded{ID: e.ID}
	if err != nil {
		m.Failed = err.Error()
	}
	return m
}

// Examine asks a pool about a recording.
func Examine(ctx context.Context, pool proto.Pool, e state.Examine) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpDoctor, Doctor: &e.Request}, nil)
	if err != nil {
		return state.ExamineFailed{ID: e.ID, Text: err.Error()}
	}
	return state.Examined{ID: e.ID, Reply: r.Examined}
}

// Export has a pool write a schedule down, and puts the address of what is shown
// into the text.
func Export(ctx context.Context, pool proto.Pool, e state.Export, address string) ([]byte, error) {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpExport, Export: &e.Request}, nil)
	if err != nil {
		return nil, err
	}
	if e.Request.Form != proto.FormPython {
		return link.WithJSON(r.Exported.Text, address), nil
	}
	return link.WithFirstLine(r.Exported.Text, address), nil
}
