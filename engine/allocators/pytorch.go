package allocators

import (
	"memtide/engine"
	"memtide/engine/alloc"
	"memtide/engine/caching"
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:   "pytorch",
		Title:  "PyTorch's caching allocator",
		Doc:    "The rules by which PyTorch keeps and splits segments of CUDA memory.",
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
