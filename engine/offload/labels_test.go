package offload

import (
	"context"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
)

// TestLabelsStopped checks that if labels are left out, because of limits on their number or on the work, the
// lower bound is still true and the set takes the step time of the result.
func TestLabelsStopped(t *testing.T) {
	left, gaps := 0, 0
	for seed := range uint64(600) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 6, MaxStages: 10, MaxSize: 40, MaxTime: 20},
			engine.Streamed)
		s := newStep(p)
		if s.peak() <= p.Budget {
			continue
		}
		m := newModel(s, fluid)
		best := int64(never)
		for mask := range 1 << s.n {
			best = min(best, m.time(fromMask(s.n, mask)))
		}
		for _, limit := range []struct{ cap, work int }{{2, 1 << 30}, {1 << 20, 15}} {
			l := newLabels(m, fromMask(s.n, 1<<s.n-1), seed%2 == 0, limit.work, nil)
			l.cap = limit.cap
			l.run()
			if min(l.best, l.cut) > best || l.best < best || m.time(l.set) != l.best {
				t.Fatalf("seed %d, %+v: found %d, at least %d; the best takes %d\n%s", seed, limit, l.best,
					min(l.best, l.cut), best, enginetest.Dump(p.Chain.Chain))
			}
			if l.cut != never {
				left++
			}
			if l.best > best {
				gaps++
			}
		}
	}
	t.Logf("%d stopped, %d of them with a set that is not the best", left, gaps)
	if left < 200 {
		t.Errorf("only %d were stopped", left)
	}
}

// TestFluidOutOfTime checks that a search with a cancelled context returns a set that fits and a true bound.
func TestFluidOutOfTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for seed := range uint64(100) {
		p := randomProblem(seed, enginetest.Shape{MinStages: 8, MaxStages: 9}, engine.Whole)
		s := newStep(p)
		poll := engine.NewPoll(ctx, nil)
		want, err := bestFluidOf(p, poll)
		if err != nil {
			t.Fatal(err)
		}
		over, stop := context.WithCancel(context.Background())
		stop()
		o := bestFluidSet(s, engine.NewPoll(over, nil))
		if _, ok := NewOrdered(p, o.Set); !ok || o.Time < want.Time || o.Bound > want.Time {
			t.Errorf("seed %d: %+v; the best takes %d", seed, o, want.Time)
		}
		if _, err := bestFluidOf(p, engine.NewPoll(over, nil)); !errors.Is(err, context.Canceled) {
			t.Errorf("seed %d: got %v, want %v", seed, err, context.Canceled)
		}
	}
}
