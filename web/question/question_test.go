package question

import (
	"memtide/engine"
	"slices"
	"testing"

	"memtide/wasm/proto"
)

// TestHelps checks which answers help. If the choice fits, these are the answers that are faster by at least 2
// per cent, at most six, the fastest first, and only one of them with another plan. If it does not fit, these are
// all answers whose schedule needs at most the given memory, with adapters last. A slower plan that needs as much as
// another, such as 3 beside 4, does not help.
func TestHelps(t *testing.T) {
	a := &Answers{Base: 100, Strategy: "pofo"}
	for _, x := range []proto.Suggestion{{StepTime: 0}, {StepTime: 99}, {StepTime: 90}, {Strategy: "rotor", StepTime: 95},
		{Strategy: "vdnn", StepTime: 94},
		{StepTime: 98}, {StepTime: 50, Peak: 9}, {StepTime: 97},
		{StepTime: 60, Preset: "llama3.2-1b-step-lora.16-b1"}, {StepTime: 96}, {StepTime: 120}, {Strategy: "rotor",
			Options: engine.Args{"gpus": "2"}}} {
		if x.Strategy == "" {
			x.Strategy = "pofo"
		}
		a.List = append(a.List, x)
	}
	for _, c := range []struct {
		unfit      bool
		best, none []int
	}{
		{false, []int{6, 8, 2, 4, 9, 7}, []int{0, 1, 10}},
		{true, []int{2, 4, 9, 7, 5, 1}, []int{0, 6, 11}}, // 11 is a step on more cards, by another plan
	} {
		if best, none := a.Helps(c.unfit, 8); !slices.Equal(best, c.best) || !slices.Equal(none, c.none) {
			t.Errorf("unfit %t: best %v, no gain %v; want %v and %v", c.unfit, best, none, c.best, c.none)
		}
	}
	a.List = a.List[6:9]
	a.List = append(a.List, proto.Suggestion{Strategy: "pofo", StepTime: 40, Options: engine.Args{"gpus": "4"}},
		proto.Suggestion{Strategy: "pofo", StepTime: 45, Options: engine.Args{"gpus": "2"}})
	if best, _ := a.Helps(true, 9); !slices.Equal(best, []int{0, 1, 4, 3, 2}) {
		t.Errorf("where nothing fits the order is %v; want few cards first and adapters last", best)
	}
}
