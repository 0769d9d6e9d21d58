package answer

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/bound"
	"memtide/engine/combined"
	"memtide/engine/enginetest"
	"memtide/engine/offload"
	_ "memtide/engine/offload/exact"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

// simulate plays a sequence of Table 1. The first failure may be a missing value, which the compiler finds, or
// memory, which the simulator finds.
func simulate(v *enginetest.Vector) fields {
	p := v.Problem(engine.Whole)
	ops := v.Ops()
	schedule, owner, err := p.Chain.CompileSequence(ops)
	if bad, ok := errors.AsType[*engine.SequenceError](err); ok {
		return fields{"valid": false, "fail_op": min(bad.Index, firstTooLarge(p, ops[:bad.Index]))}
	}
	trace, err := sim.Play(p, must(schedule, err))
	if stuck, ok := errors.AsType[*sim.StuckError](err); ok {
		return fields{"valid": false, "fail_op": owner[stuck.Step]}
	}
	return fields{"valid": true, "makespan": v.Units(must(trace, err).Makespan), "peak": trace.Peak}
}

// firstTooLarge returns the index of the first of ops that needs more than the budget of p, or len(ops) if all of
// them fit. It replays each prefix of ops, since the simulator plays whole steps only.
func firstTooLarge(p *engine.Problem, ops []engine.ChainOp) int {
	for i := range ops {
		if _, peak := remat.Replay(p.Chain.Chain, ops[:i+1]); peak > p.Budget {
			return i
		}
	}
	return len(ops)
}

func rotor(v *enginetest.Vector) fields {
	f := revolved(v, "rotor")
	f["makespan_printed_formula"] = nil
	d, ok, err := remat.PrintedMakespan(v.Chain(), v.BudgetBytes(), nil)
	if must(ok, err) {
		f["makespan_printed_formula"] = v.Units(d)
	}
	sol, err := engine.Lookup("nonpersistent").Solve(v.Problem(engine.Whole), nil, nil)
	if !errors.Is(err, engine.ErrUnsupported) { // not too long
		f["makespan_nonpersistent_table1"] = nil
		if trace := play(v.Problem(engine.Whole), sol, err); trace != nil {
			f["makespan_nonpersistent_table1"] = v.Units(trace.Makespan)
		}
	}
	return f
}

func revolve(v *enginetest.Vector) fields { return revolved(v, "revolve") }

// revolved is played without the peak, because several peaks are correct.
func revolved(v *enginetest.Vector, strategy string) fields {
	f := played(v, strategy, nil)
	delete(f, "peak")
	return f
}

func sequential(v *enginetest.Vector) fields {
	f := played(v, "sequential", engine.Args{"segments": fmt.Sprint(v.Segments)})
	delete(f, "feasible")
	return f
}

// played solves a vector and plays the schedule. Its fields are feasible, makespan and peak.
func played(v *enginetest.Vector, strategy string, args engine.Args) fields {
	trace := solve(v.Problem(engine.Whole), strategy, args)
	if trace == nil {
		return fields{"feasible": false, "makespan": nil, "peak": nil}
	}
	return fields{"feasible": true, "makespan": v.Units(trace.Makespan), "peak": trace.Peak}
}

// offloaded returns for every stage whether the vector's set contains it.
func offloaded(v *enginetest.Vector) []bool {
	set := make([]bool, len(v.Stages))
	for _, i := range v.Set {
		if i < 0 || i >= len(set) {
			must(i, fmt.Errorf("the set names x_%d; expected 0 to %d", i, len(set)-1))
		}
		set[i] = true
	}
	return set
}

// offloadSet evaluates a set of offloaded values of paper 000, with whole transfers and with fractional
// communications. A nanosecond is one scaled unit.
func offloadSet(v *enginetest.Vector) fields {
	set := offloaded(v)
	whole, ok := offload.NewOrdered(v.Problem(engine.Whole), set)
	if !ok {
		return fields{"feasible": false, "int_scaled": nil, "frac_scaled": nil, "int_peak": nil}
	}
	f := fields{"feasible": true, "int_scaled": int64(whole.Makespan), "int_peak": whole.Peak, "frac_scaled": nil}
	if streamed, ok := offload.NewOrdered(v.Problem(engine.Streamed), set); ok {
		f["frac_scaled"] = int64(streamed.Fluid)
	}
	return f
}

// offloadAll answers an instance of paper 000: its peak, the lower bounds, and the step times of strategies with whole
// transfers.
func offloadAll(v *enginetest.Vector) fields {
	p := v.Problem(engine.Whole)
	f := fields{"mpeak": v.Chain().KeepAllPeak(), "feasible": true}
	if lb, ok := bound.LB(p); ok {
		f["lb_scaled"] = int64(lb)
	}
	dynprog := engine.Lookup("dynprog")
	_, err := dynprog.Solve(p.WithBudget(0), nil, nil)
	if small, refused := errors.AsType[*engine.InfeasibleError](err); refused && small.Smallest > 0 {
		f["min_budget"] = small.Smallest
	}
	_, err = dynprog.Solve(p, nil, nil)
	if _, refused := errors.AsType[*engine.InfeasibleError](err); refused {
		for _, field := range []string{"relax_scaled", "int_true_opt_scaled", "greedy", "tflms"} {
			f[field] = nil
		}
		f["feasible"] = false
		return f
	}
	if relax, ok := bound.Relax(p); ok {
		f["relax_scaled"] = int64(relax)
	}
	f["greedy"] = fields{"int_scaled": stepTime(solve(p, "greedy", nil))}
	f["tflms"] = fields{"scaled": stepTime(solve(p, "tflms", nil))}
	f["int_true_opt_scaled"] = trueOptimum(p)
	return f
}

// stepTime returns the step time of a trace, or nil without a trace.
func stepTime(trace *sim.Trace) any {
	if trace == nil {
		return nil
	}
	return int64(trace.Makespan)
}

// trueOptimum returns the least step time over all orders of whole transfers, or nil if the chain is too long for
// the search, or the search was stopped.
func trueOptimum(p *engine.Problem) any {
	sol, err := engine.Lookup("offloadexact").Solve(p, nil, nil)
	if errors.Is(err, engine.ErrUnsupported) || sol != nil && !sol.Optimal {
		return nil
	}
	return stepTime(play(p, sol, err))
}

// pofo plays the best plan of paper 001 with streamed transfers, its model. A nanosecond is one scaled unit.
func pofo(v *enginetest.Vector) fields {
	p := v.Problem(engine.Streamed)
	sol, err := combined.Plans(p, must(combined.Pofo.Parse(nil)), nil)
	if err == nil && sol.Bound != sol.Makespan {
		err = fmt.Errorf("the step time %d is not proven: the bound is %d", sol.Makespan, sol.Bound)
	}
	trace := play(p, sol, err)
	return fields{"feasible": trace != nil, "makespan_scaled": stepTime(trace),
		"rotor_makespan_scaled": stepTime(solve(p, "rotor", nil))}
}
