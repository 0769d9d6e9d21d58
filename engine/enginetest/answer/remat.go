package main

import (
	"errors"
	"fmt"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/remat"
	"memtide/engine/sim"
)

func init() {
	algorithms["simulate"] = simulate
	algorithms["rotor"] = rotor
	algorithms["revolve"] = revolve
	algorithms["sequential"] = sequential
}

// simulate plays a sequence of Table 1. What fails first may be a missing value
// or memory: the compiler finds the one and the simulator the other.
func simulate(v *enginetest.Vector) (fields, error) {
	p := v.Problem(engine.Whole)
	ops := v.Ops()
	schedule, owner, err := p.Chain.CompileSequence(ops)
	if bad, ok := errors.AsType[*engine.SequenceError](err); ok {
		return fields{"valid": false, "fail_op": min(bad.Index, firstTooLarge(p, ops[:bad.Index]))}, nil
	}
	if err != nil {
		return nil, err
	}
	trace, err := sim.Play(p, schedule)
	if stuck, ok := errors.AsType[*sim.StuckError](err); ok {
		return fields{"valid": false, "fail_op": owner[stuck.Step]}, nil
	}
	if err != nil {
		return nil, err
	}
	return fields{"valid": true, "makespan": v.Units(trace.Makespan), "peak": trace.Peak}, nil
}

// firstTooLarge is the index of the first operation that needs more than the
// budget; the length if there is none. A beginning of a sequence is no step,
// so the simulator cannot play it.
func firstTooLarge(p *engine.Problem, ops []engine.ChainOp) int {
	for i := range ops {
		if _, peak := remat.Replay(p.Chain.Chain, ops[:i+1]); peak > p.Budget {
			return i
		}
	}
	return len(ops)
}

func rotor(v *enginetest.Vector) (fields, error) {
	f, err := played(v, "rotor", nil)
	if err != nil {
		return nil, err
	}
	delete(f, "peak") // one of many
	d, ok, err := remat.PrintedMakespan(v.Chain(), v.BudgetBytes(), nil)
	if err != nil {
		return nil, err
	}
	f["makespan_printed_formula"] = nil
	if ok {
		f["makespan_printed_formula"] = v.Units(d)
	}
	all, err := played(v, "nonpersistent", nil)
	if errors.Is(err, engine.ErrUnsupported) { // too long
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	f["makespan_nonpersistent_table1"] = all["makespan"]
	return f, nil
}

func revolve(v *enginetest.Vector) (fields, error) {
	f, err := played(v, "revolve", nil)
	delete(f, "peak") // one of many
	return f, err
}

func sequential(v *enginetest.Vector) (fields, error) {
	f, err := played(v, "sequential", engine.Args{"segments": fmt.Sprint(v.Segments)})
	delete(f, "feasible")
	return f, err
}

// played solves a vector and plays the schedule: feasible, makespan and peak.
func played(v *enginetest.Vector, strategy string, args engine.Args) (fields, error) {
	trace, err := solve(v.Problem(engine.Whole), strategy, args)
	if trace == nil {
		return fields{"feasible": false, "makespan": nil, "peak": nil}, err
	}
	return fields{"feasible": true, "makespan": v.Units(trace.Makespan), "peak": trace.Peak}, nil
}
