package bound_test

import (
	"testing"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
)

// TestFast checks that the bounds of a chain with two algorithms are those of a chain that combines the best of
// both.
func TestFast(t *testing.T) {
	const seed = 7
	r := enginetest.Rand(seed)
	for i := range 300 {
		c := enginetest.RandomChain(r, enginetest.Shape{})
		enginetest.GiveFast(r, c)
		best := *c
		best.Stages = append([]engine.Stage(nil), c.Stages...)
		for k := range best.Stages {
			if st := &best.Stages[k]; st.Fast != nil {
				st.Forward, st.Back = min(st.Forward, st.Fast.Forward), min(st.Back, st.Fast.Back)
				st.FwdTemp, st.BwdTemp = min(st.FwdTemp, st.Fast.FwdTemp), min(st.BwdTemp, st.Fast.BwdTemp)
				st.Fast = nil
			}
		}
		budget := enginetest.RandomBudget(r, c)
		for _, class := range []engine.Class{0, engine.MayRecompute, engine.MayOffload} {
			two := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, budget)
			one := engine.NewChainProblem(&best, two.Device, engine.Whole, budget)
			got, name := bound.Of(two, class)
			if want, wantName := bound.Of(one, class); got != want || name != wantName {
				t.Errorf("seed %d chain %d, class %d, budget %d: got %d (%s), want %d (%s)\n%s", seed, i, class, budget,
					got, name, want, wantName, enginetest.Dump(c))
			}
		}
	}
}
