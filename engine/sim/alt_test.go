package sim_test

import (
	"strings"
	"testing"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestSecondWay plays a stage by its two algorithms and compares with results by hand: 10 and 20 ns with no
// workspace, or 4 and 6 ns with 5 and 7 bytes.
func TestSecondWay(t *testing.T) {
	c := &engine.Chain{Input: 3, InputGrad: 2, Stages: []engine.Stage{{
		Forward: 10, Back: 20, Out: 4, Saved: 4, Grad: 1,
		Fast: &engine.Algorithm{Forward: 4, Back: 6, FwdTemp: 5, BwdTemp: 7},
	}}}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, engine.NoLimit)
	for _, want := range []struct {
		alt  [2]bool // whether F1 and B1 use the second algorithm
		time int64
		peak engine.Bytes
	}{
		// a0, d1 and s1 are 8 bytes; B1 makes 2 more.
		{[2]bool{false, false}, 30, 10},
		{[2]bool{true, false}, 24, 13},
		{[2]bool{false, true}, 16, 17},
		{[2]bool{true, true}, 10, 17},
	} {
		s := engine.Schedule{engine.Run(p.Chain.Fwd(1)), engine.Run(p.Chain.Bwd(1))}
		s[0].Alt, s[1].Alt = want.alt[0], want.alt[1]
		tr, err := sim.Play(p, s)
		if err != nil {
			t.Errorf("%v: %v", want.alt, err)
			continue
		}
		if int64(tr.Makespan) != want.time || tr.Peak != want.peak || tr.Spans[0].Alt != want.alt[0] ||
			tr.Spans[1].Alt != want.alt[1] {
			t.Errorf("%v: got %d ns, %d bytes, spans %+v; want %d ns and %d bytes", want.alt, tr.Makespan, tr.Peak,
				tr.Spans, want.time, want.peak)
		}
		if _, err := sim.Play(p.WithBudget(want.peak-1), s); err == nil {
			t.Errorf("%v: fits into %d bytes; want that refused", want.alt, want.peak-1)
		}
	}
	s := engine.Schedule{{Kind: engine.DoRun, Op: p.Chain.Fwd(1), Value: engine.NoValue, Alt: true}}
	if got := s[0].Describe(p.Graph); !strings.Contains(got, "second algorithm") {
		t.Errorf("the step reads %q; want it to name the second algorithm", got)
	}
}
