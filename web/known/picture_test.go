package known

import (
	"testing"

	"memtide/engine"
	"memtide/engine/sim"
	"memtide/wasm/proto"
	"memtide/web/choice"
)

// TestWithin checks what a picture was made for: the budget of a plan, the peak of one that keeps everything, whose
// budget is rounded up or larger than needed, and nothing of a plan without a budget.
func TestWithin(t *testing.T) {
	const g = engine.GiB
	for _, c := range []struct {
		strategy string
		budget   engine.Bytes
		trace    sim.Trace
		want     string
	}{{"rotor", 147 * g, sim.Trace{RecomputeTime: 1}, " in 147 GiB"}, {"pofo", 149 * g, sim.Trace{HostPeak: 1}, " in 149 GiB"},
		{engine.KeepAll, 149 * g, sim.Trace{}, " in 148 GiB"}, {"pofo", 200 * g, sim.Trace{}, " in 148 GiB"},
		{"rotor", engine.NoLimit, sim.Trace{}, ""}} {
		p := &Picture{Choice: choice.Choice{Strategy: c.strategy},
			Solved: &proto.Solved{Budget: c.budget, Trace: &c.trace, KeepAll: proto.Reference{Peak: 148 * g}}}
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
