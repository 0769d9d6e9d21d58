package allocators

import (
	"memtide/engine"
	"memtide/engine/alloc"
)

func init() {
	alloc.Register(&alloc.Allocator{
		Name:   "high-end",
		Title:  "High end for offloaded buffers",
		Doc:    "Buffers that will be offloaded go to the top of the memory, all others are placed by best fit.",
		Params: []engine.Param{alloc.ParamOrder},
		Placer: func(r *alloc.Requests, pool engine.Bytes, _ engine.Parsed, poll *engine.Poll) (*alloc.Layout, error) {
			return inPool(r, pool, poll, func(h *alloc.Holes, b *alloc.Buffer) (engine.Bytes, bool) {
				if b.High {
					return h.High(b.Bytes)
				}
				return h.Low(b.Bytes)
			})
		},
	})
}
