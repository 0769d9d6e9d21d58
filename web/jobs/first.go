package jobs

import (
	"context"
	"errors"

	"memtide/wasm/proto"
	"memtide/web/state"
)

// First returns the state of a page that has opened a choice and shows its schedule,
// without curve. The error says why there is no schedule.
func First(ctx context.Context, pool proto.Pool, c state.Choice) (*state.State, error) {
	s := state.New()
	Settle(ctx, pool, s, s.Update(state.Start{Choice: c}))
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

// Settle does what effects of a state ask for, and what follows from that, one after the other,
// but for curves, questions and training steps.
func Settle(ctx context.Context, pool proto.Pool, s *state.State, queue []state.Effect) {
	for ; len(queue) > 0; queue = queue[1:] {
		var m state.Message
		switch e := queue[0].(type) {
		case state.Open:
			m = Open(ctx, pool, e, ignored)
		case state.Solve:
			e.Request.Limit = 0 // however slow the machine is: who makes a page waits for it
			m = Solve(ctx, pool, e, ignored)
		case state.Place:
			m = Place(ctx, pool, e, ignored)
		case state.Examine:
			m = Examine(ctx, pool, e)
		default:
			continue
		}
		queue = append(queue, s.Update(m)...)
	}
}

// ignored is what comes on the way where nobody looks.
func ignored(state.Message) {}
