package offload

import (
	"slices"

	"memtide/engine"
)

// program returns the schedule that leads to a node. Transfers that start while an operation runs are queued before
// it, with their start as the earliest time. Where the schedule pauses, it waits for the transfer that ends then.
func (t *tries) program(k int32) (s engine.Schedule) {
	var path []int32
	for ; k > 0; k = t.nodes[k].parent {
		path = append(path, k)
	}
	slices.Reverse(path)
	held := false // the schedule has paused since the last operation
	for _, k := range path {
		n := &t.nodes[k]
		from, c := &t.nodes[n.parent], &n.made
		if held && (c.frees != 0 || c.op) && from.ended != none {
			s = append(s, engine.Wait(t.values[from.ended]))
		}
		for i, v := range t.values {
			if c.frees>>i&1 == 1 {
				s = append(s, engine.Free(v))
			}
		}
		if c.offload != none {
			out := engine.Offload(t.values[c.offload])
			out.NotBefore = from.at
			s = append(s, out)
			if c.leave {
				s = append(s, engine.Free(t.values[c.offload]))
			}
		}
		if c.fetch != none {
			s = append(s, engine.Fetch(t.values[c.fetch], from.at))
		}
		held = !c.begun
		if c.end {
			op := &t.ops[from.done]
			s = append(s, engine.Run(op.id))
			for i, v := range t.values {
				if op.dead>>i&1 == 1 {
					s = append(s, engine.Free(v))
				}
			}
		}
	}
	return s
}
