package allocators

import (
	"memtide/engine"
	"memtide/engine/alloc"
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:   "best-fit",
		Title:  "Best fit",
		Doc:    "Each request goes into the smallest hole that has room, at its low end.",
		Params: []engine.Param{alloc.ParamOrder},
		Placer: func(r *alloc.Requests, pool engine.Bytes, _ engine.Parsed, poll *engine.Poll) (*alloc.Layout, error) {
			return inPool(r, pool, poll, lowest)
		},
	})
}

// lowest chooses a hole by best fit.
func lowest(h *alloc.Holes, b *alloc.Buffer) (engine.Bytes, bool) { return h.Low(b.Bytes) }

// inPool serves requests in order from one pool; choose takes the bytes of a buffer from a hole. With engine.NoLimit it
// searches for a pool size: after a failure it adds the bytes that the largest hole lacks and starts again.
func inPool(r *alloc.Requests, pool engine.Bytes, poll *engine.Poll,
	choose func(h *alloc.Holes, b *alloc.Buffer) (engine.Bytes, bool)) (*alloc.Layout, error) {
	size := pool
	if pool == engine.NoLimit {
		size = r.AggregatePeak()
	}
	for runs := 1; ; runs++ {
		l, err := fill(r, size, poll, choose)
		l.Runs = runs
		if err != nil || pool != engine.NoLimit || l.Failed == nil {
			l.Optimal = l.Failed == nil && err == nil && size == l.Bound
			return l, err
		}
		size += l.Failed.Bytes - l.Failed.Largest
	}
}

// fill serves the requests from a pool of the given size, up to the first that fails.
func fill(r *alloc.Requests, size engine.Bytes, poll *engine.Poll,
	choose func(h *alloc.Holes, b *alloc.Buffer) (engine.Bytes, bool)) (*alloc.Layout, error) {
	l := alloc.NewLayout(r)
	l.Pool = size
	l.Reserve(0, size)
	free := alloc.NewHoles(size)
	for i, e := range r.Events {
		if err := poll.Err(); err != nil {
			return l, err
		}
		b := &r.Buffers[e.Buffer]
		if b.Bytes == 0 {
			l.Addr[e.Buffer] = 0
			continue
		}
		if e.Free {
			free.Give(l.Addr[e.Buffer], b.Bytes)
			continue
		}
		addr, ok := choose(&free, b)
		if !ok {
			l.Failed = &alloc.Failure{Event: i, Buffer: e.Buffer, Bytes: b.Bytes}
			l.Failed.Largest, l.Failed.Free = free.Largest()
			return l, nil
		}
		l.Addr[e.Buffer] = addr
	}
	return l, nil
}
