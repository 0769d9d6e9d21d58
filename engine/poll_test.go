package engine

import (
	"context"
	"testing"
	"time"
)

// A context's breath is taken while a solver asks whether it is to go on, also
// under a deadline of its own, and not without one.
func TestBreath(t *testing.T) {
	breaths := 0
	ctx := context.WithValue(t.Context(), Breath{}, func() { breaths++ })
	limited, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	for _, c := range []context.Context{ctx, limited} {
		p := NewPoll(c, nil)
		breaths = 0
		for range 1024 {
			if err := p.Err(); err != nil {
				t.Fatal(err)
			}
		}
		if breaths != 4 {
			t.Errorf("%d breaths in 1024 questions; want 4", breaths)
		}
	}
	if err := NewPoll(t.Context(), nil).Err(); err != nil || breaths != 4 {
		t.Errorf("without a breath: error %v, %d breaths more; want none", err, breaths-4)
	}
}
