//go:build !js

// Package pagetest has states of the page for the tests of its components, made by
// the same jobs and the same engine as on the page.
package pagetest

import (
	"context"
	"os"
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	"memtide/web/choice"
	"memtide/web/jobs"
	"memtide/web/state"
)

// share is the budget of pages on which there is something to plan.
var share = choice.Budget{Share: 60 * choice.Percent}

// First returns the state of the page that has opened the default example.
func First(t *testing.T) *state.State {
	t.Helper()
	c := choice.Default()
	c.Budget = share
	return open(t, c)
}

// open returns the state of the page that has opened and solved what was chosen.
func open(t *testing.T, c choice.Choice) *state.State {
	t.Helper()
	s, err := jobs.First(context.Background(), new(serve.Local), c)
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
				m = jobs.Open(ctx, pool, e, func(state.Message) {})
			case state.Solve:
				e.Request.Limit = 0 // however slow the machine is
				m = jobs.Solve(ctx, pool, e, func(state.Message) {})
			case state.Place:
				m = jobs.Place(ctx, pool, e, func(state.Message) {})
			case state.Examine:
				m = jobs.Examine(ctx, pool, e)
			default:
				continue
			}
			queue = append(queue, s.Update(m)...)
		}
	}
}

// AskStep returns a page that has asked about a training step, and what for.
func AskStep(t *testing.T, model string, args engine.Args) (*state.State, state.AskStep) {
	t.Helper()
	s := state.New()
	c := choice.Default()
	c.Step, c.StepArgs = model, args
	for _, e := range s.Update(state.Start{Choice: c}) {
		if e, ok := e.(state.AskStep); ok {
			return s, e
		}
	}
	t.Fatal("nothing is asked for; want the step")
	return nil, state.AskStep{}
}

// Step returns a page that shows the answer about a training step.
func Step(t *testing.T, model string, args engine.Args) *state.State {
	t.Helper()
	s, e := AskStep(t, model, args)
	e.Request.Limit = 0 // however slow the machine is
	r, err := proto.Do(context.Background(), new(serve.Local).Do, &e.Request, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Update(state.StepAnswered{ID: e.ID, Stepped: r, Whole: true})
	return s
}

// Snapshot returns a page that has opened a memory snapshot: of two devices, on the second of
// which a request found no room.
func Snapshot(t *testing.T, file string) *state.State {
	t.Helper()
	data, err := os.ReadFile(Root(t) + "/cmd/memtide/testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	s := First(t)
	Do(t, s, state.PickFile{Name: file, Bytes: data})
	if s.Doctor() == nil || s.Doctor().Report == nil || s.Doctor().Advice == nil {
		t.Fatalf("the doctor knows %+v; want a report and advice", s.Doctor())
	}
	return s
}

// Root returns the folder of the module, for files of tests elsewhere.
func Root(t *testing.T) string {
	t.Helper()
	dir := ".."
	for range 5 {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
		dir += "/.."
	}
	t.Fatal("no go.mod above the test")
	return ""
}
