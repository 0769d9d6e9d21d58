package alloc

import "memtide/engine"

func init() {
	Register(&Allocator{
		Name:  "high-end",
		Title: "High end for offloaded buffers",
		Doc: `Buffers that will be offloaded go to the top of the memory, all others are placed by best fit.

A flagged request takes the top of the highest hole that has room: what will soon leave for the host does not lie
between what stays. Flagged is the forward phase of offloaded values. The pool is searched as for best fit.`,
		Cites:  []engine.Cite{vDNNpp},
		Params: []engine.Param{paramOrder},
		Placer: func(r *Requests, pool engine.Bytes, _ engine.Parsed, poll *engine.Poll) (*Layout, error) {
			return inPool(r, pool, poll, func(h *holes, b *Buffer) (engine.Bytes, bool) {
				if b.High {
					return h.high(b.Bytes)
				}
				return h.low(b.Bytes)
			})
		},
	})
}
