package main

import (
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/enginetest"
	"memtide/engine/pipeline"
)

func init() { algorithms["pipeline"] = pipelined }

// What is spent on a pipeline: passes of the search, and states of the exact one behind it.
const (
	pipelinePasses = 200_000
	pipelineStates = 400_000
)

// pipelined answers the least step time with each freedom, the least without limits, and a bound of what keeps
// everything. A freedom is left out where the exact search is not finished and nothing was found.
func pipelined(v *enginetest.Vector) (fields, error) {
	p := v.Pipeline()
	f := fields{"bound": int64(p.Bound(pipeline.Allowed{}))}
	for field, allowed := range map[string]pipeline.Allowed{"keep": {}, "recompute": {Recompute: true}, "offload": {Offload: true}, "both": {Recompute: true, Offload: true}} {
		found, proven, err := fastest(p, allowed)
		if err != nil {
			return nil, err
		}
		if answer := (fields{"feasible": found > 0, "time": nil}); found > 0 || proven {
			if found > 0 {
				answer["time"] = int64(found)
			}
			f[field] = answer
		}
	}
	free := *p
	free.Limit = nil
	found, proven, err := fastest(&free, pipeline.Allowed{})
	if proven {
		f["no_limit_time"] = int64(found)
	}
	return f, err
}

// fastest is the least step time that is found, 0 if nothing fits, and whether that is proven.
func fastest(p *pipeline.Problem, allowed pipeline.Allowed) (time.Duration, bool, error) {
	var least time.Duration
	found, err := pipeline.Search(p, pipeline.Options{Allowed: allowed, Effort: pipelinePasses}, nil)
	if err == nil {
		if least = found.Trace.Makespan; found.Proven() {
			return least, true, nil
		}
	} else if _, refused := errors.AsType[*pipeline.InfeasibleError](err); !refused {
		return 0, false, err
	}
	exact, err := pipeline.Exact(p, allowed, least, pipelineStates, nil)
	switch {
	case errors.Is(err, pipeline.ErrTooLarge) || errors.Is(err, engine.ErrUnsupported):
		return least, false, nil
	case exact != nil:
		return exact.Trace.Makespan, true, nil
	}
	return least, true, err
}
