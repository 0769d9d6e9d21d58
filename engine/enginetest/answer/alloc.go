package main

import (
	"context"

	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/allocators"
	"memtide/engine/enginetest"
)

func init() { algorithms["allocator"] = allocator }

// proofNodes bounds the search for the optimal placement of a vector, which polls
// once at each node; a pool that is not proven smallest is left out.
const proofNodes = 50_000_000

// allocator answers how large a pool each allocator needs for a list of
// requests and releases.
func allocator(v *enginetest.Vector) (fields, error) {
	r, err := alloc.FromEvents(entries(v))
	if err != nil {
		return nil, err
	}
	f := fields{"aggregate_peak": r.AggregatePeak()}
	for _, name := range []string{"best-fit", "high-end"} {
		l, err := alloc.Lookup(name).Place(r, engine.NoLimit, nil, nil)
		if err != nil {
			return nil, err
		}
		f[name] = fields{"search_pool": l.Pool}
	}
	if v.VAChunk > 0 {
		l, err := allocators.Virtual(r, engine.NoLimit, engine.Bytes(v.VAChunk), nil)
		if err != nil {
			return nil, err
		}
		f["va"] = fields{"peak_chunks": l.PeakChunks()}
	}
	poll := engine.NewPoll(engine.LimitCalls(context.Background(), proofNodes), nil)
	if l, err := alloc.Lookup("optimal").Place(r, engine.NoLimit, nil, poll); err == nil && l.Optimal {
		f["optimal"] = fields{"pool": l.Pool}
	}
	return f, nil
}

func entries(v *enginetest.Vector) []alloc.Entry {
	list := make([]alloc.Entry, len(v.Trace))
	for i, e := range v.Trace {
		list[i] = alloc.Entry{Name: e.ID, Free: e.Free, Bytes: engine.Bytes(e.Size), High: e.High}
	}
	return list
}
