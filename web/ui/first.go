package ui

import (
	"context"
	"errors"

	"memtide/engine"
	"memtide/profiles"
	"memtide/profiles/preset"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/draw"
	"memtide/web/link"
	"memtide/web/state"
)

// pictureOf names the hosts of the pictures.
var pictureOf = map[string]draw.Picture{"layers": draw.Strip, "timeline": draw.Timeline, "memory": draw.Memory}

// DefaultChoice is what a page without a link shows: a case with a story.
func DefaultChoice() state.Choice {
	d := preset.DefaultDevice()
	return state.Choice{
		Source: state.Source{Preset: state.DefaultPreset},
		Device: d.ID, ToHost: d.ToHost, ToDev: d.ToDev, Duplex: d.Duplex,
		Budget:   state.DefaultBudget,
		Strategy: state.DefaultStrategy,
	}
}

// First is the state of a page that has opened a choice and shows its schedule,
// without curve. The error says why there is no schedule.
func First(ctx context.Context, pool proto.Pool, c state.Choice) (*state.State, error) {
	s := state.New()
	play(ctx, pool, s, state.Start{Choice: c}, func(e state.Solve) state.Message { return solve(ctx, pool, e, nil) })
	s.Curve = nil
	switch {
	case s.Alert != nil:
		return nil, errors.New(s.Alert.Text)
	case s.OverBudget != nil:
		return nil, errors.New("the budget of the first view is too small")
	case s.Shown == nil:
		return nil, errors.New("the first view has no schedule")
	}
	return s, nil
}

// Expected is the schedule that a page with a certain address asks for first, with
// the search and the hash as the browser has them; nil if it asks for none.
func Expected(search, hash string) *proto.Request {
	_, start, notes := follow(link.Of(search, hash))
	if start.Frame.Embed && len(notes) > 0 { // it shows nothing but what is wrong
		return nil
	}
	var first *proto.Request
	play(context.Background(), new(serve.Local), state.New(), start, func(e state.Solve) state.Message {
		if first == nil {
			first = &proto.Request{Op: proto.OpSolve, Solve: &e.Request}
		}
		return nil
	})
	return first
}

// play starts a page, opens what it wants to open and has its schedules solved.
// What else follows is left out.
func play(ctx context.Context, pool proto.Pool, s *state.State, start state.Start, solved func(state.Solve) state.Message) {
	queue := s.Update(start)
	for len(queue) > 0 {
		var m state.Message
		switch e := queue[0].(type) {
		case state.Open:
			m = open(ctx, pool, e, nil)
		case state.Solve:
			m = solved(e)
		}
		queue = queue[1:]
		if m != nil {
			queue = append(queue, s.Update(m)...)
		}
	}
}

// open asks a pool to read a profile.
func open(ctx context.Context, pool proto.Pool, e state.Open, onProgress func(*proto.Reply)) state.Message {
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
	p, err := profileOf(e.Request.Preset, r.Opened.Profile)
	if err != nil {
		return state.OpenFailed{ID: e.ID, Text: err.Error()}
	}
	return state.Opened{ID: e.ID, Reply: r.Opened, Profile: p}
}

// profileOf is the profile of a preset, or of what a worker has read.
func profileOf(ref string, native []byte) (*profiles.Profile, error) {
	if ref != "" {
		p, batch, err := preset.Parse(ref)
		if err != nil {
			return nil, err
		}
		return p.Profile(batch)
	}
	return profiles.Decode("", native, (*engine.Poll)(nil))
}

// solve asks a pool for a schedule.
func solve(ctx context.Context, pool proto.Pool, e state.Solve, onProgress func(*proto.Reply)) state.Message {
	r, err := pool.Do(ctx, &proto.Request{Op: proto.OpSolve, Solve: &e.Request}, onProgress)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		var f *proto.Failure
		if !errors.As(err, &f) {
			f = proto.Fail(proto.Crash, "%v", err)
		}
		m := state.SolveFailed{ID: e.ID, Choice: e.Choice, Failure: f}
		if r != nil {
			m.Best = r.Solved
		}
		return m
	}
	return state.Solved{ID: e.ID, Choice: e.Choice, Solved: r.Solved}
}
