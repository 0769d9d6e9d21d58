package llm

import (
	"testing"

	"memtide/engine"
	_ "memtide/engine/all"
	"memtide/engine/sim"
	"memtide/profiles/llm/ask"
)

// layouts are those at which every known model is compared.
var layouts = []engine.Args{
	{"seq": "2048"},
	{"seq": "2048", "gpus": "8"},
	{"seq": "2048", "lora": "16"},
}

// The chain and the operations of a step that keep everything take what the answer says is
// allocated: the operations to the byte, and in the same one, the chain 1 % more at most.
func TestOneStep(t *testing.T) {
	for _, m := range ask.Models {
		for _, args := range layouts {
			compare(t, m.ID, args)
		}
	}
}

func compare(t *testing.T, model string, args engine.Args) {
	t.Helper()
	a, err := New(Lookup(model), args)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	said, err := a.answer(probed)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	p, err := a.Profile()
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	problem := &engine.Problem{Graph: p.Graph, Device: *p.Device, Budget: engine.NoLimit}
	if err := problem.Validate(); err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	sol, err := engine.Lookup(engine.KeepAll).Solve(problem, nil, nil)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	tr, err := sim.Play(problem, sol.Schedule)
	if err != nil {
		t.Errorf("%s %v: %v", model, args, err)
		return
	}
	want := said.Allocated
	if tr.Peak != want {
		t.Errorf("%s %v: operations %d bytes, the answer %d in the %s (%+.3f %%)", model, args, tr.Peak, want, said.Phase, 100*(float64(tr.Peak)/float64(want)-1))
	}
	got := p.Chain.KeepAllPeak()
	if d := 100 * (float64(got)/float64(want) - 1); d < 0 || d > 1 {
		t.Errorf("%s %v: chain %d bytes, the answer %d in the %s (%+.3f %%)", model, args, got, want, said.Phase, d)
	}
}
