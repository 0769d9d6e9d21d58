//go:build !js

package jobs

import (
	"context"
	"errors"
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step"
	"memtide/web/state"
)

// posts are messages that the page is sent.
type posts struct {
	Page
	list []state.Message
}

func (p *posts) Post(m state.Message) { p.list = append(p.list, m) }

// The second program answers about a step, in parts and in the end as a whole; its chain is a
// profile; what cannot be answered, or loaded, says why.
func TestStepped(t *testing.T) {
	loaded := func(context.Context) (func() (proto.Pool, error), error) {
		return func() (proto.Pool, error) { return new(serve.Local), nil }, nil
	}
	broken := func(context.Context) (func() (proto.Pool, error), error) { return nil, errors.New("no network") }
	small := proto.Step{Model: "gpt2", Args: engine.Args{"seq": "1024"}}
	chain := small
	chain.Chain = true
	for _, c := range []struct {
		what  string
		fetch func(context.Context) (func() (proto.Pool, error), error)
		q     proto.Step
		ok    func(state.Message) bool
		parts int
	}{
		{"a step", loaded, small, func(m state.Message) bool {
			a, ok := m.(state.StepAnswered)
			return ok && a.Whole && a.Stepped.Done == a.Stepped.Total
		}, llm.PlanStages - 1},
		{"its chain", loaded, chain, func(m state.Message) bool {
			a, ok := m.(state.StepChained)
			return ok && len(a.Profile) > 0
		}, 0},
		{"an unknown model", loaded, proto.Step{Model: "gpt9"}, func(m state.Message) bool {
			f, ok := m.(state.StepFailed)
			return ok && f.Text == `there is no model "gpt9"`
		}, 0},
		{"no second program", broken, small, func(m state.Message) bool {
			f, ok := m.(state.StepFailed)
			return ok && f.Text == "not loaded: no network"
		}, 0},
	} {
		page := &posts{}
		j := &Runner{Page: page, Second: Second{Fetch: c.fetch}, NoSecond: func(err error) string { return "not loaded: " + err.Error() }}
		m := j.stepped(context.Background(), state.AskStep{ID: 7, Request: c.q})
		if !c.ok(m) || len(page.list) != c.parts {
			t.Errorf("%s: %#v after %d parts; want what is said above after %d", c.what, m, len(page.list), c.parts)
		}
	}
}
