package answer

import (
	"context"
	"errors"
	"time"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
	"memtide/engine/enginetest"
	_ "memtide/engine/graphs"
	"memtide/engine/pipeline"
	"memtide/engine/window"
)

// graph answers the optimum with the order of operations kept and with any order, as played.
func graph(v *enginetest.Vector) fields {
	f, p := fields{}, v.GraphProblem()
	for field, order := range map[string]string{"order_kept": "kept", "any_order": "any"} {
		args := engine.Args{"order": order}
		_, err := engine.Lookup("graphexact").Solve(p.WithBudget(0), args, nil)
		trace := solve(p, "graphexact", args)
		f[field] = fields{"feasible": trace != nil, "time": stepTime(trace), "min_budget": leastBudget(err)}
	}
	return f
}

// graphJoint answers the step time of schedules that recompute, reorder and move values, as played.
func graphJoint(v *enginetest.Vector) fields {
	trace := solve(v.GraphProblem(), "graphpofo", engine.Args{"effort": "3"})
	f := fields{"feasible": trace != nil, "time": nil}
	if trace != nil {
		f["time"] = v.Units(trace.Makespan)
	}
	return f
}

// windows schedules the functions of a vector of paper 004 with its window and with the parameters of its baseline,
// and plays the schedules on full-duplex and half-duplex links. A nanosecond is one unit of time.
func windows(v *enginetest.Vector) fields {
	methods := map[string]func(p *engine.Problem) (*engine.Solution, error){
		"window": func(p *engine.Problem) (*engine.Solution, error) {
			return window.ByWindow(p, engine.Bytes(v.Window))
		},
	}
	if l := v.LMS; l != nil {
		methods["lms"] = func(p *engine.Problem) (*engine.Solution, error) {
			return window.ByLMS(p, l.SwapoutThreshold, l.SwapinAhead)
		}
	}
	f := fields{}
	for name, solve := range methods {
		answer := fields{"feasible": true}
		for field, duplex := range map[string]engine.Duplex{"makespan": engine.FullDuplex,
			"makespan_half_duplex": engine.HalfDuplex} {
			p := &engine.Problem{Graph: v.Graph(), Device: enginetest.Device(duplex), Budget: v.BudgetBytes()}
			sol, err := solve(p)
			if stop, stops := errors.AsType[*window.StopError](err); stops {
				answer = fields{"feasible": false, "fail_function": stop.At}
				break
			}
			trace := play(p, sol, err)
			answer[field], answer["peak"] = int64(trace.Makespan), trace.Peak
		}
		f[name] = answer
	}
	return f
}

// proofNodes bounds the search for the optimal placement of a vector, which polls once at each node. A pool that is
// not proven to be the smallest is not answered.
const proofNodes = 50_000_000

// allocator answers the pool size that each allocator needs for a list of requests and releases.
func allocator(v *enginetest.Vector) fields {
	entries := make([]alloc.Entry, len(v.Trace))
	for i, e := range v.Trace {
		entries[i] = alloc.Entry{Name: e.ID, Free: e.Free, Bytes: engine.Bytes(e.Size), High: e.High}
	}
	r := must(alloc.FromEvents(entries))
	f := fields{"aggregate_peak": r.AggregatePeak()}
	for _, name := range []string{"best-fit", "high-end"} {
		f[name] = fields{"search_pool": must(alloc.Lookup(name).Place(r, engine.NoLimit, nil, nil)).Pool}
	}
	if v.VAChunk > 0 {
		f["va"] = fields{"peak_chunks": must(allocators.Virtual(r, engine.NoLimit, engine.Bytes(v.VAChunk),
			nil)).PeakChunks()}
	}
	poll := engine.NewPoll(engine.LimitCalls(context.Background(), proofNodes), nil)
	if l, err := alloc.Lookup("optimal").Place(r, engine.NoLimit, nil, poll); err == nil && l.Optimal {
		f["optimal"] = fields{"pool": l.Pool}
	}
	return f
}

// The limits of work on a pipeline: passes of the search, and states of the exact search after it.
const (
	pipelinePasses = 200_000
	pipelineStates = 400_000
)

// pipelined answers the least step time with each freedom, the least step time without limits, and a bound on
// schedules that keep everything. A freedom is absent if nothing was found and the exact search did not finish.
func pipelined(v *enginetest.Vector) fields {
	p := v.Pipeline()
	f := fields{"bound": int64(p.Bound(pipeline.Allowed{}))}
	for field, allowed := range map[string]pipeline.Allowed{"keep": {}, "recompute": {Recompute: true},
		"offload": {Offload: true}, "both": {Recompute: true, Offload: true}} {
		found, proven := fastest(p, allowed)
		if answer := (fields{"feasible": found > 0, "time": nil}); found > 0 || proven {
			if found > 0 {
				answer["time"] = int64(found)
			}
			f[field] = answer
		}
	}
	free := *p
	free.Limit = nil
	if found, proven := fastest(&free, pipeline.Allowed{}); proven {
		f["no_limit_time"] = int64(found)
	}
	return f
}

// fastest returns the least step time that it finds, or 0 if nothing fits, and whether the result is proven.
func fastest(p *pipeline.Problem, allowed pipeline.Allowed) (time.Duration, bool) {
	var least time.Duration
	found, err := pipeline.Search(p, pipeline.Options{Allowed: allowed, Effort: pipelinePasses}, nil)
	if _, refused := errors.AsType[*pipeline.InfeasibleError](err); !refused {
		if least = must(found, err).Trace.Makespan; found.Proven() {
			return least, true
		}
	}
	exact, err := pipeline.Exact(p, allowed, least, pipelineStates, nil)
	switch {
	case errors.Is(err, pipeline.ErrTooLarge) || errors.Is(err, engine.ErrUnsupported):
		return least, false
	case must(exact, err) != nil:
		return exact.Trace.Makespan, true
	}
	return least, true
}
