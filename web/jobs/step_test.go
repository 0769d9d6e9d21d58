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

// TestStep checks that a step is answered in parts and then as a whole, and that a step that cannot be answered fails
// with a text.
func TestStep(t *testing.T) {
	small := proto.Step{Model: "gpt2", Args: engine.Args{"seq": "1024"}}
	policies := small
	policies.Policies = true
	alone := policies
	alone.Parts = 1
	config := proto.Step{Model: `{"model_type":"gpt2","n_embd":768,"n_head":12,"n_layer":2,"vocab_size":50257,"n_positions":1024}`, Policies: true}
	policed := func(m state.Message) bool {
		a, ok := m.(state.Policed)
		return ok && a.Stepped != nil && len(a.Stepped.Policies) >= 13 &&
			a.Stepped.Policies[0].Allocated == a.Stepped.Allocated
	}
	end := Step(engine.LimitCalls(t.Context(), 10), new(serve.Local), state.AskStep{ID: 7, Request: small}, ignored)
	if end != (state.StepFailed{ID: 7}) {
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
		{"its policies", policies, policed, 0},
		{"those of a config.json", config, policed, 0},
		{"the range of the step alone", alone, func(m state.Message) bool {
			a, ok := m.(state.Policed)
			return ok && a.Stepped != nil && a.Stepped.High > 0 && len(a.Stepped.Policies) == 0
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
