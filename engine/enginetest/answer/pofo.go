package main

import (
	"fmt"

	"memtide/engine"
	"memtide/engine/combined"
	"memtide/engine/enginetest"
)

func init() { algorithms["pofo"] = pofo }

// pofo plays the best plan of paper 001 with streamed transfers, its model. A
// nanosecond is one scaled unit.
func pofo(v *enginetest.Vector) (fields, error) {
	p := v.Problem(engine.Streamed)
	f := fields{"feasible": true, "makespan_scaled": nil, "rotor_makespan_scaled": nil}
	rotor, err := solve(p, "rotor", nil)
	if err != nil {
		return nil, err
	}
	if rotor != nil {
		f["rotor_makespan_scaled"] = int64(rotor.Makespan)
	}
	args, err := combined.Pofo.Parse(nil)
	if err != nil {
		return nil, err
	}
	sol, err := combined.Plans(p, args, nil)
	if err == nil && sol.Bound != sol.Makespan {
		return nil, fmt.Errorf("the step time %d is not proven: the bound is %d", sol.Makespan, sol.Bound)
	}
	trace, err := play(p, sol, err)
	if trace != nil {
		f["makespan_scaled"] = int64(trace.Makespan)
	}
	f["feasible"] = trace != nil
	return f, err
}
