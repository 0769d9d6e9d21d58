//go:build !js

package jobs

import (
	"testing"

	"memtide/engine"
	"memtide/profiles/llm"
	"memtide/wasm/proto"
	"memtide/wasm/serve"
	_ "memtide/wasm/serve/step"
	"memtide/web/state"
)

// A step is answered in parts and in the end as a whole; its chain is a profile; what cannot
// be answered says why.
func TestStep(t *testing.T) {
	small := proto.Step{Model: "gpt2", Args: engine.Args{"seq": "1024"}}
	chain := small
	chain.Chain = true
	end := Step(engine.LimitCalls(t.Context(), 10), new(serve.Local), state.AskStep{ID: 7, Request: small}, ignored)
	if end != (state.StepEnded{ID: 7}) {
		t.Errorf("stopped at its limit: %#v; want that it has ended", end)
	}
	for _, c := range []struct {
		what  string
		q     proto.Step
		ok    func(state.Message) bool
		parts int
	}{
		{"a step", small, func(m state.Message) bool {
			a, ok := m.(state.StepAnswered)
			return ok && a.Whole && a.Stepped.Done == a.Stepped.Total
		}, llm.PlanStages - 1},
		{"its chain", chain, func(m state.Message) bool {
			a, ok := m.(state.StepChained)
			return ok && len(a.Profile) > 0
		}, 0},
		{"an unknown model", proto.Step{Model: "gpt9"}, func(m state.Message) bool {
			f, ok := m.(state.StepFailed)
			return ok && f.Text == `there is no model "gpt9"`
		}, 0},
	} {
		parts := 0
		m := Step(t.Context(), new(serve.Local), state.AskStep{ID: 7, Request: c.q}, func(state.Message) { parts++ })
		if !c.ok(m) || parts != c.parts {
			t.Errorf("%s: %#v after %d parts; want what is said above after %d", c.what, m, parts, c.parts)
		}
	}
}
