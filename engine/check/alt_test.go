package check_test

import (
	"errors"
	"slices"
	"testing"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

// TestSecondWay changes the algorithm of a run in the schedule, in the trace and in both. Only the trace that was
// played is accepted.
func TestSecondWay(t *testing.T) {
	const seed = 81
	r := enginetest.Rand(seed)
	changed := 0
	for i := range 800 {
		c := randomPlayed(t, r, engine.Whole, engine.Duplex(i%2))
		if c == nil {
			continue
		}
		if err := check.Trace(c.p, c.s, c.t); err != nil {
			t.Fatalf("seed %d, case %d: %v\n%v", seed, i, err, c)
		}
		for k, st := range c.s {
			if st.Kind != engine.DoRun || c.p.Graph.Ops[st.Op].Alt == nil {
				continue
			}
			changed++
			s, tr := slices.Clone(c.s), *c.t
			tr.Spans = slices.Clone(tr.Spans)
			span := slices.IndexFunc(tr.Spans, func(sp sim.Span) bool { return sp.Step == k })
			s[k].Alt = !st.Alt
			refuted(t, "the step takes the other way", c, s, c.t, check.BadSpan)
			tr.Spans[span].Alt = !st.Alt
			refuted(t, "the span says the other way", c, c.s, &tr, check.BadSpan)
			op := &c.p.Graph.Ops[st.Op]
			if op.Alt.Time != op.Time {
				refuted(t, "both do", c, s, &tr, check.WrongDuration)
			} else if op.Alt.Temp != op.Temp {
				if err := check.Trace(c.p, s, &tr); err == nil {
					t.Errorf("both take the other way, whose workspace differs: not refuted\n%v", c)
				}
			}
		}
	}
	if changed < 500 {
		t.Errorf("seed %d: %d runs have a second way: the generator is off", seed, changed)
	}
}

func refuted(t *testing.T, what string, c *played, s engine.Schedule, tr *sim.Trace, want check.Reason) {
	t.Helper()
	var r *check.Refutation
	if err := check.Trace(c.p, s, tr); !errors.As(err, &r) || r.Reason != want {
		t.Errorf("%s: got %v, want it refuted with %v\n%v", what, err, want, c)
	}
}

// TestNoSecondWay checks that a run by a second algorithm is refuted if the operation does not have one.
func TestNoSecondWay(t *testing.T) {
	c := &engine.Chain{Stages: []engine.Stage{{Forward: 2, Back: 3, Out: 1, Saved: 1, Grad: 1}}}
	p := engine.NewChainProblem(c, enginetest.Device(engine.HalfDuplex), engine.Whole, engine.NoLimit)
	s := engine.Schedule{engine.Run(p.Chain.Fwd(1)), engine.Run(p.Chain.Bwd(1))}
	tr, err := sim.Play(p, s)
	if err != nil {
		t.Fatal(err)
	}
	s[1].Alt = true
	refuted(t, "a second way that is not there", &played{p, s, tr}, s, tr, check.BadProblem)
	var step *sim.StepError
	if _, err := sim.Play(p, s); !errors.As(err, &step) || step.Step != 1 {
		t.Errorf("sim: got %v, want an error at step 1", err)
	}
}
