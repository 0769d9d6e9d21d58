package main

import (
	"errors"
	"fmt"

	"memtide/engine"
	_ "memtide/engine/combined"
	"memtide/engine/enginetest"
	"memtide/engine/sim"
)

func init() { algorithms["pofo"] = pofo }

// pofo plays the best plan of paper 001 with streamed transfers, its model. A
// nanosecond is one scaled unit.
func pofo(v *enginetest.Vector) (fields, error) {
	p := v.Problem(engine.Streamed)
	f := fields{"feasible": true, "makespan_scaled": nil, "rotor_makespan_scaled": nil}
	var infeasible *engine.InfeasibleError
	rotor, err := engine.Lookup("rotor").Solve(p, nil, nil)
	switch {
	case err == nil:
		f["rotor_makespan_scaled"] = int64(rotor.Makespan)
	case !errors.As(err, &infeasible):
		return nil, err
	}
	sol, err := engine.Lookup("pofo").Solve(p, nil, nil)
	if errors.As(err, &infeasible) {
		f["feasible"] = false
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if sol.Bound != sol.Makespan {
		return nil, fmt.Errorf("the step time %d is not proven: the bound is %d", sol.Makespan, sol.Bound)
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return nil, err
	}
	f["makespan_scaled"] = int64(trace.Makespan)
	return f, nil
}
