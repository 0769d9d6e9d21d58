package main

import (
	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/offload"
	"memtide/engine/sim"
)

func init() { algorithms["vdnn"] = vdnn }

// vdnn plays the schedules of paper 003 for the set of a vector: synchronous, and
// asynchronous without a limit and within the peak of the synchronous one. A
// nanosecond is one scaled unit.
func vdnn(v *enginetest.Vector) (fields, error) {
	set, err := offloaded(v)
	if err != nil {
		return nil, err
	}
	f := fields{}
	play := func(name string, async bool, budget engine.Bytes) (peak engine.Bytes, err error) {
		p := v.Problem(engine.Whole).WithBudget(budget)
		sol, err := offload.ByLayers(p, set, async)
		if err != nil {
			return 0, err
		}
		trace, err := sim.Play(p, sol.Schedule)
		if err != nil {
			return 0, err
		}
		f[name+"_scaled"], f[name+"_peak"] = int64(trace.Makespan), trace.Peak
		return trace.Peak, nil
	}
	peak, err := play("sync", false, engine.NoLimit)
	if err != nil {
		return nil, err
	}
	if _, err := play("async_unlimited", true, engine.NoLimit); err != nil {
		return nil, err
	}
	_, err = play("async_at_sync_peak", true, peak)
	return f, err
}
