package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Register panics for a malformed name or one that is registered already.
func TestRegisterPanics(t *testing.T) {
	Register(&Strategy{Name: "testonly"})
	defer func(values []*Strategy) { strategies.values = values }(strategies.values)
	for _, name := range []string{"", "Upper", "two words", "testonly"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("registering %q did not panic", name)
				}
			}()
			Register(&Strategy{Name: name})
		}()
	}
}

// Describe registers a strategy that runs elsewhere. Its solver and its sweeper return an error.
func TestDescribe(t *testing.T) {
	defer func(values []*Strategy) { strategies.values = values }(strategies.values)
	for _, sweeps := range []bool{true, false} {
		strategies.values = nil
		Describe(&Strategy{Name: "far", Graphs: true, Params: []Param{{Name: "n", Default: "1", Max: 9}}}, sweeps)
		s := Lookup("far")
		if s == nil || !s.Elsewhere || (s.Sweeper != nil) != sweeps {
			t.Fatalf("described, sweeps %t: %+v; want it elsewhere", sweeps, s)
		}
		if sol, err := s.Solve(&Problem{}, nil, nil); sol != nil || !errors.Is(err, errElsewhere) {
			t.Errorf("Solve: %v, %v; want %v", sol, err, errElsewhere)
		}
		var errs []error
		s.Sweep(&Problem{}, nil, []Bytes{1, 2}, nil, func(_ int, _ *Solution, err error) { errs = append(errs, err) })
		if len(errs) != 2 || !errors.Is(errs[0], errElsewhere) || !errors.Is(errs[1], errElsewhere) {
			t.Errorf("Sweep, sweeps %t: %v; want %v twice", sweeps, errs, errElsewhere)
		}
	}
}

func TestPollStops(t *testing.T) {
	var none *Poll
	if none.Err() != nil {
		t.Error("a nil poll stops")
	}
	ctx, cancel := context.WithCancel(t.Context())
	p := NewPoll(ctx, nil)
	if err := p.Err(); err != nil {
		t.Errorf("before the cancel: %v", err)
	}
	cancel()
	if n := untilStop(p); n > 256 {
		t.Errorf("a cancel is seen after %d calls, want at most 256", n)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := NewPoll(ctx, nil)
		if err := p.Err(); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		time.Sleep(time.Second)
		if n := untilStop(p); n > 256 || !errors.Is(p.Err(), context.DeadlineExceeded) {
			t.Errorf("after the deadline: %v after %d calls; want %v after at most 256", p.Err(), n,
				context.DeadlineExceeded)
		}
	})
}

func untilStop(p *Poll) (calls int) {
	for p.Err() == nil && calls < 1e6 {
		calls++
	}
	return calls
}

// A poll passes on at most one report within ReportEvery.
func TestPollReportsRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		p := NewPoll(t.Context(), func(Progress) { at = append(at, time.Since(start)) })
		for time.Since(start) <= 2*ReportEvery {
			p.Report(Progress{})
			p.Report(Progress{})
			time.Sleep(ReportEvery / 10)
		}
		if want := []time.Duration{0, ReportEvery, 2 * ReportEvery}; !slices.Equal(at, want) {
			t.Errorf("reports at %v, want them at %v", at, want)
		}
	})
}

// A report with a solution is passed on right after a report without one, but no second one follows within
// ReportEvery.
func TestPollHearsSolutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := 0
		p := NewPoll(t.Context(), func(pr Progress) {
			if pr.Best != nil {
				heard++
			}
		})
		for _, want := range []int{1, 1} {
			p.Report(Progress{})
			p.Report(Progress{Best: new(Solution)})
			if heard != want {
				t.Errorf("%d solutions were heard, want %d", heard, want)
			}
		}
		time.Sleep(ReportEvery)
		if p.Report(Progress{Best: new(Solution)}); heard != 2 {
			t.Errorf("%d solutions were heard in the end, want 2", heard)
		}
	})
}

func TestErrorsKeepApart(t *testing.T) {
	if !errors.Is(ErrNeedsChain, ErrUnsupported) || !errors.Is(ErrNeedsLink, ErrUnsupported) {
		t.Error("the reasons of unsupported problems do not wrap ErrUnsupported")
	}
	msg := (&InfeasibleError{Budget: 5, Smallest: 7, Why: "stage 3"}).Error()
	for _, part := range []string{"5 bytes", "7 bytes", "stage 3"} {
		if !strings.Contains(msg, part) {
			t.Errorf("%q does not say %q", msg, part)
		}
	}
}
