//go:build !js

// Package pagetest has states of the page for the tests of its components, made by
// the same jobs and the same engine as on the page.
package pagetest

import (
	"context"
	"strings"
	"testing"

	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/state"
)

// First is the state of the page that has opened the default example.
func First(t *testing.T) *state.State {
	t.Helper()
	s, err := jobs.First(context.Background(), new(serve.Local), choice.Default())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Do plays messages and does what they ask for before the next one, as the browser
// side would, except for curves, questions and training steps.
func Do(t *testing.T, s *state.State, messages ...state.Message) {
	t.Helper()
	ctx, pool := context.Background(), new(serve.Local)
	for _, m := range messages {
		for queue := s.Update(m); len(queue) > 0; queue = queue[1:] {
			var m state.Message
			switch e := queue[0].(type) {
			case state.Open:
				m = jobs.Open(ctx, pool, e, nil)
			case state.Solve:
				m = jobs.Solve(ctx, pool, e, nil)
			case state.Place:
				m = jobs.Place(ctx, pool, e, nil)
			case state.Examine:
				m = jobs.Examine(ctx, pool, e)
			default:
				continue
			}
			queue = append(queue, s.Update(m)...)
		}
	}
}

// Number reads a number as it stands on the page.
func Number(t *testing.T, text string) float64 {
	t.Helper()
	sign := 1.0
	if strings.HasPrefix(text, "−") {
		sign = -1
	}
	n, unit := 0.0, 1.0
	for _, r := range strings.TrimLeft(text, "−+±") {
		switch {
		case r == '.':
			unit = 0.1
		case unit < 1:
			n += float64(r-'0') * unit
			unit /= 10
		default:
			n = 10*n + float64(r-'0')
		}
	}
	return sign * n
}
