package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A poll calls the yield function of its context, if there is one, also in a context with a deadline.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		yields := 0
		ctx := context.WithValue(t.Context(), Yield{}, func() { yields++ })
		limited, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		for _, c := range []context.Context{ctx, limited} {
			p := NewPoll(c, nil)
			yields = 0
			for range 1024 {
				if err := p.Err(); err != nil {
					t.Fatal(err)
				}
			}
			if yields != 4 {
				t.Errorf("%d yields in 1024 questions; want 4", yields)
			}
		}
		if err := NewPoll(t.Context(), nil).Err(); err != nil || yields != 4 {
			t.Errorf("without a yield function: error %v, %d yields more; want none", err, yields-4)
		}
	})
}

// A limit of calls stops a poll at exactly that call and for good, also in a context with a deadline. It does not
// stop the poll of another context.
func TestLimitCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 255, 256, 257, 512, 1000} {
			ctx, cancel := context.WithTimeout(LimitCalls(t.Context(), n), time.Hour)
			p := NewPoll(ctx, nil)
			if got := untilStop(p); got != n || !errors.Is(p.Err(), context.DeadlineExceeded) {
				t.Errorf("a limit of %d calls: stopped after %d by %v; want %v after %d", n, got, p.Err(),
					context.DeadlineExceeded, n)
			}
			if ctx.Err() != nil {
				t.Errorf("a limit of %d calls ends its context: %v", n, ctx.Err())
			}
			cancel()
			// A cancelled context is reported before the limit.
			if p = NewPoll(ctx, nil); !errors.Is(p.Err(), context.Canceled) {
				t.Errorf("cancelled below a limit of %d calls: %v; want %v", n, p.Err(), context.Canceled)
			}
		}
		if p := NewPoll(t.Context(), nil); untilStop(p) < 1e6 {
			t.Errorf("without a limit: %v", p.Err())
		}
	})
}

// The budgets of a sweep share one limit of calls. A check of the clock before its turn loses no calls.
func TestLimitCallsOfSweep(t *testing.T) {
	p := NewPoll(LimitCalls(t.Context(), 1000), nil)
	p.Split(4)
	for _, n := range []int{300, 300, 300} {
		p.Next()
		for range n {
			if err := p.Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Next()
	if got := untilStop(p); got != 100 {
		t.Errorf("the last budget had %d calls; want the 100 that are left", got)
	}
}

// BenchmarkPoll measures one call of Err.
func BenchmarkPoll(b *testing.B) {
	p := NewPoll(b.Context(), nil)
	for b.Loop() {
		if err := p.Err(); err != nil {
			b.Fatal(err)
		}
	}
}

// Now returns the error of a stop at once while Err still returns nil. It counts as one call of Err.
func TestNow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := NewPoll(ctx, nil)
	if err := p.Now(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := p.Err(); err != nil {
		t.Fatalf("Err looked at once: %v; the test shows nothing", err)
	}
	if err := p.Now(); !errors.Is(err, context.Canceled) || !errors.Is(p.Err(), context.Canceled) {
		t.Errorf("got %v, then %v; want %v for good", err, p.Err(), context.Canceled)
	}
	p = NewPoll(LimitCalls(t.Context(), 600), nil)
	for range 300 {
		if err := errors.Join(p.Err(), p.Now()); err != nil {
			t.Fatalf("within the limit: %v", err)
		}
	}
	if err := p.Now(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("600 calls of both kinds, then %v; want %v", err, context.DeadlineExceeded)
	}
	if err := (*Poll)(nil).Now(); err != nil {
		t.Errorf("nobody waits: %v", err)
	}
}
