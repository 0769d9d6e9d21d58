package jobs

import (
	"context"
	"errors"

	"memtide/wasm/proto"
	"memtide/web/state"
)

// First returns the state of a page that has opened c and shows its schedule, without the curve.
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

// Settle carries out the effects in queue, and those that follow from their answers, one after the other. It leaves
// out curves, questions, all of a training step but its range, and effects that need a browser.
func Settle(ctx context.Context, pool proto.Pool, s *state.State, queue []state.Effect) {
	for ; len(queue) > 0; queue = queue[1:] {
		var m state.Message
		switch e := queue[0].(type) {
		case state.Open:
			m = Open(ctx, pool, e, ignored)
		case state.Solve:
			e.Request.Limit = 0 // the page must be the same however slow the machine is
			m = Solve(ctx, pool, e, ignored)
		case state.Place:
			m = Place(ctx, pool, e, ignored)
		case state.Examine:
			m = Examine(ctx, pool, e)
		case state.AskStep:
			if e.Request.Parts != 1 {
				continue
			}
			e.Request.Limit = 0
			m = Step(ctx, pool, e, ignored)
		default:
			continue
		}
		queue = append(queue, s.Update(m)...)
	}
}

func ignored(state.Message) {}
