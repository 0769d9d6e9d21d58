package engine_test

import (
	"testing"

	"memtide/engine"
)

// TestNeeds checks that Needs names the values on the device during each operation of a sequence, the largest
// first.
func TestNeeds(t *testing.T) {
	g := engine.ExpandChain(&engine.Chain{Input: 7, InputGrad: 3, Resident: engine.Resident{Weights: 100},
		Stages: []engine.Stage{
			{Name: "one", Out: 20, Saved: 30, Grad: 20, FwdTemp: 9, BwdTemp: 8},
			{Name: "two", Out: 5, Saved: 6, Grad: 4, Unsaved: true},
			{Out: 50, Saved: 60, Grad: 40}}})
	for _, tc := range []struct {
		op    engine.ChainOp
		total engine.Bytes
		want  string
	}{
		{engine.ChainOp{Kind: engine.FAll, Stage: 1}, 186,
			"the forward of stage 1 (one) needs the most: resident memory 100 bytes, other values 40 bytes, its saved set 30 bytes, its workspace 9 bytes, its input 7 bytes"},
		{engine.ChainOp{Kind: engine.FAll, Stage: 2}, 131,
			"the forward of stage 2 (two) needs the most: resident memory 100 bytes, its input 20 bytes, its saved set 6 bytes, its output 5 bytes"},
		{engine.ChainOp{Kind: engine.FCk, Stage: 1}, 137,
			"the forward of stage 1 (one) needs the most: resident memory 100 bytes, its output 20 bytes, its workspace 9 bytes, its input 7 bytes, other values 1 bytes"},
		{engine.ChainOp{Kind: engine.BStep, Stage: 3}, 234,
			"the backward of stage 3 (a stage without a name) needs the most: resident memory 100 bytes, its saved set 60 bytes, the gradient of its output 40 bytes, other values 30 bytes, the gradient of its input 4 bytes"},
		{engine.ChainOp{Kind: engine.BStep, Stage: 1}, 168,
			"the backward of stage 1 (one) needs the most: resident memory 100 bytes, its saved set 30 bytes, the gradient of its output 20 bytes, its workspace 8 bytes, its input 7 bytes, the gradient of its input 3 bytes"},
	} {
		if got := g.Needs(tc.op, tc.total); got != tc.want {
			t.Errorf("%v within %d bytes: got %q, want %q", tc.op, tc.total, got, tc.want)
		}
	}
}
