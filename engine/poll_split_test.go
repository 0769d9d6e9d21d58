package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Every budget of a sweep has its share of the time, and the time that earlier budgets left. Work before the first
// budget reduces all shares.
func TestSplit(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		shared time.Duration
		wants  []time.Duration // the time that each budget would take
		takes  []time.Duration // the time that it gets
	}{
		{"one that never ends", 0, []time.Duration{time.Hour, 5 * ms, time.Hour, 5 * ms},
			[]time.Duration{10 * ms, 5 * ms, 15 * ms, 5 * ms}},
		{"only the first", 0, []time.Duration{time.Hour, ms, ms, ms}, []time.Duration{10 * ms, ms, ms, ms}},
		{"the last has what is left", 0, []time.Duration{ms, ms, ms, time.Hour}, []time.Duration{ms, ms, ms, 37 * ms}},
		{"shared work", 20 * ms, []time.Duration{time.Hour, time.Hour, ms, time.Hour},
			[]time.Duration{5 * ms, 5 * ms, ms, 9 * ms}},
		{"nothing is left", 40 * ms, []time.Duration{time.Hour, ms}, []time.Duration{0, 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 40*ms)
			defer cancel()
			p := NewPoll(ctx, nil)
			p.Split(4)
			time.Sleep(c.shared)
			for i, want := range c.wants {
				p.Next()
				begun := time.Now()
				for time.Since(begun) < want && p.Err() == nil {
					time.Sleep(ms / 2048) // the poll reads the clock in one of 256 calls of Err
				}
				if took := time.Since(begun).Round(ms); took != c.takes[i] {
					t.Errorf("%s: budget %d took %v, want %v", c.name, i, took, c.takes[i])
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // no deadline: no time to split, and a cancel is final
		ctx, cancel := context.WithCancel(t.Context())
		p := NewPoll(ctx, nil)
		p.Split(2)
		for range 4 {
			p.Next()
			time.Sleep(time.Hour)
			if err := p.Err(); err != nil {
				t.Fatalf("without a limit: %v", err)
			}
		}
		cancel()
		for range 3 {
			for range 256 {
				_ = p.Err()
			}
			if err := p.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("after it was cancelled: %v, want that for good", err)
			}
			p.Next()
		}
		(*Poll)(nil).Next() // solvers may have a nil poll
	})
}

// Split and Next do nothing with a nil poll, which never stops.
func TestSplitNothing(t *testing.T) {
	var p *Poll
	p.Split(3)
	p.Next()
	if err := p.Err(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}
