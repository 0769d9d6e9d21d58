package jobs

import (
	"context"
	"errors"

	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/link"
	"memtide/web/permalink"
	"memtide/web/state"
)

// First returns the state of a page that has opened a choice and shows its schedule,
// without curve. The error says why there is no schedule.
func First(ctx context.Context, pool proto.Pool, c state.Choice) (*state.State, error) {
	s := state.New()
	play(ctx, pool, s, state.Start{Choice: c}, func(e state.Solve) state.Message {
		e.Request.Limit = 0 // who makes a page waits for it
		return Solve(ctx, pool, e, ignored)
	})
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

// Expected returns the schedule that a page with a certain address asks for first, with
// the search and the hash as the browser has them, or nil if it asks none of this program.
func Expected(search, hash string) proto.Request {
	_, start, notes := permalink.Follow(link.Of(search, hash))
	if start.Frame.Embed && len(notes) > 0 { // it shows nothing but what is wrong
		return nil
	}
	var first *proto.Solve
	play(context.Background(), new(serve.Local), state.New(), start, func(e state.Solve) state.Message {
		if first == nil {
			first = &e.Request
		}
		return nil
	})
	if first == nil || !here(first) {
		return nil
	}
	return first
}

// ignored is what comes on the way where nobody looks.
func ignored(state.Message) {}

// play starts a page, opens what it wants to open and has its schedules solved.
// What else follows is left out.
func play(ctx context.Context, pool proto.Pool, s *state.State, start state.Start,
	solved func(state.Solve) state.Message) {
	queue := s.Update(start)
	for len(queue) > 0 {
		var m state.Message
		switch e := queue[0].(type) {
		case state.Open:
			m = Open(ctx, pool, e, ignored)
		case state.Solve:
			m = solved(e)
		}
		queue = queue[1:]
		if m != nil {
			queue = append(queue, s.Update(m)...)
		}
	}
}
