package answer

import (
	"context"
	"errors"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
	"memtide/engine/enginetest"
	"memtide/engine/window"
)

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
