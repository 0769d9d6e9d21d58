package serve

import (
	"testing"
	"testing/synctest"
	"time"

	"memtide/engine"
	"memtide/wasm/proto"
)

// TestSweepTogetherIsFair checks that a budget that needs more than its time does not take the time of the
// others. Their answers are the same as without it.
func TestSweepTogetherIsFair(t *testing.T) {
	const limit = 20 * time.Millisecond
	for _, first := range []bool{true, false} { // the endless budget comes first, or after three short ones
		synctest.Test(t, func(t *testing.T) {
			endless := func(poll *engine.Poll) error {
				for {
					time.Sleep(time.Microsecond)
					if err := poll.Err(); err != nil {
						return err
					}
				}
			}
			order := []int{1, 2, 3, 0}
			if first {
				order = []int{0, 1, 2, 3}
			}
			strategy := &engine.Strategy{Name: "fake", Title: "Fake"}
			strategy.Sweeper = func(p *engine.Problem, _ engine.Parsed, budgets []engine.Bytes, poll *engine.Poll,
				yield func(int, *engine.Solution, error)) {
				for _, i := range order {
					poll.Next()
					if i == 0 {
						yield(i, nil, endless(poll))
						continue
					}
					time.Sleep(time.Millisecond)
					yield(i, nil, &engine.InfeasibleError{Budget: budgets[i], Smallest: 1 << 40})
				}
			}
			var tasks []*task
			var points []*proto.Point
			for b := range 4 {
				p := engine.NewChainProblem(&engine.Chain{Stages: []engine.Stage{{Name: "a"}, {Name: "loss"}}},
					engine.Device{}, engine.Whole, engine.Bytes(b+1))
				tasks, points = append(tasks, &task{problem: p, strategy: strategy}),
					append(points, &proto.Point{Index: b})
			}
			sweepTogether(t.Context(), limit, tasks, points, func(*proto.Point) {})
			want := limit
			if !first {
				want = 4*limit - 3*time.Millisecond // the others leave it what they do not need
			}
			for b, p := range points {
				switch {
				case b == 0 && (p.Failure == nil || p.Failure.Kind != proto.Deadline ||
					p.Took.Round(time.Millisecond) != want):
					t.Errorf("the endless budget, first %t: got %+v after %v; want that it was stopped after %v",
						first, p.Failure, p.Took, want)
				case b > 0 && (p.Failure == nil || p.Failure.Kind != proto.Infeasible ||
					p.Took.Round(time.Millisecond) != time.Millisecond):
					t.Errorf("budget %d, the endless one first %t: got %+v after %v; want its own answer after 1ms",
						b, first, p.Failure, p.Took)
				}
			}
		})
	}
}
