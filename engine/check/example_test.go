package check_test

import (
	"errors"
	"fmt"
	"time"

	"memtide/engine"
	"memtide/engine/check"
	"memtide/engine/sim"
)

// Trace finds the error in a trace that was changed.
func ExampleTrace() {
	c := &engine.Chain{Stages: []engine.Stage{{Name: "conv", Forward: 2 * time.Millisecond,
		Back: 4 * time.Millisecond, Out: 4 * engine.KiB, Saved: 8 * engine.KiB}}}
	p := engine.NewChainProblem(c, engine.Device{}, engine.Whole, engine.NoLimit)
	schedule := engine.Schedule{engine.Run(p.Chain.Fwd(1)), engine.Run(p.Chain.Bwd(1))}
	t, err := sim.Play(p, schedule)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(check.Trace(p, schedule, t))
	t.Peak--
	if r, ok := errors.AsType[*check.Refutation](check.Trace(p, schedule, t)); ok {
		fmt.Println(r.Reason, "-", r)
	}
	// Output:
	// <nil>
	// wrong peak - wrong peak: found a peak of 8191 bytes; expected 8192 bytes in use
}
