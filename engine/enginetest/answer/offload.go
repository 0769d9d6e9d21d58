package main

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
	"memtide/engine/offload"
	"memtide/engine/sim"
)

func init() {
	algorithms["offload-set"] = offloadSet
	algorithms["offload-all"] = offloadAll
	algorithms["offload-gadget"] = offloadAll
}

// offloadSet evaluates a set of offloaded values of paper 000, with whole
// transfers and with fractional communications. A nanosecond is one scaled unit.
func offloadSet(v *enginetest.Vector) (fields, error) {
	set := make([]bool, len(v.Stages))
	for _, i := range v.Set {
		if i < 0 || i >= len(set) {
			return nil, fmt.Errorf("the set names x_%d; expected 0 to %d", i, len(set)-1)
		}
		set[i] = true
	}
	whole, ok := offload.NewPlan(v.Problem(engine.Whole), set)
	if !ok {
		return fields{"feasible": false, "int_scaled": nil, "frac_scaled": nil, "int_peak": nil}, nil
	}
	f := fields{"feasible": true, "int_scaled": int64(whole.Makespan), "int_peak": whole.Peak, "frac_scaled": nil}
	if streamed, ok := offload.NewPlan(v.Problem(engine.Streamed), set); ok {
		f["frac_scaled"] = int64(streamed.Fluid)
	}
	return f, nil
}

// offloadAll answers what is known about an instance of paper 000: its peak,
// the lower bounds, and what strategies make of it.
func offloadAll(v *enginetest.Vector) (fields, error) {
	p := v.Problem(engine.Whole)
	f := fields{"mpeak": v.Chain().StoreAllPeak()}
	if lb, ok := bound.LB(p); ok {
		f["lb_scaled"] = int64(lb)
	}
	sol, err := engine.Lookup("greedy").Solve(p, nil, nil)
	var infeasible *engine.InfeasibleError
	if errors.As(err, &infeasible) {
		f["feasible"], f["relax_scaled"], f["greedy"], f["min_budget"] = false, nil, nil, infeasible.Smallest
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := sim.Play(p, sol.Schedule)
	if err != nil {
		return nil, err
	}
	f["feasible"] = true
	f["greedy"] = fields{"int_scaled": int64(trace.Makespan)}
	if relax, ok := bound.Relax(p); ok {
		f["relax_scaled"] = int64(relax)
	}
	return f, nil
}
