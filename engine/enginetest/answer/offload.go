package main

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/enginetest"
	"memtide/engine/offload"
	_ "memtide/engine/offload/exact"
)

func init() {
	algorithms["offload-set"] = offloadSet
	algorithms["offload-all"] = offloadAll
	algorithms["offload-gadget"] = offloadAll
}

// offloaded is the set of a vector by stage.
func offloaded(v *enginetest.Vector) ([]bool, error) {
	set := make([]bool, len(v.Stages))
	for _, i := range v.Set {
		if i < 0 || i >= len(set) {
			return nil, fmt.Errorf("the set names x_%d; expected 0 to %d", i, len(set)-1)
		}
		set[i] = true
	}
	return set, nil
}

// offloadSet evaluates a set of offloaded values of paper 000, with whole
// transfers and with fractional communications. A nanosecond is one scaled unit.
func offloadSet(v *enginetest.Vector) (fields, error) {
	set, err := offloaded(v)
	if err != nil {
		return nil, err
	}
	whole, ok := offload.NewOrdered(v.Problem(engine.Whole), set)
	if !ok {
		return fields{"feasible": false, "int_scaled": nil, "frac_scaled": nil, "int_peak": nil}, nil
	}
	f := fields{"feasible": true, "int_scaled": int64(whole.Makespan), "int_peak": whole.Peak, "frac_scaled": nil}
	if streamed, ok := offload.NewOrdered(v.Problem(engine.Streamed), set); ok {
		f["frac_scaled"] = int64(streamed.Fluid)
	}
	return f, nil
}

// offloadAll answers what is known about an instance of paper 000: its peak,
// the lower bounds, the optimum of fractional communications, and what strategies
// make of it with whole transfers.
func offloadAll(v *enginetest.Vector) (fields, error) {
	p := v.Problem(engine.Whole)
	f := fields{"mpeak": v.Chain().KeepAllPeak()}
	if lb, ok := bound.LB(p); ok {
		f["lb_scaled"] = int64(lb)
	}
	_, err := offload.BestFluid(p.WithBudget(0), nil)
	if least, err := leastBudget(err); err == nil && least > 0 {
		f["min_budget"] = least
	}
	best, err := offload.BestFluid(p, nil)
	if _, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		for _, field := range []string{"relax_scaled", "fraccomm_opt_scaled", "dynprog_int_scaled", "int_true_opt_scaled", "greedy", "vdnn", "tflms"} {
			f[field] = nil
		}
		f["feasible"] = false
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f["feasible"] = true
	if relax, ok := bound.Relax(p); ok {
		f["relax_scaled"] = int64(relax)
	}
	if best.Proven() {
		f["fraccomm_opt_scaled"] = int64(best.Time)
		if plan, ok := offload.NewOrdered(p, best.Set); ok {
			f["dynprog_int_scaled"] = int64(plan.Makespan)
		}
	}
	if early, ok := offload.ThresholdEarly(p); ok {
		f["vdnn"] = fields{"int_scaled": int64(early)}
	}
	for field, get := range map[string]func() (any, error){
		"greedy":              func() (any, error) { return within(p, "greedy", "int_scaled") },
		"tflms":               func() (any, error) { return within(p, "tflms", "scaled") },
		"int_true_opt_scaled": func() (any, error) { return trueOptimum(p) },
	} {
		f[field], err = get()
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// within is the step time of a strategy's schedule as it is played, as an object
// with one field: null if nothing fits.
func within(p *engine.Problem, strategy, field string) (any, error) {
	trace, err := solve(p, strategy, nil)
	if trace == nil {
		return fields{field: nil}, err
	}
	return fields{field: int64(trace.Makespan)}, nil
}

// trueOptimum is the least step time over all orders of whole transfers, null if
// the chain is too long for that, or the search was stopped.
func trueOptimum(p *engine.Problem) (any, error) {
	sol, err := engine.Lookup("offloadexact").Solve(p, nil, nil)
	if errors.Is(err, engine.ErrUnsupported) || sol != nil && !sol.Optimal {
		return nil, nil
	}
	trace, err := play(p, sol, err)
	if trace == nil {
		return nil, err
	}
	return int64(trace.Makespan), nil
}
