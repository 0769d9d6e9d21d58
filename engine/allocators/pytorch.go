package allocators

import (
	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/caching"
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:  "pytorch",
		Title: "PyTorch's caching allocator",
		Doc: `The rules by which PyTorch keeps and splits segments of CUDA memory.

alloc.Requests round up to 512 B. Up to 1 MiB they come from segments of 2 MiB; below 10 MiB from segments of 20 MiB; larger
ones get a segment of their own, rounded up to 2 MiB. Within segments that is best fit; what is released joins its
neighbours and is kept. Where the pool is limited, segments that are wholly free are given back before a request fails.
New segments lie behind all others here; on a GPU the driver chooses their addresses.`,
		Cites:  []engine.Cite{{Text: "PyTorch, c10/cuda/CUDACachingAllocator.cpp", Section: "DeviceCachingAllocator"}},
		Placer: placePyTorch,
	})
}

func placePyTorch(r *alloc.Requests, pool engine.Bytes, _ engine.Parsed, poll *engine.Poll) (*alloc.Layout, error) {
	l := alloc.NewLayout(r)
	l.Took = make([]engine.Bytes, len(r.Buffers))
	c := caching.New(pool, caching.Rules{})
	for i, e := range r.Events {
		if err := poll.Err(); err != nil {
			return l, err
		}
		b := &r.Buffers[e.Buffer]
		switch {
		case b.Bytes == 0: // PyTorch gives it a null pointer
			l.Addr[e.Buffer] = 0
		case e.Free:
			c.Free(l.Addr[e.Buffer])
		default:
			addr, took, ok := c.Alloc(b.Bytes)
			if !ok {
				l.Failed = &alloc.Failure{Event: i, Buffer: e.Buffer, Bytes: (&caching.Rules{}).Round(b.Bytes),
					Unreserved: pool - c.Reserved()}
				l.Failed.Largest, l.Failed.Free = c.Room(b.Bytes)
				return l, nil
			}
			l.Addr[e.Buffer], l.Took[e.Buffer] = addr, took
			l.Pool = max(l.Pool, addr+took)
		}
		l.Reserve(i, c.Reserved())
	}
	return l, nil
}
