package known

import (
	"testing"

	"memtide/engine"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestWithin checks what a picture was made for: the budget of a plan, the peak of keeping everything, whose budget is
// rounded up, and nothing of a plan without a budget.
func TestWithin(t *testing.T) {
	const g = engine.GiB
	for _, c := range []struct {
		strategy string
		budget   engine.Bytes
		want     string
	}{{"rotor", 149 * g, " in 149 GiB"}, {engine.KeepAll, 149 * g, " in 148 GiB"}, {"rotor", engine.NoLimit, ""}} {
		p := &Picture{Choice: choice.Choice{Strategy: c.strategy},
			Solved: &proto.Solved{Budget: c.budget, KeepAll: proto.Reference{Peak: 148 * g}}}
		if got := p.Within(" in "); got != c.want {
			t.Errorf("%s with a budget of %d: %q; want %q", c.strategy, c.budget, got, c.want)
		}
	}
}

// TestStepArgs checks that the step of a config.json whose options are those by default is a step, too.
func TestStepArgs(t *testing.T) {
	src := choice.Source{File: "config.json", Model: `{"model_type":"llama"}`}
	if args := StepArgs(choice.Choice{Source: src}, &Network{Source: src}); args == nil || len(args) > 0 {
		t.Errorf("the options are %v; want none, of a step", args)
	}
	src.Model = ""
	if args := StepArgs(choice.Choice{Source: src}, &Network{Source: src}); args != nil {
		t.Errorf("the options of a table are %v; want nil", args)
	}
}
